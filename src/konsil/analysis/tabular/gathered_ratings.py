"""Rows of a long table of ratings as codes, and the table that such parts make together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from konsil.analysis.model.sample import Sample
from konsil.analysis.table.labels import Labels
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.coded_votes import Column, coded
from konsil.analysis.tabular.gathered_votes import Identifiers
from konsil.analysis.tabular.ratings_table import (
    NA,
    ROLES,
    Table,
    check_raters,
    check_repeats,
    has_na_cells,
    long_columns,
    refuse_abstentions,
    refuse_empty,
    refuse_two_clusters,
    refuse_unrated,
    warn_of_na,
)
from konsil.analysis.tabular.scale import decide
from konsil.errors import SourceError
from konsil.stats.engine.contract import Codes, IntArray

_CHUNK = 1 << 20
"""Ratings placed at a time: their indices take 8 bytes each."""

Places = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, eq=False)
class CodedRatings:
    """Some rows of a long table."""

    columns: Mapping[str, Column]
    """Role -> each row's word: unit, rater, label, and cluster where it is not the unit."""
    first: int
    """The first row's number in the whole table."""
    numbers: IntArray | None
    """(n_rows,) the rows' numbers in the whole table; None where they follow one another."""
    empty: Mapping[str, int]
    """Role -> the first row in which it is empty."""


def code_ratings(frame: pl.DataFrame, options: TableOptions) -> CodedRatings:
    """Some rows of a long table as codes; `options.rows` has their numbers in the whole table.

    Labels are read without the spaces around them, identifiers as they are.
    """
    chosen = long_columns(options)
    if chosen["cluster"] == chosen["unit"]:
        del chosen["cluster"]
    columns = {
        role: coded(frame.get_column(name), options.name, is_stripped=role == "label")
        for role, name in chosen.items()
    }
    rows = pl.int_range(frame.height, eager=True) if options.rows is None else options.rows
    numbers = rows.to_numpy().astype(np.int64, copy=False)
    is_consecutive = len(numbers) == 0 or int(numbers[-1] - numbers[0]) + 1 == len(numbers)
    empty: dict[str, int] = {}
    for role in ROLES:
        if role in columns:
            is_empty = (columns[role].texts() == "").to_numpy()[columns[role].codes]
            if is_empty.any():
                empty[role] = int(numbers[is_empty.argmax()])
    first = int(numbers[0]) if len(numbers) else 0
    return CodedRatings(columns, first, None if is_consecutive else numbers, empty)


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a role in all rows."""

    codes: Places
    """(n_rows,) the place of each row's word among the sorted words."""
    words: pl.Series
    """The sorted words."""

    def at(self, codes: Places) -> pl.Series:
        """The words of some codes."""
        return self.words.gather(pl.Series(codes))


