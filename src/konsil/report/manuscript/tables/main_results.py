"""Table 2 of a manuscript: the main results in the form that journals print."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from konsil.analysis import Row
from konsil.errors.message import message
from konsil.report.answers.answers import analysis_title, quantity
from konsil.report.answers.layouts import spreads_of
from konsil.report.estimates.interval_methods import (
    method_notes,
    remarks,
    target_footnotes,
    target_notes,
)
from konsil.report.figures.units import Unit, is_percent
from konsil.report.manuscript.printed import Printed
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import (
    Joined,
    columns_of,
    contrast,
    in_order,
    raters_of,
    shown_value,
    units_of,
)
from konsil.report.material.tables import Cell, Table, table

_COUNTED = frozenset({"share", "abstention"})
"""Proportions of ratings: their numerator and denominator are numbers of ratings."""
_INTEGRAL = 1e-6
"""How far a numerator of whole ratings may be from a whole number."""


def main_results(printed: Printed) -> Table | None:
    """The table of the main results that no table of the protocol has; None without any."""
    material = printed.material
    _, numbers = material.language.gettext, material.numbers
    spreads = spreads_of(material, printed.rows)
    specs = [spec for spec in printed.main if not printed.laid(spec.name)]
    lines = {spec.name: _ordered(material, printed.lines[spec.name]) for spec in specs}
    shown = [line for spec in specs for line in lines[spec.name]]
    if not shown:
        return None
    rows = [line.row for line in shown]
    has_differences = any(row.kind == "difference" for row in rows)
    has_p = any(math.isfinite(row.estimate.p) for row in rows)
    n_adjusted = sum(math.isfinite(row.p_adjusted) for row in rows)
    level = material.numbers.level(max(row.estimate.level for row in rows))
    interval_head = numbers.translated(
        message(
            "{level} CI",
            message_id="comparison.interval",
            level=f"{level}{material.language.per_cent}",
        )
    )
    columns = _Columns(has_differences, has_p, n_adjusted > 0)
    head = [
        _("Outcome"),
        _("Group"),
        numbers.translated(
            message("n/N (%), mean (SD) or estimate", message_id="manuscript.value_with_sd")
            if spreads
            else message("n/N (%) or estimate", message_id="manuscript.value")
        ),
        interval_head,
        *([f"{_('Difference')} ({interval_head})"] if columns.has_differences else []),
        *([_("p")] if columns.has_p else []),
        *([_("p (Holm)")] if columns.has_adjusted else []),
        _("Raters"),
        _("Units"),
    ]
    body: list[tuple[Cell, ...]] = []
    for spec in specs:
        of_spec = [line.row for line in lines[spec.name]]
        title, words = analysis_title(spec.name), quantity(material, spec, of_spec)
        outcome = words if words.startswith(title) else f"{title}: {words}"
        if not spec.prespecified:
            exploratory = message("exploratory", message_id="answer.exploratory")
            outcome = f"{outcome}, {numbers.translated(exploratory)}"
        body += _cells(material, outcome, lines[spec.name], spreads, columns)
    caption = numbers.translated(message("Main results.", message_id="manuscript.main_results"))
    return table(
        material.caption(caption), head, body, row_heads=2, general=_notes(material, shown, spreads)
    )


class _Columns:
    """Which of the columns that not every study needs the table has."""

    def __init__(self, has_differences: bool, has_p: bool, has_adjusted: bool) -> None:
        self.has_differences = has_differences
        self.has_p = has_p
        self.has_adjusted = has_adjusted


def _ordered(material: Material, lines: Sequence[Joined]) -> list[Joined]:
    """Estimates in the order of the protocol's groups with their benchmarks, then differences."""
    estimates = in_order(material, [line for line in lines if line.row.kind != "difference"])
    benchmarks = {
        id(line.benchmark): Joined(line.benchmark) for line in estimates if line.benchmark
    }
    by_group = {tuple(j.row.group.items()): j for j in benchmarks.values()}
    differences = [line for line in lines if line.row.kind == "difference"]
    return [*estimates, *by_group.values(), *differences]


