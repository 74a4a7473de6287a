"""Figures of comparisons: matrices of every two, in panels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from konsil.report.figures.drawing import INK, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.svg_primitives import (
    SEQUENTIAL,
    WIDTH,
    About,
    letters_on,
    short,
    stamp,
    widest,
)
from konsil.report.material.tables import Numbers

DIVERGING = LinearSegmentedColormap.from_list(
    "konsil against", ["#8c3b17", "#dda27f", "#f4f2ee", "#86b3d1", "#1f5c85"]
)
"""From losing to winning; the ends differ in lightness from the middle and in hue from one
another."""


@dataclass(frozen=True)
class Grid:
    """One panel of a figure of matrices."""

    title: str
    """What the panel is about."""
    rows: tuple[str, ...]
    """Who is at the left."""
    columns: tuple[str, ...]
    """Who is at the bottom."""
    values: Mapping[tuple[str, str], float]
    """(row, column) -> value; what is absent or nan shows a dash."""
    framed: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """Cells with a frame: judges on their own answers."""


def grids(
    about: About,
    panels: Sequence[Grid],
    numbers: Numbers,
    *,
    down: str,
    along: str,
    limits: tuple[float, float],
    across: int = 3,
) -> Drawing:
    """Matrices as panels of cells; `down` is the title of the rows, `along` of the columns."""
    colours = DIVERGING if limits[0] < 0 else SEQUENTIAL
    with style():
        across = min(across, len(panels))
        n_rows, n_columns = len(panels[0].rows), len(panels[0].columns)
        names = [short(r, 16) for r in panels[0].rows]
        left_margin = widest(names, 8) + 0.38
        gap = 0.16
        cell = min(0.62, (WIDTH - left_margin - 0.1 - gap * (across - 1)) / across / n_columns)
        high = cell if n_rows <= 6 else max(0.22, min(cell, 5.5 / n_rows))
        is_long = widest([short(c, 14) for c in panels[0].columns], 8) > cell
        below = (
            widest([short(c, 14) for c in panels[0].columns], 8) * 0.75 if is_long else 0.15
        ) + 0.3
        down_panels = math.ceil(len(panels) / across)
        each = high * n_rows + 0.28
        height = each * down_panels + below + 0.2
        figure = Figure(figsize=(WIDTH, height))
        for n, panel in enumerate(panels):
            line, place = divmod(n, across)
            x = left_margin + place * (cell * n_columns + gap)
            y = height - 0.05 - each * (line + 1)
            box = (x / WIDTH, y / height, cell * n_columns / WIDTH, high * n_rows / height)
            axes = figure.add_axes(box)
            _cells(axes, panel, numbers, limits, colours, cell)
            axes.set_title(
                short(panel.title, 26), fontsize=8.5, loc="left", pad=3, fontweight="bold"
            )
            lowest = n + across >= len(panels)
            ticks = [i + 0.5 for i in range(n_columns)]
            axes.set_xticks(
                ticks if lowest else [], [short(c, 14) for c in panel.columns] if lowest else []
            )
            if is_long:
                axes.tick_params(axis="x", rotation=40)
                for label in axes.get_xticklabels():
                    label.set(ha="right", rotation_mode="anchor")
            axes.set_yticks(
                [i + 0.5 for i in range(n_rows)] if place == 0 else [], names if place == 0 else []
            )
            axes.tick_params(length=0, labelsize=8)
        figure.text(
            0.06 / WIDTH, 0.5, down, rotation=90, va="center", ha="left", fontsize=8.5, color=MUTED
        )
        figure.text(
            left_margin / WIDTH,
            0.05 / height,
            along,
            ha="left",
            va="bottom",
            fontsize=8.5,
            color=MUTED,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _cells(
    axes: Axes,
    panel: Grid,
    numbers: Numbers,
    limits: tuple[float, float],
    colours: LinearSegmentedColormap,
    width: float,
) -> None:
    axes.set(xlim=(0, len(panel.columns)), ylim=(len(panel.rows), 0))
    axes.spines[:].set_visible(False)
    low, high = limits
    for r, row_name in enumerate(panel.rows):
        for c, other in enumerate(panel.columns):
            value = panel.values.get((row_name, other), math.nan)
            is_estimable = math.isfinite(value)
            colour = (
                to_hex(colours(min(1.0, max(0.0, (value - low) / (high - low)))))
                if is_estimable
                else "none"
            )
            axes.add_patch(
                Rectangle(
                    (c, r),
                    1,
                    1,
                    facecolor=colour,
                    edgecolor=PAPER if is_estimable else RULE,
                    linewidth=1,
                )
            )
            if (row_name, other) in panel.framed:
                axes.add_patch(
                    Rectangle(
                        (c + 0.06, r + 0.06),
                        0.88,
                        0.88,
                        fill=False,
                        edgecolor=INK,
                        linewidth=1.6,
                        zorder=3,
                    )
                )
            shown = numbers.plain(value, 2) if is_estimable else "–"
            axes.text(
                c + 0.5,
                r + 0.5,
                shown,
                ha="center",
                va="center_baseline",
                fontsize=min(8, width * 15),
                color=letters_on(colour) if is_estimable else MUTED,
            )
