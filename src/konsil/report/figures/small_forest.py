"""A small forest plot for the first page: dots with intervals, and a named reference line."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from konsil.report.figures.drawing import MUTED, RULE, Drawing, finish, style
from konsil.report.figures.svg_primitives import (
    ROW,
    About,
    Dot,
    ValueAxis,
    draw_dot,
    frame,
    row_label,
    short,
    span,
    stamp,
    widest,
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


def small_forest(
    about: About,
    dots: Sequence[Dot],
    numbers: Numbers,
    *,
    axis: ValueAxis,
    reference_name: str = "",
    mark_name: str = "",
) -> Drawing:
    """Draw one row for each estimate; the dashed line and the diamonds are named above the rows."""
    with style():
        above = ABOVE if axis.reference is not None or mark_name else 0.08
        height = ROW * len(dots) + above + BELOW
        figure = Figure(figsize=(WIDTH, height))
        left = max(0.6, widest([short(d.label, LONGEST) for d in dots], 8.5) + 0.2)
        axes = figure.add_axes(
            (
                left / WIDTH,
                BELOW / height,
                (WIDTH - left - RIGHT) / WIDTH,
                (height - BELOW - above) / height,
            )
        )
        axes.set_ylim(len(dots) - 0.5, -0.5)
        values = [x for d in dots for x in (d.value, d.low, d.high, d.mark)]
        axes.set_xlim(*(axis.limits or span(values, axis.reference)))
        frame(axes, "", numbers)
        figure.text(0.5, 0.2 / height, short(axis.title, 64), ha="center", fontsize=8)
        if axis.band is not None:
            axes.axvspan(*axis.band, color=RULE, alpha=0.5, linewidth=0, zorder=0)
        if axis.reference is not None:
            axes.axvline(
                axis.reference, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1
            )
            axes.annotate(
                reference_name,
                (axis.reference, 1.0),
                (0, 2),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=7.5,
                color=MUTED,
            )
        if mark_name:
            figure.text(
                1 - RIGHT / WIDTH,
                1 - 0.03 / height,
                f"◇ {short(mark_name)}",
                ha="right",
                va="top",
                fontsize=7.5,
                color=MUTED,
            )
        for y, dot in enumerate(dots):
            row_label(axes, y, short(dot.label, LONGEST))
            draw_dot(axes, y, dot)
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)
