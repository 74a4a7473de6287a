"""Figures of quantities: boxes of percentiles, and bars of counts."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from konsil.report.figures.drawing import ACCENT, INK, PAPER, Drawing, finish, style
from konsil.report.figures.svg_primitives import (
    ROW,
    WIDTH,
    About,
    frame,
    label_width,
    row_label,
    short,
    stamp,
)
from konsil.report.material.tables import Numbers


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
