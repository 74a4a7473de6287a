"""The figures of an analysis: forest plots, and a heat map where rows are about pairs of raters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from konsil.analysis import Analysis
from konsil.errors.message import message
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.figures import forest, heat_map
from konsil.report.figures.svg_primitives import About, Dot, ValueAxis
from konsil.report.figures.value_axes import (
    ALIKE,
    by_estimate,
    figure_numbers,
    value_axis,
    with_colours,
    with_raw,
)
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import (
    Joined,
    benchmark_names,
    columns_of,
    contrast,
)

MOST_LINES = 38
"""Lines of one forest plot: what fits a printed page with its caption."""
PAIRS = (
    ("rater", "other"),
    ("rater_1", "rater_2"),
    ("rater_a", "rater_b"),
    ("rater", "against"),
    ("criterion", "other"),
)
"""Group columns that say a row is about two raters or criteria."""


def forests(
    material: Material,
    name: str,
    statistic: str,
    rows: Sequence[Joined],
    *,
    spec: Analysis | None = None,
    difference: bool = False,
) -> list[Drawing]:
    """One forest plot for each printed page's worth of rows; none for a single row."""
    if len(rows) < 2 or all(math.isnan(line.row.estimate.value) for line in rows):
        return []
    _, numbers = material.language.gettext, material.numbers
    rows = by_estimate(rows)
    columns = columns_of(rows)
    several = len({line.row.statistic for line in rows}) > 1
    text_of, heading = figure_numbers(material, statistic, rows)
    is_shared = value_axis(material, statistic, rows, spec=spec).benchmark is not None
    dots = []
    for line in rows:
        names = [
            contrast(line.row, c) if difference else line.row.group.get(c, _("all"))
            for c in columns
        ]
        names += [title(line.row.statistic, material.language)] if several or not names else []
        e = line.row.estimate
        dots.append(
            Dot(
                ", ".join(names[1:]) or names[0],
                e.value,
                e.low,
                e.high,
                text_of(e),
                names[0] if len(names) > 1 else "",
                line.benchmark.estimate.value if line.benchmark and not is_shared else math.nan,
            )
        )
    if not difference:
        dots = with_colours(material, dots, [line.row.group.get("system", "") for line in rows])
        dots = with_raw(material, spec, dots, [line.row for line in rows])
    axis = value_axis(material, statistic, rows, spec=spec, dots=dots)
    pages = paged(dots)
    comparisons = ", ".join(benchmark_names(rows))
    drawings = []
    for n, page in enumerate(pages):
        about = About(
            key=anchor("differences" if difference else "forest", name)
            + (f"-{n + 1}" if len(pages) > 1 else ""),
            title=f"{axis.title}: {name}",
            description="; ".join(
                f"{d.group + ', ' if d.group else ''}{d.label}: {d.text}" for d in page
            ),
            caption=_caption(material, name, axis, page, "" if is_shared else comparisons)
            + (
                " " + _("Part %(n)s of %(total)s.") % {"n": n + 1, "total": len(pages)}
                if len(pages) > 1
                else ""
            ),
            stamp=material.stamp,
        )
        drawings.append(
            forest(
                about,
                page,
                numbers,
                axis=axis,
                heading=heading,
                mark="" if is_shared else comparisons,
            )
        )
    return drawings


def _caption(
    material: Material, name: str, axis: ValueAxis, dots: Sequence[Dot], comparisons: str
) -> str:
    """What is drawn, and what its marks and lines are."""
    _, numbers = material.language.gettext, material.numbers
    parts = [
        _("%(name)s: %(what)s. Dots: estimates; lines: CI.") % {"what": axis.title, "name": name}
    ]
    if comparisons:
        parts.append(_("Diamonds: %(what)s.") % {"what": comparisons})
    if axis.benchmark is not None:
        parts.append(
            numbers.translated(
                message(
                    "Vertical line and band: {name} with CI.",
                    message_id="axis.benchmark",
                    name=axis.benchmark.name,
                )
            )
        )
        if not axis.benchmark.is_exact:
            parts.append(
                numbers.translated(
                    message(
                        "For single rows it differs by at most {margin}.",
                        message_id="axis.benchmark_alike",
                        margin=numbers.tick(ALIKE),
                    )
                )
            )
    if axis.reference is not None and axis.reference != 0:
        parts.append(
            _("Dashed: pass line %(value)s.")
            % {"value": numbers.tick(axis.reference * axis.factor)}
        )
    if axis.band is not None:
        parts.append(
            _("Shaded: differences within ±%(margin)s.")
            % {"margin": numbers.tick(axis.band[1] * axis.factor)}
        )
    if any(dot.raw for dot in dots):
        parts.append(
            numbers.translated(message("Small dots: means of single items.", message_id="axis.raw"))
        )
    return " ".join(parts)


def paged(dots: Sequence[Dot]) -> list[list[Dot]]:
    """Rows in as many parts as printed pages are needed; a group's name takes a line too."""
    parts: list[list[Dot]] = [[]]
    lines = 0
    for dot in dots:
        new = 2 if dot.group and (not parts[-1] or parts[-1][-1].group != dot.group) else 1
        if lines + new > MOST_LINES:
            parts.append([])
            lines, new = 0, 2 if dot.group else 1
        parts[-1].append(dot)
        lines += new
    return parts


def heat_maps(
    material: Material, name: str, statistic: str, rows: Sequence[Joined]
) -> list[Drawing]:
    """A heat map of pairs of raters, one for each value of the other group columns."""
    columns = columns_of(rows)
    pair = next((p for p in PAIRS if set(p) <= set(columns)), None)
    if pair is None:
        return []
    _ = material.language.gettext
    others = [c for c in columns if c not in pair]
    maps: dict[tuple[str, ...], dict[tuple[str, str], float]] = {}
    for line in rows:
        group: Mapping[str, str] = line.row.group
        if pair[0] in group and pair[1] in group:
            key = tuple(group.get(c, "") for c in others)
            maps.setdefault(key, {})[group[pair[0]], group[pair[1]]] = line.row.estimate.value
    drawings = []
    for n, (key, values) in enumerate(maps.items()):
        raters = list(dict.fromkeys(rater for both in values for rater in both))
        raters = raters if pair[0] == "criterion" else sorted(raters, key=natural)
        word = title(statistic, material.language)
        where = ", ".join(part for part in key if part)
        pairs = _("%(what)s of each pair of raters, analysis “%(name)s”.")
        pairs = _("%(what)s, pairwise, analysis “%(name)s”.") if pair[0] == "criterion" else pairs
        caption = pairs % {"what": word, "name": name}
        about = About(
            key=anchor("pairs", name) + (f"-{n + 1}" if len(maps) > 1 else ""),
            title=f"{word}: {where or name}",
            description="; ".join(
                f"{a}, {b}: {material.numbers.plain(v)}" for (a, b), v in values.items()
            ),
            caption=material.caption(caption + (f" {where}." if where else "")),
            stamp=material.stamp,
        )
        drawings.append(heat_map(about, raters, values, material.numbers, axis=word))
    return drawings
