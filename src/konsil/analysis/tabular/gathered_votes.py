"""The coded parts of a table of comparisons together, with common numbers of their words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from konsil.analysis.roles.axes import FEW_VALUES
from konsil.analysis.tabular.coded_votes import CodedVotes, Column
from konsil.stats.engine.contract import IntArray

_TOGETHER = 1 << 20
"""At least so many words are looked up at once."""
_PLACES = 1 << 26
"""Whole numbers below it are looked up by their places."""


class GatheredVotes:
    """All parts of a table of comparisons; their order is that of the rows."""

    def __init__(self, parts: Iterable[CodedVotes] = ()) -> None:
        self.n_rows = self.n_votes = 0
        self.empty: dict[str, int] = {}
        self.unknown_roles: tuple[str, ...] = ()
        self.is_counted = False
        self.columns = ("", "")
        self._identifiers = {"item": Identifiers(), "rater": Identifiers()}
        self._kinds: list[NDArray[Any]] = []
        self._combinations: list[pl.DataFrame] = []
        self._others: list[CodedVotes] = []
        for part in parts:
            self.add(part)

    @cached_property
    def combinations(self) -> pl.DataFrame:
        """Each combination of systems and outcome once, with its first row."""
        table = pl.concat(self._combinations, how="vertical_relaxed")
        names = table.columns[:3]
        return table.group_by(names).agg(pl.col("row").min()).sort("row", *names)

    def add(self, part: CodedVotes) -> None:
        """The rows that follow."""
        self.n_rows += part.n_rows
        self.n_votes += len(part.kinds)
        for role, row in part.empty.items():
            self.empty[role] = min(row, self.empty.get(role, row))
        self.unknown_roles, self.is_counted = part.unknown_roles, part.is_counted
        self.columns = part.columns
        for role, column in (("item", part.item), ("rater", part.rater)):
            if column is not None:
                self._identifiers[role].add(column)
        self._kinds.append(part.kinds)
        self._combinations.append(part.combinations)
        self._others.append(replace(part, item=None, rater=None))

    def of_combinations(self, values: NDArray[Any]) -> NDArray[np.signedinteger[Any]]:
        """(n_votes,) the value of each comparison's combination, in the smallest type."""
        names = self.combinations.columns[:3]
        numbered = self.combinations.select(names).with_row_index("place")
        small = _small(int(values.max(initial=0)))
        out, at = np.empty(self.n_votes, small), 0
        for kinds, table in zip(self._kinds, self._combinations, strict=True):
            if not len(kinds):
                continue
            place = table.cast({name: numbered.schema[name] for name in names}).join(
                numbered, on=names, how="left", maintain_order="left"
            )
            codes = values[place.get_column("place").to_numpy()].astype(small)
            out[at : (at := at + len(kinds))] = codes[kinds]
        return out

    def identifiers(
        self, role: Literal["item", "rater"]
    ) -> tuple[NDArray[np.signedinteger[Any]], pl.Series]:
        """(n_votes,) the numbers of a role's words among all sorted words, and these words."""
        return self._identifiers[role].numbered()

    def values_of_others(self, at: IntArray) -> Iterator[tuple[str, IntArray]]:
        """The columns with few values, with the values of some comparisons."""
        ends = np.cumsum([len(part.kinds) for part in self._others])
        starts = ends - np.array([len(part.kinds) for part in self._others])
        rows = [
            at[(at >= start) & (at < end)] - start for start, end in zip(starts, ends, strict=True)
        ]
        for n, first in enumerate(self._others[0].others):
            columns = [part.others[n] for part in self._others]
            # A part in which a column has too many values has none of its words.
            if any(column.codes is None and not column.role for column in columns):
                continue
            every = {word for part in self._others for word in part.others[n].words}
            if not 1 < len(every) <= FEW_VALUES:
                continue
            number = {word: n for n, word in enumerate(sorted(every))}
            values = [
                _values(part, n, codes, number)
                for part, codes in zip(self._others, rows, strict=True)
            ]
            yield first.name, np.concatenate(values)


def _values(part: CodedVotes, n: int, rows: IntArray, number: dict[str, int]) -> IntArray:
    other = part.others[n]
    if other.codes is None:
        words: Sequence[str] = part.combinations.get_column(other.role).to_list()
        codes: NDArray[Any] = part.kinds
    else:
        words, codes = other.words.to_list(), other.codes
    of_word = np.array([number[word] for word in words], dtype=np.int64)
    return np.asarray(of_word[codes[rows]], dtype=np.int64)


