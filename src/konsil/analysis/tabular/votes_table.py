"""Any table of comparisons as votes: for people without a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import polars as pl
from numpy.typing import NDArray

from konsil.analysis.roles.candidates.axes import FEW_VALUES, is_axis
from konsil.analysis.tabular.coded_votes import (
    CodedVotes,
    Codes,
    Column,
    code_votes,
    coded,
    combined,
    values_of_others,
)
from konsil.analysis.tabular.scale import lookalikes
from konsil.analysis.tabular.slices import slicing
from konsil.analysis.tabular.vote_outcomes import Outcomes, placed, read_outcomes
from konsil.analysis.tabular.votes_options import VotesOptions
from konsil.errors import SourceError, option
from konsil.errors.message import message
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.pairs.votes import Votes, repeated_places, votes

ROLES = ("item", "rater", "first", "second")
"""The roles that every comparison has a value of."""
MANY = 200
"""More systems than this are taken for a mistake: an item's or a rater's column named as a
system's."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """A table read."""

    votes: Votes
    """The comparisons."""
    shown: Votes
    """The same with the first column's system as system 0 and the second's as 1, whoever they
    are."""
    systems: tuple[str, ...]
    """The systems' names, sorted."""
    n_missing: int
    """Rows without an outcome."""
    has_raters: bool
    """Whether it is known who compared."""
    warnings: tuple[str, ...]
    """Decisions taken for the user."""
    raters: pl.Series
    """The raters' names by their numbers."""
    items: pl.Series | None
    """The items' names by their numbers, those without a comparison in this group included; None
    where items are unknown."""
    axis: str | None = None
    """A column of criteria, for each of which the comparisons are repeated and here pooled."""
    preferences: Preferences | None = None
    """The outcomes as numbers."""
    first_column: str = ""
    """The column of the first system; '-' where it is the one shown first; empty where the columns
    have the systems that won and lost."""
    n_consistent: int | None = None
    """Where each comparison was made in both orders: how many have the same outcome in both."""

    @property
    def is_compared(self) -> NDArray[np.bool_]:
        """(n_items,) which items have a comparison."""
        return np.bincount(self.votes.questions, minlength=self.votes.n_questions) > 0

    @property
    def n_items(self) -> int:
        """Items with a comparison."""
        return int(self.is_compared.sum())


@dataclass(frozen=True, eq=False)
class Preferences:
    """Comparisons with a number for how far one of the two systems is preferred."""

    votes: Votes
    """The comparisons; outcomes are the places of the numbers."""
    sides: Array
    """(2, 2 steps + 1) the share of the preference that each outcome gives to the first and to
    the second system, from 0 to 1."""


def _refuse_two_roles(options: VotesOptions) -> None:
    """Outcomes of a single rater are no names of raters."""
    column = options.columns.get("outcome")
    if column is not None and column == options.columns.get("rater"):
        raise SourceError(
            f"{options.name}: {option('rater')} {column!r}: this column has the outcomes; state the"
            f" column of the raters' names, or {option('rater', '-')} where raters are unknown"
        )


