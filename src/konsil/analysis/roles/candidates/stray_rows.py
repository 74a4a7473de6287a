"""Rows that may be no ratings: totals and means of the others, legends, ranges of a scale."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import polars as pl

from konsil.analysis.roles.names import kinds, words
from konsil.analysis.roles.reading import COMPARISONS, SHAPES_OF, Role, TableReading
from konsil.analysis.roles.vocabulary import (
    AROUND_SUMS,
    CANNOT_JUDGE,
    COUNTED_IN_ROWS,
    NAMES_OF_STATISTICS,
    NO_ANSWER,
    NO_CELL,
    SUMS_IN_ROWS,
)
from konsil.records.numerals import own_numbers

_MOST_LAST = 20
"""Rows at the end of a table that are looked at."""
_MOST_FIRST = 3
"""Rows at its beginning that are looked at."""
_MOST_VALUES = 12
"""Different numbers up to which another one is none of a scale."""
_MOST_ROWS = 100_000
"""Rows up to which sums and means of a column are compared with its cells."""
_FEWEST = 4
"""Ratings above which a number can be their sum or mean."""
_SIGNS = frozenset({"Σ", "∑", "Ø", "ø"})
"""Signs for sums and means."""
Statistic = Callable[[Sequence[float]], float]
_STATISTICS: Mapping[str, Statistic] = {
    "sum": math.fsum,
    "mean": statistics.fmean,
    "median": statistics.median,
    "deviation": statistics.stdev,
    "count": len,
    "maximum": max,
    "minimum": min,
}
"""What rows below a table usually have of the rows above."""
_OF_RATINGS: frozenset[Role] = frozenset({"criterion", "rater", "system", "group", "rating"})
"""Roles of columns whose cells name no row."""


@dataclass(frozen=True)
class StrayRow:
    """A row that may be no rating."""

    row: int
    """Its number, from 0 on."""
    name: str
    """What names it; empty where nothing does."""
    cells: tuple[str, ...]
    """Its ratings."""
    is_total: bool
    """Whether it is named like a sum, a mean or a count of the others."""


def stray_rows(frame: pl.DataFrame, reading: TableReading) -> tuple[StrayRow, ...]:
    """The rows that may be no ratings, by what names them and by their cells, each by itself.

    Rows at the end that are named like sums or means are, whatever their cells are. Others are
    where their numbers are the sum, the mean or the number of those above or none of the scale, and
    rows at the beginning or the end where words stand below numbers alone.
    """
    values = (*reading.rated, reading.outcome, *reading.wins.values())
    columns = [name for name in values if name is not None and name in frame.columns]
    if reading.shape == "cross-table" or frame.is_empty() or not columns:
        return ()
    return _Rows(frame, reading, tuple(columns)).strays


def without_strays(frame: pl.DataFrame, reading: TableReading) -> pl.DataFrame:
    """The table without the rows that may be no ratings."""
    rows = [stray.row for stray in stray_rows(frame, reading)]
    return frame.filter(~pl.int_range(pl.len()).is_in(rows)) if rows else frame


def named_as(text: str, pieces: frozenset[str]) -> bool:
    """Whether a text consists of some words, and of words beside them.

    >>> named_as("Total yes", SUMS_IN_ROWS), named_as("Mean arterial pressure", SUMS_IN_ROWS)
    (True, False)
    >>> named_as("N=", COUNTED_IN_ROWS), named_as("Mean 3", SUMS_IN_ROWS)
    (True, False)
    """
    parts = {*words(text)}
    return bool(parts & pieces) and parts <= pieces | AROUND_SUMS | SUMS_IN_ROWS | COUNTED_IN_ROWS


@dataclass(frozen=True)
class _Rows:
    """The first and last rows of a table, and what the cells between them are."""

    frame: pl.DataFrame
    reading: TableReading
    columns: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that name rows."""
        first = self.frame.columns[0]
        role = self.reading.roles.get(first)
        is_name = role not in _OF_RATINGS or self.reading.shape == "raters-in-rows"
        return tuple(dict.fromkeys((*((first,) if is_name else ()), *self.reading.units)))

    @cached_property
    def n_first(self) -> int:
        """How many rows at the beginning are looked at."""
        return min(_MOST_FIRST, max(0, self.frame.height - _MOST_LAST))

    @property
    def last(self) -> list[int]:
        """The numbers of the rows at the end, the last first."""
        return self.outer[: len(self.outer) - self.n_first]

    @cached_property
    def outer(self) -> list[int]:
        """The numbers of the rows that are looked at, the last first."""
        height = self.frame.height
        last = range(height - 1, max(-1, height - 1 - _MOST_LAST), -1)
        return [*last, *range(self.n_first)]

    @cached_property
    def cells(self) -> dict[int, tuple[str, ...]]:
        """Number -> the ratings of a row; empty texts where there are none."""
        return self._texts(self.columns)

    @cached_property
    def keys(self) -> dict[int, tuple[str, ...]]:
        """Number -> what names a row."""
        return self._texts(self.names)

    def _texts(self, names: Sequence[str]) -> dict[int, tuple[str, ...]]:
        rows = self.frame[self.outer].select(names).rows() if names else [()] * len(self.outer)
        return {n: tuple(map(_text, row)) for n, row in zip(self.outer, rows, strict=True)}

    @cached_property
    def strays(self) -> tuple[StrayRow, ...]:
        """The rows that may be no ratings, in their order."""
        totals = [*self._totals()]
        others = self._others({stray.row for stray in totals})
        return tuple(sorted((*totals, *others), key=lambda stray: stray.row))

    def _name(self, row: int) -> str | None:
        """What names a row like a sum or a mean; None where nothing does."""
        signs = (key for key in self.keys[row] if key in _SIGNS)
        both = SUMS_IN_ROWS | COUNTED_IN_ROWS
        named = (k for k in self.keys[row] if named_as(k, both) and not kinds(k)["label"])
        return next(chain(signs, named), None)

    def _totals(self) -> Iterator[StrayRow]:
        """The rows that are named like sums, means or counts."""
        is_last = True
        for row in self.last:
            name, cells = self._name(row), self.cells[row]
            has_ratings = any(map(_is_rating, cells))
            if name is None or _is_in(self.above, self.names, name):
                is_last = is_last and not has_ratings
                continue
            is_sum = name in _SIGNS or named_as(name, SUMS_IN_ROWS)
            if has_ratings and ((is_last and is_sum) or self._is_computed(cells, name)):
                yield StrayRow(row, name, cells, is_total=True)
            elif has_ratings:
                is_last = False

    def _others(self, totals: set[int]) -> Iterator[StrayRow]:
        """Rows of words below or above numbers, and of sums below rows that are sums by name."""
        if self.reading.shape in COMPARISONS or self.frame.height < _FEWEST:
            return
        for rows in (self.last, range(self.n_first)):
            for row in rows:
                cells = self.cells[row]
                if not any(map(_is_rating, cells)) or row in totals:
                    continue
                is_beside = bool(totals & {row - 1, row + 1}) and self._is_computed(cells, "")
                if not (is_beside or self._is_nameless(row) or self._are_words_among_numbers(row)):
                    break
                key = next(iter(self.keys[row]), "")
                yield StrayRow(row, key, cells, is_total=False)

    @cached_property
    def above(self) -> pl.DataFrame:
        """The rows above those that are named like totals."""
        named = [row for row in self.last if self._name(row) is not None]
        without = [row for row in self.last if row >= min(named, default=self.frame.height)]
        chosen = self.frame.select([*dict.fromkeys((*self.names, *self.columns))])
        return chosen.with_row_index(_ROW).filter(~pl.col(_ROW).is_in(without)).drop(_ROW)

    def _is_computed(self, cells: Sequence[str], name: str) -> bool:
        """Whether all ratings of a row are what it is named for, or on no scale like the others."""
        pairs = [(c, n) for c, n in zip(cells, self.columns, strict=True) if _is_rating(c)]
        named = [key for key, pieces in NAMES_OF_STATISTICS.items() if pieces & {*words(name)}]
        usual = [_STATISTICS[key] for key in named]
        return bool(pairs) and all(
            _is_of_column(cell, self.above[column], usual) for cell, column in pairs
        )

    def _is_nameless(self, row: int) -> bool:
        """Whether the last row has no unit, where all others have one and a row for each."""
        is_wide = self.reading.shape in SHAPES_OF["wide"] and len(self.reading.units) == 1
        if not is_wide or row != self.last[0]:
            return False
        units = self.frame[self.reading.units[0]].cast(pl.String).fill_null("")
        return not units[row] and int((units == "").sum()) == 1

    def _are_words_among_numbers(self, row: int) -> bool:
        """Whether a row has words alone, where other rows have numbers, and which no other has."""
        filled = [
            (cell, name)
            for cell, name in zip(self.cells[row], self.columns, strict=True)
            if _is_rating(cell)
        ]
        if any(cell.casefold() in NO_ANSWER | CANNOT_JUDGE for cell, _ in filled):
            return False
        return all(own_numbers((cell,)) == (None,) for cell, _ in filled) and all(
            self._has_numbers(name) and self._is_alone(cell, name) for cell, name in filled
        )

    def _has_numbers(self, name: str) -> bool:
        """Whether all cells of a column but some of the first and last ones are numbers."""
        cells = self.frame[name].cast(pl.String).str.strip_chars()
        inner = cells[self.n_first : max(self.frame.height - _MOST_LAST, 0)]
        inner = inner if len(inner) else cells
        texts = [str(text) for text in inner.drop_nulls().unique() if _is_rating(str(text))]
        n = sum(number is not None for number in own_numbers(texts))
        return n > len(texts) / 2 and n > 1

    def _is_alone(self, cell: str, name: str) -> bool:
        """Whether the first and last rows alone have a word."""
        cells = self.frame[name].cast(pl.String).str.strip_chars()
        inner = cells[self.n_first : max(self.frame.height - _MOST_LAST, 0)]
        return not (inner == cell).any() and int((cells == cell).sum() or 0) == 1


