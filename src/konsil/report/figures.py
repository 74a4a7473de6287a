"""The report's figures. Each can be printed in grey and read by the colour-blind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch, Rectangle
from matplotlib.textpath import TextToPath
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Transform, blended_transform_factory

from konsil.report.drawing import ACCENT, INK, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.tables import Numbers

WIDTH = 6.7
"""Inches: the text width of an A4 page."""
_ROW = 0.235
_SEQUENTIAL = LinearSegmentedColormap.from_list(
    "konsil", ["#f1ecc9", "#b5d6b0", "#62b1b5", "#2f7fa6", "#26508c", "#1e2a5c"]
)
# Neighbours differ in lightness as well as in hue; from the third on a hatch tells them apart in grey.
_NOMINAL = ("#1d5f8a", "#f0b64a", "#4f9d7c", "#c3799f", "#a9cfe8", "#b4532a", "#7a7a7a", "#e3d98b")
_HATCHES = ("", "", "///", "\\\\\\", "", "xxx", "...", "---")
_ABSTAIN = "#e4e7ea"


@dataclass(frozen=True)
class Dot:
    """One row of a forest plot."""

    label: str
    """What the row is."""
    value: float
    """The estimate; nan: the row says undefined."""
    low: float
    """The interval's lower end."""
    high: float
    """The interval's upper end."""
    text: str
    """The numbers as text, in the right column."""
    group: str = ""
    """Rows of one group stand under its name."""
    truth: float = float("nan")
    """The true value, where ratings are simulated; nan: none is drawn."""


@dataclass(frozen=True)
class Bar:
    """One bar of a label distribution."""

    label: str
    """What the bar is, a system."""
    counts: tuple[int, ...]
    """How often each label was given, in the labels' order."""
    group: str = ""
    """Bars of one group stand under its name, a panel."""


@dataclass(frozen=True)
class About:
    """What every figure says of itself."""

    key: str
    """The files' name."""
    title: str
    """A short title."""
    description: str
    """For those who do not see it."""
    caption: str
    """The caption under it."""
    stamp: str = ""
    """Words drawn into the figure itself, because its file travels alone: that ratings are simulated."""


