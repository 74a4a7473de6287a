"""What all figures of a family of comparisons share: its rows, its systems, its caption."""

from __future__ import annotations

import math
from collections.abc import Sequence

from konsil.analysis import Row
from konsil.report.figures.svg_primitives import About
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.shared_figures import Family
from konsil.report.material.slugs import anchor

RATIO = "version"
"""The column in which a worth's ratio to the best is told apart."""


def family_rows(
    material: Material, family: Family, kind: str = "estimate", *, ratio: bool = False
) -> list[Row]:
    """The rows of a family's analyses that have a value."""
    names = {a.name for a in family.members}
    return [
        r
        for r in material.results.estimable_rows
        if r.analysis in names and r.kind == kind and (RATIO in r.group) == ratio
    ]


def systems_of(material: Material, rows: Sequence[Row]) -> list[str]:
    """The systems of some rows, in the report's order."""
    return material.ordered_systems(r.group["system"] for r in rows if "system" in r.group)


def about_family(
    material: Material,
    family: Family,
    kind: str,
    described: Sequence[tuple[str, float]],
    *more: str,
) -> About:
    """The heading, caption and description of a family's figure."""
    _, numbers = material.language.gettext, material.numbers
    statistic_title = title(family.first.statistic, material.language)
    caption = _("%(what)s on %(n)s criteria, analyses “%(first)s” to “%(last)s”.") % {
        "what": statistic_title,
        "n": numbers.count(len(family.members)),
        "first": family.first.name,
        "last": family.members[-1].name,
    }
    return About(
        key=anchor(kind, family.first.name),
        title=f"{statistic_title}: {family.first.name}",
        description="; ".join(
            f"{name} {numbers.plain(value)}" for name, value in described if math.isfinite(value)
        ),
        caption=material.caption(" ".join([caption, *(m for m in more if m)])),
        stamp=material.stamp,
    )
