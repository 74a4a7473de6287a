"""The report's figures. Each can be printed in grey and read by the colour-blind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from konsil.report.figures.axis_lines import benchmark_key, draw_axis, draw_keys
from konsil.report.figures.drawing import INK, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.small_multiples import LONGEST_TITLE, SMALL_WIDTH
from konsil.report.figures.svg_primitives import (
    EDGE,
    ROW,
    SEQUENTIAL,
    WIDTH,
    About,
    Bar,
    Dot,
    ValueAxis,
    across_and_rows,
    draw_dot,
    draw_scale,
    draw_stack,
    frame,
    group_label,
    label_width,
    legend_shape,
    letters_on,
    lines_of,
    palette,
    row_label,
    short,
    span,
    stamp,
    widest,
    wrapped,
)
from konsil.report.material.tables import Numbers

RIGHT = 0.2
"""Inches at the right, for half of the last number of the axis."""
ABOVE = 0.22
"""Inches above the rows, for the names of the reference line and of the diamonds."""
BELOW = 0.58
"""Inches below the rows, for the axis, its title and the stamp."""
LONGEST = 34
"""Characters of a row's name."""
TITLE = 0.14
"""Inches that the second line of the axis' title takes."""
NAME = 0.15
"""Inches that a further row of names above the rows takes."""
LONGEST_NAME = 72
"""Characters of the name of the diamonds."""


