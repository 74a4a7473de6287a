"""Cells of the tables that the protocol lays out: values, intervals, marks, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Row
from konsil.analysis.model.message import message
from konsil.report.answers.result_table import link
from konsil.report.answers.units import PERCENT, POINTS, Unit
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Numbers
from konsil.study.sections.table_layout import TableLayout


@dataclass(frozen=True)
class TableContext:
    """What the cells of one table have in common."""

    material: Material
    """The report's material."""
    lines: Mapping[int, int]
    """Id of a row -> its line in estimates.csv."""
    layout: TableLayout
    """The table."""
    signs: bool
    """Whether each proportion has its per cent sign, because other cells are no proportions."""


def has_signs(rows: Sequence[Row]) -> bool:
    """Whether proportions stand beside other numbers, so that each needs its sign."""
    kinds = {row.statistic in PERCENT | POINTS for row in rows}
    return len(kinds) > 1


def estimate_cell(context: TableContext, row: Row) -> Cell:
    """An estimate with its interval where the table shows it; undefined ones with their reason."""
    return _cell(
        context,
        row,
        1.0,
        context.layout.cells == "interval",
        context.signs and row.statistic in PERCENT,
    )


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
    sizes = [row.n_units for row in rows]
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
    if has_interval and math.isfinite(e.low) and math.isfinite(e.high):
        low, high = sorted((e.low * factor, e.high * factor))
        ends = numbers.plain(low, digits), numbers.plain(high, digits)
        text += f" [{numbers.language.between.join(ends)}]"
    text += marks(row, context.layout.significance)
    return Cell(text, tuple(remarks), number=True, href=href)
