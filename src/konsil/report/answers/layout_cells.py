"""Cells of the tables that the protocol lays out, and tables of several of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from konsil.analysis import Row
from konsil.errors.message import listed, message
from konsil.report.answers.result_table import link
from konsil.report.figures.units import Unit, head_unit, is_percent
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import n_counted
from konsil.report.material.tables import Cell, Numbers, Table, table
from konsil.study.sections.table_layout import TableLayout

N_UNITS = "n"
"""The head of the column with the number of rated units, in every language."""


@dataclass(frozen=True)
class TableContext:
    """What the cells of one table have in common."""

    material: Material
    """The report's material."""
    lines: Mapping[int, int]
    """Id of a row -> its line in estimates.csv."""
    layout: TableLayout
    """The table."""
    spreads: Mapping[int, Row] = field(default_factory=dict)
    """Id of the row of a mean -> the row of its standard deviation, where cells have both."""

    def is_mean(self, row: Row) -> bool:
        """Whether a cell has the standard deviation of a row's mean in place of its interval."""
        return self.layout.cells == "sd" and row.statistic == "mean"


ColumnUnit = Literal["percent", "points", "", "mixed"]
"""What all numbers of a column are: per cent, percentage points, neither, or not all the same."""


def column_unit(rows: Sequence[Row], *, is_difference: bool = False) -> ColumnUnit:
    """The unit that the head of a column can state, so that its cells need none.

    >>> from konsil.stats.engine.contract import Estimate
    >>> share, mean = (Row("a", s, "c", "r", Estimate(0.5)) for s in ("share", "mean"))
    >>> column_unit([share]), column_unit([share], is_difference=True), column_unit([share, mean])
    ('percent', 'points', 'mixed')
    """
    units: set[ColumnUnit] = {head_unit(row.statistic, is_difference=is_difference) for row in rows}
    return units.pop() if len(units) == 1 else "mixed" if units else ""


def estimate_cell(context: TableContext, row: Row, unit: ColumnUnit) -> Cell:
    """An estimate with its interval where the table shows it; undefined ones with their reason."""
    has_percent = unit == "mixed" and is_percent(row.statistic)
    if context.is_mean(row):
        return _mean_cell(context, row)
    return _cell(context, row, 1.0, context.layout.cells != "estimate", has_percent)


def _mean_cell(context: TableContext, row: Row) -> Cell:
    """A mean with its standard deviation in brackets."""
    numbers, spread = context.material.numbers, context.spreads.get(id(row))
    shown = _cell(context, row, 1.0, False, False)
    if spread is None:
        reason = message(
            "No analysis of this table estimates the standard deviation.",
            message_id="layout.no_spread",
        )
        return replace(shown, remarks=(*shown.remarks, numbers.translated(reason)))
    if math.isnan(row.estimate.value):
        return shown
    e = spread.estimate
    reasons = (numbers.translated(e.reason),) if e.reason and math.isnan(e.value) else ()
    digits = Unit(spread.statistic, numbers).digits
    text = f"{shown.text} ({numbers.plain(e.value, digits)})"
    return replace(shown, text=text, remarks=(*shown.remarks, *reasons))


def p_cell(numbers: Numbers, differences: Sequence[Row], estimates: Sequence[Row]) -> Cell:
    """The adjusted p values of a line's differences, else of its estimates, each once."""
    values = [r.p_adjusted for r in differences if math.isfinite(r.p_adjusted)]
    values = values or [r.p_adjusted for r in estimates if math.isfinite(r.p_adjusted)]
    texts = dict.fromkeys(numbers.p(value) for value in values)
    return Cell("; ".join(texts) or "–", number=True)


def difference_cell(context: TableContext, difference: tuple[Row, float] | None) -> Cell:
    """A difference with its interval, in the direction that the table states."""
    if difference is None:
        reason = message(
            "No analysis of this table compares these two groups.",
            message_id="layout.no_difference",
        )
        return Cell("–", (context.material.numbers.translated(reason),), number=True)
    row, sign = difference
    return _cell(context, row, sign, True, False)


def missing_cell(context: TableContext) -> Cell:
    """A place without an estimate."""
    reason = message(
        "No analysis of this table estimates this cell.", message_id="layout.no_estimate"
    )
    return Cell("–", (context.material.numbers.translated(reason),), number=True)


def units_cell(numbers: Numbers, rows: Sequence[Row]) -> Cell:
    """How many units the estimates of a line are from, as a range where they differ."""
    sizes = [n_counted(row) for row in rows if not row.is_withheld]
    if not sizes:
        return Cell("–", number=True)
    low, high = numbers.count(min(sizes)), numbers.count(max(sizes))
    return Cell(low if low == high else f"{low}–{high}", number=True)


def marks(row: Row, levels: Sequence[float]) -> str:
    """A mark for each level that the adjusted p value is below; none for one that is not adjusted.

    >>> from konsil.stats.engine.contract import Estimate
    >>> row = Row("a", "share", "c", "r", Estimate(0.5, p=0.0001), p_adjusted=0.004)
    >>> marks(row, (0.05, 0.01, 0.001))
    '**'
    """
    p = row.p_adjusted
    return "*" * sum(p < level for level in levels) if math.isfinite(p) else ""


