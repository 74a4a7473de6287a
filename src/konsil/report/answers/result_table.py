"""A short table of an analysis: each number once, linked to its row of estimates.csv."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from konsil.analysis import Row
from konsil.analysis.model.catalogue.known import OF_WHOLE_CASES
from konsil.errors.message import TranslatableMessage, message
from konsil.report.answers.sentence_parts import Query
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import (
    Joined,
    column_title,
    columns_of,
    contrast,
    counts_of,
    in_order,
    join,
    n_counted,
    raters_of,
    shared_contrast,
    shown_value,
    units_of,
)
from konsil.report.material.tables import Cell, Table, table
from konsil.report.material.translate import message_of

FILE = "estimates.csv"
MOST_ROWS = 24
"""Rows of estimates, and of differences, that the body shows; the appendix has all of them."""


def places(rows: Sequence[Row]) -> Mapping[int, int]:
    """Id of a row -> its line in estimates.csv, of which the head is the first."""
    return {id(row): n + 2 for n, row in enumerate(rows)}


def link(line: int) -> str:
    """Where a line of the file is, as RFC 7111 addresses the rows of CSV files.

    >>> link(7)
    'estimates.csv#row=7'
    """
    return f"{FILE}#row={line}"


def result_table(material: Material, query: Query, lines: Mapping[int, int]) -> Table | None:
    """Estimates, then differences with adjusted p values; None for fewer than two rows."""
    joined = join(query.rows)
    estimates = in_order(material, [j for j in joined if j.row.kind == "estimate"])
    differences = [j for j in joined if j.row.kind == "difference"]
    shown = [*estimates[:MOST_ROWS], *differences[:MOST_ROWS]]
    if len(shown) < 2:
        return None
    _, translate = material.language.gettext, material.numbers.translated
    columns = columns_of(shown)
    fixed = {c: text for c in columns if (text := shared_contrast([j.row for j in shown], c))}
    columns = [c for c in columns if c not in fixed]
    has_p = any(math.isfinite(j.row.p_adjusted) for j in shown)
    levels = {j.row.estimate.level for j in shown}
    head = [
        *(column_title(material, c) for c in columns),
        *([] if columns else [_("Panel")]),
        translate(
            message(
                "Estimate [{level:.0%} CI]",
                message_id="answer.column_estimate",
                level=next(iter(levels)),
            )
        ),
        *([_("p (Holm)")] if has_p else []),
        _("Units"),
        _("Raters"),
        translate(message("Line of the data", message_id="answer.column_line")),
    ]
    rows = [_cells(material, query, j, columns, has_p, lines) for j in shown]
    hidden = len(estimates) + len(differences) - len(shown)
    general = []
    if hidden:
        general.append(
            translate(
                message(
                    "{n:,} further {n|row|rows}: in the appendix.",
                    message_id="answer.rows_hidden",
                    n=hidden,
                )
            )
        )
    if query.unit.factor != 1:
        general.append(
            translate(
                message(
                    "Estimates in per cent, differences in percentage points.",
                    message_id="answer.in_per_cent",
                )
            )
        )
    general += map(translate, _about_units([j.row for j in shown]))
    caption = translate(
        message(
            "Estimates of “{name}” with primary CIs, {contrast}.",
            message_id="answer.table_of_contrast",
            name=query.spec.name,
            contrast=", ".join(fixed.values()),
        )
        if fixed
        else message(
            "Estimates of “{name}” with primary CIs.",
            message_id="answer.table",
            name=query.spec.name,
        )
    )
    return table(caption, head, rows, row_heads=max(1, len(columns)), general=general)


def _about_units(rows: Sequence[Row]) -> Iterator[TranslatableMessage]:
    """What the column of units counts, where the answer counts clusters, which are fewer."""
    if any(len(counts_of(row)) > 1 for row in rows):
        yield message(
            "Units: of the first group / of the second.", message_id="answer.units_of_both"
        )
    if any(row.estimate.n_clusters < n_counted(row) for row in rows):
        yield message(
            "A unit is what raters rate once: an answer, a sentence or a comparison, on one"
            " criterion. An item, or a case, can have several.",
            message_id="answer.about_units",
        )
    elif any(row.statistic in OF_WHOLE_CASES for row in rows):
        yield message("Units are cases.", message_id="answer.units_are_cases")
    if any(message_of(row.estimate.method) == "method.levels_at_once" for row in rows):
        yield message(
            "CIs are simultaneous over all levels, and therefore wider than those of one level.",
            message_id="answer.simultaneous",
        )


def _cells(
    material: Material,
    query: Query,
    joined: Joined,
    columns: Sequence[str],
    has_p: bool,
    lines: Mapping[int, int],
) -> tuple[Cell, ...]:
    numbers, row = material.numbers, joined.row
    names = [
        Cell(
            contrast(row, c, material)
            if row.kind == "difference"
            else shown_value(material, c, row.group.get(c, material.language.gettext("all")))
        )
        for c in columns
    ]
    line = lines.get(id(row), 0)
    return (
        *(names or [Cell(query.spec.raters)]),
        _estimate(material, query, row),
        *([Cell(numbers.p(row.p_adjusted), number=True)] if has_p else []),
        Cell(units_of(material, row), number=True),
        Cell(raters_of(material, row), number=True),
        Cell(str(line), number=True, href=link(line)),
    )


def _estimate(material: Material, query: Query, row: Row) -> Cell:
    e, factor = row.estimate, query.unit.factor
    numbers, remarks = material.numbers, [r for r in (row.estimate.reason,) if r]
    if math.isnan(e.value):
        return Cell(numbers.plain(e.value), tuple(remarks), number=True)
    digits = 1 if factor != 1 else 2
    text = numbers.plain(e.value * factor, digits)
    if math.isfinite(e.low) and math.isfinite(e.high):
        low, high = (numbers.plain(x * factor, digits) for x in (e.low, e.high))
        text += f" [{low}{numbers.language.between}{high}]"
    return Cell(text, tuple(remarks), number=True)
