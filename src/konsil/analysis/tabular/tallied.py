"""Tables of comparisons with counts: wins of the first system, of the second, and neither."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from konsil.errors import SourceError

STEPS = {"won": 1, "lost": -1, "tied": 0}
"""Steps of each of them in favour of the first system."""

COUNT = "\x1fcount "
"""Prefix of the names of the columns of counts, which may have any name."""

_MANY = 20_000_000
"""More comparisons than this are not written out."""


def written_out(
    rows: pl.DataFrame,
    columns: Mapping[str, str],
    unknown_roles: list[str],
    line: Callable[[int], int | str],
    table: str,
) -> pl.DataFrame:
    """One row a comparison, with its `steps` in favour of the first system.

    `rows` have counts of outcomes. `columns`: won, lost and tied to the columns that count them; a
    row without any comparison has null steps. `unknown_roles`: the roles in which every comparison
    has a value of its own.
    """
    counts = {role: _whole_numbers(rows, name, line, table) for role, name in columns.items()}
    total = sum(int(series.sum()) for series in counts.values())
    if total > _MANY:
        raise SourceError(
            f"{table}: {total:,} comparisons; expected at most {_MANY:,}: are these counts?"
        )
    parts = [
        rows.with_columns(pl.lit(STEPS[role], pl.Int64).alias("steps"), n.alias("\x1fn"))
        for role, n in counts.items()
    ]
    none = pl.Series(
        (sum(counts.values(), pl.zeros(rows.height, pl.Int64, eager=True)) == 0).cast(pl.Int64)
    )
    parts.append(rows.with_columns(pl.lit(None, pl.Int64).alias("steps"), none.alias("\x1fn")))
    long = pl.concat(parts).filter(pl.col("\x1fn") > 0).sort("row", maintain_order=True)
    repeated = long.with_columns(pl.int_ranges(0, pl.col("\x1fn")).alias("\x1fk")).explode("\x1fk")
    number = pl.concat_str("row", pl.int_range(pl.len()), separator=".")
    return repeated.with_columns(number.alias(role) for role in unknown_roles).drop(
        "\x1fn", "\x1fk"
    )


def _whole_numbers(
    rows: pl.DataFrame, column: str, line: Callable[[int], int | str], table: str
) -> pl.Series:
    """A column of counts; true and false are 1 and 0, an empty cell is 0."""
    words = rows.get_column(COUNT + column).fill_null("").str.strip_chars().str.to_lowercase()
    words = words.replace({"true": "1", "false": "0", "": "0"})
    numbers = words.cast(pl.Int64, strict=False)
    wrong = numbers.is_null() | (numbers < 0)
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        cell = rows.item(at, COUNT + column)
        place = f"line {line(int(rows.item(at, 'row')))}, column {column!r}"
        raise SourceError(
            f"{table}: {place}: {cell!r} is not a count; expected a whole number of comparisons, or"
            " true or false"
        )
    return numbers