def _cell(
    context: TableContext, row: Row, sign: float, has_interval: bool, has_percent: bool
) -> Cell:
    e, numbers = row.estimate, context.material.numbers
    line = context.lines.get(id(row), 0)
    href = link(line) if line else ""
    remarks = [numbers.translated(e.reason)] if e.reason else []
    if math.isnan(e.value):
        if not remarks:
            remarks.append(context.material.language.gettext("No reason is recorded."))
        return Cell(numbers.plain(e.value), tuple(remarks), number=True, href=href)
    unit = Unit(row.statistic, numbers)
    factor, digits = unit.factor * sign, unit.digits
    text = numbers.plain(e.value * factor, digits)
    if has_percent:
        text += numbers.language.per_cent
    if context.layout.cells == "count" and sign == 1:
        text = _counted(row, text, numbers)
    if has_interval and math.isfinite(e.low) and math.isfinite(e.high):
        low, high = sorted((e.low * factor, e.high * factor))
        ends = numbers.plain(low, digits), numbers.plain(high, digits)
        text += f" [{numbers.language.between.join(ends)}]"
    text += marks(row, context.layout.significance)
    reached = {g: low for g, low in context.layout.grades.items() if e.value >= low}
    if reached and row.kind == "estimate":
        text += f"; {max(reached, key=reached.__getitem__)}"
    return Cell(text, tuple(remarks), number=True, href=href)


def _counted(row: Row, text: str, numbers: Numbers) -> str:
    """A proportion after the counts that it is of; one that is weighted is of none."""
    n = n_counted(row)
    count = row.estimate.value * n
    if not is_percent(row.statistic) or not math.isclose(count, round(count), abs_tol=1e-6):
        return text
    return f"{numbers.count(round(count))}/{numbers.count(n)} ({text})"


def combined(material: Material, caption: str, parts: Sequence[tuple[str, Table]]) -> Table:
    """The rows of several tables, each with the title of its table.

    The last heading column stays where all parts have it; other headings share one column. Columns
    of the same head are one column; a part that lacks a column has a dash there. The number of
    rated units stays the last column. A note that is not about all parts names its parts.
    """
    shown = [(name, part) for name, part in parts if part.rows]
    last_heads = {part.head[part.row_heads - 1].text for _name, part in shown}
    last = last_heads.pop() if len(last_heads) == 1 else ""
    columns = list(
        dict.fromkeys(cell.text for _name, part in shown for cell in part.head[part.row_heads :])
    )
    if N_UNITS in columns:
        columns.append(columns.pop(columns.index(N_UNITS)))
    lines = [
        (name, _heads(row[: part.row_heads], last), _by_column(part, row))
        for name, part in shown
        for row in part.rows
    ]
    has_groups = any(group for _name, (group, _own), _cells in lines)
    translate = material.numbers.translated
    head = [
        translate(message("Part", message_id="layout.part")),
        *([translate(message("Group", message_id="layout.group"))] if has_groups else []),
        *([last] if last else []),
    ]
    body = [
        (
            Cell(name),
            *([Cell(group or "–")] if has_groups else []),
            *([own] if last else []),
            *(cells.get(column, Cell("–", number=True)) for column in columns),
        )
        for name, (group, own), cells in lines
    ]
    notes = list(_notes(material, shown))
    return table(caption, [*head, *columns], body, row_heads=len(head), general=notes)


def _notes(material: Material, parts: Sequence[tuple[str, Table]]) -> Iterator[str]:
    """The notes without a mark, each once; one that only some parts have is about these."""
    translate = material.numbers.translated
    titles_by_note: dict[str, list[str]] = {}
    for title, part in parts:
        for text in dict.fromkeys(note.text for note in part.notes if not note.mark):
            quoted = translate(message("“{title}”", message_id="layout.quoted", title=title))
            titles_by_note.setdefault(text, []).append(quoted)
    for text, titles in titles_by_note.items():
        if len(titles) == len(parts):
            yield text
        else:
            yield translate(
                message(
                    "In {parts}: {note}",
                    message_id="layout.note_of_parts",
                    parts=listed(titles),
                    note=text,
                )
            )


def _heads(cells: Sequence[Cell], last: str) -> tuple[str, Cell]:
    """The group of a row, and the cell of the last heading column where that stays."""
    own = replace(cells[-1], marks=(), same=False)
    words = [cell.text for cell in (cells[:-1] if last else cells)]
    return ", ".join(words), own


def _by_column(part: Table, row: Sequence[Cell]) -> dict[str, Cell]:
    """Head of a column -> the row's cell, whose footnotes are numbered anew."""
    return {
        head.text: replace(cell, marks=(), same=False)
        for head, cell in zip(part.head[part.row_heads :], row[part.row_heads :], strict=True)
    }
