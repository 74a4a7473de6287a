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
    draw_scale,
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


SMALLEST = 6.0
"""Points of the intervals in the cells: no journal accepts less."""


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
    intervals: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """(row, column) -> the ends of the interval; nan or absent: none."""


@dataclass(frozen=True)
class MatrixAxes:
    """What the rows, the columns and the colours of matrices are."""

    down: str
    """The title of the rows."""
    along: str
    """The title of the columns."""
    limits: tuple[float, float]
    """The values at the ends of the colours."""
    scale: str = ""
    """The title of the bar of colours."""
    factor: float = 1.0
    """What values are multiplied by where they are written: 100 for per cent."""


@dataclass(frozen=True)
class _Layout:
    """Inches of the parts of the figure."""

    across: int
    cell: float
    high: float
    left_margin: float
    is_turned: bool
    names: float
    """Below a panel, of the names of its columns."""
    has_intervals: bool


_GAP, _TITLE, _BAR = 0.16, 0.24, 0.95
"""Inches between panels, of a panel's title, and of the bar of colours with its numbers."""


def grids(
    about: About, panels: Sequence[Grid], numbers: Numbers, *, axes: MatrixAxes, across: int = 3
) -> Drawing:
    """Matrices as panels of cells, each with its interval where it fits, and a bar of colours."""
    colours = DIVERGING if axes.limits[0] < 0 else SEQUENTIAL
    with style():
        layout = _layout(panels, numbers, axes, across)
        n_columns, n_rows = len(panels[0].columns), len(panels[0].rows)
        n_lines = math.ceil(len(panels) / layout.across)
        # Where the last line has fewer panels, names of columns stand below the line above it, too.
        is_ragged = len(panels) % layout.across != 0 and n_lines > 1
        rooms = [
            _TITLE
            + layout.high * n_rows
            + (layout.names if line >= n_lines - (2 if is_ragged else 1) else 0.06)
            for line in range(n_lines)
        ]
        below = 0.26 + (0.16 if about.stamp else 0.0)
        height = sum(rooms) + below
        figure = Figure(figsize=(WIDTH, height))
        for n, panel in enumerate(panels):
            line, place = divmod(n, layout.across)
            x = layout.left_margin + place * (layout.cell * n_columns + _GAP)
            y = height - sum(rooms[:line]) - _TITLE - layout.high * n_rows
            box = (
                x / WIDTH,
                y / height,
                layout.cell * n_columns / WIDTH,
                layout.high * n_rows / height,
            )
            panel_axes = figure.add_axes(box)
            _cells(panel_axes, panel, numbers, axes, colours, layout)
            _names(
                panel_axes,
                panel,
                layout,
                is_first=place == 0,
                is_lowest=n + layout.across >= len(panels),
            )
        wide = layout.across * (layout.cell * n_columns + _GAP) - _GAP
        middle = below + (height - below - layout.names) / 2 + layout.names
        figure.text(
            0.12 / WIDTH,
            middle / height,
            axes.down,
            rotation=90,
            va="center",
            ha="center",
            fontsize=8.5,
            color=MUTED,
        )
        figure.text(
            (layout.left_margin + wide / 2) / WIDTH,
            (below - 0.2) / height,
            axes.along,
            ha="center",
            va="bottom",
            fontsize=8.5,
            color=MUTED,
        )
        bar = min(layout.high * n_rows, 2.2)
        draw_scale(
            figure,
            ((layout.left_margin + wide + 0.14) / WIDTH, (height - _TITLE - bar) / height),
            bar / height,
            axes.limits,
            axes.scale,
            numbers,
            colours=colours,
            factor=axes.factor,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _layout(panels: Sequence[Grid], numbers: Numbers, axes: MatrixAxes, across: int) -> _Layout:
    """As many panels side by side as leave room for the intervals; without them if none does."""
    n_rows, n_columns = len(panels[0].rows), len(panels[0].columns)
    left_margin = widest([short(r, 16) for r in panels[0].rows], 8) + 0.38
    texts = [_interval(panel, key, numbers, axes) for panel in panels for key in panel.intervals]
    needed = widest(texts, SMALLEST) + 0.06 if any(texts) else 0.0
    names = [short(c, 14) for c in panels[0].columns]
    ways = []
    for n in range(min(across, len(panels)), 0, -1):
        cell = min(0.74, (WIDTH - left_margin - _BAR - _GAP * (n - 1)) / n / n_columns)
        ways.append((n, cell))
    fitting = [way for way in ways if way[1] >= needed]
    n, cell = (fitting or ways)[0]
    has_intervals = bool(fitting) and bool(needed)
    tall = 0.42 if has_intervals else 0.36
    high = min(cell, tall) if n_rows <= 12 else max(0.22, min(cell, 5.5 / n_rows))
    is_turned = widest(names, 8) > cell - 0.04
    room = widest(names, 8) * 0.66 + 0.16 if is_turned else 0.2
    return _Layout(n, cell, high, left_margin, is_turned, room, has_intervals and high >= 0.28)


def _interval(panel: Grid, key: tuple[str, str], numbers: Numbers, axes: MatrixAxes) -> str:
    low, high = panel.intervals.get(key, (math.nan, math.nan))
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    ends = [numbers.plain(x * axes.factor, 0 if axes.factor > 1 else 2) for x in (low, high)]
    return f"[{numbers.language.between.join(ends)}]"


def _names(axes: Axes, panel: Grid, layout: _Layout, *, is_first: bool, is_lowest: bool) -> None:
    """The title, and names of rows at the left and of columns below where no panel is."""
    axes.set_title(short(panel.title, 26), fontsize=8.5, loc="left", pad=3, fontweight="bold")
    axes.set_xticks(
        [i + 0.5 for i in range(len(panel.columns))] if is_lowest else [],
        [short(c, 14) for c in panel.columns] if is_lowest else [],
    )
    if layout.is_turned:
        axes.tick_params(axis="x", rotation=40)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.set_yticks(
        [i + 0.5 for i in range(len(panel.rows))] if is_first else [],
        [short(r, 16) for r in panel.rows] if is_first else [],
    )
    axes.tick_params(length=0, labelsize=8)


def _cells(
    axes: Axes,
    panel: Grid,
    numbers: Numbers,
    scale: MatrixAxes,
    colours: LinearSegmentedColormap,
    layout: _Layout,
) -> None:
    axes.set(xlim=(0, len(panel.columns)), ylim=(len(panel.rows), 0))
    axes.spines[:].set_visible(False)
    low, high = scale.limits
    for r, row_name in enumerate(panel.rows):
        for c, other in enumerate(panel.columns):
            value = panel.values.get((row_name, other), math.nan)
            is_estimable = math.isfinite(value)
            colour = (
                to_hex(colours(min(1.0, max(0.0, (value - low) / (high - low)))))
                if is_estimable
                else "none"
            )
            axes.add_artist(
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
                axes.add_artist(
                    Rectangle(
                        (c + 0.04, r + 0.04),
                        0.92,
                        0.92,
                        fill=False,
                        edgecolor=INK,
                        linewidth=1.6,
                        zorder=3,
                    )
                )
            shown = (
                numbers.plain(value * scale.factor, 0 if scale.factor > 1 else 2)
                if is_estimable
                else "–"
            )
            interval = (
                _interval(panel, (row_name, other), numbers, scale)
                if is_estimable and layout.has_intervals
                else ""
            )
            ink = letters_on(colour) if is_estimable else MUTED
            axes.text(
                c + 0.5,
                r + (0.36 if interval else 0.5),
                shown,
                ha="center",
                va="center_baseline",
                fontsize=max(SMALLEST, min(8, layout.cell * 15)),
                color=ink,
            )
            if interval:
                axes.text(
                    c + 0.5,
                    r + 0.72,
                    interval,
                    ha="center",
                    va="center_baseline",
                    fontsize=SMALLEST,
                    color=ink,
                )
