"""Small multiples: statistics of the same rows, and series over the same categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from konsil.report.figures.axis_lines import benchmark_key, draw_axis, draw_break, draw_keys
from konsil.report.figures.drawing import ACCENT, INK, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.svg_primitives import (
    ROW,
    WIDTH,
    About,
    Dot,
    ValueAxis,
    draw_dot,
    draw_line,
    frame,
    label_width,
    row_label,
    short,
    span,
    stamp,
    widest,
    wrapped,
)
from konsil.report.material.tables import Numbers

ACROSS = 3
"""Panels of series in one row."""
SMALL_WIDTH = 4.6
"""Inches: narrow enough to be read on a phone without scrolling."""
LONGEST_TITLE = 130
"""Characters of the title of a small figure's axis, in two lines."""
_LEAST_PANEL = 1.3
"""Inches below which panels stand one below the other."""
_LONGEST_ROW = 34
"""Characters of a row's name in a small figure."""
_LONGEST_MARK = 72
"""Characters of the name of the diamonds in a small figure."""


def named(axes: Axes, name: str, below: Sequence[str], *, turned: bool) -> None:
    """A panel's name above it, and the categories below it where it is the last of its column."""
    axes.set_title(short(name, 36), fontsize=8.5, loc="left", pad=3, color=INK)
    axes.set_xticks(range(len(below)), [short(c, 18) for c in below])
    if turned:
        axes.tick_params(axis="x", labelrotation=35)
        for text in axes.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")


def panels_across(n: int) -> int:
    """How many of n panels stand in one row: three, but four are two rows of two.

    >>> [panels_across(n) for n in (1, 3, 4, 5)]
    [1, 3, 2, 3]
    """
    return 2 if n == ACROSS + 1 else min(ACROSS, n)


@dataclass(frozen=True)
class Column:
    """One statistic of all rows."""

    title: str
    """What it is."""
    dots: Sequence[Dot]
    """One for each row, in the rows' order."""
    reference: float | None = None
    """Marked where zero means chance."""
    limits: tuple[float, float] | None = None
    """The ends of its scale, shared by columns of one unit; None: as far as its values reach."""
    factor: float = 1.0
    """What values are multiplied by where they are written: 100 for per cent."""
    is_cut: bool = False
    """Whether its scale begins after zero."""


@dataclass(frozen=True)
class Point:
    """One value of a series."""

    value: float
    """The estimate; nan: nothing is drawn."""
    low: float
    """The interval's lower end."""
    high: float
    """The interval's upper end."""


@dataclass(frozen=True)
class Series:
    """One line, a point for each category."""

    name: str
    """What it is."""
    points: Sequence[Point]
    """In the categories' order."""
    colour: str = ""
    """Its colour; empty: that of all which is about no system."""