class GatheredRatings:
    """All parts of a long table; their order is that of the rows."""

    def __init__(self, parts: Iterable[CodedRatings] = ()) -> None:
        """The parts so far."""
        self._identifiers: dict[str, Identifiers] = {}
        self._numbers: list[tuple[int, int, IntArray | None]] = []
        self._empty: dict[str, int] = {}
        for part in parts:
            self.add(part)

    def add(self, part: CodedRatings) -> None:
        """The rows that follow."""
        for role, column in part.columns.items():
            self._identifiers.setdefault(role, Identifiers()).add(column)
        self._numbers.append((part.first, len(part.columns["label"].codes), part.numbers))
        for role, row in part.empty.items():
            self._empty[role] = min(row, self._empty.get(role, row))

    @cached_property
    def _roles(self) -> dict[str, _Words]:
        numbered = {role: _Words(*self._identifiers[role].numbered()) for role in self._identifiers}
        label = numbered["label"]
        narrow = label.codes.astype(np.min_scalar_type(max(len(label.words), 1)), copy=False)
        return {**numbered, "label": replace(label, codes=narrow)}

    def _rows(self, at: IntArray) -> IntArray:
        """The numbers of some rows in the whole table."""
        starts = np.cumsum([0, *(n for _, n, _ in self._numbers)])
        part = np.searchsorted(starts, at, side="right") - 1
        return np.array(
            [
                first + n if numbers is None else numbers[n]
                for n, (first, _, numbers) in zip(
                    at - starts[part], (self._numbers[p] for p in part), strict=True
                )
            ],
            dtype=np.int64,
        )

    def table(self, options: TableOptions) -> Table:
        """The table, as `read` has it for the same rows; the same refusals and warnings."""
        for role in ROLES:
            if role in self._empty:
                refuse_empty(role, self._empty[role], options)
        self._check_clusters(options)
        warnings: list[str] = []
        label, rater = self._roles["label"], self._roles["rater"]
        is_rating = self._is_rating(options, warnings)
        if not is_rating.any():
            refuse_unrated(options)
        is_label = is_rating & ~_equal(label.words, options.abstain)
        if not is_label.any():
            refuse_abstentions(options)
        code_of_word, labels, constant = self._scale(is_label, options, warnings)
        present = np.zeros(len(rater.words), dtype=np.bool_)
        abstained = np.zeros(len(rater.words), dtype=np.int64)
        for rows in self._chunks():
            present[rater.codes[rows][is_rating[label.codes[rows]]]] = True
            is_abstention = (is_rating & ~is_label)[label.codes[rows]]
            abstained += np.bincount(rater.codes[rows][is_abstention], minlength=len(rater.words))
        sample, n_labels = self._sample(np.flatnonzero(present), is_label, code_of_word, labels)
        if n_labels > sample.n_ratings:
            check_repeats(self._repeated(is_label, code_of_word, labels), options, warnings)
        check_raters(sample.raters, options)
        counted = {str(rater.words[int(n)]): int(abstained[n]) for n in np.flatnonzero(abstained)}
        return Table(sample, labels, counted, tuple(warnings), constant)

    def _chunks(self) -> Iterable[slice]:
        n = len(self._roles["label"].codes)
        return (slice(at, min(at + _CHUNK, n)) for at in range(0, n, _CHUNK))

    def _check_clusters(self, options: TableOptions) -> None:
        if "cluster" not in self._roles:
            return
        unit, cluster = self._roles["unit"], self._roles["cluster"]
        of_unit = np.zeros(len(unit.words), dtype=np.int32)
        of_unit[unit.codes] = cluster.codes
        other = np.flatnonzero(of_unit[unit.codes] != cluster.codes)
        if len(other):
            in_two = np.isin(unit.codes, unit.codes[other])
            rows = {
                "unit": unit.at(unit.codes[in_two]),
                "cluster": cluster.at(cluster.codes[in_two]),
            }
            refuse_two_clusters(pl.DataFrame(rows), options)

    def _is_rating(self, options: TableOptions, warnings: list[str]) -> NDArray[np.bool_]:
        """(n_words,) whether a word is a label or an abstention, and not an empty cell."""
        label = self._roles["label"]
        is_rating = ~label.words.is_in(list({*options.missing, ""})).to_numpy()
        if has_na_cells(options):
            is_na = is_rating & _equal(label.words, NA)
            if is_na.any():
                warn_of_na(int(np.count_nonzero(label.codes == np.flatnonzero(is_na)[0])), warnings)
            is_rating &= ~is_na
        return is_rating

    def _scale(
        self, is_label: NDArray[np.bool_], options: TableOptions, warnings: list[str]
    ) -> tuple[IntArray, Labels, str | None]:
        """(n_words,) the code of each word on the scale, and the scale."""
        label = self._roles["label"]
        first = np.full(len(label.words), -1, dtype=np.int64)
        for chunk in self._chunks():
            of_part = np.full(len(label.words), -1, dtype=np.int64)
            # The last assignment stays, so that the rows are taken from the end.
            of_part[label.codes[chunk][::-1]] = np.arange(chunk.stop - 1, chunk.start - 1, -1)
            first = np.where(first < 0, of_part, first)
        present = np.flatnonzero(is_label & (first >= 0))
        rows = self._as_rows(first[present])
        try:
            mapped, labels, constant = decide(rows, options, warnings)
        except SourceError:
            # The sentence counts the rows: here there is but one for each label.
            decide(self._as_rows(np.flatnonzero(is_label[label.codes])), options, [])
            raise
        codes = labels.codes()
        code_of_word = np.full(len(label.words), -1, dtype=np.int64)
        code_of_word[present] = [codes[name] for name in mapped.get_column("label")]
        return code_of_word, labels, constant

    def _as_rows(self, at: IntArray) -> pl.DataFrame:
        """Some ratings as rows of words."""
        words = {
            role: self._roles[role].at(self._roles[role].codes[at])
            for role in ("unit", "rater", "label")
        }
        return pl.DataFrame({"row": self._rows(at), **words})

    def _sample(
        self,
        raters: IntArray,
        is_label: NDArray[np.bool_],
        code_of_word: IntArray,
        labels: Labels,
    ) -> tuple[Sample, int]:
        """Units x raters, and how many labels there are, those given again included."""
        unit, rater, label = (self._roles[role] for role in ("unit", "rater", "label"))
        cluster = self._roles.get("cluster", unit)
        units = self._used(unit, is_label)
        clusters = units if cluster is unit else self._used(cluster, is_label)
        narrow = len(labels.names) < 127
        shape = (units.n, len(raters))
        table: NDArray[np.int8] | NDArray[np.int32] = (
            np.full(shape, -1, dtype=np.int8) if narrow else np.full(shape, -1, dtype=np.int32)
        )
        of_unit = np.zeros(units.n, dtype=np.int64)
        column = np.zeros(len(rater.words), dtype=np.int64)
        column[raters] = np.arange(len(raters))
        n_labels = 0
        for rows in self._chunks():
            labelled = is_label[label.codes[rows]]
            place = units.place[unit.codes[rows][labelled]]
            n_labels += len(place)
            table[place, column[rater.codes[rows][labelled]]] = code_of_word[
                label.codes[rows][labelled]
            ]
            of_unit[place] = clusters.place[cluster.codes[rows][labelled]]
        codes = Codes(table, of_unit, len(labels.names), labels.values, labels.reverse)
        names = tuple(rater.words.gather(raters).to_list())
        return Sample(codes, names, units.names, clusters.names), n_labels

    def _used(self, role: _Words, is_label: NDArray[np.bool_]) -> _Used:
        """The words of a role that rows with labels have."""
        label = self._roles["label"]
        occurs = np.zeros(len(role.words), dtype=np.bool_)
        for rows in self._chunks():
            occurs[role.codes[rows][is_label[label.codes[rows]]]] = True
        place = np.cumsum(occurs) - 1
        return _Used(place, tuple(role.words.filter(pl.Series(occurs)).to_list()))

    def _repeated(
        self, is_label: NDArray[np.bool_], code_of_word: IntArray, labels: Labels
    ) -> pl.DataFrame:
        """The ratings of raters who rated a unit more than once."""
        unit, rater, label = (self._roles[role] for role in ("unit", "rater", "label"))
        at = np.flatnonzero(is_label[label.codes])
        pairs = unit.codes[at].astype(np.int64) * len(rater.words) + rater.codes[at]
        _, inverse, times = np.unique(pairs, return_inverse=True, return_counts=True)
        at = at[times[inverse] > 1]
        names = pl.Series(labels.names).gather(pl.Series(code_of_word[label.codes[at]]))
        return self._as_rows(at).with_columns(names.alias("label"))


@dataclass(frozen=True, eq=False)
class _Used:
    """Words that occur, numbered in their order."""

    place: IntArray
    """(n_words,) the number of each word that occurs."""
    names: tuple[str, ...]
    """The words."""

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.names)


def _equal(words: pl.Series, word: str | None) -> NDArray[np.bool_]:
    if word is None:
        return np.zeros(len(words), dtype=np.bool_)
    return (words == word).to_numpy()
