"""Tables that people write their decisions into: written for them, and read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from konsil.errors import SourceError, nearest
from konsil.records.formulas import harmless
from konsil.sources.files.table import Table
from konsil.store.engine.private import write_private

DECISION = "decision"
"""The column that is empty until somebody decides."""


def read_decisions(
    table: Table, key: str, subjects: Collection[str], noun: str, word: str
) -> dict[str, str]:
    """Subject -> decision; an empty decision is none.

    Args:
        table: with the columns `key` and decision.
        key: the column of the subjects.
        subjects: the valid subjects.
        noun: the word for a subject, for errors.
        word: a decision that means something of its own; it is recognised in any case.
    """
    for column in (key, DECISION):
        if column not in table.frame.columns:
            raise SourceError(
                f"{table.name}: there is no column {column!r};"
                f" {nearest(column, table.frame.columns)}"
            )
    decisions: dict[str, str] = {}
    for row, (cell, decision) in enumerate(table.frame.select(key, DECISION).iter_rows()):
        subject, decided = str(cell or ""), " ".join((decision or "").split())
        if not decided:
            continue
        decided = word if decided.lower() == word else decided
        if subject not in subjects:
            raise SourceError(
                f"{_row_location(table, row)}: there is no {noun} {subject!r};"
                f" {nearest(subject, subjects)}"
            )
        if decisions.setdefault(subject, decided) != decided:
            raise SourceError(
                f"{_row_location(table, row)}: {key} {subject!r} is decided as {decided!r} and as"
                f" {decisions[subject]!r}"
            )
    return decisions


def _row_location(table: Table, row: int) -> str:
    """Where a row stands in its file."""
    return f"{table.name}: {table.place} {table.line(row)}"


def write_cells(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Write a table for people.

    No spreadsheet calculates a text, and numbers stay numbers, as small as they may be.
    """
    write_private(path, cells(columns, rows))


def cells(columns: Sequence[str], rows: Iterable[Sequence[str | float]]) -> bytes:
    """The same table as bytes."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(columns)
    writer.writerows([harmless(c) if isinstance(c, str) else c for c in row] for row in rows)
    return file.getvalue().encode()
