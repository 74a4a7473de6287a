"""Columns of a table as the reader of roles sees them: cells, properties, and how they relate."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import polars as pl

from konsil.analysis.roles.names import is_criterion, kinds
from konsil.analysis.roles.reading import JSON_LISTS
from konsil.analysis.roles.vocabulary import NO_CELL
from konsil.records.numerals import decimal_mark, is_number, number_of

TEXT = 30
"""Mean characters of a cell from which a column contains texts."""
FEW = 12
"""Different values up to which a column of words can contain ratings."""
NEAR = 0.3
"""Share of common labels from which two columns can be rated on one scale."""

_MOST_DIFFERENT = 0.8
"""Share of different values from which on those of two rows are exceptions."""
_DATE = re.compile(
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*|1[0-9]{9}(\.\d+)?|\d\d?:\d\d(:\d\d)?(\.\d+)?"
)
_WHOLE = re.compile(r"[+-]?\d+([.,]0+)?")
_SEPARATORS = (";", "|", ",")
_MOST_LABELS = 15
"""Different labels up to which a few of them together can be in one cell."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a sample of rows: its name and its cells."""

    name: str
    cells: tuple[str, ...]
    """Texts without blanks at their ends; '' where a cell is empty."""
    empty: frozenset[str] = NO_CELL
    """Cells without a value, in small letters."""
    has_agreeing: bool = False
    """Whether another column of a rater agrees with it on many labels."""

    @cached_property
    def filled(self) -> tuple[str, ...]:
        """The cells with a value."""
        return tuple(cell for cell in self.cells if cell.casefold() not in self.empty)

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """The different values, in the order of the rows."""
        return tuple(dict.fromkeys(self.filled))

    @cached_property
    def folded(self) -> frozenset[str]:
        """The different labels in small letters."""
        labels = (label for value in self.distinct for label in self.labels(value))
        return frozenset(label.casefold() for label in labels)

    @cached_property
    def codes(self) -> tuple[int, ...]:
        """A number for each row; equal where cells are equal."""
        numbers: dict[str, int] = {}
        return tuple(numbers.setdefault(cell, len(numbers)) for cell in self.cells)

    @cached_property
    def is_number(self) -> bool:
        """Whether all values are numbers."""
        return bool(self.filled) and all(map(is_number, self.distinct))

    @cached_property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.is_number and all(map(_WHOLE.fullmatch, self.distinct))

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The values as numbers, one for each filled cell."""
        return tuple(map(self._number_by_value.__getitem__, self.filled))

    @cached_property
    def _number_by_value(self) -> dict[str, float]:
        mark = decimal_mark(self.distinct) or "."
        return {value: number_of(value, mark) for value in self.distinct}

    @cached_property
    def number_set(self) -> frozenset[float]:
        """The different numbers."""
        return frozenset(self._number_by_value.values())

    @cached_property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest number."""
        return min(self.number_set), max(self.number_set)

    @cached_property
    def is_unique(self) -> bool:
        """Whether every row has a value, and another one."""
        return len(self.distinct) == len(self.cells) > 1

    @cached_property
    def is_nearly_unique(self) -> bool:
        """Whether every row has a value, and only a few rows have the same as others."""
        return self.is_full and _MOST_DIFFERENT * len(self.cells) <= len(self.distinct)

    @cached_property
    def is_full(self) -> bool:
        """Whether every row has a value."""
        return len(self.filled) == len(self.cells)

    @cached_property
    def is_date(self) -> bool:
        """Whether all values are dates or times."""
        return bool(self.filled) and all(map(_DATE.fullmatch, self.distinct))

    @cached_property
    def is_long(self) -> bool:
        """Whether the values are texts."""
        return bool(self.filled) and sum(map(len, self.filled)) > TEXT * len(self.filled)

    @cached_property
    def is_nested(self) -> bool:
        """Whether cells contain objects of JSON."""
        return any(cell.startswith(("{", "[{")) for cell in self.filled[:5])

    @cached_property
    def is_ratings(self) -> bool:
        """Whether the values can be ratings."""
        if not self.filled or self.is_date or self.is_nested:
            return False
        if self.separator:
            return bool(self.folded)
        if self.is_long:
            return False
        n = len(self.distinct)
        is_few = n <= 2 or n <= min(FEW, max(3, len(self.filled) / 2))
        return self.is_number or is_few or self.has_agreeing

    @cached_property
    def has_many_words(self) -> bool:
        """Whether it is named for a rater and has many words, which recur."""
        is_named = kinds(self.name)["rater"] >= 0.8
        recurs = FEW < len(self.distinct) <= len(self.filled) / 2
        is_word = not self.is_number and not self.is_date and not self.is_nested
        return is_named and recurs and is_word and not self.separator and not self.is_long

    @cached_property
    def people(self) -> float:
        """How far the values are names of raters, from 0 to 1."""
        some = self.distinct[:20]
        return (
            sum(kinds(v)["rater"] for v in some) / len(some) if some and not self.is_number else 0
        )

    @cached_property
    def are_labels(self) -> bool:
        """Whether all values are words for labels."""
        some = self.distinct[:20]
        return not self.is_number and bool(some) and all(kinds(v)["label"] == 1 for v in some)

    @cached_property
    def are_criteria(self) -> bool:
        """Whether the values are mostly names of criteria."""
        some = self.distinct[:20]
        return not self.is_number and 2 * sum(map(is_criterion, some)) > len(some)

    @cached_property
    def separator(self) -> str:
        """What is between several labels in a cell: '[' for lists of JSON, '' for single labels.

        Labels recur: the same one is in different cells, and there are not many.
        """
        if not self.filled or self.is_number or self.is_date:
            return ""
        if all(map(_is_json_list, self.distinct)):
            return JSON_LISTS
        mark = next((m for m in _SEPARATORS if _is_frequent(m, self.filled)), "")
        if not mark:
            return ""
        parts = [{part.strip() for part in value.split(mark)} for value in self.distinct]
        n_labels = len(set.union(*parts))
        is_few = n_labels < len(parts) or (n_labels <= _MOST_LABELS and not self.is_long)
        return mark if is_few and n_labels < sum(map(len, parts)) else ""

    def labels(self, value: str) -> tuple[str, ...]:
        """The labels in a cell: one, or several with the separator between them."""
        if self.separator == JSON_LISTS:
            return tuple(map(str, json.loads(value)))
        parts = value.split(self.separator) if self.separator else (value,)
        return tuple(part.strip() for part in parts)


