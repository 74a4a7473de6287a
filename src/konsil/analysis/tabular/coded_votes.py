"""Rows of a table of comparisons as codes, so that a table can be read in parts.

A part has the words of its own rows only, and numbers its identifiers by itself; `numbered_votes`
gives the identifiers of all parts common numbers. The result does not depend on how the rows were
divided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from konsil.analysis.roles.axes import FEW_VALUES
from konsil.analysis.tabular.dataframes import as_text, with_composed_names
from konsil.analysis.tabular.votes_options import VotesOptions
from konsil.errors import SourceError
from konsil.stats.engine.contract import IntArray

Codes = NDArray[np.unsignedinteger[Any]]

_ORDERS = "\x1f"
"""Between the outcomes of the two orders of a comparison."""
_SPREAD = 8
"""Whole numbers within this many times the number of rows are coded by their places."""
_FEW_WORDS = 1000
"""Up to this many texts are coded as categories."""
_LOOKED_UP = 1 << 22
"""Up to this many combinations of codes are numbered by their places."""

ROLES = ("item", "rater", "first", "second")
"""The roles that every comparison has a value of."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column as codes."""

    codes: Codes
    """(n_rows,) each row's word."""
    words: pl.Series
    """The words, in any order: texts, or whole numbers that stand for their digits."""

    def only(self, selected: NDArray[np.bool_]) -> Column:
        """Some rows, with the words that they have."""
        codes = self.codes[selected]
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.words)))
        place = np.zeros(len(self.words), dtype=np.uint32)
        place[used] = np.arange(len(used), dtype=np.uint32)
        return Column(place[codes], self.words.gather(used))

    def texts(self) -> pl.Series:
        """The words as texts."""
        return self.words.cast(pl.String)


@dataclass(frozen=True, eq=False)
class OtherColumn:
    """A column by which comparisons of one rater, item and pair may differ."""

    name: str
    """The column."""
    words: pl.Series
    """Its words; more than `FEW_VALUES` where it cannot be a criterion."""
    codes: NDArray[np.uint8] | None
    """(n,) each comparison's word; None where there are too many, or where the role has it."""
    role: str = ""
    """The role of the column, if it has one."""


@dataclass(frozen=True, eq=False)
class CodedVotes:
    """Some rows of a table of comparisons."""

    n_rows: int
    """Rows, those without an outcome included."""
    item: Column | None
    """The items of the comparisons; None: they are unknown."""
    rater: Column | None
    """The raters of the comparisons; None: they are unknown."""
    kinds: Codes
    """(n,) each comparison's combination of systems and outcome."""
    combinations: pl.DataFrame
    """The combinations: first, second, outcome (or steps), and the first row that has each."""
    empty: dict[str, int]
    """Role -> the first row in which it is empty."""
    others: tuple[OtherColumn, ...]
    """All columns but the items' and raters', in the table's order."""
    unknown_roles: tuple[str, ...]
    """The roles that no column has."""
    is_counted: bool
    """Whether the rows count wins."""
    columns: tuple[str, str] = ("", "")
    """The columns of the first and of the second system."""


def coded(column: pl.Series, source: str, *, is_stripped: bool = True) -> Column:
    """A column as codes; `is_stripped`: words without the spaces around them.

    >>> coded(pl.Series("a", ["x", "y", "x"]), "table").words.sort().to_list()
    ['x', 'y']
    """
    if column.dtype.is_integer() and column.null_count() == 0 and len(column):
        return _of_numbers(column.to_numpy())
    if column.dtype.is_float():
        # Both are empty words, and a join of two single rows does not find NaN.
        column = column.fill_nan(None)
    words = column.unique()
    if column.dtype == pl.String and len(words) <= _FEW_WORDS:
        # A third of the time of a join, but more than that with many words.
        words = pl.concat([words.drop_nulls(), words.filter(words.is_null())])
        places = column.cast(pl.Enum(words.drop_nulls())).to_physical()
        codes = places.cast(pl.UInt32).fill_null(len(words) - 1).to_numpy()
    else:
        table = pl.DataFrame({"word": words, "code": np.arange(len(words), dtype=np.uint32)})
        codes = (
            column.to_frame("word")
            .join(table, on="word", how="left", nulls_equal=True, maintain_order="left")
            .get_column("code")
            .to_numpy()
        )
    texts = as_text(words.to_frame("word"), source).to_series()
    texts = texts.fill_null("")
    return Column(codes, texts.str.strip_chars() if is_stripped else texts)


def _of_numbers(numbers: NDArray[Any]) -> Column:
    smallest, largest = int(numbers.min()), int(numbers.max())
    if largest - smallest > _SPREAD * len(numbers) or largest > np.iinfo(np.int64).max:
        words, codes = np.unique(numbers, return_inverse=True)
        return Column(codes.astype(np.uint32), pl.Series(words))
    # Wide first: in its own type the distance of two numbers of different signs may not fit.
    at = numbers.astype(np.int64) - smallest
    is_present = np.zeros(largest - smallest + 1, dtype=np.bool_)
    is_present[at] = True
    place = np.cumsum(is_present, dtype=np.uint32) - np.uint32(1)
    return Column(place[at], pl.Series(np.flatnonzero(is_present) + smallest))


