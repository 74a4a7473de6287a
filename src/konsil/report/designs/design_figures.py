"""Curves with intervals: parts of answers, reliability, budgets, systems by design.

A panel has several curves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from konsil.report.figures.drawing import ACCENT, INK, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.small_multiples import ACROSS, Point, legend, named
from konsil.report.figures.svg_primitives import WIDTH, About, ValueAxis, short, span, stamp, widest
from konsil.report.material.tables import Numbers

SECOND = "#c96a34"
"""The second line: lighter in grey than the first."""
Stroke = Literal["-"] | tuple[float, Sequence[float]]
_DASHED: Stroke = (0, (4, 3))
LOOKS: tuple[tuple[str, str, Stroke], ...] = (
    (ACCENT, "o", "-"),
    (SECOND, "s", "-"),
    (MUTED, "", _DASHED),
    (INK, "D", _DASHED),
    ("#7a9a3a", "^", "-"),
)
"""Colour, marker and stroke of a line; a line without a marker is a band with its middle."""


FARTHEST = 1.6
"""So many times the largest estimate an interval is drawn at most."""


@dataclass(frozen=True)
class Curve:
    """One line of a panel."""

    name: str
    """What it is; the same in every panel."""
    points: Sequence[Point]
    """In the categories' order; nan where there is none."""
    look: int
    """Which of LOOKS it has."""


@dataclass(frozen=True)
class Panel:
    """One panel."""

    title: str
    """What it is about."""
    curves: Sequence[Curve]
    """Its lines."""
    level: Point | None = None
    """A value to compare with, drawn across with its interval."""


def curves(
    about: About,
    categories: Sequence[str],
    panels: Sequence[Panel],
    numbers: Numbers,
    *,
    axis: ValueAxis,
    along: str,
    joined: bool = True,
    level: str = "",
) -> Drawing:
    """Draw panels side by side over the same categories.

    `level` names the value that is drawn across.
    """
    with style():
        across = min(ACROSS, len(panels))
        down = math.ceil(len(panels) / across)
        # Panels with scales of their own need room for their numbers.
        left_margin, gap, tall, top = 0.72, 0.24 if axis.one_scale else 0.52, 1.55, 0.34
        wide = min((WIDTH - left_margin - 0.05 + gap) / across - gap, 3.4)
        turned = (widest([short(c, 18) for c in categories], 7.5) + 0.08) * len(categories) > wide
        names = widest([short(c, 18) for c in categories], 7.5)
        below = (
            (names * 0.6 + 0.14 if turned else 0.18)
            + (0.26 if along else 0.04)
            + (0.18 if about.stamp else 0.0)
        )
        height = top + down * (tall + 0.3) + below
        figure = Figure(figsize=(WIDTH, height))
        shared_limits = axis.limits or _limits(panels)
        for n, panel in enumerate(panels):
            row, place = divmod(n, across)
            bottom = height - top - (row + 1) * (tall + 0.3) + 0.06
            box = (
                (left_margin + place * (wide + gap)) / WIDTH,
                bottom / height,
                wide / WIDTH,
                tall / height,
            )
            axes = figure.add_axes(box)
            axes.set(
                xlim=(-0.5, len(categories) - 0.5),
                ylim=shared_limits if axis.one_scale else axis.limits or _limits([panel]),
            )
            _frame(axes, numbers, shown=place == 0 or not axis.one_scale)
            named(axes, panel.title, categories if n + across >= len(panels) else (), turned=turned)
            if panel.level is not None and math.isfinite(panel.level.value):
                _across(axes, panel.level)
            marked = [c for c in panel.curves if LOOKS[c.look][1]]
            for curve in panel.curves:
                offset = marked.index(curve) - (len(marked) - 1) / 2 if curve in marked else 0.0
                shift = offset * 0.32 / max(len(marked), 2)
                _line(axes, curve, shift, joined=joined)
        middle = (below + (height - below - top) / 2) / height
        figure.text(
            0.12 / WIDTH, middle, axis.title, rotation=90, ha="center", va="center", fontsize=8.5
        )
        if along:
            centre = (left_margin + (across * (wide + gap) - gap) / 2) / WIDTH
            foot = (0.22 if about.stamp else 0.06) / height
            figure.text(centre, foot, along, ha="center", va="bottom", fontsize=8.5)
        legend(figure, left_margin, _keys(panels, level))
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _limits(panels: Sequence[Panel]) -> tuple[float, float]:
    values = [
        x
        for p in panels
        for c in p.curves
        for point in c.points
        for x in (point.value, point.low, point.high)
    ]
    values += [
        x for p in panels if p.level is not None for x in (p.level.value, p.level.low, p.level.high)
    ]
    # An interval that reaches far beyond all estimates must not press them together; it is cut off.
    largest = max(
        (p.value for q in panels for c in q.curves for p in c.points if math.isfinite(p.value)),
        default=math.inf,
    )
    largest = max(
        [
            largest,
            *(p.level.high for p in panels if p.level is not None and math.isfinite(p.level.high)),
        ]
    )
    return span([min(v, FARTHEST * largest) if v > 0 else v for v in values], None)


def _frame(axes: Axes, numbers: Numbers, *, shown: bool) -> None:
    axes.spines[["right", "top"]].set_visible(False)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: numbers.tick(y) if shown else ""))
    axes.tick_params(length=3, width=0.7, labelsize=7.5)
    axes.grid(axis="y", color=RULE, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)


def _across(axes: Axes, level: Point) -> None:
    """A horizontal line with its interval as a band."""
    if math.isfinite(level.low) and math.isfinite(level.high):
        axes.axhspan(level.low, level.high, color=MUTED, alpha=0.16, linewidth=0, zorder=0.5)
    axes.axhline(level.value, color=INK, linewidth=0.9, linestyle=(0, (1, 1.2)), zorder=1)


def _line(axes: Axes, curve: Curve, shift: float, *, joined: bool) -> None:
    colour, marker, stroke = LOOKS[curve.look]
    at = [(n + shift, p) for n, p in enumerate(curve.points) if math.isfinite(p.value)]
    if not marker:
        banded = [(x, p) for x, p in at if math.isfinite(p.low)]
        low, high = [p.low for _, p in banded], [p.high for _, p in banded]
        axes.fill_between(
            [x for x, _ in banded], low, high, color=colour, alpha=0.18, linewidth=0, zorder=1
        )
        axes.plot(
            [x for x, _ in at],
            [p.value for _, p in at],
            color=colour,
            linewidth=1.1,
            linestyle=stroke,
            zorder=2,
        )
        return
    for x, p in at:
        if math.isfinite(p.low) and not math.isnan(p.high):
            top = min(p.high, axes.get_ylim()[1])
            axes.plot(
                [x, x], [p.low, top], color=colour, linewidth=1.3, solid_capstyle="butt", zorder=2
            )
    axes.plot(
        [x for x, _ in at],
        [p.value for _, p in at],
        color=colour,
        marker=marker,
        markersize=4.2,
        linewidth=1.0,
        linestyle=stroke if joined else "none",
        markeredgecolor=PAPER,
        markeredgewidth=0.5,
        zorder=3,
    )


def _keys(panels: Sequence[Panel], level: str) -> list[Line2D]:
    names = {c.name: c.look for p in panels for c in p.curves}
    keys = []
    for name, look in names.items():
        colour, marker, stroke = LOOKS[look]
        keys.append(
            Line2D(
                [],
                [],
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=1.1,
                linestyle=stroke,
                label=name,
            )
        )
    if level:
        keys.append(Line2D([], [], color=INK, linewidth=0.9, linestyle=(0, (1, 1.2)), label=level))
    return keys
