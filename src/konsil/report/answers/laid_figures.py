"""Figures that the protocol lays out: estimates of several analyses by rows and panels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from konsil.analysis import Row
from konsil.errors.message import message
from konsil.report.answers.layout_words import caption_of, word_of
from konsil.report.answers.layouts import key_value
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.figures import forest
from konsil.report.figures.matrices import Grid, MatrixAxes, grids
from konsil.report.figures.small_multiples import Point, Series, series
from konsil.report.figures.svg_primitives import About, Dot, ValueAxis
from konsil.report.figures.units import Unit
from konsil.report.figures.value_axes import (
    axis_title,
    figure_numbers,
    ranked,
    system_colours,
    value_axis,
    with_colours,
    with_unit,
)
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import Joined, benchmark_names, estimates_of
from konsil.study.sections.table_layout import FigureLayout

_ALONE = "all"
"""The name of a panel of estimates that are of no group."""


@dataclass(frozen=True)
class LaidFigure:
    """One figure of the protocol."""

    anchor: str
    """Where the page links to."""
    drawing: Drawing | None
    """The figure; None where its analyses have no estimates."""
    caption: str
    """What it would show."""


def laid_figures(material: Material) -> list[LaidFigure]:
    """The figures in the order of the protocol, from the results alone."""
    return [
        LaidFigure(
            anchor("figure", layout.id), _drawn(material, layout), material.caption(layout.title)
        )
        for layout in material.study.figures
    ]


def _drawn(material: Material, layout: FigureLayout) -> Drawing | None:
    lines = list(_lines(material, layout))
    if not any(math.isfinite(line.row.estimate.value) for line in lines):
        return None
    draw = {"forest": _forest, "series": _series, "matrix": _matrix}[layout.kind]
    # A place of a series or matrix has one estimate; a forest hides none.
    keys = (*layout.rows, *layout.columns, *layout.panels)
    places = {tuple(key_value(line.row, key) for key in keys) for line in lines}
    return (draw if len(places) == len(lines) else _forest)(material, layout, lines)


def _lines(material: Material, layout: FigureLayout) -> Iterator[Joined]:
    """The estimates of its analyses, in the order of the protocol's groups."""
    for name in dict.fromkeys(layout.analyses):
        yield from estimates_of(material, name)


def _axis(material: Material, layout: FigureLayout, lines: Sequence[Joined]) -> ValueAxis:
    """The axis of all estimates; its title names what all of them have in common."""
    statistic = lines[0].row.statistic
    specs = {a.name: a for a in material.study.analyses}
    spec = specs.get(lines[0].row.analysis)
    dots = [_dot("", line) for line in lines]
    axis = value_axis(material, statistic, lines, spec=spec, dots=dots)
    titles = {
        axis_title(material, line.row.statistic, specs.get(line.row.analysis)) for line in lines
    }
    if len(titles) > 1:
        is_one = len({line.row.statistic for line in lines}) == 1
        words = title(statistic, material.language) if is_one else layout.title
        axis = replace(axis, title=with_unit(material, words, statistic))
    if layout.reference is not None:
        axis = replace(
            axis, reference=layout.reference / axis.factor, reference_name=layout.reference_name
        )
    if axis.limits is not None:
        ends = [0.0] if layout.zero else []
        ends += [] if axis.reference is None else [axis.reference]
        low, high = axis.limits
        axis = replace(axis, limits=(min(low, *ends), max(high, *ends)) if ends else axis.limits)
    return axis


def _forest(material: Material, layout: FigureLayout, lines: Sequence[Joined]) -> Drawing:
    axis = _axis(material, layout, lines)
    text_of, heading = figure_numbers(material, lines[0].row.statistic, lines)
    by_group: dict[str, list[Joined]] = {}
    for line in lines:
        by_group.setdefault(_words(material, layout.panels, line.row), []).append(line)
    ordered = [(g, line) for g, part in by_group.items() for line in _by_rank(layout, part)]
    marks = "" if axis.benchmark is not None else ", ".join(benchmark_names(lines))
    dots = [
        replace(
            _dot(_words(material, layout.rows, line.row) or line.row.analysis, line),
            text=text_of(line.row.estimate),
            group=group,
            mark=line.benchmark.estimate.value if marks and line.benchmark else math.nan,
        )
        for group, line in ordered
    ]
    dots = with_colours(material, dots, [line.row.group.get("system", "") for _g, line in ordered])
    about = _about(
        material, layout, lines, [(f"{d.group} {d.label}".strip(), d.text) for d in dots]
    )
    return forest(about, dots, material.numbers, axis=axis, heading=heading, mark=marks)


