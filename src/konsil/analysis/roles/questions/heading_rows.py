"""Rows below the names of the columns that explain these: ranges, units of measurement, labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from konsil.analysis.roles.names import words
from konsil.analysis.roles.reading import StatedRoles, TableReading
from konsil.analysis.roles.vocabulary import (
    CANNOT_JUDGE,
    NAMES_OF_RANGES,
    NO_ANSWER,
    NO_CELL,
    OR,
    UNITS_OF_MEASUREMENT,
    UP_TO,
)
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.records.numerals import is_number, own_numbers

_MOST = 3
"""Rows below the names that are looked at."""
_FEWEST = 2
"""Rows of ratings below them."""
_ROWS_OF_LABELS = 2_000
"""Rows below whose labels are looked at."""
_MOST_LABELS = 100
"""Different cells of a column of labels, or of numbers, that are looked at."""
_MOST_SHOWN = 6
"""Cells of a row that a sentence names."""
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_RANGE = re.compile(
    rf"(?:[^\W\d_]+ )?{_NUMBER}"
    rf" ?(?:-|–|—|{'|'.join(sorted(UP_TO))}|\.\.\.?|…) ?{_NUMBER}(?: [^\W\d_]+)?"
)
_BRACKETED = re.compile(r"\(.+\)|\[.+\]")
_MEANINGS = re.compile(rf"{_NUMBER} ?[=:] ?[^,;/]+(?:[,;/ ] ?{_NUMBER} ?[=:] ?[^,;/]+)+")
"""What numbers mean: 0 = no, 1 = yes."""
_BETWEEN_LABELS = re.compile(rf" ?[/|,;] ?| (?:{'|'.join(sorted(OR))}) ")


def without_headings(frame: pl.DataFrame, stated: StatedRoles) -> pl.DataFrame:
    """The table without the first rows that explain its columns."""
    return frame.slice(_n_headings(frame, stated))


def heading_words(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> tuple[str, ...]:
    """The ratings in rows that explain columns, which no rating of another row is.

    Without those that are stated to be missing: then the row has no ratings.
    """
    rows = _heading_ratings(frame, reading, stated)
    return tuple(dict.fromkeys(cell for row in rows for cell in row if cell not in stated.missing))


def unclear_headings(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> Iterator[TranslatableMessage]:
    """What is asked of each row that explains columns and has ratings by what is stated."""
    for row in _heading_ratings(frame, reading, stated):
        if {*row} <= {*stated.missing}:
            continue
        yield message(
            "The row with {cells} below the names may explain the columns and have no ratings:"
            " leave it out with {missing}, or state its cells as labels.",
            message_id="roles.may_be_heading",
            cells=listed([*map(repr, row[:_MOST_SHOWN])], end="{some}, {last}"),
            missing=option("missing", example="[...]"),
        )


def _heading_ratings(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> list[list[str]]:
    """The filled cells of each row that explains columns, where other rows have ratings."""
    rated = dict.fromkeys((*reading.rated, *reading.outcomes, *reading.wins.values()))
    names = [name for name in rated if name in frame.columns]
    n = _n_headings(frame, stated) if names else 0
    rows = frame.head(n).select(names).rows()
    filled = ([cell for cell in map(_text, row) if _is_filled(cell)] for row in rows)
    return [row for row in filled if row]


def _n_headings(frame: pl.DataFrame, stated: StatedRoles) -> int:
    """How many of the first rows explain the columns."""
    rows = [tuple(map(_text, row)) for row in frame.head(_MOST).rows()]
    for n in range(min(len(rows), frame.height - _FEWEST), 0, -1):
        if not any(is_number(cell) for row in rows[:n] for cell in row):
            below = _Below(frame.slice(n), frozenset(stated.declared))
            if all(map(below.is_heading, rows[:n])):
                return n
    return 0


@dataclass(frozen=True)
class _Below:
    """The rows below some that may explain the columns."""

    frame: pl.DataFrame
    declared: frozenset[str]
    _labels_by_place: dict[int, list[str]] = field(default_factory=dict)

    def is_heading(self, row: tuple[str, ...]) -> bool:
        """Whether a row above explains the columns: no other row has one of its cells.

        What names a row is empty, says what the row has, or is explained itself; where each other
        cell is a range, a unit or the labels of its column, it may be any word.
        """
        filled = {n: cell for n, cell in enumerate(row) if _is_filled(cell)}
        rest = {n: cell for n, cell in filled.items() if n}
        if len(rest) > 1 and all(self._explains(n, cell, 1) for n, cell in rest.items()):
            return not self.declared & {*rest.values()} and self._are_alone(rest)
        is_named = bool(words(row[0])) and {*words(row[0])} <= NAMES_OF_RANGES
        is_nameless = is_named or 0 not in filled
        others = {n: cell for n, cell in filled.items() if n or not is_nameless}
        if not others or self.declared & {*others.values()}:
            return False
        explained = [n for n, cell in others.items() if self._explains(n, cell, len(others))]
        if is_named:
            n_least = 1.0
        elif is_nameless:
            n_least = len(others) / 2
        else:
            n_least = max(2.0, len(others))
        return len(explained) >= n_least and self._are_alone(others)

    def _explains(self, place: int, cell: str, n_cells: int) -> bool:
        """Whether a cell is a range, a unit, the labels of its column, or a word above numbers."""
        labels = self._labels(place)
        if _is_explanation(cell):
            return not any(map(_is_explanation, labels))
        parts = _BETWEEN_LABELS.split(cell.casefold())
        if len(parts) > 1 and {*parts} <= {label.casefold() for label in labels}:
            return True
        n_numbers = sum(number is not None for number in own_numbers(labels))
        is_answer = cell.casefold() in NO_ANSWER | CANNOT_JUDGE
        return n_cells > 1 and not is_answer and 2 * n_numbers > len(labels)

    def _labels(self, place: int) -> list[str]:
        if place not in self._labels_by_place:
            # Of the first rows: all of a million take a second.
            first = self.frame.to_series(place).head(_ROWS_OF_LABELS)
            cells = first.drop_nulls().unique(maintain_order=True)
            texts = map(_text, cells.head(_MOST_LABELS))
            self._labels_by_place[place] = [text for text in texts if _is_filled(text)]
        return self._labels_by_place[place]

    def _are_alone(self, cells: Mapping[int, str]) -> bool:
        """Whether no row has one of some cells, in whatever column."""
        texts = pl.all().cast(pl.String, strict=False).str.strip_chars()
        is_in = self.frame.select(texts.is_in([*cells.values()]).any())
        return not any(is_in.row(0))


def _is_explanation(cell: str) -> bool:
    """Whether a cell alone says that it is a range, a unit, or what numbers mean.

    >>> [_is_explanation(cell) for cell in ("(1-5)", "0 bis 100", "[mm]", "Punkte", "0=no 1=yes")]
    [True, True, True, True, True]
    >>> [_is_explanation(cell) for cell in ("5", "mild", "-1", "2024-01-31", "yes/no")]
    [False, False, False, False, False]
    >>> _is_explanation("Likert 1-5"), _is_explanation("Grade 2")
    (True, False)
    """
    patterns = (_RANGE, _BRACKETED, _MEANINGS)
    return cell.casefold() in UNITS_OF_MEASUREMENT or any(p.fullmatch(cell) for p in patterns)


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _is_filled(cell: str) -> bool:
    return cell.casefold() not in NO_CELL
