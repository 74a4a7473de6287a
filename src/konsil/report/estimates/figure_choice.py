"""Which form a number's figure has: by what the analysis asks, not by what it is called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from konsil.analysis import Analysis, Row
from konsil.analysis.cases.case_rules import implied
from konsil.report.estimates.curves import curves
from konsil.report.estimates.plots import forests, heat_maps
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.ranking import Ranked, RankingKeys, ranking
from konsil.report.figures.small_multiples import Point, Series, series
from konsil.report.figures.svg_primitives import About, Dot
from konsil.report.figures.trade_offs import trade_offs
from konsil.report.figures.units import Unit
from konsil.report.figures.value_axes import system_colours, value_axis
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.shared_figures import is_in_design_figure, is_in_family_figure
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import Joined, column_title, levels_of

MOST_CATEGORIES = 7
"""Categories on the axis of a series; with more of them a forest plot is easier to read."""
MOST_PANELS = 24
"""Panels of one figure of series."""


def figures_of(
    material: Material, name: str, spec: Analysis | None, estimates: Sequence[Joined]
) -> list[Drawing]:
    """The figures of an analysis' estimates."""
    statistic = spec.statistic if spec else estimates[0].row.statistic
    if spec is not None and (is_in_family_figure(material, spec) or is_in_design_figure(spec)):
        return []
    if statistic.startswith("ensembles_"):
        return _ensembles(material, name, statistic)
    if statistic == "strictness":
        return [
            *trade_offs(material, name, statistic),
            *forests(material, name, statistic, estimates, spec=spec),
        ]
    if statistic == "risk_coverage":
        drawn_curves = curves(material, name, statistic)
        return [*drawn_curves, *forests(material, name, statistic, estimates, spec=spec)]
    maps = heat_maps(material, name, statistic, estimates)
    drawn = _series(material, name, spec, estimates) if spec is not None and not maps else None
    if drawn is not None:
        return [drawn]
    return maps or forests(material, name, statistic, estimates, spec=spec)


@dataclass(frozen=True)
class _Axes:
    """How an analysis' groups lie on a figure of series."""

    category: str
    """The column on the axis."""
    panel: str
    """The column of which every value has a panel; empty: one panel for all."""
    categories: tuple[str, ...]
    """The categories in order."""
    ordered: bool
    """Whether they have an order."""


def _axes(material: Material, spec: Analysis, rows: Sequence[Row]) -> _Axes | None:
    """Series over the ranges of a derived number, or over the values of a stratum.

    Those of a stratum are within each system or rater.
    """
    bins = {d.name: d.labels for d in material.study.derived}
    bins |= {"level": levels} if (levels := levels_of(material)) else {}
    by = tuple(dict.fromkeys((*implied(spec), *spec.by)))
    category = next((c for c in by if bins.get(c)), None)
    ordered = category is not None
    others = [c for c in by if c != category]
    if category is None:
        if len(by) != 2 or sum(c in {"system", "rater"} for c in by) != 1:
            return None
        category = next(c for c in by if c not in {"system", "rater"})
        others = [c for c in by if c != category]
    if len(others) > 1 or any(set(r.group) != set(by) for r in rows):
        return None
    present = dict.fromkeys(r.group[category] for r in rows if r.group[category])
    categories = bins.get(category) or tuple(present)
    if not 2 <= len(categories) <= MOST_CATEGORIES or not set(present) <= set(categories):
        return None
    return _Axes(category, others[0] if others else "", categories, ordered)


