"""The axis of the values with its named lines and bands, its direction, and the mark of a cut."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path as MarkerPath
from matplotlib.transforms import offset_copy

from konsil.report.figures.drawing import INK, MUTED, PAPER, RULE
from konsil.report.figures.svg_primitives import ValueAxis, frame
from konsil.report.material.tables import Numbers

_STROKE = MarkerPath([(-0.35, -1.0), (0.35, 1.0)])
"""One of the strokes of a cut axis."""


def draw_axis(axes: Axes, axis: ValueAxis, numbers: Numbers) -> list[Artist]:
    """The axis of the values with its lines and bands, which the keys returned are to name."""
    frame(axes, axis.title, numbers, factor=axis.factor)
    keys: list[Artist] = []
    if axis.reference is not None:
        line = axes.axvline(
            axis.reference, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1
        )
        if axis.reference_name:
            line.set_label(axis.reference_name)
            keys.append(line)
    if axis.band is not None:
        band = axes.axvspan(*axis.band, color=RULE, alpha=0.5, linewidth=0, zorder=0)
        if axis.band_name:
            band.set_label(axis.band_name)
            keys.append(band)
    if (benchmark := axis.benchmark) is not None:
        if math.isfinite(benchmark.low):
            axes.axvspan(
                benchmark.low, benchmark.high, color=MUTED, alpha=0.16, linewidth=0, zorder=0.5
            )
        keys.append(
            axes.axvline(
                benchmark.value,
                color=INK,
                linewidth=1.0,
                zorder=1,
                label=axis.key_names[-1],
            )
        )
    _draw_direction(axes, axis)
    if axis.origin is not None and axes.get_xlim()[0] > axis.origin:
        draw_break(axes)
    return keys


def _draw_direction(axes: Axes, axis: ValueAxis) -> None:
    """The words of both sides, with arrows, at the reference or in the middle of the axis."""
    if axis.direction is None:
        return
    axes.xaxis.labelpad += axis.room_below * 72
    for text, align, shift in (
        (f"← {axis.direction.lower_side}" if axis.direction.lower_side else "", "right", -5),
        (f"{axis.direction.higher_side} →" if axis.direction.higher_side else "", "left", 5),
    ):
        has_both = axis.direction.lower_side and axis.direction.higher_side
        place = (axis.reference, 0.0) if has_both and axis.reference is not None else None
        axes.annotate(
            text,
            place or (1.0 if align == "left" else 0.0, 0.0),
            (shift if place else 0, -17),
            xycoords=("data" if place else "axes fraction", "axes fraction"),
            textcoords="offset points",
            ha=align if place else {"left": "right", "right": "left"}[align],
            va="top",
            fontsize=7.5,
            color=MUTED,
        )


def draw_break(axes: Axes, *, is_upright: bool = False) -> None:
    """Two strokes through the beginning of an axis that does not begin where its scale does."""
    figure = axes.figure
    assert isinstance(figure, Figure), "figures have no subfigures"
    stroke_mark = MarkerPath([(-1.0, -0.35), (1.0, 0.35)]) if is_upright else _STROKE
    for shift in (4.0, 7.0):
        moved = (0.0, shift) if is_upright else (shift, 0.0)
        stroke = offset_copy(axes.transAxes, figure, *moved, units="points")
        for marker, size, colour, zorder in (
            ("s", 3.0, PAPER, 5.0),
            (stroke_mark, 7.0, MUTED, 6.0),
        ):
            axes.plot(
                [0],
                [0],
                transform=stroke,
                marker=marker,
                markersize=size,
                color=colour,
                markeredgewidth=0.0 if marker == "s" else 0.9,
                clip_on=False,
                zorder=zorder,
            )


def benchmark_key(axes: Axes, name: str) -> list[Artist]:
    """The key of the diamonds, where rows have benchmarks of their own."""
    return [
        *axes.plot(
            [],
            [],
            linestyle="none",
            marker="D",
            markersize=5,
            color=INK,
            markerfacecolor=PAPER,
            label=name,
        )
    ]


def draw_keys(figure: Figure, keys: Sequence[Artist], left_margin: float, *, rows: int = 1) -> None:
    """What the lines and bands are, at the top of the figure: side by side or in `rows`."""
    if keys:
        figure.legend(
            handles=list(keys),
            loc="upper left",
            bbox_to_anchor=(left_margin / figure.get_figwidth(), 1.0),
            ncols=len(keys) if rows == 1 else 1,
            frameon=False,
            fontsize=7.5,
            borderpad=0.2,
            borderaxespad=0,
            handlelength=1.6,
            columnspacing=1.2,
        )