def columns(
    about: About, rows: Sequence[str], shown: Sequence[Column], numbers: Numbers, *, mark: str = ""
) -> Drawing:
    """Draw several statistics of the same rows, each in a column with a scale of its own."""
    with style():
        each = (WIDTH - label_width(rows)) / len(shown)
        titles = [wrapped(column.title, each - 0.1) for column in shown]
        top = (0.5 if mark else 0.34) + (0.14 if any("\n" in text for text in titles) else 0.0)
        bottom = 0.28 + (0.16 if about.stamp else 0.0)
        height = ROW * 1.05 * len(rows) + bottom + top
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width(rows)
        number = widest(["0.000"], 7.5) + 0.12
        for n, column in enumerate(shown):
            axes = figure.add_axes(
                (
                    (left_margin + n * each) / WIDTH,
                    bottom / height,
                    (each - number - 0.12) / WIDTH,
                    (height - bottom - top) / height,
                )
            )
            axes.set_ylim(len(rows) - 0.5, -0.5)
            values = [x for d in column.dots for x in (d.value, d.low, d.high, d.mark)]
            axes.set_xlim(*(column.limits or span(values, column.reference)))
            frame(axes, "", numbers, factor=column.factor)
            if column.is_cut:
                draw_break(axes)
            axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
            axes.tick_params(axis="x", labelsize=7.5)
            axes.set_title(titles[n], fontsize=8.5, loc="left", pad=4, color=INK)
            if column.reference is not None:
                axes.axvline(
                    column.reference, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1
                )
            for y, dot in enumerate(column.dots):
                draw_dot(axes, y, dot)
                axes.annotate(
                    numbers.plain(dot.value * column.factor, 2 if column.factor == 1 else 1)
                    if math.isfinite(dot.value)
                    else "–",
                    (1.0, y),
                    xycoords=("axes fraction", "data"),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=7.5,
                    color=INK if math.isfinite(dot.value) else MUTED,
                )
            if n == 0:
                for y, name in enumerate(rows):
                    row_label(axes, y, short(name))
        if mark:
            legend(figure, left_margin, [_diamond(mark)])
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def dot_panels(
    about: About,
    panels: Sequence[tuple[str, Sequence[Dot]]],
    numbers: Numbers,
    *,
    axis: ValueAxis,
    mark: str = "",
) -> Drawing:
    """Draw panels of the same rows on one axis, as narrow as a phone; `mark` names the diamonds."""
    with style():
        rows = list(dict.fromkeys(dot.label for _name, part in panels for dot in part))
        left_margin = max(0.6, widest([short(r, _LONGEST_ROW) for r in rows], 8.5) + 0.2)
        across = 2 if SMALL_WIDTH - left_margin >= 2 * _LEAST_PANEL else 1
        down = math.ceil(len(panels) / across)
        gap, right, title_room, below = 0.3, 0.2, 0.26, 0.56 if about.stamp else 0.46
        wide = (SMALL_WIDTH - left_margin - right + gap) / across - gap
        tall = ROW * len(rows)
        title = _with_sides(axis)
        names = [n for n in (*axis.key_names, short(mark, _LONGEST_MARK)) if n]
        top = 0.18 * len(names)
        below += 0.14 * title.count("\n")
        height = top + down * (tall + title_room) + 0.16 + below
        figure = Figure(figsize=(SMALL_WIDTH, height))
        values = [x for _n, part in panels for d in part for x in (d.value, d.low, d.high, d.mark)]
        keys: list[Artist] = []
        for n, (name, part) in enumerate(panels):
            row, place = divmod(n, across)
            axes = figure.add_axes(
                (
                    (left_margin + place * (wide + gap)) / SMALL_WIDTH,
                    1 - (top + (row + 1) * (tall + title_room)) / height,
                    wide / SMALL_WIDTH,
                    tall / height,
                )
            )
            axes.set_ylim(len(rows) - 0.5, -0.5)
            axes.set_xlim(*(axis.limits or span(values, axis.reference)))
            keys = draw_axis(axes, replace(axis, title="", direction=None), numbers)
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
            axes.tick_params(axis="x", labelsize=7.5, labelbottom=n + across >= len(panels))
            axes.set_title(short(name, 36), fontsize=8.5, loc="left", pad=3, color=INK)
            for dot in part:
                draw_dot(axes, rows.index(dot.label), dot)
            for y, label in enumerate(rows if place == 0 else ()):
                row_label(axes, y, short(label, _LONGEST_ROW))
        figure.text(0.5, (below - 0.36) / height, title, ha="center", va="bottom", fontsize=8)
        keys += benchmark_key(axes, short(mark, _LONGEST_MARK)) if mark else []
        draw_keys(figure, keys, 0.02, rows=max(1, len(keys)))
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _with_sides(axis: ValueAxis) -> str:
    """The title of a level axis, with the words of its sides below."""
    title = wrapped(axis.title, SMALL_WIDTH - 0.2, 8, LONGEST_TITLE)
    if axis.direction is None:
        return title
    lower, higher = axis.direction.lower_side, axis.direction.higher_side
    sides = [f"← {lower}"] if lower else []
    sides += [f"{higher} →"] if higher else []
    return f"{title}\n{'   '.join(sides)}"


