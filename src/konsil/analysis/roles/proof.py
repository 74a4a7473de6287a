"""The sample by which a table is read, and the proof of the reading on all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.roles.columns import NEAR, Column, common_labels, table_of
from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.names import best_fit, fit
from konsil.analysis.roles.reading import StatedRoles, TableReading

MOST_ROWS = 2_000
"""Rows of a sample."""
_VALUES = 400
"""Values of one column whose rows are all in the sample, so that its rows stay together."""
_FEWEST_VALUES = 50
"""Values of which all rows are taken at least."""
_FILLED = 20
"""Rows of the sample in which a column that is nearly empty has a value."""


def sample(frame: pl.DataFrame) -> pl.DataFrame:
    """Some rows of a table, the same ones at each call; all of a table of up to 2,000 rows.

    Rows of one unit stay together, however the table is sorted: all rows are taken that have one
    of some values in the column whose values are repeated least.
    """
    if frame.height <= MOST_ROWS:
        return frame
    spaced = frame.gather_every(frame.height // MOST_ROWS + 1)
    column = _least_repeated(spaced)
    chosen = spaced
    if column is not None:
        values = spaced[column].drop_nulls().unique(maintain_order=True)
        values = values.gather_every(max(1, values.len() // _VALUES))
        together = frame.filter(pl.col(column).is_in(values.implode()))
        step = min(together.height // MOST_ROWS + 1, values.len() // _FEWEST_VALUES)
        if step > 1:
            # Fewer values, with all their rows: rows left out in between separate the raters or
            # criteria of a unit.
            spaced_values = values.gather_every(step)
            together = together.filter(pl.col(column).is_in(spaced_values.implode()))
        chosen = together.gather_every(together.height // (2 * MOST_ROWS) + 1)
        chosen = chosen.head(MOST_ROWS) if chosen.height > MOST_ROWS else chosen
    rare = [
        frame.filter(_is_filled(name)).head(_FILLED)
        for name in frame.columns
        if chosen.filter(_is_filled(name)).is_empty()
    ]
    return pl.concat([chosen, *rare]).unique(maintain_order=True) if rare else chosen


def _is_filled(name: str) -> pl.Expr:
    return pl.col(name).is_not_null() & (pl.col(name).cast(pl.String, strict=False) != "")


def _least_repeated(spaced: pl.DataFrame) -> str | None:
    """The column with most values of those whose values are repeated, by name if there are some."""
    table = table_of(spaced, (), ())
    repeated = [
        c
        for c in table.columns
        if len(c.distinct) > 10 and c.is_full and not c.is_date and not c.is_unique
    ]
    named = [c for c in repeated if fit(c.name, "unit") == 1] or [
        c for c in repeated if best_fit(c.name, ("time", "sum", "confidence", "label")) < 0.7
    ]
    best = max(named, key=lambda column: len(column.distinct), default=None)
    unique = [c.name for c in table.columns if c.is_unique and fit(c.name, "unit") == 1]
    return unique[0] if unique and best is None else best.name if best else None


def contradictions(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> Iterator[TranslatableMessage]:
    """What on all rows contradicts a reading that a sample suggested."""
    key = _key(reading)
    if key and not _is_key(frame, (*key, *stated.groups)):
        yield message(
            "Rows have the same {columns}, though they were different in a sample of {n:,} rows.",
            message_id="roles.key_is_repeated",
            columns=", ".join(map(shortened, key)),
            n=MOST_ROWS,
        )
    if len(reading.rated) > 1 and reading.shape != "long-criteria":
        columns = [_values(frame[name], name, stated) for name in reading.rated]
        filled = [column for column in columns if column.filled]
        for column in filled:
            others = [common_labels(column, other) for other in filled if other is not column]
            if others and max(others) < NEAR:
                yield message(
                    "{column} has no values in common with the other columns of ratings.",
                    message_id="roles.no_common_values",
                    column=shortened(column.name),
                )


def _key(reading: TableReading) -> tuple[str, ...]:
    """The columns that name each row once, in the shapes in which some do."""
    if reading.shape in {"long", "long-criteria", "repeats"}:
        parts = (*reading.units, reading.rater, reading.criterion, reading.repeat)
        return tuple(name for name in parts if name is not None)
    if reading.shape in {"wide", "counts", "rater-by-criterion", "criteria", "systems"}:
        return reading.units
    return (reading.rater,) if reading.shape == "raters-in-rows" and reading.rater else ()


def _is_key(frame: pl.DataFrame, names: Sequence[str]) -> bool:
    """Whether some columns distinguish all rows; equal checksums are compared in full."""
    rows = frame.select(list(dict.fromkeys(names)))
    checksums = rows.hash_rows()
    if checksums.n_unique() == rows.height:
        return True
    return not rows.filter(checksums.is_duplicated()).is_duplicated().any()


def _values(cells: pl.Series, name: str, stated: StatedRoles) -> Column:
    """A column with each of its values once."""
    values = cells.unique().to_frame(name)
    table = table_of(values, stated.missing, stated.declared)
    return table.by_name.get(name) or Column(name, ())
