"""The figure of an answer over ordered categories, such as levels: one line for each group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from konsil.analysis import Row
from konsil.errors.message import message
from konsil.report.answers.sentence_parts import Query
from konsil.report.figures.drawing import ACCENT, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.svg_primitives import About, short, stamp
from konsil.report.figures.value_axes import label_ends, scale_limits, system_colours, with_unit
from konsil.report.material.glossary import entry
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import column_title, levels_of

COLOURS = (ACCENT, "#b4532a", "#6a7f2e", MUTED)
"""One for each line; more lines than these are rows again."""
MARKS = ("o", "s", "^", "D")
"""The lines' marks, so that they are told apart without colour."""
FEWEST_CATEGORIES = 3
"""Categories from which on lines show more than rows do."""
FEW = 5
"""Clusters below which a point is hollow and no solid line leads to it."""
WIDTH, HEIGHT = 4.6, 2.5
"""Inches, as narrow as the other figures of the first page."""
_LEFT, _RIGHT, _ABOVE, _BELOW = 0.62, 0.12, 0.42, 0.62
_SHIFT = 0.16
"""Categories between the points of two lines, so that their intervals do not cover each other."""


@dataclass(frozen=True)
class _Line:
    """One group over all categories."""

    name: str
    rows: tuple[Row | None, ...]
    """In the order of the categories; None where a category has no estimate."""


def ordered_lines(material: Material, query: Query) -> Drawing | None:
    """The lines; None where the rows are not those of a few groups over ordered categories."""
    rows = query.estimates
    column = next((c for row in rows for c in row.group if _order(material, c)), "")
    names = {tuple(v for c, v in row.group.items() if c != column) for row in rows}
    used = {row.group.get(column, "") for row in rows}
    categories = [c for c in _order(material, column) if c in used]
    if (
        len(categories) < FEWEST_CATEGORIES
        or not used <= set(categories)
        or len(names) > len(COLOURS)
        or len(rows) > len(names) * len(categories)
    ):
        return None
    by_name: dict[str, dict[str, Row]] = {}
    for row in rows:
        name = ", ".join(v for c, v in row.group.items() if c != column) or query.spec.raters
        by_name.setdefault(name, {})[row.group[column]] = row
    lines = [_Line(n, tuple(by.get(c) for c in categories)) for n, by in by_name.items()]
    where = column_title(material, column)
    if column == "level":
        where = material.numbers.translated(
            message(
                "{level}, from most to least information",
                message_id="answer.from_most_to_least",
                level=where,
            )
        )
    return _draw(material, query, where, categories, lines)


def _order(material: Material, column: str) -> tuple[str, ...]:
    """The values of a column in their order; none where they have none."""
    if column == "level":
        return levels_of(material)
    return next((d.labels for d in material.study.derived if d.name == column), ())


def is_of_few(row: Row) -> bool:
    """Whether an estimate is of so few clusters that a line to it would claim a course."""
    n = row.estimate.n_clusters
    return bool(n) and n < FEW