def code_votes(frame: pl.DataFrame, options: VotesOptions) -> CodedVotes:
    """Some rows of a table as codes; `options.rows` has their numbers in the whole table."""
    frame = with_composed_names(frame)
    as_text(frame.clear(), options.name, frame.columns)  # refuses what is no table of words
    numbers = (
        np.arange(frame.height, dtype=np.int64)
        if options.rows is None
        else options.rows.to_numpy().astype(np.int64, copy=False)
    )
    if options.counted:
        return _counted(as_text(frame, options.name, frame.columns), options, numbers)
    role_of = {name: role for role, name in options.columns.items()}
    by_role = {
        role: coded(frame.get_column(name), options.name)
        for role, name in options.columns.items()
        if role != "second_outcome"
    }
    missing = list({*options.missing, ""})
    outcome = by_role["outcome"]
    if "second_outcome" in options.columns:
        second = coded(frame.get_column(options.columns["second_outcome"]), options.name)
        outcome = by_role["outcome"] = _of_both_orders(outcome, second, missing)
    without = outcome.texts().is_in(missing).to_numpy()
    has_outcome = ~without[outcome.codes]
    others = [
        _other(frame, name, has_outcome, options, role_of.get(name, ""), by_role)
        for name in frame.columns
        if role_of.get(name) not in {"item", "rater", "second_outcome"}
    ]
    if not has_outcome.all():
        by_role = {role: column.only(has_outcome) for role, column in by_role.items()}
        numbers = numbers[has_outcome]
    coded_rows = _with_combinations(by_role, "outcome", numbers)
    return replace(
        coded_rows,
        n_rows=frame.height,
        others=tuple(others),
        unknown_roles=options.unknown_roles,
        columns=(options.columns["first"], options.columns["second"]),
    )


def _of_both_orders(first: Column, second: Column, missing: list[str]) -> Column:
    """The outcomes of the two orders of each comparison, as one word; none where one is missing."""
    pairs = pl.DataFrame(
        {"first": first.texts().gather(first.codes), "second": second.texts().gather(second.codes)}
    )
    both = pl.concat_str("first", "second", separator=_ORDERS)
    is_missing = pl.col("first").is_in(missing) | pl.col("second").is_in(missing)
    words = pairs.select(pl.when(is_missing).then(pl.lit("")).otherwise(both)).to_series()
    return coded(words, "")


