"""Figures of comparisons: win differences with their parts, matrices, and strata."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from konsil.report.figures.drawing import ACCENT, INK, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.svg_primitives import (
    EDGE,
    ROW,
    SEQUENTIAL,
    WIDTH,
    About,
    Dot,
    draw_dot,
    frame,
    group_label,
    label_width,
    letters_on,
    lines_of,
    row_label,
    short,
    span,
    stamp,
    widest,
)
from konsil.report.material.tables import Numbers

DIVERGING = LinearSegmentedColormap.from_list(
    "konsil against", ["#8c3b17", "#dda27f", "#f4f2ee", "#86b3d1", "#1f5c85"]
)
"""From losing to winning; the ends differ in lightness from the middle and in hue from one
another."""
OUTCOMES = ("#1f5c85", "#86b3d1", "#e9e6df", "#dda27f", "#8c3b17")
"""Much better, somewhat better, equal, somewhat worse, much worse."""
_OTHER = "#c96a34"
"""The second stratum: lighter in grey than the first."""


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


def wins(
    about: About,
    dots: Sequence[Dot],
    shares: Sequence[tuple[float, ...]],
    words: Sequence[str],
    numbers: Numbers,
    *,
    axis: str,
    shares_axis: str,
) -> Drawing:
    """Win differences with their intervals.

    Beside each the shares of what it is made of, from much better to worse.
    """
    with style():
        lines = lines_of([d.group for d in dots])
        top = 0.32
        height = ROW * len(lines) + 0.46 + top
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([d.label for d in dots])
        room = WIDTH - left_margin - 0.25
        box = (0.46 / height, (height - 0.46 - top) / height)
        axes = figure.add_axes((left_margin / WIDTH, box[0], room * 0.55 / WIDTH, box[1]))
        share_axes = figure.add_axes(
            ((left_margin + room * 0.55 + 0.15) / WIDTH, box[0], room * 0.45 / WIDTH, box[1])
        )
        for panel_axes in (axes, share_axes):
            panel_axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_xlim(*span([x for d in dots for x in (d.value, d.low, d.high)], 0.0))
        share_axes.set_xlim(0, 1)
        frame(axes, axis, numbers)
        frame(share_axes, shares_axis, numbers, grid=False)
        axes.axvline(0.0, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        for y, line in enumerate(lines):
            if isinstance(line, str):
                group_label(axes, y, line)
                continue
            row_label(axes, y, short(dots[line].label), indent=0.1 if dots[line].group else 0.0)
            draw_dot(axes, y, dots[line])
            _stack(share_axes, y, shares[line], numbers)
        keys = [
            Patch(facecolor=c, edgecolor=EDGE, linewidth=0.5, label=w)
            for c, w in zip(OUTCOMES, words, strict=True)
        ]
        figure.legend(
            handles=keys,
            loc="upper right",
            bbox_to_anchor=(1 - 0.05 / WIDTH, 1 - 0.02 / height),
            ncols=5,
            frameon=False,
            fontsize=7.5,
            borderpad=0.1,
            borderaxespad=0,
            handlelength=1.0,
            handleheight=0.9,
            columnspacing=0.9,
            handletextpad=0.4,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _stack(axes: Axes, y: float, shares: Sequence[float], numbers: Numbers) -> None:
    start = 0.0
    for share, colour in zip(shares, OUTCOMES, strict=False):
        if not math.isfinite(share):
            return
        axes.add_patch(
            Rectangle(
                (start, y - 0.36), share, 0.72, facecolor=colour, edgecolor=EDGE, linewidth=0.4
            )
        )
        if share >= 0.13:
            axes.text(
                start + share / 2,
                y,
                numbers.plain(share, 2),
                ha="center",
                va="center_baseline",
                fontsize=7,
                color=letters_on(colour),
            )
        start += share


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


def strata(
    about: About,
    dots: Mapping[str, Sequence[Dot]],
    numbers: Numbers,
    *,
    axis: str,
    reference: float | None = 0.0,
) -> Drawing:
    """The same rows in several strata.

    One colour and one mark for each, one above the other within a row.
    """
    names = list(dots)
    marks, inks = ("o", "s", "^"), (ACCENT, _OTHER, MUTED)
    with style():
        first = dots[names[0]]
        lines = lines_of([d.group for d in first])
        step = ROW * 1.25
        height = step * len(lines) + 0.46 + 0.3
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([d.label for d in first])
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                0.46 / height,
                (WIDTH - left_margin - 0.1) / WIDTH,
                (height - 0.46 - 0.3) / height,
            )
        )
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_xlim(
            *span(
                [x for part in dots.values() for d in part for x in (d.value, d.low, d.high)],
                reference,
            )
        )
        frame(axes, axis, numbers)
        if reference is not None:
            axes.axvline(reference, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        for y, line in enumerate(lines):
            if isinstance(line, str):
                group_label(axes, y, line)
                continue
            row_label(axes, y, short(first[line].label), indent=0.1 if first[line].group else 0.0)
            for n, name in enumerate(names):
                dot = dots[name][line]
                at = y + (n - (len(names) - 1) / 2) * 0.36
                if math.isfinite(dot.low):
                    axes.plot(
                        [dot.low, dot.high],
                        [at, at],
                        color=inks[n],
                        linewidth=1.4,
                        solid_capstyle="butt",
                    )
                if math.isfinite(dot.value):
                    axes.plot(
                        [dot.value],
                        [at],
                        marker=marks[n],
                        markersize=4.6,
                        color=inks[n],
                        markerfacecolor=inks[n] if n == 0 else PAPER,
                        markeredgewidth=1.1,
                    )
        for n, name in enumerate(names):
            axes.plot(
                [],
                [],
                linestyle="none",
                marker=marks[n],
                markersize=4.6,
                color=inks[n],
                label=short(name),
                markerfacecolor=inks[n] if n == 0 else PAPER,
                markeredgewidth=1.1,
            )
        axes.legend(
            loc="lower right",
            bbox_to_anchor=(1, 1.0),
            frameon=False,
            fontsize=8,
            borderpad=0,
            ncols=3,
            handlelength=1,
            columnspacing=1.2,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def boxes(
    about: About, rows: Sequence[tuple[str, tuple[float, ...]]], numbers: Numbers, *, axis: str
) -> Drawing:
    """Boxes of the 5th, 25th, 50th, 75th and 95th percentile of each row.

    A box on a line with a mark at the median. A sixth number is the mean, an open diamond.
    """
    with style():
        height = ROW * 1.3 * len(rows) + 0.56
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([name for name, _ in rows])
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                0.46 / height,
                (WIDTH - left_margin - 0.1) / WIDTH,
                (height - 0.52) / height,
            )
        )
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, max(ends[4] for _, ends in rows) * 1.05)
        frame(axes, axis, numbers)
        for y, (name, (low, first, middle, third, high, *mean)) in enumerate(rows):
            row_label(axes, y, short(name))
            axes.plot([low, high], [y, y], color=ACCENT, linewidth=1.3, zorder=2)
            axes.add_patch(
                Rectangle(
                    (first, y - 0.28),
                    third - first,
                    0.56,
                    facecolor="#a9cfe8",
                    edgecolor=ACCENT,
                    linewidth=1,
                    zorder=3,
                )
            )
            axes.plot([middle, middle], [y - 0.28, y + 0.28], color=INK, linewidth=2, zorder=4)
            axes.plot(
                mean,
                [y] * len(mean),
                marker="D",
                linestyle="none",
                markersize=4.2,
                color=INK,
                markerfacecolor=PAPER,
                zorder=5,
            )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def counts(
    about: About, bars: Sequence[tuple[str, int]], numbers: Numbers, *, axis: str
) -> Drawing:
    """Horizontal bars of counts with their numbers."""
    with style():
        height = ROW * len(bars) + 0.56
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([name for name, _ in bars])
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                0.46 / height,
                (WIDTH - left_margin - 0.6) / WIDTH,
                (height - 0.52) / height,
            )
        )
        axes.set_ylim(len(bars) - 0.5, -0.5)
        axes.set_xlim(0, max(n for _, n in bars))
        frame(axes, axis, numbers)
        for y, (name, n) in enumerate(bars):
            row_label(axes, y, short(name))
            axes.add_patch(
                Rectangle((0, y - 0.34), n, 0.68, facecolor=ACCENT, linewidth=0, zorder=2)
            )
            axes.annotate(
                numbers.count(n),
                (n, y),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)
