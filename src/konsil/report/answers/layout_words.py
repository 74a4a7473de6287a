"""Words of the tables that the protocol lays out: heads of rows and columns, captions, notes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from konsil.analysis import Row
from konsil.errors.message import listed, message
from konsil.prepare import MATCH
from konsil.report.answers.layout_cells import ColumnUnit, TableContext, marks
from konsil.report.figures.units import is_points, unit_words
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.ranges import alike
from konsil.report.material.table_rows import column_title, n_counted
from konsil.study.sections.table_layout import FigureLayout, TableLayout

Coordinates = tuple[str, ...]
"""A value for each key; empty where an estimate is of no group."""
_NEED_TITLE = frozenset({"level", "length", "sentences", "minutes", MATCH})
"""Columns whose values say nothing alone in the head of a column."""


def line_words(
    material: Material, keys: Sequence[str], values: Coordinates, grouped: Sequence[str]
) -> Iterator[str]:
    """The words of a line's heads; “all” only where its analysis has other lines by the key."""
    for key, value in zip(keys, values, strict=True):
        nothing = material.language.gettext("all") if key in grouped else "–"
        yield word_of(material, key, value) if value else nothing


def word_of(material: Material, key: str, value: str) -> str:
    """A value of a key as a reader sees it."""
    if key == "statistic":
        return title(value, material.language)
    if key == "criterion":
        return material.criterion(value)
    return material.word(value)


def heading(
    material: Material,
    keys: Sequence[str],
    values: Coordinates,
    level: str,
    unit: ColumnUnit,
) -> str:
    """What a column has: its groups, the unit of all of its numbers, the level of intervals."""
    words = [
        f"{column_title(material, k)} {word}" if k in _NEED_TITLE else word
        for k, v in zip(keys, values, strict=True)
        if v and (word := word_of(material, k, v))
    ]
    text = ", ".join(words) or material.language.gettext("all")
    if unit in ("percent", "points"):
        text += f" ({unit_words(material.numbers, unit)})"
    return f"{text} [{level}]" if level else text


def key_title(material: Material, key: str) -> str:
    """The head of a column that names the rows."""
    own = {
        "analysis": material.language.gettext("Analysis"),
        "statistic": material.language.gettext("Statistic"),
    }
    return own.get(key) or column_title(material, key)


def level_words(material: Material, estimates: Sequence[Row]) -> str:
    """The level that all intervals have; empty where they have none or several."""
    levels = {row.estimate.level for row in estimates if math.isfinite(row.estimate.low)}
    if len(levels) != 1:
        return ""
    return material.numbers.translated(
        message("{level:.0%} CI", message_id="layout.level", level=levels.pop())
    )


def caption_of(
    material: Material, layout: TableLayout | FigureLayout, estimates: Sequence[Row]
) -> str:
    """The title, then n, level and panels; the methods of intervals are in the notes."""
    translate = material.numbers.translated
    parts = []
    sizes = [n_counted(row) for row in estimates if not row.is_withheld]
    if sizes:
        low, high = (material.numbers.count(n) for n in (min(sizes), max(sizes)))
        parts.append(
            translate(
                message(
                    "n = {range} rated units",
                    message_id="layout.units",
                    range=low if low == high else f"{low}–{high}",
                )
            )
        )
    if level := level_words(material, estimates):
        parts.append(level)
    specs = {spec.name: spec for spec in material.study.analyses}
    panels: dict[tuple[str, str], int] = {}
    for row in [r for r in estimates if not r.is_withheld]:
        spec = specs.get(row.analysis)
        key = row.raters, (spec.against or "") if spec is not None else ""
        panels[key] = max(panels.get(key, 0), row.n_raters)
    parts += [_panel(material, *key, n) for key, n in panels.items()]
    caption = material.caption(layout.title)
    return f"{caption} {'; '.join(parts)}." if parts else caption


def _panel(material: Material, panel: str, against: str, n: int) -> str:
    """A panel with its raters, or with the panel that it is compared with."""
    if against == "rest":
        text = message(
            "panel {panel}, each member against the others",
            message_id="layout.panel_against_others",
            panel=panel,
        )
    elif against:
        text = message(
            "panel {panel} against {against}",
            message_id="layout.panel_against",
            panel=panel,
            against=against,
        )
    else:
        text = message(
            "panel {panel}: {n:,} {n|rater|raters}", message_id="answer.panel", panel=panel, n=n
        )
    return material.numbers.translated(text)


def notes_of(
    context: TableContext, drawn: Sequence[Row], units: Sequence[ColumnUnit]
) -> Iterator[str]:
    """What numbers and marks mean, which analyses have no estimates, methods of the intervals."""
    material, layout = context.material, context.layout
    spreads = list(context.spreads.values())
    translate = material.numbers.translated
    numbers = material.numbers
    if context.spreads:
        yield translate(
            message("Means with standard deviations (SD).", message_id="layout.means_with_spreads")
        )
    if "mixed" in units and any(is_points(row.statistic) for row in drawn):
        yield translate(
            message(
                "Differences of proportions in percentage points.",
                message_id="layout.points",
            )
        )
    is_tested = any(math.isfinite(row.p_adjusted) for row in drawn)
    if layout.significance and is_tested and not any(marks(r, layout.significance) for r in drawn):
        yield translate(
            message(
                "No p value adjusted for multiple testing is below {level}.",
                message_id="layout.no_marks",
                level=numbers.tick(max(layout.significance)),
            )
        )
    elif layout.significance and is_tested:
        legend = [
            f"{'*' * n} p < {numbers.tick(level)}"
            for n, level in enumerate(layout.significance, start=1)
        ]
        yield translate(
            message(
                "{marks} (p values adjusted for multiple testing; cells without such a p value"
                " have no mark).",
                message_id="layout.marks",
                marks=", ".join(legend),
            )
        )
    present = {row.analysis for row in drawn}
    empty = [name for name in dict.fromkeys(layout.analyses) if name not in present]
    if empty:
        yield translate(
            message(
                "Without estimates: {names}.",
                message_id="layout.without_estimates",
                names=listed(empty),
            )
        )
    shown = [
        row
        for row in drawn
        if row.kind == "difference"
        or (layout.cells != "estimate" and not context.is_mean(row) and row not in spreads)
    ]
    yield from _interval_notes(material, shown)


def _interval_notes(material: Material, shown: Sequence[Row]) -> Iterator[str]:
    """The methods of the intervals; of statistics with different ones, which have which."""
    translate = material.numbers.translated
    by_statistic: dict[str, list[str]] = {}
    for row in shown:
        if row.estimate.method:
            texts = by_statistic.setdefault(row.statistic, [])
            texts.append(translate(row.estimate.method))
    statistics: dict[tuple[str, ...], list[str]] = {}
    for statistic, texts in by_statistic.items():
        name = title(statistic, material.language)
        statistics.setdefault(tuple(alike(texts)), []).append(name)
    for methods, names in statistics.items():
        if len(statistics) == 1:
            for method in methods:
                yield material.language.gettext("CI: %(method)s.") % {"method": method}
            continue
        yield translate(
            message(
                "CI of {statistics}: {methods}.",
                message_id="layout.methods_of",
                statistics=listed(names),
                methods="; ".join(methods),
            )
        )