def _cells(
    material: Material,
    outcome: str,
    lines: Sequence[Joined],
    spreads: Mapping[int, Row],
    columns: _Columns,
) -> Iterator[tuple[Cell, ...]]:
    numbers, groups = material.numbers, columns_of(lines)
    for line in lines:
        row, e = line.row, line.row.estimate
        is_difference = row.kind == "difference"
        names = (
            contrast(row, column, material)
            if is_difference
            else shown_value(material, column, row.group.get(column, ""))
            for column in groups
        )
        name = ", ".join(text for text in names if text)
        footnotes = (
            *([e.reason] if e.reason else []),
            *remarks(material, row),
            *target_footnotes(material, line, lines),
        )
        value, interval = _value(material, row, spreads), _interval(material, row)
        of_difference = f"{value} ({interval})" if interval else value
        yield (
            Cell(outcome),
            Cell(name or row.raters),
            Cell("" if is_difference else value, () if is_difference else footnotes, number=True),
            Cell("" if is_difference else interval, number=True),
            *(
                [
                    Cell(
                        of_difference if is_difference else "",
                        footnotes if is_difference else (),
                        number=True,
                    )
                ]
                if columns.has_differences
                else []
            ),
            *([Cell(numbers.p(e.p), number=True)] if columns.has_p else []),
            *([Cell(numbers.p(row.p_adjusted), number=True)] if columns.has_adjusted else []),
            Cell(raters_of(material, row), number=True),
            Cell(units_of(material, row), number=True),
        )


def _value(material: Material, row: Row, spreads: Mapping[int, Row]) -> str:
    """n/N (%) of a proportion of ratings, mean (SD) where an analysis has the SD, else the value.

    Of differences of proportions the percentage points, without a unit: a note states it.
    """
    e, numbers = row.estimate, material.numbers
    if math.isnan(e.value):
        return numbers.plain(e.value)
    unit = Unit(row.statistic, numbers)
    if row.kind == "difference":
        return numbers.plain(unit.factor * e.value, unit.digits)
    counted = e.value * e.n_ratings
    is_whole = abs(counted - round(counted)) < _INTEGRAL * max(1, e.n_ratings)
    if row.statistic in _COUNTED and e.n_ratings and is_whole and not row.is_withheld:
        return numbers.proportion(round(counted), e.n_ratings, decimals=1)
    spread = spreads.get(id(row))
    if spread is not None and math.isfinite(spread.estimate.value):
        of_spread = numbers.plain(spread.estimate.value, unit.digits)
        return f"{numbers.plain(e.value, unit.digits)} ({of_spread})"
    return unit.value(e.value) if is_percent(row.statistic) else _scaled(material, row, e.value)


def _scaled(material: Material, row: Row, value: float) -> str:
    unit = Unit(row.statistic, material.numbers)
    return material.numbers.plain(unit.factor * value, unit.digits)


def _interval(material: Material, row: Row) -> str:
    """The limits, in the unit of the value; empty without an interval."""
    e = row.estimate
    if not (math.isfinite(e.low) and math.isfinite(e.high)):
        return ""
    return Unit(row.statistic, material.numbers).limits(e.low, e.high)


def _notes(
    material: Material, lines: Sequence[Joined], spreads: Mapping[int, Row]
) -> Iterator[str]:
    translated = material.numbers.translated
    rows = [line.row for line in lines]
    if any(is_percent(row.statistic) and math.isfinite(row.estimate.low) for row in rows):
        yield translated(
            message(
                "CIs of proportions in per cent, differences of proportions in percentage points.",
                message_id="manuscript.percentage_points",
            )
        )
    if any(id(row) in spreads for row in rows):
        yield translated(
            message("SD: standard deviation of the scores.", message_id="manuscript.sd")
        )
    if any(row.n_units_versus for row in rows):
        yield translated(
            message(
                "Units of a difference: of the first group / of the second.",
                message_id="manuscript.units_of_both",
            )
        )
    if any(math.isfinite(row.p_adjusted) for row in rows):
        yield translated(
            message("Holm: adjusted over all declared tests.", message_id="declared.holm_column")
        )
    yield from target_notes(material, lines)
    yield from method_notes(material, lines)
