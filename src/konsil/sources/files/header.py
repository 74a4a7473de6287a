"""Column names: each column has one of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from konsil.errors import SourceError
from konsil.errors.message import message
from konsil.records.source import FileSettings

FIRST_ROWS = 12
"""Rows by which titles and rows of names are detected."""
COMMENT = "#"
"""What rows begin with that are likely comments."""
_IS_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
_LINE_BREAK = re.compile(r"\s*[\r\n\v\f\t\u2028\u2029]\s*")
_NUMBER_OF_NAME = re.compile(r" \(\d+\)$")
_IMPORT_ID = "ImportId"
"""What Qualtrics writes in the third row of its exports, below names and questions."""


def joined(rows: Sequence[Sequence[str | None]]) -> list[str | None]:
    """One name a column from several rows of names.

    A name above others belongs to the columns on its right as well, up to the next one. Of an
    export of Qualtrics the first row has the names; questions and identifiers are below them.

    >>> joined([["", "Accuracy", "", "Safety"], ["case", "ann", "ben", "ann"]])
    ['case', 'Accuracy: ann', 'Accuracy: ben', 'Safety: ann']
    """
    if len(rows) == 1 or any(_IMPORT_ID in (cell or "") for cell in rows[-1]):
        return list(rows[0])
    width = max(map(len, rows))
    above = [_spread(row, width) for row in rows[:-1]]
    lowest = [*rows[-1], *[None] * (width - len(rows[-1]))]
    return [
        ": ".join(part for name in names if (part := (name or "").strip())) or None
        for names in zip(*above, lowest, strict=True)
    ]


def numbered_names(width: int) -> list[str | None]:
    """The names of the columns of a table without any: column 1, column 2 ..."""
    return [f"column {n}" for n in range(1, width + 1)]


def _spread(row: Sequence[str | None], width: int) -> list[str | None]:
    names: list[str | None] = []
    last: str | None = None
    for cell in (*row, *[None] * (width - len(row))):
        last = cell if (cell or "").strip() else last
        names.append(last)
    return names


def with_rows_of_names(
    settings: FileSettings, rows: Sequence[Sequence[str | None]]
) -> FileSettings:
    """The settings with titles, comments and several rows of names, as the first rows have them.

    Stated settings stay.
    """
    if (settings.skip, settings.header, settings.comment) != (0, 1, ""):
        return settings
    comment = COMMENT if rows and (rows[0][0] or "").startswith(COMMENT) else ""
    rows = [row for row in rows if not (comment and (row[0] or "").startswith(comment))]
    rows = rows[:FIRST_ROWS]
    if not rows:
        return settings
    skip = 0
    while len(rows) - skip > 2 and _is_above(rows[skip]):
        skip += 1
    # A table of one column has such rows alone.
    skip = skip if len(_filled(rows[skip])) > 1 else 0
    header = _rows_of_names(rows[skip:])
    if not header:
        return replace(settings, skip=skip, header=0, comment=comment)
    names = joined(rows[skip : skip + header] or [[]])
    clean = [(name or "").strip() for name in names]
    # Empty columns at the end, as spreadsheets leave them behind, have no name either.
    numbered = settings.numbered or len({*clean}) < len(clean) or "" in clean[1:]
    return replace(settings, skip=skip, header=header, comment=comment, numbered=numbered)


def are_values(frame: pl.DataFrame) -> bool:
    """Whether all names of a table's columns are among their values: the first row has none.

    Names that stand again above other rows are names nevertheless, as are the numbers of columns.

    >>> are_values(pl.DataFrame({"ann": ["ann", "ben"], "101": ["102", "101"], "1": ["1", "1"]}))
    True
    >>> are_values(pl.DataFrame({"rater": ["rater", "ben"], "unit": ["unit", "u1"]}))
    False
    """
    names = [_NUMBER_OF_NAME.sub("", name) for name in frame.columns]
    numbers = [*map(str, range(1, 1 + len(names)))]
    if (
        len(names) < 2
        or names == numbers
        or not all(name in column for name, column in zip(names, frame.get_columns(), strict=True))
    ):
        return False
    is_again = [pl.col(column) == name for column, name in zip(frame.columns, names, strict=True)]
    return frame.filter(pl.all_horizontal(is_again)).is_empty() or len({*names}) < len(names)


def _is_above(row: Sequence[str | None]) -> bool:
    """Whether a row is a title, in its first cell alone, or has empty cells alone."""
    return not _filled(row) or (len(_filled(row)) == 1 and bool((row[0] or "").strip()))


def _rows_of_names(rows: Sequence[Sequence[str | None]]) -> int:
    if len(rows) > 3 and any(_IMPORT_ID in cell for cell in _filled(rows[2])):
        return 3
    if len(rows) < 3:
        return 1
    width = max(map(len, rows))
    above, below = _filled(rows[0]), _filled(rows[1])
    are_numbers = all(map(_IS_NUMBER.fullmatch, (*above, *below)))
    if are_numbers and len({*above}) < len(above) == width:
        # Ratings: names would differ.
        return 0
    if _is_like_those_below(rows):
        return 0
    if any(map(_IS_NUMBER.fullmatch, below)):
        return 1
    if _is_merged_with_next(rows[0], rows[1], width):
        return 2
    has_names_below = len(below) == width or _is_above_of_cross_table(rows[0], rows[1], width)
    return 2 if 0 < len(above) <= width / 2 and has_names_below else 1


def _is_above_of_cross_table(
    above: Sequence[str | None], below: Sequence[str | None], width: int
) -> bool:
    """Whether the name of a rater stands alone over the labels of all columns of counts."""
    labels = [*map(str.strip, (cell or "" for cell in below))]
    n_before = sum(not label for label in labels)
    is_over_first = len(above) > n_before and bool((above[n_before] or "").strip())
    return 1 < n_before < width - 1 and all(labels[n_before:]) and is_over_first


def _is_like_those_below(rows: Sequence[Sequence[str | None]]) -> bool:
    """Whether the first row has ratings: a unit numbered like those below, and only their values.

    >>> _is_like_those_below([["P1", "4", "5"], ["P2", "5", "4"], ["P3", "4", "5"]])
    True
    >>> _is_like_those_below([["case", "1", "2"], ["P2", "2", "1"], ["P3", "1", "2"]])
    False
    """
    first, *below = ([(cell or "").strip() for cell in row] for row in rows)
    if any(len(row) != len(first) for row in below) or len(first) < 3:
        return False
    units, others = [first[0], *(row[0] for row in below)], [*zip(*below, strict=True)][1:]
    kinds = {_DIGITS.sub("0", unit) for unit in units}
    is_counted = [int(u) for u in units] == [*range(1, len(units) + 1)] if kinds == {"0"} else True
    is_numbered = len(kinds) == 1 and len({*units}) == len(units) and "0" in kinds.pop()
    are_values = all(cell in values for cell, values in zip(first[1:], others, strict=True))
    names = [*map(str, range(1, len(first) + 1))]
    return is_numbered and is_counted and are_values and first != names


_DIGITS = re.compile(r"\d+")


def _is_merged_with_next(
    above: Sequence[str | None], below: Sequence[str | None], width: int
) -> bool:
    """Whether the first name stands in both rows, and others over the names of several columns."""
    upper, lower = (
        [bool((cell or "").strip()) for cell in (*row, *[None] * (width - len(row)))]
        for row in (above, below)
    )
    return (
        upper[0] > lower[0]
        and not all(upper)
        and all(a or b for a, b in zip(upper, lower, strict=True))
    )


def _filled(row: Sequence[str | None]) -> list[str]:
    return [cell.strip() for cell in row if cell is not None and cell.strip()]


def named(
    frame: pl.DataFrame, names: Sequence[str | None], where: str, numbered: bool = False
) -> pl.DataFrame:
    """The frame with its columns named by the header, surrounding blanks removed.

    A line break in a name, with the blanks beside it, is one blank.
    Columns without a name and without values are dropped (spreadsheets leave them behind). A first
    column without a name is an index that another program wrote, and is called 'column 1'; later
    ones are refused, or called by their numbers where `numbered`. A name of several columns is
    refused; where `numbered`, each of them is called by the name and its number, 'Score (1)' and
    'Score (2)', so that no column is meant by the name alone.
    """
    column_by_name: dict[str, pl.Series] = {}
    positions: dict[str, int] = {}
    cleaned = [_LINE_BREAK.sub(" ", (name or "").strip()) for name in names]
    times = Counter(cleaned)
    numbers: Counter[str] = Counter()
    for position, (name, column) in enumerate(
        zip(cleaned, frame.get_columns(), strict=True), start=1
    ):
        clean = name
        if not clean:
            if column.null_count() == column.len():
                continue
            if position > 1 and not numbered:
                raise SourceError(
                    message(
                        "{where}: column {position} has values but no name in the header",
                        message_id="file.unnamed_column",
                        where=where,
                        position=position,
                    )
                )
            clean = f"column {position}"
        elif numbered and times[clean] > 1:
            numbers[clean] += 1
            clean = f"{clean} ({numbers[clean]})"
        if clean in positions:
            raise SourceError(
                message(
                    "{where}: columns {first} and {position} are both called {clean!r}; the"
                    " first row must be a header that gives every column a name of its own",
                    message_id="file.equal_names",
                    where=where,
                    first=positions[clean],
                    position=position,
                    clean=clean,
                )
            )
        positions[clean] = position
        column_by_name[clean] = column.alias(clean)
    if not column_by_name:
        raise SourceError(
            message("{where}: the header names no column", message_id="file.no_name", where=where)
        )
    return pl.DataFrame(list(column_by_name.values()))


_PARTS = {
    "sheet": message("sheets", message_id="file.sheets"),
    "file": message("files", message_id="file.files"),
}
"""Column with the names of the tables that are read as one -> what they are."""


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
            message(
                "{where}: {first!r} has a column {column!r}, which is the name of the"
                " column for the {parts}; rename it",
                message_id="file.name_of_parts",
                where=where,
                first=first,
                column=column,
                parts=_PARTS[column],
            )
        )
    for name, frame in frames.items():
        for here, there, names in ((first, name, columns), (name, first, frame.columns)):
            absent = [n for n in names if n not in frames[there].columns]
            if absent:
                raise SourceError(
                    message(
                        "{where}: {there!r} has no column {name!r}, which {here!r} has;"
                        " {parts} are read as one table if they have the same columns",
                        message_id="file.other_columns",
                        where=where,
                        there=there,
                        name=absent[0],
                        here=here,
                        parts=_PARTS[column],
                    )
                )
    return pl.concat(
        frame.select(pl.lit(name).alias(column), *columns) for name, frame in frames.items()
    )
