"""The figures of an analysis: forest plots, and a heat map where rows are about pairs of raters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from konsil.analysis import Analysis
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.figures import forest, heat_map
from konsil.report.figures.svg_primitives import About, Dot, span
from konsil.report.material.glossary import entry, title
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import Joined, beside_names, columns_of, contrast, value_head

MOST_LINES = 38
"""Lines of one forest plot: what fits a printed page with its caption."""
_COMPARED = {"crossover": "accuracy", "tukey": "mean"}
"""What is compared, where a statistic is a comparison itself and no number of a group."""
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
    columns = columns_of(rows)
    several = len({line.row.statistic for line in rows}) > 1
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
                numbers.with_interval(e),
                names[0] if len(names) > 1 else "",
                line.beside.estimate.value if line.beside else math.nan,
            )
        )
    zero = (
        0.0
        if difference or entry(statistic).marks_zero
        else None
        if spec is None
        else spec.pass_line
    )
    margin = spec.margin if difference and spec is not None else None
    ends = [] if margin is None else [-margin, margin]
    limits = span([*ends, *(x for d in dots for x in (d.value, d.low, d.high, d.mark))], zero)
    pages = paged(dots)
    comparisons = ", ".join(beside_names(rows))
    word = title(_COMPARED.get(statistic, statistic), material.language)
    if difference and statistic != "mann_whitney":
        word = _("Difference in %(statistic)s") % {"statistic": word}
    drawings = []
    for n, page in enumerate(pages):
        part = " " + _("Diamonds: %(what)s.") % {"what": comparisons} if comparisons else ""
        if spec is not None and zero is not None and zero == spec.pass_line and not difference:
            part += " " + _("Dashed: pass line %(value)s.") % {"value": numbers.tick(zero)}
        if margin is not None:
            part += " " + _("Shaded: differences within ±%(margin)s.") % {
                "margin": numbers.tick(margin)
            }
        part += (
            " " + _("Part %(n)s of %(total)s.") % {"n": n + 1, "total": len(pages)}
            if len(pages) > 1
            else ""
        )
        caption = _("%(name)s: %(what)s. Dots: estimates; lines: CI.") % {
            "what": word,
            "name": name,
        }
        about = About(
            key=anchor("differences" if difference else "forest", name)
            + (f"-{n + 1}" if len(pages) > 1 else ""),
            title=f"{word}: {name}",
            description="; ".join(
                f"{d.group + ', ' if d.group else ''}{d.label}: {d.text}" for d in page
            ),
            caption=material.caption(caption + part),
            stamp=material.stamp,
        )
        heading = value_head(material, rows)
        drawings.append(
            forest(
                about,
                page,
                numbers,
                axis=word,
                heading=heading,
                reference=zero,
                limits=limits,
                mark=comparisons,
                band=None if margin is None else (-margin, margin),
            )
        )
    return drawings


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