def _series(
    material: Material, name: str, spec: Analysis, estimates: Sequence[Joined]
) -> Drawing | None:
    rows = [line.row for line in estimates if line.row.kind == "estimate"]
    axes = _axes(material, spec, rows)
    if axes is None or all(math.isnan(r.estimate.value) for r in rows):
        return None
    _, numbers = material.language.gettext, material.numbers
    shown = _lines(axes, rows, spec.raters)
    if axes.panel == "system":
        colours = system_colours(material)
        shown = [replace(s, colour=colours.get(s.name, "")) for s in shown]
    if len(shown) > MOST_PANELS:
        return None
    comparison = _comparison_series(material, spec, axes)
    drawn = [*shown, *([comparison] if comparison else [])]
    dots = [Dot("", p.value, p.low, p.high, "") for s in drawn for p in s.points]
    lines = [line for line in estimates if line.row.kind == "estimate"]
    axis = value_axis(material, spec.statistic, lines, spec=spec, dots=dots)
    unit = Unit(spec.statistic, numbers)
    where = column_title(material, axes.category)
    caption = _("%(what)s by %(category)s: estimates with CIs, analysis “%(name)s”.") % {
        "what": axis.title,
        "category": where,
        "name": name,
    }
    if comparison is not None:
        caption += " " + _("In grey, for comparison: %(what)s.") % {"what": comparison.name}
    if axis.reference is not None and axis.reference != 0:
        caption += " " + _("Dashed: pass line %(value)s.") % {
            "value": numbers.tick(axis.reference * axis.factor)
        }
    about = About(
        key=anchor("series", name),
        title=f"{axis.title}: {name}",
        description="; ".join(
            f"{s.name}: "
            + ", ".join(
                f"{c} {unit.value(p.value)}" for c, p in zip(axes.categories, s.points, strict=True)
            )
            for s in drawn
        ),
        caption=material.caption(caption),
        stamp=material.stamp,
    )
    return series(
        about,
        axes.categories,
        shown,
        numbers,
        axis=axis,
        ordered=axes.ordered,
        comparison=comparison,
    )


def _lines(axes: _Axes, rows: Sequence[Row], panel: str) -> list[Series]:
    by: dict[str, dict[str, Point]] = {}
    for row in rows:
        e = row.estimate
        by.setdefault(row.group.get(axes.panel, panel), {})[row.group[axes.category]] = Point(
            e.value, e.low, e.high
        )
    nothing = Point(math.nan, math.nan, math.nan)
    return [
        Series(name, [points.get(c, nothing) for c in axes.categories])
        for name, points in by.items()
    ]


def _comparison_series(material: Material, spec: Analysis, axes: _Axes) -> Series | None:
    """Another panel's series over the same categories, such as people's for judges.

    None where the protocol does not ask for it.
    """
    same = ("statistic", "criterion", "items", "where", "mode", "collapse", "arm")
    for other in material.study.analyses:
        alike = all(getattr(other, key) == getattr(spec, key) for key in same)
        alike = alike and other.options.labels_counted == spec.options.labels_counted
        if alike and other.raters != spec.raters and other.by == (axes.category,):
            rows = [
                r
                for r in material.results.estimable_rows
                if r.analysis == other.name and r.kind == "estimate"
            ]
            return _lines(axes, rows, other.raters)[0] if rows else None
    return None


def _ensembles(material: Material, name: str, statistic: str) -> list[Drawing]:
    """All ensembles by rank, those that the table leaves out too."""
    _, numbers = material.language.gettext, material.numbers
    rows = [
        r for r in material.results.estimable_rows if r.analysis == name and r.kind == "estimate"
    ]
    all_of: list[Row] = [r for r in rows if r.group.get("size") and math.isfinite(r.estimate.value)]
    if len(all_of) < 2:
        return []
    out_of_bag = next(
        (r for r in rows if not r.group.get("size") and math.isfinite(r.estimate.value)), None
    )
    all_of.sort(key=lambda r: -r.estimate.value)
    shown = [
        Ranked(r.estimate.value, r.estimate.low, r.estimate.high, r.group["size"] == "1")
        for r in all_of
    ]
    word = title(statistic, material.language)
    beyond = None
    if out_of_bag is not None:
        e = out_of_bag.estimate
        label = _("best, out of bag: %(value)s") % {"value": numbers.with_interval(e)}
        beyond = Dot(label, e.value, e.low, e.high, "")
    caption = _(
        "%(n)s ensembles of judges by rank, each with its CI, analysis “%(name)s”. The"
        " best was selected on these data. Dashed line and band: out-of-bag estimate of"
        " the best ensemble and its range."
    ) % {"n": numbers.count(len(shown)), "name": name}
    caption += " " + _("The best: %(name)s.") % {"name": all_of[0].group["ensemble"]}
    first = _("best: %(value)s") % {"value": numbers.plain(shown[0].value)}
    about = About(
        key=anchor("ranking", name),
        title=f"{word}: {name}",
        description="; ".join(
            [
                *(f"{r.group['ensemble']}: {numbers.plain(r.estimate.value)}" for r in all_of[:20]),
                beyond.label if beyond else "",
            ]
        ),
        caption=material.caption(caption),
        stamp=material.stamp,
    )
    return [
        ranking(
            about,
            shown,
            numbers,
            axis=word,
            rank=_("Rank"),
            keys=RankingKeys(first, _("one judge alone"), _("several judges by majority")),
            beyond=beyond,
        )
    ]
