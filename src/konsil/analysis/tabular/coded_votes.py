"""A table of comparisons as codes: each column's words once, and a number for each cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from konsil.analysis.roles.candidates.axes import FEW_VALUES
from konsil.analysis.roles.candidates.compared.shown_order import names_side
from konsil.analysis.tabular.dataframes import as_categories, as_text, with_composed_names
from konsil.analysis.tabular.slices import Slices, refuse_unknown
from konsil.analysis.tabular.votes_options import VotesOptions
from konsil.errors import SourceError, nearest, option
from konsil.stats.engine.contract import IntArray
from konsil.stats.engine.renumbering import renumbered

Codes = NDArray[np.signedinteger[Any]]

_ORDERS = "\x1f"
"""Between the outcomes of the two orders of a comparison."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column as codes."""

    codes: Codes
    """(n_rows,) each row's word."""
    words: pl.Series
    """The words, sorted."""


@dataclass(frozen=True, eq=False)
class CodedVotes:
    """The comparisons of a table."""

    n_rows: int
    """Rows, those without an outcome included."""
    frame: pl.DataFrame
    """The comparisons, as categories."""
    numbers: IntArray
    """(n,) the row of each comparison in the whole table."""
    outcome: Column
    """The outcomes; where rows count wins, the steps in favour of the first system."""


def comparable(frame: pl.DataFrame, options: VotesOptions, slices: Slices) -> pl.DataFrame:
    """The columns that are read or by which repeated comparisons may differ, as categories."""
    frame = with_composed_names(frame)
    as_text(frame.clear(), options.name, frame.columns)  # refuses what is no table of words
    refuse_unknown(frame.columns, slices, options.name)
    return as_categories(used(frame, options, slices), options.name, frame.columns)


def used(frame: pl.DataFrame, options: VotesOptions, slices: Slices) -> pl.DataFrame:
    """The columns that are named and those with few values."""
    named = options.named | slices.columns
    return frame.select(
        column for column in frame if column.name in named or _has_few_values(column)
    )


def of_each_rater(frame: pl.DataFrame, options: VotesOptions) -> tuple[pl.DataFrame, VotesOptions]:
    """A table with a column of each rater's outcomes as one with a row for each comparison.

    Where columns have the systems that won and lost, the first one won.
    """
    if options.has_results:
        first = pl.lit("first").cast(pl.Categorical).alias(_OUTCOME)
        columns = {**options.columns, "outcome": _OUTCOME}
        return frame.with_columns(first), replace(options, columns=columns)
    if not options.raters:
        return frame, options
    rows = frame.unpivot(
        list(options.raters),
        index=[name for name in frame.columns if name not in options.raters],
        variable_name=_RATER,
        value_name=_OUTCOME,
    ).with_columns(pl.col(_RATER).cast(pl.Categorical))
    columns = {**options.columns, "rater": _RATER, "outcome": _OUTCOME}
    height, line = frame.height, options.line
    return rows, replace(options, columns=columns, line=lambda row: line(row % height))


_RATER, _OUTCOME = "\x1frater", "\x1foutcome"
"""Columns of our own: no heading of a table has this sign."""


def with_sides_as_shown(frame: pl.DataFrame, options: VotesOptions) -> pl.DataFrame:
    """The rows with the system first that was shown first, where the other order is stated."""
    if options.swapped_rows is None:
        return frame
    column, value = options.swapped_rows
    names = options.columns["first"], options.columns["second"]
    first, second = (frame.get_column(name) for name in names)
    cells, others = (
        words.cast(pl.String).str.strip_chars() for words in (frame.get_column(column), second)
    )
    is_swapped = (cells == (others if value is None else value)).fill_null(value=False)
    if not is_swapped.any():
        values = (others if value is None else cells).drop_nulls().unique().sort()
        raise SourceError(
            f"{options.name}: {option('swapped', str(options.swapped))}: no row has this value;"
            f" {nearest(value or '', values)}"
        )
    outcome = options.columns["outcome"]
    # What is named for a column of systems is the system there, and not the side.
    renamed = {a: b for a, b in (names, names[::-1]) if not names_side(a, names, frozenset())}
    words = frame.get_column(outcome).cast(pl.String)
    return frame.with_columns(
        second.zip_with(is_swapped, first).alias(names[0]),
        first.zip_with(is_swapped, second).alias(names[1]),
        words.replace(renamed).zip_with(is_swapped, words).cast(pl.Categorical).alias(outcome),
    )


def _has_few_values(column: pl.Series) -> bool:
    # Identifiers are recognised by their first rows, which is cheaper than by all.
    return column.head(1000).n_unique() <= FEW_VALUES and column.n_unique() <= FEW_VALUES


def coded(categories: pl.Series) -> Column:
    """Categories as codes of their words without the spaces around them.

    >>> column = coded(pl.Series(["y", " x", None, "x"], dtype=pl.Categorical))
    >>> column.codes.tolist(), column.words.to_list()
    ([2, 1, 0, 1], ['', 'x', 'y'])
    """
    cells, each = categories.to_physical(), categories.unique()
    texts = each.cast(pl.String).fill_null("").str.strip_chars()
    words = texts.unique().sort()
    none = int(pl.select(pl.lit(cells).max().fill_null(0)).item()) + 1
    of_cell = np.zeros(none + 1, dtype=np.int32)
    of_cell[each.to_physical().fill_null(none)] = texts.rank("dense").cast(pl.Int32) - 1
    return Column(of_cell[cells.fill_null(none)], words)


