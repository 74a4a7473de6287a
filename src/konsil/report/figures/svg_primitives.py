"""Parts of figures: labelled rows, dots, stacked bars, scales, colours, widths of words.

The module is long because half of it are the values that every kind of figure is described by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Transform, blended_transform_factory

from konsil.report.figures.drawing import ACCENT, INK, MUTED, PAPER, RULE
from konsil.report.figures.typeface import WHOLE, text_size
from konsil.report.material.tables import Numbers

WIDTH = 6.7
"""Inches: the text width of an A4 page."""
ROW = 0.235
SEQUENTIAL = LinearSegmentedColormap.from_list(
    "konsil", ["#f1ecc9", "#b5d6b0", "#62b1b5", "#2f7fa6", "#26508c", "#1e2a5c"]
)
# Neighbours differ in lightness as well as in hue; from the third on a hatch tells them apart in
# grey.
_NOMINAL = ("#1f5c85", "#f0b64a", "#4f9d7c", "#c3799f", "#a9cfe8", "#b4532a", "#8c8c8c", "#e3d98b")
_HATCHES = ("", "", "///", "\\\\\\", "", "xxx", "...", "---")
_ABSTAIN = "#e4e7ea"
# Edges and hatches lie on the bars, whose colours are the same in light and dark mode.
EDGE = "#66707a"


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
    mark: float = float("nan")
    """A second value to compare with, drawn as a diamond: a true value, a ceiling; nan: none."""
    colour: str = ""
    """Its colour; empty: that of all which is about no system."""
    raw: tuple[float, ...] = ()
    """The values of the single items or cases that it is made of, drawn as small dots; none: too
    many, or not to be shown."""


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
class Benchmark:
    """What every row is held against, as a line with the band of its interval."""

    name: str
    """What it is."""
    value: float
    """The estimate."""
    low: float
    """The interval's lower end."""
    high: float
    """The interval's upper end."""
    label: str = ""
    """Its name in the plot, with what the band is; empty: the name alone."""
    is_exact: bool = True
    """Whether it is the same for all rows, and not merely nearly so."""


@dataclass(frozen=True)
class Direction:
    """What lower and higher values say, below the axis at both sides of the reference."""

    lower_side: str
    """Of lower values; empty: nothing."""
    higher_side: str
    """Of higher values; empty: nothing."""


@dataclass(frozen=True)
class ValueAxis:
    """The axis of the values, and what is drawn across the whole figure."""

    title: str
    """What the values are."""
    reference: float | None = None
    """A value to compare with or to reach: a dashed line."""
    band: tuple[float, float] | None = None
    """A shaded range: what still counts as equivalent."""
    limits: tuple[float, float] | None = None
    """Its ends; None: as far as the values and their intervals reach."""
    one_scale: bool = True
    """Whether panels side by side have the same ends."""
    factor: float = 1.0
    """What values are multiplied by where the axis writes them: 100 for per cent."""
    reference_name: str = ""
    """What the dashed line says."""
    band_name: str = ""
    """What the shaded range says."""
    benchmark: Benchmark | None = None
    """What all rows are held against; None: nothing, or each row has its own."""
    direction: Direction | None = None
    """What lower and higher values say; None: nothing."""
    origin: float | None = None
    """Where its scale begins; an axis that begins above it has the mark of a cut axis."""

    @property
    def room_below(self) -> float:
        """Inches that the words of its direction need."""
        return 0.0 if self.direction is None else 0.13

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of its lines and bands, in the order in which they are drawn."""
        names = (
            self.reference_name if self.reference is not None else "",
            self.band_name if self.band is not None else "",
            short(self.benchmark.label or self.benchmark.name, 48) if self.benchmark else "",
        )
        return tuple(name for name in names if name)

    @property
    def has_keys(self) -> bool:
        """Whether it has lines or bands with names."""
        return bool(self.key_names)


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
    """Words drawn into the figure itself, because its file travels alone: of simulated ratings or
    played models."""


def palette(
    labels: Sequence[str], *, ordered: bool, abstain: str | None
) -> tuple[list[str], list[str]]:
    """Fill colour and hatch of each label: a scale from light to dark where they have an order."""
    rated_labels = [name for name in labels if name != abstain]
    colours, hatches = [], []
    for name in labels:
        if name == abstain:
            colours.append(_ABSTAIN)
            hatches.append("////")
            continue
        place = rated_labels.index(name)
        if ordered:
            colours.append(to_hex(SEQUENTIAL(place / max(1, len(rated_labels) - 1) * 0.9 + 0.05)))
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


def lines_of(groups: Sequence[str]) -> list[int | str]:
    """Row numbers in order, each group's name before its first row."""
    lines: list[int | str] = []
    for group, members in groupby(range(len(groups)), key=lambda n: groups[n]):
        if group:
            lines.append(group)
        lines.extend(members)
    return lines