def forest(
    about: About,
    dots: Sequence[Dot],
    numbers: Numbers,
    *,
    axis: str,
    heading: str,
    reference: float | None = None,
    limits: tuple[float, float] | None = None,
    truth: str = "",
) -> Drawing:
    """Draw estimates as dots with their intervals, one row each, the numbers beside them."""
    with style():
        lines = _lines([d.group for d in dots])
        height = _ROW * len(lines) + 1.0
        figure = Figure(figsize=(WIDTH, height))
        left = min(
            2.6,
            max(_wide([_short(d.label) for d in dots], 8.5), _wide([_short(d.group) for d in dots], 8.5, bold=True))
            + 0.25,
        )
        right = max(_wide([d.text for d in dots], 8), _wide([heading], 8, bold=True)) + 0.15
        axes = figure.add_axes((left / WIDTH, 0.62 / height, (WIDTH - left - right) / WIDTH, (height - 0.92) / height))
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_xlim(*(limits or span([x for d in dots for x in (d.value, d.low, d.high, d.truth)], reference)))
        _frame(axes, axis, numbers)
        if reference is not None:
            axes.axvline(reference, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        axes.text(1.0, 1.0, heading, transform=axes.transAxes, ha="left", va="bottom", fontsize=8, color=MUTED)
        axes.texts[-1].set_position((1.0 + 0.1 / (WIDTH - left - right), 1.0 + 0.06 / (height - 0.92)))
        for y, line in enumerate(lines):
            if isinstance(line, str):
                _row_label(axes, y, _short(line), weight="bold")
                continue
            dot = dots[line]
            _row_label(axes, y, _short(dot.label), indent=0.1 if dot.group else 0.0)
            _dot(axes, y, dot)
            figure.text(
                1 - (right - 0.1) / WIDTH, y, dot.text, transform=_mixed(axes), va="center", fontsize=8,
                color=MUTED if math.isnan(dot.value) else INK,
            )  # fmt: skip
        if truth and any(not math.isnan(d.truth) for d in dots):
            axes.plot([], [], linestyle="none", marker="D", markersize=5, color=INK, markerfacecolor=PAPER, label=truth)
            axes.legend(
                loc="lower left", bbox_to_anchor=(0, 1.0), frameon=False, fontsize=8, borderpad=0, handlelength=1
            )
        _stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def distribution(
    about: About,
    labels: Sequence[str],
    bars: Sequence[Bar],
    numbers: Numbers,
    *,
    ordered: bool,
    abstain: str | None,
    axis: str,
    total: str,
) -> Drawing:
    """Draw the shares of the labels as stacked bars, one row a panel and system; abstentions are hatched."""
    with style():
        lines = _lines([b.group for b in bars])
        colours, hatches = palette(labels, ordered=ordered, abstain=abstain)
        legend_rows, columns = _legend_shape(labels)
        top = 0.14 + 0.185 * legend_rows + (0.0 if isinstance(lines[0], str) else 0.1)
        height = _ROW * 1.15 * len(lines) + 0.6 + top
        figure = Figure(figsize=(WIDTH, height))
        left = min(
            2.6,
            max(_wide([_short(b.label) for b in bars], 8.5), _wide([_short(b.group) for b in bars], 8.5, bold=True))
            + 0.25,
        )
        right = max(_wide([numbers.count(sum(b.counts)) for b in bars], 8), _wide([total], 8)) + 0.2
        axes = figure.add_axes(
            (left / WIDTH, 0.6 / height, (WIDTH - left - right) / WIDTH, (height - 0.6 - top) / height)
        )
        axes.set_ylim(len(lines) - 0.45, -0.55)
        axes.set_xlim(0, 1)
        _frame(axes, axis, numbers, grid=False)
        for y, line in enumerate(lines):
            if isinstance(line, str):
                _row_label(axes, y, _short(line), weight="bold")
                continue
            bar = bars[line]
            _row_label(axes, y, _short(bar.label), indent=0.1 if bar.group else 0.0)
            _stack(axes, y, bar.counts, colours, hatches, numbers)
            figure.text(
                1 - 0.02 / WIDTH, y, numbers.count(sum(bar.counts)), transform=_mixed(axes), va="center",
                ha="right", fontsize=8,
            )  # fmt: skip
        figure.text(
            1 - 0.02 / WIDTH, 1 - (top - 0.05) / height, total, ha="right", va="bottom", fontsize=8, color=MUTED
        )
        keys = [
            Patch(facecolor=c, hatch=h, edgecolor=MUTED, linewidth=0.5, label=_short(name))
            for c, h, name in zip(colours, hatches, labels, strict=True)
        ]
        figure.legend(
            handles=keys, loc="upper left", bbox_to_anchor=(left / WIDTH, 1 - 0.03 / height), ncols=columns, frameon=False,
            fontsize=8, borderpad=0.1, borderaxespad=0, handlelength=1.1, handleheight=1.0, columnspacing=1.3, labelspacing=0.35,
        )  # fmt: skip
        _stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def heat_map(
    about: About, raters: Sequence[str], values: Mapping[tuple[str, str], float], numbers: Numbers, *, axis: str
) -> Drawing:
    """Draw one number for each pair of raters as a square of cells; undefined pairs show a dash."""
    with style():
        n = len(raters)
        names = [_short(r, 16) for r in raters]
        left = _wide(names, 8.5) + 0.2
        cell = min(0.52, (WIDTH - left - 1.0) / n)
        side = cell * n
        below = _wide(names, 8.5) * 0.75 + 0.25
        height = side + below + 0.15
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((left / WIDTH, below / height, side / WIDTH, side / height))
        defined = [v for v in values.values() if not math.isnan(v)]
        low = min(defined, default=0.0)
        high = max(defined, default=1.0)
        low, high = (low, high) if high - low > 1e-9 else (low - 0.5, high + 0.5)
        axes.set(xlim=(0, n), ylim=(n, 0))
        for row, one in enumerate(raters):
            for column, other in enumerate(raters):
                value = values.get((one, other), values.get((other, one), float("nan")))
                known = one != other and not math.isnan(value)
                colour = to_hex(_SEQUENTIAL((value - low) / (high - low))) if known else "none"
                axes.add_patch(
                    Rectangle((column, row), 1, 1, facecolor=colour, edgecolor=PAPER if known else RULE, linewidth=1)
                )
                if one != other and cell >= 0.3:
                    shown = numbers.plain(value, 2) if known else "–"
                    axes.text(
                        column + 0.5, row + 0.5, shown, ha="center", va="center", fontsize=min(7.5, cell * 17),
                        color=_on(colour) if known else MUTED,
                    )  # fmt: skip
        axes.set_xticks([i + 0.5 for i in range(n)], names, rotation=40, ha="right", rotation_mode="anchor")
        axes.set_yticks([i + 0.5 for i in range(n)], names)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        _scale(figure, (left + side + 0.3) / WIDTH, below / height, side / height, low, high, axis, numbers)
        _stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def palette(labels: Sequence[str], *, ordered: bool, abstain: str | None) -> tuple[list[str], list[str]]:
    """Fill colour and hatch of each label: a scale from light to dark where they have an order."""
    given = [name for name in labels if name != abstain]
    colours, hatches = [], []
    for name in labels:
        if name == abstain:
            colours.append(_ABSTAIN)
            hatches.append("////")
            continue
        place = given.index(name)
        if ordered:
            colours.append(to_hex(_SEQUENTIAL(place / max(1, len(given) - 1) * 0.9 + 0.05)))
            hatches.append("")
        else:
            colours.append(_NOMINAL[place % len(_NOMINAL)])
            hatches.append(_HATCHES[place % len(_HATCHES)])
    return colours, hatches


def span(values: Sequence[float], reference: float | None) -> tuple[float, float]:
    """Axis limits that hold every defined value and the reference line, with air at both ends."""
    defined = [v for v in values if math.isfinite(v)] + ([] if reference is None else [reference])
    if not defined:
        return 0.0, 1.0
    low, high = min(defined), max(defined)
    air = max((high - low) * 0.06, 0.02)
    return low - air, high + air


def _lines(groups: Sequence[str]) -> list[int | str]:
    """Row numbers in order, each group's name before its first row."""
    lines: list[int | str] = []
    for group, members in groupby(range(len(groups)), key=lambda n: groups[n]):
        if group:
            lines.append(group)
        lines.extend(members)
    return lines


def _frame(axes: Axes, label: str, numbers: Numbers, *, grid: bool = True) -> None:
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: numbers.tick(x)))
    axes.tick_params(axis="x", length=3, width=0.7, labelsize=8)
    axes.set_xlabel(label, fontsize=8.5, labelpad=4)
    if grid:
        axes.grid(axis="x", color=RULE, linewidth=0.6, zorder=0)
        axes.set_axisbelow(True)


