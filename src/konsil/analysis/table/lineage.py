"""Families of systems and of judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis.model.catalogue.design_needs import OWN as OWN
from konsil.records import Rater, System


@dataclass(frozen=True)
class Lineage:
    """Who is of which family."""

    systems: Mapping[str, str]
    """System -> family."""
    judges: Mapping[str, Rater]
    """Judge -> its record."""


def lineage(systems: Sequence[System], raters: Sequence[Rater]) -> Lineage:
    """The families of systems and raters."""
    return Lineage({s.id: s.family for s in systems}, {r.id: r for r in raters})
