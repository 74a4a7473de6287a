"""Tables of the same columns below one another: the sheets of a spreadsheet, or several files."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from konsil.errors import SourceError


def stacked(frames: Mapping[str, pl.DataFrame], column: str, where: str) -> pl.DataFrame:
    """The rows of all tables, with the name of each row's table in a first column.

    >>> a, b = (pl.DataFrame({"case": [case]}) for case in "xy")
    >>> stacked({"Ann": a, "Ben": b}, "sheet", "t").rows()
    [('Ann', 'x'), ('Ben', 'y')]
    """
    first, *_ = frames
    columns = frames[first].columns
    if column in columns:
        raise SourceError(
            f"{where}: {first!r} has a column {column!r}, which is the name of the column for the"
            f" {column}s; rename it"
        )
    for name, frame in frames.items():
        for here, there, names in ((first, name, columns), (name, first, frame.columns)):
            absent = [n for n in names if n not in frames[there].columns]
            if absent:
                raise SourceError(
                    f"{where}: {there!r} has no column {absent[0]!r}, which {here!r} has; {column}s"
                    " are read as one table if they have the same columns"
                )
    return pl.concat(
        frame.select(pl.lit(name).alias(column), *columns) for name, frame in frames.items()
    )
