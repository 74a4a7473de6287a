"""Column names: each column has one of its own."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from konsil.errors import SourceError


def named(
    frame: pl.DataFrame, names: Sequence[str | None], where: str, numbered: bool = False
) -> pl.DataFrame:
    """The frame with its columns named by the header, surrounding blanks removed.

    Columns without a name and without values are dropped (spreadsheets leave them behind). A first
    column without a name is an index that another program wrote, and is called 'column 1'; later
    ones are refused, or called by their numbers where `numbered`.
    """
    column_by_name: dict[str, pl.Series] = {}
    positions: dict[str, int] = {}
    for position, (name, column) in enumerate(
        zip(names, frame.get_columns(), strict=True), start=1
    ):
        clean = (name or "").strip()
        if not clean:
            if column.null_count() == column.len():
                continue
            if position > 1 and not numbered:
                raise SourceError(
                    f"{where}: column {position} has values but no name in the header"
                )
            clean = f"column {position}"
        if clean in positions:
            raise SourceError(
                f"{where}: columns {positions[clean]} and {position} are both called {clean!r};"
                " the first row must be a header that gives every column a name of its own"
            )
        positions[clean] = position
        column_by_name[clean] = column.alias(clean)
    if not column_by_name:
        raise SourceError(f"{where}: the header names no column")
    return pl.DataFrame(list(column_by_name.values()))