def _by_rank(layout: FigureLayout, lines: list[Joined]) -> list[Joined]:
    """Systems and raters by estimate, everything else in the protocol's order."""
    return ranked(lines) if layout.rows in (("system",), ("rater",)) else lines


def _series(material: Material, layout: FigureLayout, lines: Sequence[Joined]) -> Drawing:
    [key] = layout.rows
    axis = _axis(material, layout, lines)
    categories = list(dict.fromkeys(key_value(line.row, key) for line in lines))
    points: dict[str, dict[str, Point]] = {}
    for line in lines:
        e = line.row.estimate
        name = _words(material, layout.panels, line.row) or material.language.gettext(_ALONE)
        points.setdefault(name, {})[key_value(line.row, key)] = Point(e.value, e.low, e.high)
    colours = system_colours(material)
    nothing = Point(math.nan, math.nan, math.nan)
    shown = [
        Series(name, [part.get(c, nothing) for c in categories], colours.get(name, ""))
        for name, part in points.items()
    ]
    unit = Unit(lines[0].row.statistic, material.numbers)
    described = [
        (f"{s.name} {word_of(material, key, c)}", unit.value(p.value))
        for s in shown
        for c, p in zip(categories, s.points, strict=True)
    ]
    return series(
        _about(material, layout, lines, described),
        [word_of(material, key, c) for c in categories],
        shown,
        material.numbers,
        axis=axis,
        ordered=key not in ("system", "rater", "criterion", "panel", "statistic", "analysis"),
    )


def _matrix(material: Material, layout: FigureLayout, lines: Sequence[Joined]) -> Drawing:
    cells: dict[str, dict[tuple[str, str], Row]] = {}
    for line in lines:
        place = (
            _words(material, layout.rows, line.row),
            _words(material, layout.columns, line.row),
        )
        cells.setdefault(_words(material, layout.panels, line.row), {})[place] = line.row
    down = dict.fromkeys(r for part in cells.values() for r, _c in part)
    present = dict.fromkeys(c for part in cells.values() for _r, c in part)
    # Of two systems against one another, both sides have one order.
    along = [*(c for c in down if c in present), *(c for c in present if c not in down)]
    panels = [
        Grid(
            name,
            tuple(down),
            tuple(along),
            {place: r.estimate.value for place, r in part.items()},
            intervals={place: (r.estimate.low, r.estimate.high) for place, r in part.items()},
        )
        for name, part in cells.items()
    ]
    axis = _axis(material, layout, lines)
    values = [v for p in panels for v in p.values.values() if math.isfinite(v)]
    largest = max(map(abs, values))
    limits = (-largest, largest) if min(values) < 0 else (0.0, max(largest, 0.01))
    numbers = Unit(lines[0].row.statistic, material.numbers)
    described = [
        (f"{p.title} {r}, {c}".strip(), numbers.value(v))
        for p in panels
        for (r, c), v in p.values.items()
    ]
    return grids(
        _about(material, layout, lines, described),
        panels,
        material.numbers,
        axes=MatrixAxes("", "", limits, axis.title, axis.factor),
    )


def _dot(label: str, line: Joined) -> Dot:
    e = line.row.estimate
    return Dot(label, e.value, e.low, e.high, "")


def _words(material: Material, keys: Sequence[str], row: Row) -> str:
    words = [word_of(material, k, v) for k in keys if (v := key_value(row, k))]
    return ", ".join(words)


def _about(
    material: Material,
    layout: FigureLayout,
    lines: Sequence[Joined],
    described: Sequence[tuple[str, str]],
) -> About:
    marks = (
        message("Cells: estimates with CIs.", message_id="figure.cells")
        if layout.kind == "matrix"
        else message("Dots: estimates; lines: CIs.", message_id="figure.marks")
    )
    parts = [caption_of(material, layout, [line.row for line in lines])]
    parts += [material.caption(layout.caption)] if layout.caption else []
    parts += [material.numbers.translated(marks)]
    return About(
        key=anchor("figure", layout.id),
        title=layout.title,
        description="; ".join(f"{name}: {text}" for name, text in described),
        caption=" ".join(parts),
        stamp=material.stamp,
    )