def _draw(
    material: Material,
    query: Query,
    where: str,
    categories: Sequence[str],
    lines: Sequence[_Line],
) -> Drawing:
    numbers, factor = material.numbers, query.unit.factor
    caption = message(
        "{quantity} by {category}: estimates (marks) and CIs (bars).",
        message_id="answer.figure_of_lines",
        quantity=query.quantity,
        category=where,
    )
    about = About(
        key=anchor("answer", query.spec.name),
        title=query.quantity,
        description="; ".join(
            f"{line.name}: "
            + ", ".join(
                f"{c} {query.unit.value(r.estimate.value)}"
                for c, r in zip(categories, line.rows, strict=True)
                if r is not None
            )
            for line in lines
        ),
        caption=numbers.translated(caption),
        stamp=material.stamp,
    )
    present = [row for line in lines for row in line.rows if row is not None]
    low, high = scale_limits(
        entry(query.spec.statistic),
        [x for r in present for x in _numbers(r)],
        None,
        ends=label_ends(material, query.spec),
    )
    with style():
        figure = Figure(figsize=(WIDTH, HEIGHT))
        box = (WIDTH - _LEFT - _RIGHT, HEIGHT - _ABOVE - _BELOW)
        axes = figure.add_axes((_LEFT / WIDTH, _BELOW / HEIGHT, box[0] / WIDTH, box[1] / HEIGHT))
        axes.set_xlim(-0.4, len(categories) - 0.6)
        axes.set_ylim(low * factor, high * factor)
        axes.spines[["right", "top"]].set_visible(False)
        axes.set_xticks(range(len(categories)), [short(c, 14) for c in categories])
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: numbers.tick(y)))
        axes.tick_params(length=3, width=0.7, labelsize=8)
        axes.grid(axis="y", color=RULE, linewidth=0.6, zorder=0)
        axes.set_axisbelow(True)
        of_systems = system_colours(material)
        colours = [of_systems.get(x.name, c) for x, c in zip(lines, COLOURS, strict=False)]
        for n, line in enumerate(lines):
            shift = (n - (len(lines) - 1) / 2) * _SHIFT
            _add(axes, line, factor, shift, colours[n], MARKS[n])
        keys = [
            Line2D([], [], color=colour, marker=mark, markersize=4.5, label=short(line.name))
            for line, colour, mark in zip(lines, colours, MARKS, strict=False)
        ]
        if any(is_of_few(row) for row in present):
            keys.append(_hollow())
        figure.legend(
            handles=keys,
            loc="upper left",
            bbox_to_anchor=(_LEFT / WIDTH, 1.0),
            ncols=len(keys),
            frameon=False,
            fontsize=8,
            borderpad=0.2,
            borderaxespad=0.2,
            handlelength=1.6,
            columnspacing=1.2,
        )
        figure.text(
            (_LEFT + box[0] / 2) / WIDTH, 0.24 / HEIGHT, short(where, 60), ha="center", fontsize=8
        )
        figure.text(
            _LEFT / WIDTH,
            1 - (_ABOVE - 0.05) / HEIGHT,
            with_unit(material, short(query.quantity, 60), query.spec.statistic),
            ha="left",
            va="bottom",
            fontsize=8,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _numbers(row: Row) -> tuple[float, float, float]:
    e = row.estimate
    return e.value, e.low, e.high


def _add(axes: Axes, line: _Line, factor: float, shift: float, colour: str, mark: str) -> None:
    """One line: solid between neighbours of enough clusters, dashed to those of few."""
    points = [(n + shift, row) for n, row in enumerate(line.rows) if row is not None]
    for (x, row), (next_x, next_row) in pairwise(points):
        is_weak = is_of_few(row) or is_of_few(next_row)
        axes.plot(
            [x, next_x],
            [row.estimate.value * factor, next_row.estimate.value * factor],
            color=colour,
            linewidth=0.8 if is_weak else 1.3,
            linestyle=(0, (2, 2.5)) if is_weak else "-",
            zorder=2,
        )
    for x, row in points:
        value, low, high = (y * factor for y in _numbers(row))
        if math.isfinite(low) and math.isfinite(high):
            axes.plot([x, x], [low, high], color=colour, linewidth=1.1, zorder=1.5)
        axes.plot(
            [x],
            [value],
            color=colour,
            marker=mark,
            markersize=5,
            markerfacecolor=PAPER if is_of_few(row) else colour,
            markeredgecolor=colour,
            markeredgewidth=1.0,
            clip_on=False,  # at 0 and 100 per cent the mark is whole
            zorder=3,
        )


def _hollow() -> Line2D:
    return Line2D(
        [],
        [],
        color=MUTED,
        marker="o",
        markersize=4.5,
        markerfacecolor=PAPER,
        linestyle=(0, (2, 2.5)),
        linewidth=0.8,
        label=f"n < {FEW}",
    )