def _is_json_list(cell: str) -> bool:
    if not (cell.startswith("[") and cell.endswith("]")):
        return False
    try:
        return isinstance(json.loads(cell), list)
    except ValueError:
        return False


def _is_frequent(mark: str, cells: Collection[str]) -> bool:
    return sum(mark in cell for cell in cells) > 0.2 * len(cells)


@dataclass(frozen=True, eq=False)
class Table:
    """The sample of a table: its columns that are not empty, and what rows they distinguish."""

    columns: tuple[Column, ...]
    n_rows: int
    slices: tuple[Column, ...] = ()
    """Columns that choose or group rows: only within a group are rows to be distinguished."""
    _n_groups: dict[frozenset[str], int] = field(default_factory=dict)
    _partitions: dict[tuple[str, ...], tuple[int, ...]] = field(default_factory=dict)
    _shares: dict[str, dict[str, float]] = field(default_factory=dict)
    _decided_by: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)
    _decided: dict[tuple[frozenset[str], str], bool] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, Column]:
        """The columns by their names."""
        return {column.name: column for column in self.columns}

    @cached_property
    def _sources(self) -> dict[str, Column]:
        return {column.name: column for column in self.slices} | self.by_name

    @cached_property
    def places(self) -> dict[str, int]:
        """Name -> place in the table."""
        return {column.name: place for place, column in enumerate(self.columns)}

    def n_groups(self, names: Iterable[str]) -> int:
        """How many different rows some columns have."""
        key = frozenset(names)
        if key not in self._n_groups:
            codes = [self._sources[name].codes for name in key]
            self._n_groups[key] = len(set(zip(*codes, strict=True))) if key else 1
        return self._n_groups[key]

    def is_key(self, names: Iterable[str]) -> bool:
        """Whether some columns distinguish all rows of each group."""
        return self.n_groups((*names, *(c.name for c in self.slices))) == self.n_rows

    def partition(self, names: Iterable[str]) -> tuple[int, ...]:
        """A number for each row; equal for columns that distinguish the same rows."""
        key = tuple(names)
        if key not in self._partitions:
            numbers: dict[tuple[int, ...], int] = {}
            rows = zip(*(self.by_name[name].codes for name in key), strict=True)
            groups = tuple(numbers.setdefault(row, len(numbers)) for row in rows)
            self._partitions[key] = groups or (0,) * self.n_rows
        return self._partitions[key]

    def decides(self, names: Iterable[str], other: str) -> bool:
        """Whether rows that are equal in some columns are equal in another."""
        key = frozenset(names)
        if (key, other) not in self._decided:
            self._decided[key, other] = other in key or self._depends(key, other)
        return self._decided[key, other]

    def decided_by(self, *names: str) -> frozenset[str]:
        """The columns in which rows are equal wherever they are equal in some columns."""
        key = frozenset(names)
        if key not in self._decided_by:
            self._decided_by[key] = frozenset(n for n in self.by_name if self.decides(key, n))
        return self._decided_by[key]

    def _depends(self, key: frozenset[str], other: str) -> bool:
        """Whether equal rows of some columns have one value; ends at the first that differs."""
        rows = zip(*(self._sources[name].codes for name in key), strict=True)
        values = self.by_name[other].codes
        value_by_row: dict[tuple[int, ...], int] = {}
        return all(
            value_by_row.setdefault(row, value) == value
            for row, value in zip(rows, values, strict=True)
        )

    def share(self, a: Column, b: Column) -> float:
        """How far two columns have the same labels, from 0 to 1."""
        shares = self._shares.setdefault(a.name, {})
        if b.name not in shares:
            # In the table's order: that of the questions must not decide.
            shares[b.name] = self._shares.setdefault(b.name, {})[a.name] = common_labels(
                *sorted((a, b), key=lambda column: self.places[column.name])
            )
        return shares[b.name]

    def shares(self, column: Column, others: Iterable[Column], enough: float = 1.0) -> float:
        """How far a column has the labels of the nearest of some others, or of one near enough."""
        largest, shares = 0.0, self._shares.setdefault(column.name, {})
        for other in others:
            largest = max(
                largest, shares[other.name] if other.name in shares else self.share(column, other)
            )
            if largest >= enough:
                break
        return largest