def code_votes(frame: pl.DataFrame, rows: pl.Series, options: VotesOptions) -> CodedVotes:
    """The comparisons in some rows of a table; `rows` has their numbers in the whole table."""
    numbers = rows.to_numpy()
    if options.counted:
        at, steps = _comparisons_of_counts(frame, numbers, options)
        n_rows, has_outcome = len(at), steps < _NONE
        at, steps = at[has_outcome], steps[has_outcome]
        outcome = Column(steps + 1, pl.Series([-1, 0, 1]))
        return CodedVotes(n_rows, frame[at], numbers[at], outcome)
    missing = list({*options.missing, ""})
    name = options.columns["outcome"]
    second = options.columns.get("second_outcome")
    if second is not None:
        frame = _with_both_orders(frame, name, second, missing)
    outcome = coded(frame.get_column(name))
    has_outcome = ~outcome.words.is_in(missing).to_numpy()[outcome.codes]
    n_rows = frame.height
    if not has_outcome.all():
        frame, numbers = frame.filter(has_outcome), numbers[has_outcome]
        outcome = coded(frame.get_column(name))
    return CodedVotes(n_rows, frame, numbers, outcome)


def combined(first: Column, second: Column, votes: CodedVotes) -> tuple[pl.DataFrame, Codes]:
    """Each combination of systems and outcome with its first row, and each comparison's (n,)."""
    columns = {"first": first, "second": second, "outcome": votes.outcome}
    sizes = [len(column.words) for column in columns.values()]
    keys = np.ravel_multi_index([column.codes for column in columns.values()], sizes)
    present, kinds = renumbered(keys)
    row = np.zeros(len(present), dtype=np.int64)
    # The last assignment stays, so that the rows are taken from the end.
    row[kinds[::-1]] = votes.numbers[::-1]
    places = zip(columns.items(), np.unravel_index(present, sizes), strict=True)
    table = pl.DataFrame({name: column.words.gather(at) for (name, column), at in places})
    small = np.min_scalar_type(-len(present))
    return table.with_columns(pl.Series("row", row)), kinds.astype(small)


def values_of_others(
    votes: CodedVotes, options: VotesOptions, at: IntArray
) -> Iterator[tuple[str, IntArray]]:
    """The columns with few values but those of items and raters, with the values at some places."""
    for column in votes.frame.drop(
        *(options.columns[role] for role in ("item", "rater") if role in options.columns)
    ):
        values = coded(column)
        if 1 < len(values.words) <= FEW_VALUES:
            yield column.name, values.codes[at].astype(np.int64)


def _with_both_orders(
    frame: pl.DataFrame, first: str, second: str, missing: list[str]
) -> pl.DataFrame:
    """The outcomes of both orders of each comparison as a word; none where one is missing."""
    words = [pl.col(c).cast(pl.String).fill_null("").str.strip_chars() for c in (first, second)]
    is_missing = pl.any_horizontal(word.is_in(missing) for word in words)
    both = pl.concat_str(words, separator=_ORDERS)
    outcome = pl.when(is_missing).then(pl.lit("")).otherwise(both).cast(pl.Categorical)
    return frame.with_columns(outcome.alias(first)).drop(second)


def outcomes_of_orders(outcomes: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The outcomes of the first and of the second order, from those of both."""
    parts = outcomes.str.split_exact(_ORDERS, 1)
    return parts.struct.field("field_0"), parts.struct.field("field_1")


_STEPS = {"won": 1, "lost": -1, "tied": 0}
"""Steps of each of them in favour of the first system."""

_NONE = 2
"""Stands for the steps of a row without any comparison."""

_MANY = 20_000_000
"""More comparisons than this are not written out."""


def _comparisons_of_counts(
    frame: pl.DataFrame, numbers: IntArray, options: VotesOptions
) -> tuple[IntArray, IntArray]:
    """(n,) the place of each comparison's row, and its steps, from rows that count wins.

    A row without any comparison has the steps `_NONE`.
    """
    counts = {
        role: _whole_numbers(frame.get_column(name), numbers, options)
        for role, name in options.counted.items()
    }
    total = sum(int(n.sum()) for n in counts.values())
    if total > _MANY:
        raise SourceError(
            f"{options.name}: {total:,} comparisons; expected at most {_MANY:,}: are these counts?"
        )
    is_empty = np.sum([*counts.values()], axis=0) == 0
    each = np.stack([*counts.values(), is_empty], axis=1).ravel()
    steps = np.tile([*(_STEPS[role] for role in counts), _NONE], frame.height)
    places = np.repeat(np.arange(frame.height), len(counts) + 1)
    return np.repeat(places, each), np.repeat(steps, each)


def _whole_numbers(column: pl.Series, numbers: IntArray, options: VotesOptions) -> IntArray:
    """A column of counts; true and false are 1 and 0, an empty or missing cell is 0."""
    cells = column.cast(pl.String).fill_null("")
    words = cells.str.strip_chars()
    none = dict.fromkeys(options.missing, "0")
    words = words.replace(none).str.to_lowercase().replace({"true": "1", "false": "0", "": "0"})
    counts = words.cast(pl.Int64, strict=False)
    wrong = counts.is_null() | (counts < 0)
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        place = f"line {options.line(int(numbers[at]))}, column {column.name!r}"
        raise SourceError(
            f"{options.name}: {place}: {cells[at]!r} is not a count; expected a whole number of"
            " comparisons, or true or false"
        )
    return counts.to_numpy()