def series(
    about: About,
    categories: Sequence[str],
    shown: Sequence[Series],
    numbers: Numbers,
    *,
    axis: ValueAxis,
    ordered: bool,
    comparison: Series | None = None,
) -> Drawing:
    """Draw each series in a panel of its own over the same categories, all on one scale.

    `comparison` is drawn in every panel, muted. Points of unordered categories are not joined,
    unless there are only two of them.
    """
    with style():
        across = panels_across(len(shown))
        down = math.ceil(len(shown) / across)
        left_margin, gap, tall = 0.66, 0.22, 1.35
        wide = min((WIDTH - left_margin + gap) / across - gap, 3.4)
        turned = (widest(categories, 7.5) + 0.08) * len(categories) > wide
        below = (widest(categories, 7.5) * 0.6 + 0.14 if turned else 0.18) + (
            0.18 if about.stamp else 0.0
        )
        top = 0.3 if comparison is not None or axis.reference is not None else 0.1
        height = top + down * (tall + 0.3) + below
        figure = Figure(figsize=(WIDTH, height))
        limits = axis.limits or _limits([*shown, *([comparison] if comparison else [])], axis)
        for n, panel in enumerate(shown):
            row, place = divmod(n, across)
            bottom = height - top - (row + 1) * (tall + 0.3) + 0.06
            axes = figure.add_axes(
                (
                    (left_margin + place * (wide + gap)) / WIDTH,
                    bottom / height,
                    wide / WIDTH,
                    tall / height,
                )
            )
            axes.set(xlim=(-0.5, len(categories) - 0.5), ylim=limits)
            _sides(axes, numbers, axis, first=place == 0)
            named(axes, panel.name, categories if n + across >= len(shown) else (), turned=turned)
            if axis.reference is not None:
                axes.axhline(
                    axis.reference, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1
                )
            joined = ordered or len(categories) == 2
            if comparison is not None:
                _draw(axes, comparison, MUTED, marker="s", shift=-0.09, joined=joined)
            _draw(
                axes,
                panel,
                panel.colour or ACCENT,
                marker="o",
                shift=0.09 if comparison is not None else 0.0,
                joined=joined,
            )
        room = height - below - top
        figure.text(
            0.12 / WIDTH,
            (below + room / 2) / height,
            wrapped(_with_direction(axis), room - 0.1, max_length=64),
            rotation=90,
            ha="center",
            va="center",
            fontsize=8.5,
        )
        keys = []
        if comparison is not None:
            keys.append(
                Line2D(
                    [],
                    [],
                    color=MUTED,
                    marker="s",
                    markersize=4,
                    linewidth=1,
                    label=comparison.name,
                )
            )
        if axis.reference is not None:
            keys.append(
                Line2D(
                    [],
                    [],
                    color=INK,
                    linewidth=0.8,
                    linestyle=(0, (4, 3)),
                    label=axis.reference_name,
                )
            )
        if keys:
            legend(figure, left_margin, keys)
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _draw(
    axes: Axes, panel: Series, colour: str, *, marker: str, shift: float, joined: bool
) -> None:
    """One line with its intervals."""
    at = [(n + shift, p) for n, p in enumerate(panel.points) if math.isfinite(p.value)]
    for x, p in at:
        if math.isfinite(p.low) and math.isfinite(p.high):
            draw_line(
                axes,
                [x, x],
                [p.low, p.high],
                color=colour,
                linewidth=1.3,
                solid_capstyle="butt",
                zorder=2,
            )
    draw_line(
        axes,
        [x for x, _ in at],
        [p.value for _, p in at],
        color=colour,
        marker=marker,
        markersize=4.2,
        linewidth=1.0,
        linestyle="-" if joined else "none",
        markeredgecolor=PAPER,
        markeredgewidth=0.5,
        zorder=3,
    )


def _limits(shown: Sequence[Series], axis: ValueAxis) -> tuple[float, float]:
    values = [x for s in shown for p in s.points for x in (p.value, p.low, p.high)]
    return span(values, axis.reference)


def _with_direction(axis: ValueAxis) -> str:
    """The title of an upright axis, with an arrow to its better end where that is known."""
    if axis.direction is None or (axis.direction.lower_side and axis.direction.higher_side):
        return axis.title
    return f"{axis.title} " + (
        f"({axis.direction.higher_side} →)"
        if axis.direction.higher_side
        else f"(← {axis.direction.lower_side})"
    )


def _sides(axes: Axes, numbers: Numbers, axis: ValueAxis, *, first: bool) -> None:
    axes.spines[["right", "top"]].set_visible(False)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda y, _: numbers.tick(y * axis.factor) if first else "")
    )
    if axis.origin is not None and axes.get_ylim()[0] > axis.origin:
        draw_break(axes, is_upright=True)
    axes.tick_params(length=3, width=0.7, labelsize=7.5)
    axes.grid(axis="y", color=RULE, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)


def _diamond(name: str) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="none",
        marker="D",
        markersize=5,
        color=INK,
        markerfacecolor=PAPER,
        label=name,
    )


def legend(figure: Figure, left_margin: float, keys: Sequence[Line2D]) -> None:
    """The keys in one line at the figure's top."""
    figure.legend(
        handles=list(keys),
        loc="upper left",
        bbox_to_anchor=(left_margin / WIDTH, 1.0),
        ncols=len(keys),
        frameon=False,
        fontsize=8,
        borderpad=0.2,
        borderaxespad=0,
        handlelength=1.8,
        columnspacing=1.5,
    )