def common_labels(a: Column, b: Column) -> float:
    """How far two columns have the same labels, from 0 to 1.

    Words: the common words relative to the smaller set. Numbers: the common part of their ranges
    relative to both; a column of one or two values inside the range of another of few is near it.
    """
    if not a.is_number or not b.is_number:
        return len(a.folded & b.folded) / max(1, min(len(a.folded), len(b.folded)))
    if a.is_whole != b.is_whole and len({*a.distinct, *b.distinct}) < FEW:
        return 0.0
    low, high = max(a.range[0], b.range[0]), min(a.range[1], b.range[1])
    width = max(a.range[1], b.range[1]) - min(a.range[0], b.range[0])
    if width == 0:
        return 1.0
    fewer, more = sorted((a.number_set, b.number_set), key=len)
    near = 0.8 * (len(fewer) <= 2 and fewer <= more and len(more) <= FEW / 2)
    return max(near, (high - low + a.is_whole) / (width + a.is_whole))


def table_of(frame: pl.DataFrame, missing: Collection[str], labels: Collection[str]) -> Table:
    """The columns of a sample of rows; columns without any value are left out.

    Args:
        frame: the sample of rows.
        missing: words that mean: not rated.
        labels: declared labels, which are values even where their words usually mean no value.
    """
    words = NO_CELL | {word.casefold() for word in missing}
    empty = frozenset({""} | (words - {label.casefold() for label in labels}))
    columns = [Column(name, _texts(frame[name]), empty) for name in frame.columns]
    filled = [column for column in columns if column.filled]
    many = [column for column in filled if column.has_many_words]
    return Table(
        tuple(
            replace(column, has_agreeing=True)
            if any(column in pair and _agree(*pair) for pair in combinations(many, 2))
            else column
            for column in filled
        ),
        frame.height,
    )


def _agree(a: Column, b: Column) -> bool:
    """Whether two columns have the same word in many rows: of many labels few agree by chance."""
    rows = zip(a.cells, b.cells, strict=True)
    both = [(x, y) for x, y in rows if a.empty.isdisjoint((x.casefold(), y.casefold()))]
    return len(both) > 0 and sum(x == y for x, y in both) >= NEAR * len(both)


def _texts(cells: pl.Series) -> tuple[str, ...]:
    values: Sequence[object] = cells.to_list()
    return tuple("" if value is None else _text(value) for value in values)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