def read_comparisons(frame: pl.DataFrame, rows: pl.Series, options: VotesOptions) -> Comparisons:
    """The comparisons in some rows of a table of categories, with the numbers of sorted names.

    `rows` has their numbers in the whole table. Raises SourceError with one sentence for what
    cannot be read.
    """
    _refuse_two_roles(options)
    coded_rows = code_votes(frame, rows, options)
    n_votes = coded_rows.frame.height
    if not n_votes:
        raise SourceError(
            f"{options.name}: no row has an outcome; every cell of the column is empty"
        )
    columns = {
        role: coded(coded_rows.frame.get_column(options.columns[role]))
        for role in ROLES
        if role in options.columns
    }
    _refuse_empty(columns, coded_rows.numbers, options)
    systems = tuple(sorted({*columns["first"].words, *columns["second"].words}))
    if len(systems) > MANY:
        raise SourceError(
            f"{options.name}: {len(systems):,} different systems; expected at most {MANY}: are"
            f" {option('first')} and {option('second')} the columns of the systems?"
        )
    combinations, kinds = combined(columns["first"], columns["second"], coded_rows)
    _refuse_same(combinations, options)
    if options.counted:
        outcomes = Outcomes((combinations.get_column("outcome").to_numpy(),), 1)
    else:
        outcomes = read_outcomes(combinations, options)
    has_tie = bool(options.scale or outcomes.steps > 1 or (outcomes.merged == 0).any())
    warnings = _warnings(coded_rows.n_rows - n_votes, options, systems, has_tie)
    number = {name: n for n, name in enumerate(systems)}
    first, second = (
        combinations.get_column(c).replace_strict(number, return_dtype=pl.Int64)
        for c in ("first", "second")
    )
    none = np.zeros(len(combinations), dtype=np.int64)

    def by_system(values: IntArray, steps: int) -> Votes:
        return votes(first, second, values, none, none, n_systems=len(systems), steps=steps)

    # The first column is always system 0 here, whoever is in it: what remains is the effect of the
    # side.
    sides = [
        votes(none, none + 1, side * values, none, none, n_systems=2, steps=outcomes.steps)
        for side, values in zip((1, -1), outcomes.by_order, strict=False)
    ]
    of_system, shares = by_system(outcomes.merged, outcomes.steps), None
    of_numbers = of_system
    if outcomes.numbers is not None:
        places, shares = placed(outcomes.numbers)
        of_numbers = by_system(places, shares.shape[1] // 2)
    has_raters = "rater" in columns
    unknown = Column(np.zeros(n_votes, dtype=np.int8), pl.Series([""]))
    raters, item_names = columns.get("rater", unknown), None
    if "item" in columns:
        items, item_names = columns["item"].codes, columns["item"].words
    else:
        items = _numbers_by_cells(kinds, [of_system, *sides, of_numbers])

    def of_all(some: Votes) -> Votes:
        return replace(
            some,
            cells=_smallest(some.cells)[kinds],
            questions=items,
            raters=raters.codes,
            n_questions=n_votes if item_names is None else len(item_names),
            n_raters=len(raters.words),
        )

    n_consistent = None
    if len(sides) > 1:
        n_consistent = int(np.equal(*outcomes.by_order)[kinds].sum())
        warnings.append(_orders_note(n_consistent, n_votes))
    of_system = of_all(of_system)
    repeats = _repeats(of_system, options)
    equal = _equal_again(coded_rows, repeats, options)
    if len(equal):
        once = ~rows.is_in(equal.tolist())
        table = read_comparisons(frame.filter(once), rows.filter(once), options)
        return replace(table, warnings=(*table.warnings, _equal_note(len(equal), n_votes)))
    axis, notes = _repeated(coded_rows, of_system, repeats, options)
    return Comparisons(
        of_system,
        reduce(_together, map(of_all, sides)),
        systems,
        coded_rows.n_rows - n_votes,
        has_raters,
        (*warnings, *notes),
        raters.words,
        item_names,
        axis,
        None if shares is None else Preferences(of_all(of_numbers), shares),
        _first_column(options),
        n_consistent,
    )


def _first_column(options: VotesOptions) -> str:
    if options.has_results:
        return ""
    return options.columns["first"] if options.swapped_rows is None else "-"


def with_common_items(tables: Mapping[str, Comparisons]) -> dict[str, Comparisons]:
    """Groups of comparisons, with the items of all groups numbered alike.

    All groups are resampled together; an item may have no comparison in a group.
    """
    named = [table.items for table in tables.values() if table.items is not None]
    if len(named) < 2:
        return dict(tables)
    items = pl.concat(named).unique().sort()
    numbers = items.to_frame("item").with_row_index("number")

    def numbered(table: Comparisons, of_group: pl.Series) -> Comparisons:
        common = of_group.to_frame("item").join(
            numbers, on="item", how="left", maintain_order="left"
        )
        number = common.get_column("number").to_numpy().astype(np.int64)

        def of_all(some: Votes) -> Votes:
            return replace(some, questions=number[some.questions], n_questions=len(items))

        numeric = table.preferences
        return replace(
            table,
            votes=of_all(table.votes),
            shown=of_all(table.shown),
            preferences=numeric and replace(numeric, votes=of_all(numeric.votes)),
            items=items,
        )

    return {
        name: numbered(table, of_group)
        for (name, table), of_group in zip(tables.items(), named, strict=True)
    }


def _numbers_by_cells(kinds: Codes, tables: Sequence[Votes]) -> IntArray:
    """A number for each comparison, those that are alike in all tables next to each other.

    They do not depend on the order of the rows.
    """
    cells = np.stack([table.cells for table in tables])
    alike = np.unique(cells, axis=1, return_inverse=True)[1].ravel()
    order = np.argsort(_smallest(alike)[kinds], kind="stable")
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(len(order))
    return numbers


def _together(first: Votes, second: Votes) -> Votes:
    """The comparisons of both orders."""
    return replace(
        first,
        cells=np.concatenate([first.cells, second.cells]),
        questions=np.concatenate([first.questions, second.questions]),
        raters=np.concatenate([first.raters, second.raters]),
    )


def _orders_note(n_same: int, n: int) -> str:
    return message(
        "{n:,} of {all:,} comparisons ({share:.1%}) have the same outcome in both orders; the"
        " others count as ties.",
        message_id="comparisons.both_orders",
        n=n_same,
        all=n,
        share=n_same / n,
    )


def _smallest(values: Codes) -> Codes:
    """The values in the smallest type that has them and their negatives."""
    return values.astype(np.min_scalar_type(-1 - int(values.max(initial=0))))


def _warnings(
    n_without: int, options: VotesOptions, systems: Sequence[str], has_tie: bool
) -> list[str]:
    warnings: list[str] = []
    if n_without:
        warnings.append(
            f"{n_without:,} {'row' if n_without == 1 else 'rows'} without an outcome"
            f" {'is' if n_without == 1 else 'are'} excluded"
        )
    if not has_tie:
        warnings.append("there is no tie among the outcomes")
    warnings += lookalikes(systems)
    return warnings + _independence_notes(options.unknown_roles)


def _independence_notes(unknown_roles: Sequence[str]) -> list[str]:
    note_by_role = {
        "item": "items are unknown, so each comparison counts as a separate item: comparisons of"
        " the same item are treated as independent",
        "rater": "raters are unknown: CIs and tests allow for other items only; inference to other"
        " raters is not possible",
    }
    return [note_by_role[role] for role in unknown_roles]


Repeats = tuple[IntArray, IntArray, int]
"""Places of repeated comparisons, the number of each, and how many repeat another one."""


def _repeats(votes: Votes, options: VotesOptions) -> Repeats:
    """Comparisons of two systems on one item, by one rater where raters are known, made again.

    Without items none is repeated.
    """
    if "item" in options.unknown_roles:
        return repeated_places(np.zeros(0, dtype=np.int64))
    # Without direction: A against B, then B against A, is one comparison made twice.
    n_pairs = votes.n_systems * (votes.n_systems - 1) // 2
    keys = votes.questions.astype(np.int64)
    has_raters = "rater" not in options.unknown_roles
    if has_raters and votes.n_questions * votes.n_raters * n_pairs >= 1 << 63:
        keys = np.unique(keys * votes.n_raters + votes.raters, return_inverse=True)[1].ravel()
    elif has_raters:
        keys *= votes.n_raters
        keys += votes.raters
    keys *= n_pairs
    keys += votes.pairs
    return repeated_places(keys)


def _equal_again(coded_rows: CodedVotes, repeats: Repeats, options: VotesOptions) -> IntArray:
    """The rows that repeat an earlier comparison, where all such rows are equal to that one.

    Of different outcomes of a comparison none is chosen.
    """
    at, number, n_again = repeats
    if not n_again or "rater" in options.unknown_roles:
        return coded_rows.numbers[:0]
    # A row that counts wins has several comparisons.
    rows, single = np.unique(coded_rows.numbers[at], return_index=True)
    cells = coded_rows.frame[at[single]].with_columns(pl.Series("\x1fpair", number[single]))
    is_first = cells.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
    are_equal = int(is_first.sum()) == len(np.unique(number))
    return rows[~is_first] if are_equal else rows[:0]


def _equal_note(n_again: int, n: int) -> str:
    return message(
        "{n:,} of {all:,} comparisons repeat an item, a rater, a pair of systems and its outcome"
        " and count once.",
        message_id="comparisons.equal_again",
        n=n_again,
        all=n,
    )


def _repeated(
    coded_rows: CodedVotes, votes: Votes, repeats: Repeats, options: VotesOptions
) -> tuple[str | None, list[str]]:
    """A column of criteria over which comparisons are pooled, and a note of pooled comparisons.

    The note names a column by which they differ, if there is one.
    """
    at, number, n_again = repeats
    if not n_again:
        return None, []
    has_raters = "rater" not in options.unknown_roles
    others = {
        name: values
        for name, values in values_of_others(coded_rows, options, at)
        if has_raters or name in options.axes
    }
    axis = next(
        (
            name
            for name, values in others.items()
            if name in options.axes and is_axis(number, values, votes.n_votes)
        ),
        None,
    )
    if axis is not None or not has_raters:
        return axis, []
    apart = [
        name
        for name, values in others.items()
        if len(np.unique(number * (FEW_VALUES + 1) + values)) == len(at)
    ]
    if not apart:
        text = message(
            "{n:,} of {all:,} comparisons repeat an item, a rater and a pair of systems and are"
            " pooled; no column distinguishes them.",
            message_id="comparisons.repeated_alike",
            n=n_again,
            all=votes.n_votes,
        )
        return None, [text]
    text = message(
        "{n:,} of {all:,} comparisons repeat an item, a rater and a pair of systems and are pooled;"
        " criteria are kept apart by {option}.",
        message_id="comparisons.repeated",
        n=n_again,
        all=votes.n_votes,
        option=slicing(apart[0], "..."),
    )
    return None, [text]


def _refuse_empty(columns: Mapping[str, Column], numbers: IntArray, options: VotesOptions) -> None:
    for role, column in columns.items():
        if column.words[0] == "":
            line = options.line(int(numbers[(column.codes == 0).argmax()]))
            raise SourceError(
                f"{options.name}: line {line}: the {role} is empty; every comparison needs its"
                f" {role}"
            )


def _refuse_same(combinations: pl.DataFrame, options: VotesOptions) -> None:
    same = combinations.filter(pl.col("first") == pl.col("second")).sort("row")
    if same.height:
        line = options.line(int(same.item(0, "row")))
        raise SourceError(
            f"{options.name}: line {line}: {same.item(0, 'first')!r} is compared with itself;"
            " expected two systems"
        )
