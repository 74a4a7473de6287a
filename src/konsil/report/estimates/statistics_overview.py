"""At a glance: analyses that differ in nothing but the statistic, side by side in one figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import COMPARISONS
from konsil.instrument import stated
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.small_multiples import Column, columns
from konsil.report.figures.svg_primitives import About, Dot
from konsil.report.figures.units import Unit, is_percent
from konsil.report.figures.value_axes import (
    by_estimate,
    has_order,
    label_ends,
    scale_limits,
    system_colours,
    with_unit,
)
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
    colours = system_colours(material)
    names = _by_first(names, by_analysis[members[0].name])
    for a in members:
        dots = {
            _name(line): replace(
                _dot(line), colour=colours.get(line.row.group.get("system", ""), "")
            )
            for line in by_analysis[a.name]
        }
        has_zero = entry(a.statistic).marks_zero and _near_zero(dots.values())
        shown.append(
            Column(
                with_unit(material, title(a.statistic, material.language), a.statistic),
                [dots.get(n, nothing) for n in names],
                0.0 if has_zero else None,
                factor=Unit(a.statistic, numbers).factor,
            )
        )
    shown = _on_shared_axes(material, members, shown)
    words = ", ".join(title(a.statistic, material.language) for a in members)
    marks = list(dict.fromkeys(m for rows in by_analysis.values() for m in benchmark_names(rows)))
    caption = _("%(what)s side by side. Dots: estimates; lines: CI.") % {"what": words}
    if marks:
        caption += " " + _("Diamonds: %(what)s.") % {"what": ", ".join(marks)}
    about = About(
        key=anchor("glance", members[0].name),
        title=words,
        description="; ".join(
            f"{c.title}: "
            + ", ".join(
                f"{n} {Unit(a.statistic, numbers).value(d.value)}"
                for n, d in zip(names, c.dots, strict=True)
            )
            for a, c in zip(members, shown, strict=True)
        ),
        caption=material.caption(caption + " " + _where(material, members[0])),
        stamp=material.stamp,
    )
    return columns(about, names, shown, numbers, mark=", ".join(marks))


def _on_shared_axes(
    material: Material, members: Sequence[Analysis], shown: Sequence[Column]
) -> list[Column]:
    """The columns, those of one unit on one scale, which of proportions is the whole one."""
    units = [_unit(a.statistic) for a in members]
    finished = []
    for a, unit, column in zip(members, units, shown, strict=True):
        alike = [c for u, c in zip(units, shown, strict=True) if u == unit]
        values = [x for c in alike for d in c.dots for x in (d.value, d.low, d.high, d.mark)]
        zero = next((c.reference for c in alike if c.reference is not None), None)
        ends = label_ends(material, a)
        limits = scale_limits(entry(a.statistic), values, zero, ends=ends)
        is_cut = zero is None and limits[0] > (ends or (0.0,))[0]
        finished.append(replace(column, limits=limits, is_cut=is_cut))
    return finished


def _unit(statistic: str) -> str:
    """What two columns have in common where they can share an axis; else the statistic."""
    if is_percent(statistic):
        return "proportion"
    return "coefficient" if entry(statistic).is_among_raters else statistic


def _by_first(names: Sequence[str], rows: Sequence[Joined]) -> list[str]:
    """The rows by the estimates of the first column, where they have no order of their own."""
    if has_order([line.row for line in rows]):
        return list(names)
    order = [_name(line) for line in by_estimate(rows)]
    return [*(n for n in order if n in names), *(n for n in names if n not in order)]


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
