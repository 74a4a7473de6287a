"""Analyses that share a figure: a family, which differs in the criterion alone; and designs."""

from __future__ import annotations

from dataclasses import dataclass, fields

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import COSTS, PARTS, PREFERENCE
from konsil.report.material.overview import Material

DESIGN = ("instrument", "design")
"""The columns that tell designs apart."""
_OF_PAIRS = {*PREFERENCE, "self_preference"} - {"rank_agreement", "preference_correlation"}
_FREE = {"name", "criterion", "question"}


@dataclass(frozen=True)
class Family:
    """Analyses of one statistic on several criteria, otherwise the same."""

    members: tuple[Analysis, ...]
    """In the protocol's order."""

    @property
    def first(self) -> Analysis:
        """The one that says what all are."""
        return self.members[0]


def families(material: Material) -> list[Family]:
    """Every family of two or more; their analyses have no figures of their own."""
    by_kinship: dict[str, list[Analysis]] = {}
    for analysis in material.study.analyses:
        if analysis.statistic in _OF_PAIRS and len(analysis.by) < 2:
            by_kinship.setdefault(kinship(analysis), []).append(analysis)
    return [Family(tuple(members)) for members in by_kinship.values() if len(members) > 1]


def is_in_family_figure(material: Material, spec: Analysis) -> bool:
    """Whether an analysis is in the figure of its family and has none of its own."""
    if spec.statistic not in _OF_PAIRS or len(spec.by) > 1:
        return False
    names = [f.name for f in fields(spec) if f.name not in _FREE]
    return any(
        other.name != spec.name and all(getattr(other, n) == getattr(spec, n) for n in names)
        for other in material.study.analyses
    )


def kinship(analysis: Analysis, *but: str) -> str:
    """What analyses of one family have in common, as a key."""
    return repr(
        [
            (f.name, getattr(analysis, f.name))
            for f in fields(analysis)
            if f.name not in {*_FREE, *but}
        ]
    )


def is_in_design_figure(spec: Analysis) -> bool:
    """Whether an analysis is in a figure of the designs' section and has none of its own."""
    return spec.statistic in {*PARTS, *COSTS} or spec.compare in DESIGN