def outcomes_of_orders(outcomes: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The outcomes of the first and of the second order, from those of both."""
    parts = outcomes.str.split_exact(_ORDERS, 1)
    return parts.struct.field("field_0"), parts.struct.field("field_1")


def _comparisons_of_counts(
    frame: pl.DataFrame, numbers: pl.Series, options: VotesOptions
) -> pl.DataFrame:
    """One row a comparison with its `steps`, from rows that count wins; columns by role."""
    missing = list({*options.missing, ""})
    rows = frame.select(
        numbers.cast(pl.Int64).alias("row"),
        *(
            pl.col(name).fill_null("").str.strip_chars().alias(role)
            for role, name in options.columns.items()
        ),
        *(
            pl.when(pl.col(name).str.strip_chars().is_in(missing))
            .then(None)
            .otherwise(pl.col(name))
            .alias(_COUNT + name)
            for name in options.counted.values()
        ),
    )
    return _written_out(rows, options.counted, options.line, options.name)


_STEPS = {"won": 1, "lost": -1, "tied": 0}
"""Steps of each of them in favour of the first system."""

_COUNT = "\x1fcount "
"""Prefix of the names of the columns of counts, which may have any name."""

_MANY = 20_000_000
"""More comparisons than this are not written out."""


def _written_out(
    rows: pl.DataFrame,
    columns: Mapping[str, str],
    line: Callable[[int], int | str],
    table: str,
) -> pl.DataFrame:
    """One row a comparison, with its `steps` in favour of the first system.

    `rows` have counts of outcomes. `columns`: won, lost and tied to the columns that count them; a
    row without any comparison has null steps.
    """
    counts = {role: _whole_numbers(rows, name, line, table) for role, name in columns.items()}
    total = sum(int(series.sum()) for series in counts.values())
    if total > _MANY:
        raise SourceError(
            f"{table}: {total:,} comparisons; expected at most {_MANY:,}: are these counts?"
        )
    parts = [
        rows.with_columns(pl.lit(_STEPS[role], pl.Int64).alias("steps"), n.alias("\x1fn"))
        for role, n in counts.items()
    ]
    none = pl.Series(
        (sum(counts.values(), pl.zeros(rows.height, pl.Int64, eager=True)) == 0).cast(pl.Int64)
    )
    parts.append(rows.with_columns(pl.lit(None, pl.Int64).alias("steps"), none.alias("\x1fn")))
    long = pl.concat(parts).filter(pl.col("\x1fn") > 0).sort("row", maintain_order=True)
    repeated = long.with_columns(pl.int_ranges(0, pl.col("\x1fn")).alias("\x1fk")).explode("\x1fk")
    return repeated.drop("\x1fn", "\x1fk")


def _whole_numbers(
    rows: pl.DataFrame, column: str, line: Callable[[int], int | str], table: str
) -> pl.Series:
    """A column of counts; true and false are 1 and 0, an empty cell is 0."""
    words = rows.get_column(_COUNT + column).fill_null("").str.strip_chars().str.to_lowercase()
    words = words.replace({"true": "1", "false": "0", "": "0"})
    numbers = words.cast(pl.Int64, strict=False)
    wrong = numbers.is_null() | (numbers < 0)
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        cell = rows.item(at, _COUNT + column)
        place = f"line {line(int(rows.item(at, 'row')))}, column {column!r}"
        raise SourceError(
            f"{table}: {place}: {cell!r} is not a count; expected a whole number of comparisons, or"
            " true or false"
        )
    return numbers


def _counted(words: pl.DataFrame, options: VotesOptions, numbers: IntArray) -> CodedVotes:
    """Rows that count wins, one comparison after the other."""
    rows = _comparisons_of_counts(words, pl.Series(numbers), options)
    comparisons = rows.drop_nulls("steps")
    roles = [*options.columns, "steps"]
    by_role = {role: coded(comparisons.get_column(role), options.name) for role in roles}
    row_numbers = comparisons.get_column("row").to_numpy().astype(np.int64, copy=False)
    at = np.searchsorted(numbers, row_numbers)
    others = tuple(
        OtherColumn(name, other.words, None if other.codes is None else other.codes[at])
        for name in words.columns
        if name not in {options.columns.get("item"), options.columns.get("rater")}
        for other in (_plain_other(words.get_column(name), options),)
    )
    return replace(
        _with_combinations(by_role, "steps", row_numbers),
        n_rows=rows.height,
        others=others,
        unknown_roles=options.unknown_roles,
        columns=(options.columns["first"], options.columns["second"]),
        is_counted=True,
    )


def _with_combinations(by_role: dict[str, Column], last: str, numbers: IntArray) -> CodedVotes:
    members = [by_role["first"], by_role["second"], by_role[last]]
    sizes = [max(len(column.words), 1) for column in members]
    keys = members[0].codes.astype(np.int64)
    for column, size in zip(members[1:], sizes[1:], strict=True):
        keys *= size
        keys += column.codes
    n_keys = int(np.prod(np.array(sizes, dtype=object)))
    if n_keys <= max(_LOOKED_UP, len(keys)):
        # The last assignment stays, so that the rows are taken from the end.
        first = np.full(n_keys, -1, dtype=np.int64)
        first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
        present = np.flatnonzero(first >= 0)
        place = np.zeros(n_keys, dtype=np.uint32)
        place[present] = np.arange(len(present), dtype=np.uint32)
        kinds, first, keys = place[keys], first[present], present
    else:
        keys, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        kinds = inverse.astype(np.uint32)
    at = [keys // (sizes[1] * sizes[2]), keys // sizes[2] % sizes[1], keys % sizes[2]]
    combinations = pl.DataFrame(
        {
            name: (column.words if name == "steps" else column.texts()).gather(codes)
            for name, column, codes in zip(("first", "second", last), members, at, strict=True)
        }
    ).with_columns(pl.Series("row", numbers[first], dtype=pl.Int64))
    empty = {}
    for role, column in by_role.items():
        is_empty = np.zeros(0) if role == last else (column.texts() == "").to_numpy()
        if is_empty.any():
            empty[role] = int(numbers[is_empty[column.codes].argmax()])
    return CodedVotes(
        n_rows=len(keys),
        item=by_role.get("item"),
        rater=by_role.get("rater"),
        kinds=kinds.astype(np.min_scalar_type(max(len(combinations), 1)), copy=False),
        combinations=combinations,
        empty=empty,
        others=(),
        unknown_roles=(),
        is_counted=False,
    )


def _other(
    frame: pl.DataFrame,
    name: str,
    has_outcome: NDArray[np.bool_],
    options: VotesOptions,
    role: str,
    by_role: dict[str, Column],
) -> OtherColumn:
    if role:
        return OtherColumn(name, by_role[role].texts().head(FEW_VALUES + 1), None, role)
    other = _plain_other(frame.get_column(name), options)
    return other if other.codes is None else replace(other, codes=other.codes[has_outcome])


def _plain_other(column: pl.Series, options: VotesOptions) -> OtherColumn:
    # Identifiers are recognised by their first rows, which is cheaper than by all.
    if column.head(1000).n_unique() > FEW_VALUES or column.n_unique() > FEW_VALUES:
        return OtherColumn(column.name, pl.Series([""] * (FEW_VALUES + 1)), None)
    values = coded(column, options.name)
    return OtherColumn(column.name, values.texts(), values.codes.astype(np.uint8))