class Identifiers:
    """Words of all parts, numbered as they come."""

    def __init__(self) -> None:
        """No words yet."""
        self._codes: list[NDArray[Any]] = []
        self._words = pl.DataFrame(schema={"word": pl.String, "number": pl.Int64})
        self._places = np.zeros(0, dtype=np.int32)
        self._numbers: list[NDArray[Any]] | None = []
        self._waiting: list[Column] = []

    def add(self, column: Column) -> None:
        """The identifiers of one more part."""
        of_word = self._of_numbers(column.words)
        if of_word is not None:
            self._codes.append(of_word.astype(np.int32)[column.codes])
            return
        self._waiting.append(column)
        # Looking words up takes the time of all known ones, so that it waits for as many.
        if sum(len(part.words) for part in self._waiting) >= max(self._words.height, _TOGETHER):
            self._number_waiting()

    def _number_waiting(self) -> None:
        if not self._waiting:
            return
        texts = [part.texts() for part in self._waiting]
        ends = np.cumsum([len(words) for words in texts])
        of_words = np.split(self._of_texts(pl.concat(texts)).astype(np.int32), ends[:-1])
        for part, of_word in zip(self._waiting, of_words, strict=True):
            self._codes.append(of_word[part.codes])
        self._waiting = []

    def _of_numbers(self, words: pl.Series) -> NDArray[Any] | None:
        """The numbers of whole numbers; None where texts are needed from now on."""
        if self._numbers is None:
            return None
        if not words.dtype.is_integer() or not words.is_between(0, _PLACES).all():
            words = self._all_words()
            self._words = pl.DataFrame({"word": words, "number": np.arange(len(words))})
            self._numbers = None
            return None
        places = words.to_numpy().astype(np.int64)
        if len(places) and places.max() >= len(self._places):
            grown = np.full(max(int(places.max()) + 1, 2 * len(self._places)), -1, dtype=np.int32)
            grown[: len(self._places)] = self._places
            self._places = grown
        fresh = places[self._places[places] < 0]
        n = sum(map(len, self._numbers))
        self._places[fresh] = np.arange(n, n + len(fresh), dtype=np.int32)
        self._numbers.append(fresh)
        return np.asarray(self._places[places])

    def _of_texts(self, words: pl.Series) -> NDArray[Any]:
        column = words.to_frame("word")
        numbers = column.join(self._words, on="word", how="left", maintain_order="left")
        is_new = numbers.get_column("number").is_null()
        out = numbers.get_column("number").fill_null(-1).to_numpy().copy()
        if is_new.any():
            new = column.filter(is_new)
            fresh = new.get_column("word").unique()
            n = self._words.height
            table = pl.DataFrame({"word": fresh, "number": np.arange(n, n + len(fresh))})
            self._words = pl.concat([self._words, table])
            places = new.join(table, on="word", how="left", maintain_order="left")
            out[is_new.to_numpy()] = places.get_column("number").to_numpy()
        return out

    def _all_words(self) -> pl.Series:
        """All words in the order of their numbers."""
        if self._numbers is None:
            return self._words.get_column("word")
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *self._numbers])
        return pl.Series("word", numbers).cast(pl.String)

    def numbered(self) -> tuple[NDArray[np.signedinteger[Any]], pl.Series]:
        """(n,) the place of each identifier among the sorted words, and these words."""
        self._number_waiting()
        words = self._all_words()
        order = words.arg_sort()
        rank = np.empty(len(words), dtype=np.int32)
        rank[order.to_numpy()] = np.arange(len(words), dtype=np.int32)
        out, at = np.empty(sum(map(len, self._codes)), dtype=np.int32), 0
        while self._codes:
            codes = self._codes.pop(0)
            np.take(rank, codes, out=out[at : at + len(codes)])
            at += len(codes)
        return out, words.gather(order)


def _small(most: int) -> type[np.signedinteger[Any]]:
    """The smallest type with a sign that has a number."""
    return next(
        kind for kind in (np.int8, np.int16, np.int32, np.int64) if most < np.iinfo(kind).max
    )