def _dot(axes: Axes, y: float, dot: Dot) -> None:
    if math.isfinite(dot.low) and math.isfinite(dot.high):
        axes.plot([dot.low, dot.high], [y, y], color=ACCENT, linewidth=1.5, solid_capstyle="butt", zorder=2)
        for end in (dot.low, dot.high):
            axes.plot([end, end], [y - 0.16, y + 0.16], color=ACCENT, linewidth=1.0, zorder=2)
    if math.isfinite(dot.truth):
        axes.plot(
            [dot.truth], [y], marker="D", markersize=6, color=INK, markerfacecolor=PAPER, markeredgewidth=1, zorder=2.5
        )
    if math.isfinite(dot.value):
        axes.plot(
            [dot.value],
            [y],
            marker="o",
            markersize=4.6,
            color=ACCENT,
            markeredgecolor=PAPER,
            markeredgewidth=0.5,
            zorder=3,
        )


def _stack(
    axes: Axes, y: float, counts: Sequence[int], colours: Sequence[str], hatches: Sequence[str], numbers: Numbers
) -> None:
    total = sum(counts)
    start = 0.0
    for count, colour, hatch in zip(counts, colours, hatches, strict=True):
        share = count / total if total else 0.0
        if share:
            axes.add_patch(
                Rectangle((start, y - 0.37), share, 0.74, facecolor=colour, hatch=hatch, edgecolor=MUTED, linewidth=0.5)
            )
        if share >= 0.075:
            halo = {"boxstyle": "square,pad=0.12", "facecolor": colour, "edgecolor": "none"} if hatch else None
            axes.text(
                start + share / 2, y, numbers.plain(share, 2), ha="center", va="center_baseline", fontsize=7.5,
                color=_on(colour), bbox=halo,
            )  # fmt: skip
        start += share


def _scale(
    figure: Figure, x: float, y: float, height: float, low: float, high: float, label: str, numbers: Numbers
) -> None:
    axes = figure.add_axes((x, y, 0.13 / WIDTH, height))
    steps = 48
    for step in range(steps):
        axes.add_patch(Rectangle((0, step / steps), 1, 1.02 / steps, facecolor=to_hex(_SEQUENTIAL(step / (steps - 1)))))
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[])
    axes.yaxis.tick_right()
    axes.set_yticks([0, 0.5, 1], [numbers.plain(v, 2) for v in (low, (low + high) / 2, high)], fontsize=8)
    axes.tick_params(length=2)
    axes.spines[:].set_visible(False)
    axes.yaxis.set_label_position("right")
    axes.set_ylabel(label, fontsize=8.5)


def _row_label(axes: Axes, y: float, text: str, *, indent: float = 0.0, weight: str = "normal") -> None:
    axes.text((0.02 + indent) / WIDTH, y, text, transform=_mixed(axes), va="center", fontsize=8.5, fontweight=weight)


def _mixed(axes: Axes) -> Transform:
    """Across: shares of the figure; down: rows."""
    return blended_transform_factory(axes.figure.transFigure, axes.transData)


def _stamp(figure: Figure, about: About) -> None:
    if about.stamp:
        figure.text(
            1 - 0.02 / WIDTH, 0.03 / figure.get_figheight(), about.stamp, ha="right", va="bottom", fontsize=7.5,
            fontstyle="italic", color=MUTED,
        )  # fmt: skip


def _legend_shape(labels: Sequence[str]) -> tuple[int, int]:
    """Rows and columns of the legend that fit the width."""
    widest = _wide([_short(name) for name in labels], 8) + 0.45
    columns = max(1, min(len(labels), int((WIDTH - 1.8) / widest)))
    return math.ceil(len(labels) / columns), columns


def _on(colour: str) -> str:
    """Dark or white letters, whichever has more contrast on this colour."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if luminance < 0.18 else "#14171a"


def _short(text: str, most: int = 34) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _wide(texts: Sequence[str], size: float, *, bold: bool = False) -> float:
    """Inches that the widest of the texts takes."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    measure = TextToPath()
    widths = [measure.get_text_width_height_descent(text, font, ismath=False)[0] for text in texts if text]
    return float(max(widths, default=0.0)) / 72