def frame(
    axes: Axes, label: str, numbers: Numbers, *, grid: bool = True, factor: float = 1.0
) -> None:
    """An axis at the bottom only, its numbers in the report's language."""
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.set_yticks([])
    # Otherwise matplotlib looks for the place of an axis that shows nothing.
    axes.yaxis.set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: numbers.tick(x * factor)))
    axes.tick_params(axis="x", length=3, width=0.7, labelsize=8)
    axes.set_xlabel(label, fontsize=8.5, labelpad=4)
    if grid:
        axes.grid(axis="x", color=RULE, linewidth=0.6, zorder=0)
        axes.set_axisbelow(True)


def draw_line(axes: Axes, x: Sequence[float], y: Sequence[float], **look: Any) -> None:  # noqa: ANN401
    """A line or marks on axes with set limits.

    It is what `axes.plot` draws, in half the time: no format strings, units or cycles of colours.
    """
    axes.add_line(Line2D(x, y, **look))


def draw_dot(axes: Axes, y: float, dot: Dot) -> None:
    """One estimate: dot, interval with ends, and what it is compared with as a diamond.

    Single values are small dots below.
    """
    colour = dot.colour or ACCENT
    if dot.raw:
        draw_line(
            axes,
            sorted(dot.raw),  # their order would depend on the names of blinded systems
            [y + 0.3] * len(dot.raw),
            linestyle="none",
            marker="o",
            markersize=2.2,
            color=colour,
            alpha=0.55,
            markeredgewidth=0,
            zorder=1.5,
        )
    if math.isfinite(dot.low) and math.isfinite(dot.high):
        draw_line(
            axes,
            [dot.low, dot.high],
            [y, y],
            color=colour,
            linewidth=1.5,
            solid_capstyle="butt",
            zorder=2,
        )
        for end in (dot.low, dot.high):
            draw_line(axes, [end, end], [y - 0.16, y + 0.16], color=colour, linewidth=1.0, zorder=2)
    if math.isfinite(dot.mark):
        draw_line(
            axes,
            [dot.mark],
            [y],
            marker="D",
            markersize=6,
            color=INK,
            markerfacecolor=PAPER,
            markeredgewidth=1,
            zorder=2.5,
        )
    if math.isfinite(dot.value):
        draw_line(
            axes,
            [dot.value],
            [y],
            marker="o",
            markersize=4.6,
            color=colour,
            markeredgecolor=PAPER,
            markeredgewidth=0.5,
            zorder=3,
        )


def draw_stack(
    axes: Axes,
    y: float,
    counts: Sequence[int],
    colours: Sequence[str],
    hatches: Sequence[str],
    numbers: Numbers,
) -> None:
    """One bar of shares, with the larger ones written on it."""
    total = sum(counts)
    start = 0.0
    for count, colour, hatch in zip(counts, colours, hatches, strict=True):
        share = count / total if total else 0.0
        if share:
            axes.add_artist(
                Rectangle(
                    (start, y - 0.37),
                    share,
                    0.74,
                    facecolor=colour,
                    hatch=hatch,
                    edgecolor=EDGE,
                    linewidth=0.5,
                )
            )
        if share >= 0.075:
            halo = (
                {"boxstyle": "square,pad=0.12", "facecolor": colour, "edgecolor": "none"}
                if hatch
                else None
            )
            axes.text(
                start + share / 2,
                y,
                numbers.plain(100 * share, 0),
                ha="center",
                va="center_baseline",
                fontsize=7.5,
                color=letters_on(colour),
                bbox=halo,
            )
        start += share


