"""Figures of many values: ensembles by rank, failed calls, difficulty of items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from konsil.report.figures.drawing import ACCENT, INK, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.small_multiples import Point
from konsil.report.figures.svg_primitives import (
    EDGE,
    ROW,
    SEQUENTIAL,
    WIDTH,
    About,
    Bar,
    Dot,
    across_and_rows,
    frame,
    label_width,
    legend_shape,
    palette,
    row_label,
    short,
    span,
    stamp,
    widest,
)
from konsil.report.material.tables import Numbers


@dataclass(frozen=True)
class Ranked(Point):
    """One of many, to be ranked."""

    single: bool
    """Whether it is one rater alone."""


@dataclass(frozen=True)
class RankingKeys:
    """What the marks of a ranking mean."""

    best: str
    """The diamond around the first."""
    single: str
    """The triangles: one rater alone."""
    several: str
    """The dots: several raters together."""


def ranking(
    about: About,
    shown: Sequence[Ranked],
    numbers: Numbers,
    *,
    axis: str,
    rank: str,
    keys: RankingKeys,
    beyond: Dot | None,
) -> Drawing:
    """Draw all by rank with their intervals, the best and the single ones marked.

    `beyond` is the line of the best one's performance out of bag.
    """
    with style():
        height = 3.3
        figure = Figure(figsize=(WIDTH, height))
        left_margin = 0.55
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                0.46 / height,
                (WIDTH - left_margin - 0.1) / WIDTH,
                (height - 0.9) / height,
            )
        )
        ends = [x for r in shown for x in (r.value, r.low, r.high)]
        axes.set_ylim(*span(ends + ([beyond.low, beyond.high] if beyond else []), None))
        axes.set_xlim(0.2 - len(shown) * 0.015, len(shown) * 1.015 + 0.8)
        _sides(axes, numbers, axis)
        axes.set_xlabel(rank, fontsize=8.5, labelpad=4)
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
        if beyond is not None:
            if math.isfinite(beyond.low):
                axes.axhspan(beyond.low, beyond.high, color=RULE, alpha=0.45, linewidth=0, zorder=0)
            axes.axhline(beyond.value, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=2)
        for place, ranked in enumerate(shown, 1):
            if math.isfinite(ranked.low):
                axes.plot(
                    [place, place], [ranked.low, ranked.high], color=RULE, linewidth=0.8, zorder=1
                )
        for kind, marker, size, fill in ((False, "o", 2.2, MUTED), (True, "^", 5.5, ACCENT)):
            at = [(n, r.value) for n, r in enumerate(shown, 1) if r.single is kind]
            axes.plot(
                [x for x, _ in at],
                [y for _, y in at],
                linestyle="none",
                marker=marker,
                markersize=size,
                color=fill,
                markeredgecolor=PAPER if kind else fill,
                markeredgewidth=0.5,
                zorder=3,
            )
        if shown:
            axes.plot(
                [1],
                [shown[0].value],
                marker="D",
                markersize=7,
                color=INK,
                markerfacecolor="none",
                markeredgewidth=1.2,
                zorder=4,
            )
        marks = [
            Line2D(
                [],
                [],
                linestyle="none",
                marker="D",
                markersize=6,
                color=INK,
                markerfacecolor="none",
                label=keys.best,
            ),
            Line2D(
                [],
                [],
                linestyle="none",
                marker="^",
                markersize=5.5,
                color=ACCENT,
                label=keys.single,
            ),
            Line2D(
                [], [], linestyle="none", marker="o", markersize=3, color=MUTED, label=keys.several
            ),
        ]
        if beyond is not None:
            marks.append(
                Line2D([], [], color=INK, linewidth=0.9, linestyle=(0, (4, 3)), label=beyond.label)
            )
        figure.legend(
            handles=marks,
            loc="upper left",
            bbox_to_anchor=(left_margin / WIDTH, 1.0),
            ncols=2,
            frameon=False,
            fontsize=8,
            borderpad=0.2,
            borderaxespad=0,
            handlelength=1.8,
            columnspacing=1.5,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def failures(
    about: About,
    labels: Sequence[str],
    bars: Sequence[Bar],
    totals: Sequence[int],
    numbers: Numbers,
    *,
    axis: str,
) -> Drawing:
    """Draw for each judge the share of its tasks that gave no label, by why.

    The numbers are next to it.
    """
    with style():
        colours, hatches = palette(labels, ordered=False, abstain=None)
        legend_rows, across = legend_shape(labels)
        top = 0.16 + 0.185 * legend_rows
        height = ROW * 1.1 * len(bars) + 0.46 + top
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([b.label for b in bars])
        texts = [
            f"{numbers.count(sum(b.counts))} / {numbers.count(n)}"
            for b, n in zip(bars, totals, strict=True)
        ]
        right = widest(texts, 8) + 0.15
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                0.46 / height,
                (WIDTH - left_margin - right) / WIDTH,
                (height - 0.46 - top) / height,
            )
        )
        axes.set_ylim(len(bars) - 0.5, -0.5)
        axes.set_xlim(
            0,
            1.08
            * max(
                max((sum(b.counts) / n for b, n in zip(bars, totals, strict=True) if n), default=0),
                0.01,
            ),
        )
        frame(axes, axis, numbers)
        for y, (bar, total, text) in enumerate(zip(bars, totals, texts, strict=True)):
            row_label(axes, y, short(bar.label))
            start = 0.0
            for count, colour, hatch in zip(bar.counts, colours, hatches, strict=True):
                share = count / total if total else 0.0
                axes.barh(
                    y,
                    share,
                    0.7,
                    start,
                    color=colour,
                    hatch=hatch,
                    edgecolor=EDGE,
                    linewidth=0.5,
                    zorder=2,
                )
                start += share
            figure.text(
                1 - 0.02 / WIDTH,
                y,
                text,
                transform=across_and_rows(axes),
                va="center",
                ha="right",
                fontsize=8,
            )
        keys = [
            Patch(facecolor=c, hatch=h, edgecolor=EDGE, linewidth=0.5, label=short(name))
            for c, h, name in zip(colours, hatches, labels, strict=True)
        ]
        figure.legend(
            handles=keys,
            loc="upper left",
            bbox_to_anchor=(left_margin / WIDTH, 1.0),
            ncols=across,
            frameon=False,
            fontsize=8,
            borderpad=0.2,
            borderaxespad=0,
            handlelength=1.1,
            handleheight=1.0,
            columnspacing=1.3,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def histogram(
    about: About,
    cells: Sequence[tuple[float, Sequence[int]]],
    names: Sequence[str],
    numbers: Numbers,
    *,
    axis: str,
    items: str,
) -> Drawing:
    """Draw how many items have which mean: `cells` are (middle, items of each range).

    Ranges go from light to dark.
    """
    with style():
        height, left_margin = 2.6 + (0.16 if about.stamp else 0.0), 0.66
        bottom, top = 0.46 + (0.16 if about.stamp else 0.0), 0.34 if len(names) > 1 else 0.1
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                bottom / height,
                (WIDTH - left_margin - 0.1) / WIDTH,
                (height - bottom - top) / height,
            )
        )
        width = (cells[1][0] - cells[0][0]) * 0.86
        shades = [
            to_hex(SEQUENTIAL(0.12 + 0.78 * n / max(1, len(names) - 1))) for n in range(len(names))
        ]
        for middle, counts in cells:
            start = 0
            for count, shade in zip(counts, shades, strict=True):
                if count:
                    axes.bar(
                        middle,
                        count,
                        width,
                        start,
                        color=shade,
                        edgecolor=EDGE,
                        linewidth=0.5,
                        zorder=2,
                    )
                start += count
        axes.set_ylim(0, max(1, *(sum(counts) for _, counts in cells)) * 1.05)
        _sides(axes, numbers, items)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: numbers.count(round(y))))
        axes.set_xlabel(axis, fontsize=8.5, labelpad=4)
        if len(names) > 1:
            totals = [sum(counts[n] for _, counts in cells) for n in range(len(names))]
            keys = [
                Patch(
                    facecolor=s,
                    edgecolor=EDGE,
                    linewidth=0.5,
                    label=f"{short(name, 20)}: {numbers.count(n)}",
                )
                for s, name, n in zip(shades, names, totals, strict=True)
            ]
            figure.legend(
                handles=keys,
                loc="upper left",
                bbox_to_anchor=(left_margin / WIDTH, 1.0),
                ncols=len(keys),
                frameon=False,
                fontsize=8,
                borderpad=0.2,
                borderaxespad=0,
                handlelength=1.1,
                handleheight=1.0,
                columnspacing=1.3,
            )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _sides(axes: Axes, numbers: Numbers, axis: str) -> None:
    axes.spines[["right", "top"]].set_visible(False)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: numbers.tick(y)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: numbers.tick(x)))
    axes.tick_params(length=3, width=0.7, labelsize=8)
    axes.grid(axis="y", color=RULE, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    axes.set_ylabel(axis, fontsize=8.5)
