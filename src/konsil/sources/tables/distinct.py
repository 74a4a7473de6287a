"""Tables that repeat a record in several rows.

Equal rows are one record, unequal ones a problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from konsil.errors import quoted
from konsil.records.bulk import differences
from konsil.sources.files.problems import Problem
from konsil.sources.files.table import Table
from konsil.sources.tables.checks import ROW


def distinct(frame: pl.DataFrame, fields: Sequence[str], key: str) -> pl.DataFrame:
    """The first row of each different content, in the order of the file."""
    return frame.unique(subset=[key, *fields], keep="first", maintain_order=True)


def contradictions(
    frame: pl.DataFrame, fields: Sequence[str], key: str, table: Table
) -> Iterator[Problem]:
    """Rows that give a record, already given by an earlier row, another content.

    `frame` is distinct.
    """
    again = frame.filter(pl.col(key).is_duplicated() & pl.col(key).is_not_null())
    for row, before, field in differences(again.iter_rows(named=True), key, fields):
        value, former_value = (
            "nothing" if cell is None else quoted(cell) for cell in (row[field], before[field])
        )
        at = table.line(int(str(before[ROW])))
        yield Problem(
            table.line(row[ROW]),
            field,
            f"{key} {row[key]!r} has {value} here and {former_value} on {table.place} {at:,}",
            table.place,
        )