def forest(
    about: About,
    dots: Sequence[Dot],
    numbers: Numbers,
    *,
    axis: ValueAxis,
    heading: str,
    mark: str = "",
) -> Drawing:
    """Draw estimates as dots with their intervals, one row each, the numbers beside them.

    `mark` names the diamonds.
    """
    with style():
        lines = lines_of([d.group for d in dots])
        has_marks = bool(mark) and any(not math.isnan(d.mark) for d in dots)
        below, above = 0.46 + axis.room_below, 0.3 + (0.2 if axis.has_keys or has_marks else 0.0)
        left_margin = label_width([d.label for d in dots])
        right = max(widest([d.text for d in dots], 8), widest([heading], 8, bold=True)) + 0.15
        end_of_title = (left_margin + WIDTH - right + widest([axis.title], 8.5)) / 2
        if about.stamp and end_of_title > WIDTH - widest([about.stamp], 7.5) - 0.1:
            below += 0.14
        height = ROW * len(lines) + below + above + 0.08
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                below / height,
                (WIDTH - left_margin - right) / WIDTH,
                (height - below - above) / height,
            )
        )
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_xlim(
            *(
                axis.limits
                or span([x for d in dots for x in (d.value, d.low, d.high, d.mark)], axis.reference)
            )
        )
        keys = draw_axis(axes, axis, numbers)
        axes.text(
            1.0,
            1.0,
            heading,
            transform=axes.transAxes,
            ha="left",
            va="bottom",
            fontsize=8,
            color=MUTED,
        )
        axes.texts[-1].set_position(
            (1.0 + 0.1 / (WIDTH - left_margin - right), 1.0 + 0.06 / (height - below - above))
        )
        for y, line in enumerate(lines):
            if isinstance(line, str):
                group_label(axes, y, line)
                continue
            dot = dots[line]
            row_label(axes, y, short(dot.label), indent=0.1 if dot.group else 0.0)
            draw_dot(axes, y, dot)
            figure.text(
                1 - (right - 0.1) / WIDTH,
                y,
                dot.text,
                transform=across_and_rows(axes),
                va="center",
                fontsize=8,
                color=MUTED if math.isnan(dot.value) else INK,
            )
        if has_marks:
            keys += benchmark_key(axes, mark)
        draw_keys(figure, keys, 0.02)
        stamp(figure, about)
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
    """Draw the shares of the labels as stacked bars, one row a panel and system.

    Abstentions are hatched.
    """
    with style():
        lines = lines_of([b.group for b in bars])
        colours, hatches = palette(labels, ordered=ordered, abstain=abstain)
        legend_rows, columns = legend_shape(labels)
        top = 0.14 + 0.185 * legend_rows + (0.0 if isinstance(lines[0], str) else 0.1)
        height = ROW * 1.15 * len(lines) + 0.46 + top
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([b.label for b in bars])
        right = (
            max(widest([numbers.count(sum(b.counts)) for b in bars], 8), widest([total], 8)) + 0.2
        )
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                0.46 / height,
                (WIDTH - left_margin - right) / WIDTH,
                (height - 0.46 - top) / height,
            )
        )
        axes.set_ylim(len(lines) - 0.45, -0.55)
        axes.set_xlim(0, 1)
        frame(axes, axis, numbers, grid=False, factor=100)
        for y, line in enumerate(lines):
            if isinstance(line, str):
                group_label(axes, y, line)
                continue
            bar = bars[line]
            row_label(axes, y, short(bar.label), indent=0.1 if bar.group else 0.0)
            draw_stack(axes, y, bar.counts, colours, hatches, numbers)
            figure.text(
                1 - 0.02 / WIDTH,
                y,
                numbers.count(sum(bar.counts)),
                transform=across_and_rows(axes),
                va="center",
                ha="right",
                fontsize=8,
            )
        figure.text(
            1 - 0.02 / WIDTH,
            1 - (top - 0.05) / height,
            total,
            ha="right",
            va="bottom",
            fontsize=8,
            color=MUTED,
        )
        keys = [
            Patch(facecolor=c, hatch=h, edgecolor=EDGE, linewidth=0.5, label=short(name))
            for c, h, name in zip(colours, hatches, labels, strict=True)
        ]
        figure.legend(
            handles=keys,
            loc="upper left",
            bbox_to_anchor=(left_margin / WIDTH, 1 - 0.03 / height),
            ncols=columns,
            frameon=False,
            fontsize=8,
            borderpad=0.1,
            borderaxespad=0,
            handlelength=1.1,
            handleheight=1.0,
            columnspacing=1.3,
            labelspacing=0.35,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def heat_map(
    about: About,
    raters: Sequence[str],
    values: Mapping[tuple[str, str], float],
    numbers: Numbers,
    *,
    axis: str,
) -> Drawing:
    """Draw one number for each pair of raters as a square of cells; undefined pairs show a dash."""
    with style():
        n = len(raters)
        names = [short(r, 16) for r in raters]
        left_margin = widest(names, 8.5) + 0.2
        cell = min(0.52, (WIDTH - left_margin - 1.0) / n)
        side = cell * n
        below = widest(names, 8.5) * 0.75 + 0.25
        height = side + below + 0.15
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((left_margin / WIDTH, below / height, side / WIDTH, side / height))
        defined = [v for v in values.values() if not math.isnan(v)]
        low = min(defined, default=0.0)
        high = max(defined, default=1.0)
        low, high = (low, high) if high - low > 1e-9 else (low - 0.5, high + 0.5)
        axes.set(xlim=(0, n), ylim=(n, 0))
        for row, rater in enumerate(raters):
            for column, other in enumerate(raters):
                value = values.get((rater, other), values.get((other, rater), float("nan")))
                is_estimable = rater != other and not math.isnan(value)
                colour = (
                    to_hex(SEQUENTIAL((value - low) / (high - low))) if is_estimable else "none"
                )
                axes.add_artist(
                    Rectangle(
                        (column, row),
                        1,
                        1,
                        facecolor=colour,
                        edgecolor=PAPER if is_estimable else RULE,
                        linewidth=1,
                    )
                )
                if rater != other and cell >= 0.3:
                    shown = numbers.plain(value, 2) if is_estimable else "–"
                    axes.text(
                        column + 0.5,
                        row + 0.5,
                        shown,
                        ha="center",
                        va="center",
                        fontsize=min(7.5, cell * 17),
                        color=letters_on(colour) if is_estimable else MUTED,
                    )
        axes.set_xticks(
            [i + 0.5 for i in range(n)], names, rotation=40, ha="right", rotation_mode="anchor"
        )
        axes.set_yticks([i + 0.5 for i in range(n)], names)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        draw_scale(
            figure,
            ((left_margin + side + 0.3) / WIDTH, below / height),
            side / height,
            (low, high),
            axis,
            numbers,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def small_forest(
    about: About,
    dots: Sequence[Dot],
    numbers: Numbers,
    *,
    axis: ValueAxis,
    mark_name: str = "",
) -> Drawing:
    """Draw one row for each estimate; the dashed line and the diamonds are named above the rows."""
    with style():
        title = wrapped(axis.title, SMALL_WIDTH - 0.2, 8, LONGEST_TITLE)
        names = [name for name in (*axis.key_names, short(mark_name, LONGEST_NAME)) if name]
        # Names that do not fit side by side stand one below the other.
        rows_of_names = (
            len(names) if sum(widest([n], 7.5) + 0.5 for n in names) > SMALL_WIDTH else 1
        )
        above = ABOVE + NAME * (rows_of_names - 1) if names else 0.08
        below = BELOW + axis.room_below + TITLE * title.count("\n")
        height = ROW * len(dots) + above + below
        figure = Figure(figsize=(SMALL_WIDTH, height))
        left_margin = max(0.6, widest([short(d.label, LONGEST) for d in dots], 8.5) + 0.2)
        axes = figure.add_axes(
            (
                left_margin / SMALL_WIDTH,
                below / height,
                (SMALL_WIDTH - left_margin - RIGHT) / SMALL_WIDTH,
                (height - below - above) / height,
            )
        )
        axes.set_ylim(len(dots) - 0.5, -0.5)
        values = [x for d in dots for x in (d.value, d.low, d.high, d.mark)]
        axes.set_xlim(*(axis.limits or span(values, axis.reference)))
        keys = draw_axis(axes, replace(axis, title=""), numbers)
        figure.text(0.5, 0.2 / height, title, ha="center", fontsize=8)
        if mark_name:
            keys += benchmark_key(axes, short(mark_name, LONGEST_NAME))
        draw_keys(figure, keys, 0.02, rows=rows_of_names)
        for y, dot in enumerate(dots):
            row_label(axes, y, short(dot.label, LONGEST))
            draw_dot(axes, y, dot)
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)