_ROW = "\x1frow"


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _is_rating(cell: str) -> bool:
    return cell.casefold() not in NO_CELL


def _is_in(frame: pl.DataFrame, names: Sequence[str], word: str) -> bool:
    """Whether a word is in some columns, where it is a name like the others."""
    return any(
        (frame[name].cast(pl.String).str.strip_chars() == word).any() or False for name in names
    )


def _is_of_column(cell: str, column: pl.Series, usual: Iterable[Statistic]) -> bool:
    """Whether a number is none of a column's scale, or a statistic of it."""
    (number,) = own_numbers((cell,))
    texts = [text for text in map(_text, column.head(_MOST_ROWS).to_list()) if _is_rating(text)]
    if number is None or len(texts) < _FEWEST:
        return False
    numbers = [n for n in own_numbers(texts) if n is not None]
    if 2 * len(numbers) < len(texts):
        return True
    values = {*numbers}
    is_outside = number > max(values) or number < min(values)
    if (is_outside and len(values) > 1) or (number not in values and len(values) <= _MOST_VALUES):
        return True
    error = 0.5 * 10.0 ** -len(cell.replace(",", ".").partition(".")[2]) + _EXACT
    return any(abs(number - statistic(numbers)) <= error for statistic in usual)


_EXACT = 1e-9
