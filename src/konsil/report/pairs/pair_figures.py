"""Figures of comparisons: win differences with their parts, and strata."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from konsil.report.figures.axis_lines import draw_axis, draw_keys
from konsil.report.figures.drawing import ACCENT, MUTED, PAPER, Drawing, finish, style
from konsil.report.figures.svg_primitives import (
    EDGE,
    ROW,
    WIDTH,
    About,
    Dot,
    ValueAxis,
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
)
from konsil.report.material.tables import Numbers

OUTCOMES = ("#1f5c85", "#86b3d1", "#e9e6df", "#dda27f", "#8c3b17")
"""Much better, somewhat better, equal, somewhat worse, much worse."""
_OTHER = "#c96a34"
"""The second stratum: lighter in grey than the first."""


def wins(
    about: About,
    dots: Sequence[Dot],
    shares: Sequence[tuple[float, ...]],
    words: Sequence[str],
    numbers: Numbers,
    *,
    axis: ValueAxis,
    shares_axis: str,
) -> Drawing:
    """Win differences with their intervals.

    Beside each the shares of what it is made of, from much better to worse.
    """
    with style():
        lines = lines_of([d.group for d in dots])
        top, below = 0.32, 0.46 + axis.room_below
        height = ROW * len(lines) + below + top
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([d.label for d in dots])
        room = WIDTH - left_margin - 0.25
        box = (below / height, (height - below - top) / height)
        axes = figure.add_axes((left_margin / WIDTH, box[0], room * 0.55 / WIDTH, box[1]))
        share_axes = figure.add_axes(
            ((left_margin + room * 0.55 + 0.15) / WIDTH, box[0], room * 0.45 / WIDTH, box[1])
        )
        for panel_axes in (axes, share_axes):
            panel_axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_xlim(*span([x for d in dots for x in (d.value, d.low, d.high)], 0.0))
        share_axes.set_xlim(0, 1)
        lines_drawn = draw_axis(axes, axis, numbers)
        frame(share_axes, shares_axis, numbers, grid=False, factor=axis.factor)
        for y, line in enumerate(lines):
            if isinstance(line, str):
                group_label(axes, y, line)
                continue
            row_label(axes, y, short(dots[line].label), indent=0.1 if dots[line].group else 0.0)
            draw_dot(axes, y, dots[line])
            _stack(share_axes, y, shares[line], numbers)
        keys = [
            *lines_drawn,
            *(
                Patch(facecolor=c, edgecolor=EDGE, linewidth=0.5, label=w)
                for c, w in zip(OUTCOMES, words, strict=True)
            ),
        ]
        figure.legend(
            handles=keys,
            loc="upper right",
            bbox_to_anchor=(1 - 0.05 / WIDTH, 1 - 0.02 / height),
            ncols=len(keys),
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
                numbers.plain(100 * share, 0),
                ha="center",
                va="center_baseline",
                fontsize=7,
                color=letters_on(colour),
            )
        start += share


def strata(
    about: About,
    dots: Mapping[str, Sequence[Dot]],
    numbers: Numbers,
    *,
    axis: ValueAxis,
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
        below = 0.46 + axis.room_below
        height = step * len(lines) + below + 0.3
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([d.label for d in first])
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                below / height,
                (WIDTH - left_margin - 0.1) / WIDTH,
                (height - below - 0.3) / height,
            )
        )
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_xlim(
            *(
                axis.limits
                or span(
                    [x for part in dots.values() for d in part for x in (d.value, d.low, d.high)],
                    axis.reference,
                )
            )
        )
        draw_keys(figure, draw_axis(axes, axis, numbers), 0.02)
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
