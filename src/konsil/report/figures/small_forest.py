"""A small forest plot for the first page: dots with intervals, and a named reference line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from konsil.report.figures.axis_lines import benchmark_key, draw_axis, draw_keys
from konsil.report.figures.drawing import Drawing, finish, style
from konsil.report.figures.svg_primitives import (
    ROW,
    About,
    Dot,
    ValueAxis,
    draw_dot,
    row_label,
    short,
    span,
    stamp,
    widest,
    wrapped,
)
from konsil.report.material.tables import Numbers

WIDTH = 4.6
"""Inches: narrow enough to be read on a phone without scrolling."""
RIGHT = 0.2
"""Inches at the right, for half of the last number of the axis."""
ABOVE = 0.22
"""Inches above the rows, for the names of the reference line and of the diamonds."""
BELOW = 0.58
"""Inches below the rows, for the axis, its title and the stamp."""
LONGEST = 34
"""Characters of a row's name."""
TITLE = 0.14
"""Inches that the second line of the axis' title takes."""
LONGEST_TITLE = 130
"""Characters of the axis' title, in two lines."""
NAME = 0.15
"""Inches that a further row of names above the rows takes."""
LONGEST_NAME = 72
"""Characters of the name of the diamonds."""


def small_forest(
    about: About,
    dots: Sequence[Dot],
    numbers: Numbers,
    *,
    axis: ValueAxis,
    mark_name: str = "",
) -> Drawing:
    """Draw one row for each estimate; the dashed line and the diamonds are named above the rows."""
    with style():
        title = wrapped(axis.title, WIDTH - 0.2, 8, LONGEST_TITLE)
        names = [name for name in (*axis.key_names, short(mark_name, LONGEST_NAME)) if name]
        # Names that do not fit side by side stand one below the other.
        rows_of_names = len(names) if sum(widest([n], 7.5) + 0.5 for n in names) > WIDTH else 1
        above = ABOVE + NAME * (rows_of_names - 1) if names else 0.08
        below = BELOW + axis.room_below + TITLE * title.count("\n")
        height = ROW * len(dots) + above + below
        figure = Figure(figsize=(WIDTH, height))
        left_margin = max(0.6, widest([short(d.label, LONGEST) for d in dots], 8.5) + 0.2)
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                below / height,
                (WIDTH - left_margin - RIGHT) / WIDTH,
                (height - below - above) / height,
            )
        )
        axes.set_ylim(len(dots) - 0.5, -0.5)
        values = [x for d in dots for x in (d.value, d.low, d.high, d.mark)]
        axes.set_xlim(*(axis.limits or span(values, axis.reference)))
        keys = draw_axis(axes, replace(axis, title=""), numbers)
        figure.text(0.5, 0.2 / height, title, ha="center", fontsize=8)
        if mark_name:
            keys += benchmark_key(axes, short(mark_name, LONGEST_NAME))
        draw_keys(figure, keys, 0.02, rows=rows_of_names)
        for y, dot in enumerate(dots):
            row_label(axes, y, short(dot.label, LONGEST))
            draw_dot(axes, y, dot)
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)
