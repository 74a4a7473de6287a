"""The sample by which a table is read, the proof of the reading on all rows, and totals below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from konsil.analysis.roles.candidates.stray_rows import StrayRow, stray_rows
from konsil.analysis.roles.columns import NEAR, Column, common_labels, table_of
from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.label_codes import codes_among
from konsil.analysis.roles.names import best_fit, fit, kinds
from konsil.analysis.roles.reading import RATED_ONCE, StatedRoles, TableReading
from konsil.errors.message import TranslatableMessage, listed, message

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
    for name, role in reading.roles.items():
        if role != "weight" and is_weight(name) and name not in {*stated.unused, *reading.columns}:
            column = _values(frame[name], name, stated)
            if column.is_number and len(column.distinct) > 1:
                yield may_be_weight(name)
    is_counted = reading.shape == "counts" and _has_one_sum(sample(frame), reading.rated)
    if is_counted and not _has_one_sum(frame, reading.rated):
        yield message(
            "Rows have different numbers of raters, though they had the same in a sample of {n:,}"
            " rows.",
            message_id="roles.sums_differ",
            n=MOST_ROWS,
        )
    yield from _apart(frame, reading, stated)


def is_weight(name: str) -> bool:
    """Whether a column is named for weights or counts of rows, and neither for a rater."""
    return fit(name, "weight") >= 0.7 and max(kinds(name)["rater"], kinds(name)["criterion"]) < 0.9


def may_be_weight(name: str) -> TranslatableMessage:
    """What is asked of a column of weights or counts."""
    return message(
        "{column} may count or weight the rows.",
        message_id="roles.may_be_weight",
        column=shortened(name),
    )


def _has_one_sum(frame: pl.DataFrame, names: Sequence[str]) -> bool:
    """Whether the numbers of some columns have the same sum in each row."""
    numbers = pl.col(names).cast(pl.String).cast(pl.Float64, strict=False)
    return frame.select(pl.sum_horizontal(numbers)).to_series().n_unique() == 1


def _apart(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> Iterator[TranslatableMessage]:
    """Columns of ratings that have no values in common with the others."""
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
    if reading.shape in {"wide", "counts", "rater-by-criterion", "criteria"} | RATED_ONCE:
        return (
            (*reading.units, reading.repeat) if reading.units and reading.repeat else reading.units
        )
    in_rows = (reading.rater, reading.repeat) if reading.shape == "raters-in-rows" else ()
    return tuple(name for name in in_rows if name is not None)


def _is_key(frame: pl.DataFrame, names: Sequence[str]) -> bool:
    """Whether some columns distinguish all rows; equal checksums are compared in full."""
    rows = frame.select(list(dict.fromkeys(names)))
    checksums = rows.hash_rows()
    if checksums.n_unique() == rows.height:
        return True
    return not rows.filter(checksums.is_duplicated()).is_duplicated().any()


def _values(cells: pl.Series, name: str, stated: StatedRoles) -> Column:
    """A column with each of its values once, without codes of missing values."""
    values = cells.unique().to_frame(name)
    codes = codes_among([str(value).strip() for value in values[name].drop_nulls()])
    table = table_of(values, (*stated.missing, *codes), stated.declared)
    return table.by_name.get(name) or Column(name, ())


def unclear_totals(frame: pl.DataFrame, reading: TableReading) -> Iterator[TranslatableMessage]:
    """Rows that may be no ratings, and totals of a cross table that are none."""
    is_left_out = left_out(frame, reading) is not None
    for row in stray_rows(frame, reading):
        sentence_of = _stray(row)
        if not is_left_out:
            sentence_of = message(
                "{sentence} Leave it out of the table.",
                message_id="roles.leave_out_totals",
                sentence=sentence_of,
            )
        yield sentence_of
    for name, total, n in wrong_totals(frame, reading):
        yield message(
            "The counts of {name} add up to {sum:,}, its total is {total:,}: correct the table.",
            message_id="roles.wrong_total",
            name=repr(name),
            sum=n,
            total=total,
        )


def _stray(row: StrayRow) -> TranslatableMessage:
    if row.is_total:
        return message(
            "The row {row} at the end may have totals or means of the other rows, which are no"
            " ratings.",
            message_id="roles.may_be_totals",
            row=repr(row.name),
        )
    cells = [repr(cell) for cell in (row.name, *row.cells) if cell]
    return message(
        "The row with {cells} may be no ratings: other rows have no such values.",
        message_id="roles.may_be_no_ratings",
        cells=listed(cells[:_MOST_SHOWN], end="{some}, {last}"),
    )


_MOST_SHOWN = 6
"""Cells of a row that a sentence names."""


def left_out(frame: pl.DataFrame, reading: TableReading) -> tuple[str, ...] | None:
    """What rows begin with that are left out, once for each; None where no option leaves them out.

    They are the last rows and begin with the same word, no other row and no name of a column does.
    """
    rows = stray_rows(frame, reading)
    if not rows:
        return ()
    words = {row.name for row in rows}
    are_last = [row.row for row in rows] == [*range(frame.height - len(rows), frame.height)]
    if len(words) != 1 or "" in words or not are_last:
        return None
    (word,) = words
    cells = frame.to_series(0).cast(pl.String).str.strip_chars()
    n = int(cells.str.starts_with(word).sum())
    is_sign = n == len(rows) and not frame.columns[0].startswith(word)
    return (word,) * n if is_sign and (cells.tail(n) == word).all() else None


def wrong_totals(frame: pl.DataFrame, reading: TableReading) -> list[tuple[str, int, int]]:
    """Each row and column of a cross table whose total is not the sum of its counts.

    With its name, its total and the sum.
    """
    side = next((name for name, role in reading.roles.items() if role == "row"), None)
    if reading.shape != "cross-table" or side is None:
        return []
    cells = table_of(frame, (), ()).by_name
    free = [name for name in cells if name not in {*reading.rated, side}]
    others = [name for name in free if cells[name].is_number]
    counts = [cells[name].numbers for name in reading.rated]
    lines = [*zip([*cells[side].cells], *counts, strict=True)]
    totals = cells[others[-1]].numbers if others else ()
    wrong = [
        (line[0], int(total), int(sum(line[1:])))
        for line, total in zip(lines, totals, strict=False)
        if sum(line[1:]) != total
    ]
    n = len(reading.rated)
    named = [*zip(reading.rated, counts, strict=True), *((others[-1], totals) for _ in totals[:1])]
    wrong += [
        (name, int(column[n]), int(sum(column[:n])))
        for name, column in named
        if len(column) > n and sum(column[:n]) != column[n]
    ]
    return wrong
