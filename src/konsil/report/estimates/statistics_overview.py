"""At a glance: analyses that differ in nothing but the statistic, side by side in one figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import COMPARISONS
from konsil.instrument import stated
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.small_multiples import Column, columns
from konsil.report.figures.svg_primitives import About, Dot
from konsil.report.material.glossary import entry, title
from konsil.report.material.overview import Material
from konsil.report.material.shared_figures import is_in_design_figure, is_in_family_figure
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import Joined, benchmark_names, join

MOST_COLUMNS = 4
"""Statistics that fit side by side."""
MOST_ROWS = 20
"""Rows that are seen at a glance."""
NEAR = 0.15
"""Below it an estimate or its interval is told apart from zero by the line at zero."""
_FREE = {"name", "statistic", "margin", "weights", "prespecified", "question"}


def glance(material: Material) -> list[Drawing]:
    """One figure for each family of analyses with the same rows and different statistics."""
    families: dict[str, list[Analysis]] = {}
    for analysis in material.study.analyses:
        is_distinct = (
            analysis.statistic.startswith("ensembles_") or analysis.statistic in COMPARISONS
        )
        if (
            not is_distinct
            and not is_in_family_figure(material, analysis)
            and not is_in_design_figure(analysis)
        ):
            families.setdefault(_kinship(analysis), []).append(analysis)
    drawn = [
        _family(material, members[:MOST_COLUMNS])
        for members in families.values()
        if len(members) > 1
    ]
    return [figure for figure in drawn if figure is not None]


def _kinship(analysis: Analysis) -> str:
    """Everything that relatives have in common."""
    settings = stated(analysis)
    return repr(sorted((key, settings[key]) for key in settings.keys() - _FREE))


def _family(material: Material, members: Sequence[Analysis]) -> Drawing | None:
    _, numbers = material.language.gettext, material.numbers
    by_analysis = {a.name: _rows(material, a) for a in members}
    names = _ordered(material, [_name(line) for rows in by_analysis.values() for line in rows])
    if not 2 <= len(names) <= MOST_ROWS or len({a.statistic for a in members}) < len(members):
        return None
    nothing = Dot("", math.nan, math.nan, math.nan, "")
    shown = []
    for a in members:
        dots = {_name(line): _dot(line) for line in by_analysis[a.name]}
        shown.append(
            Column(
                title(a.statistic, material.language),
                [dots.get(n, nothing) for n in names],
                0.0 if entry(a.statistic).marks_zero and _near_zero(dots.values()) else None,
            )
        )
    words = ", ".join(c.title for c in shown)
    marks = list(dict.fromkeys(m for rows in by_analysis.values() for m in benchmark_names(rows)))
    caption = _("%(what)s side by side. Dots: estimates; lines: CI.") % {"what": words}
    if marks:
        caption += " " + _("Diamonds: %(what)s.") % {"what": ", ".join(marks)}
    about = About(
        key=anchor("glance", members[0].name),
        title=words,
        description="; ".join(
            f"{c.title}: "
            + ", ".join(f"{n} {numbers.plain(d.value)}" for n, d in zip(names, c.dots, strict=True))
            for c in shown
        ),
        caption=material.caption(caption + " " + _where(material, members[0])),
        stamp=material.stamp,
    )
    return columns(about, names, shown, numbers, mark=", ".join(marks))


def _ordered(material: Material, names: Sequence[str]) -> list[str]:
    """Raters and systems in the protocol's order, others as the rows come."""
    declared = [*(s.id for s in material.study.systems), *(r.id for r in material.study.raters)]
    present = list(dict.fromkeys(names))
    return [n for n in declared if n in present] if set(present) <= set(declared) else present


def _near_zero(dots: Iterable[Dot]) -> bool:
    """Whether zero is near enough to be worth its place on the scale."""
    return any(min(d.value, d.low) < NEAR for d in dots if math.isfinite(d.low))


def _rows(material: Material, analysis: Analysis) -> list[Joined]:
    rows = [
        r for r in material.results.estimable_rows if r.analysis == analysis.name and not r.detail
    ]
    return [line for line in join(rows) if line.row.kind == "estimate"]


def _name(line: Joined) -> str:
    return ", ".join(line.row.group.values())


def _dot(line: Joined) -> Dot:
    e = line.row.estimate
    return Dot(
        _name(line),
        e.value,
        e.low,
        e.high,
        "",
        "",
        line.benchmark.estimate.value if line.benchmark else math.nan,
    )


def _where(material: Material, analysis: Analysis) -> str:
    """Whose ratings they are, and of what."""
    _ = material.language.gettext
    criteria = ", ".join([analysis.criterion, *analysis.criteria])
    values = {"panel": analysis.raters, "criterion": criteria, "items": analysis.items}
    text = _("Panel “%(panel)s”, criterion “%(criterion)s”")
    return (text + (_(", items “%(items)s”") if analysis.items else "")) % values + "."