def draw_scale(
    figure: Figure,
    corner: tuple[float, float],
    height: float,
    limits: tuple[float, float],
    label: str,
    numbers: Numbers,
    *,
    colours: LinearSegmentedColormap = SEQUENTIAL,
    factor: float = 1.0,
) -> None:
    """The colour scale at the right of a heat map; `corner` is its lower left one."""
    low, high = limits
    axes = figure.add_axes((*corner, 0.13 / WIDTH, height))
    steps = 48
    # `add_artist`, here and for other cells: `add_patch` would search all of them for the limits of
    # axes whose limits are set.
    for step in range(steps):
        axes.add_artist(
            Rectangle(
                (0, step / steps), 1, 1.02 / steps, facecolor=to_hex(colours(step / (steps - 1)))
            )
        )
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[])
    axes.yaxis.tick_right()
    axes.set_yticks(
        [0, 0.5, 1],
        [numbers.plain(v * factor, 2 if factor == 1 else 0) for v in (low, (low + high) / 2, high)],
        fontsize=8,
    )
    axes.tick_params(length=2)
    axes.spines[:].set_visible(False)
    axes.yaxis.set_label_position("right")
    axes.set_ylabel(label, fontsize=8.5)


def row_label(axes: Axes, y: float, text: str, *, indent: float = 0.0) -> None:
    """A row's name at the figure's left edge."""
    axes.text(
        (0.02 + indent) / WIDTH, y, text, transform=across_and_rows(axes), va="center", fontsize=8.5
    )


def group_label(axes: Axes, y: float, text: str) -> None:
    """A group's name on a line of its own, long names over the grid."""
    ground = {"boxstyle": "square,pad=0.1", "facecolor": PAPER, "edgecolor": "none"}
    axes.text(
        0.02 / WIDTH,
        y,
        short(text, 64),
        transform=across_and_rows(axes),
        va="center",
        fontsize=8.5,
        fontweight="bold",
        bbox=ground,
    )


def across_and_rows(axes: Axes) -> Transform:
    """Across: shares of the figure; down: rows."""
    return blended_transform_factory(axes.figure.transFigure, axes.transData)


def stamp(figure: Figure, about: About) -> None:
    """Say in the figure itself that its ratings are simulated or its models played."""
    if about.stamp:
        figure.text(
            1 - 0.02 / WIDTH,
            0.03 / figure.get_figheight(),
            about.stamp,
            ha="right",
            va="bottom",
            fontsize=7.5,
            color=MUTED,
        )


def legend_shape(labels: Sequence[str]) -> tuple[int, int]:
    """Rows and columns of the legend that fit the width."""
    room = widest([short(name) for name in labels], 8) + 0.45
    columns = max(1, min(len(labels), int((WIDTH - 1.8) / room)))
    return math.ceil(len(labels) / columns), columns


def letters_on(colour: str) -> str:
    """Dark or white letters, whichever has more contrast on this colour."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if luminance < 0.18 else "#14171a"


def short(text: str, max_length: int = 34) -> str:
    """One line of at most this many characters."""
    line = " ".join(text.split())
    return line if len(line) <= max_length else line[: max_length - 1].rstrip() + "…"


def wrapped(text: str, room: float, size: float = 8.5, max_length: int = 44) -> str:
    """In two lines, where it is wider than the room and has a space to break at."""
    words = short(text, max_length).split(" ")
    if widest([" ".join(words)], size) <= room or len(words) < 2:
        return " ".join(words)
    ways = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))]
    return "\n".join(min(ways, key=lambda way: widest([*way], size)))


def widest(texts: Sequence[str], size: float, *, bold: bool = False) -> float:
    """Inches that the widest of the texts takes."""
    font = FontProperties(family=WHOLE, size=size, weight="bold" if bold else "normal")
    return max((text_size(text, font)[0] for text in texts if text), default=0.0) / 72


def label_width(labels: Sequence[str]) -> float:
    """Inches to leave for the rows' names at the left."""
    return min(2.6, max(0.9, widest([short(label) for label in labels], 8.5) + 0.25))
