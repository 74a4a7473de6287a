"""Any table of comparisons as votes: for people without a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.model.message import message
from konsil.analysis.table.pair_labels import (
    FIRST,
    SECOND,
    TIE,
    reach,
    steps_of_scale,
    steps_of_words,
)
from konsil.analysis.tabular.coded_votes import FEW_VALUES, ROLES, code_votes
from konsil.analysis.tabular.gathered_votes import GatheredVotes
from konsil.analysis.tabular.scale import lookalikes
from konsil.analysis.tabular.slices import slicing
from konsil.analysis.tabular.votes_layout import Layout
from konsil.errors import AnalysisError, SourceError, nearest, option
from konsil.stats.pairs.votes import Votes, repeated_places, votes

_AT_ONCE = 1 << 20
"""Rows that are coded at once."""
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
    items: pl.Series
    """The items' names by their numbers."""


def read_comparisons(frame: pl.DataFrame, layout: Layout) -> Comparisons:
    """Read a table of comparisons; raises SourceError with one sentence for what cannot be read."""
    if frame.height == 0:
        raise SourceError(f"{layout.name}: has no rows; expected one row per comparison")
    numbers = (
        pl.int_range(frame.height, dtype=pl.Int64, eager=True)
        if layout.rows is None
        else layout.rows
    )
    parts = (
        code_votes(frame[at : at + _AT_ONCE], replace(layout, rows=numbers[at : at + _AT_ONCE]))
        for at in range(0, frame.height, _AT_ONCE)
    )
    return numbered_votes(GatheredVotes(parts), layout)


def numbered_votes(gathered: GatheredVotes, layout: Layout) -> Comparisons:
    """The comparisons of all parts of a table, with common numbers.

    The numbers are those of the sorted names, however the rows are divided. Refuses with one
    sentence what cannot be read.
    """
    combinations, outcomes, steps = _checked(gathered, layout)
    systems = tuple(sorted({*combinations.get_column("first"), *combinations.get_column("second")}))
    has_tie = bool(layout.scale or steps > 1 or (outcomes == 0).any())
    warnings = _warnings(gathered, systems, has_tie)
    number = {name: n for n, name in enumerate(systems)}
    first, second = (
        combinations.get_column(c).replace_strict(number, return_dtype=pl.Int64)
        for c in ("first", "second")
    )
    none = np.zeros(len(outcomes), dtype=np.int64)
    by_system = votes(first, second, outcomes, none, none, n_systems=len(systems), steps=steps)
    # The first column is always system 0 here, whoever is in it: what remains is the effect of the
    # side.
    by_side = votes(none, none + 1, outcomes, none, none, n_systems=2, steps=steps)
    items, item_names = gathered.identifiers("item")
    raters, rater_names = gathered.identifiers("rater")
    of_system, of_side = (
        replace(
            some,
            cells=gathered.of_combinations(some.cells),
            questions=items,
            raters=raters,
            n_questions=len(item_names),
            n_raters=len(rater_names),
        )
        for some in (by_system, by_side)
    )
    if gathered.unknown_roles == ("rater",):
        _refuse_pooled(gathered, of_system, layout)
    if not gathered.unknown_roles:
        warnings += _repeated(gathered, of_system)
    return Comparisons(
        of_system,
        of_side,
        systems,
        gathered.n_rows - of_system.n_votes,
        "rater" not in gathered.unknown_roles,
        tuple(warnings),
        rater_names,
        item_names,
    )


def _checked(
    gathered: GatheredVotes, layout: Layout
) -> tuple[pl.DataFrame, np.ndarray[tuple[int], np.dtype[np.int64]], int]:
    """The combinations of systems and outcome, their steps, and how far steps reach."""
    if not gathered.n_votes:
        raise SourceError(
            f"{layout.name}: no row has an outcome; every cell of the column is empty"
        )
    combinations = gathered.combinations
    _refuse_empty(gathered, combinations, layout)
    n_systems = len({*combinations.get_column("first"), *combinations.get_column("second")})
    if n_systems > MANY:
        raise SourceError(
            f"{layout.name}: {n_systems:,} different systems; expected at most {MANY}: are"
            f" {option('first')} and {option('second')} the columns of the systems?"
        )
    if gathered.is_counted:
        return combinations, combinations.get_column("steps").cast(pl.Int64).to_numpy(), 1
    in_order = combinations.with_row_index("place").sort("row")
    outcomes, steps = _outcomes(in_order, gathered.columns, layout)
    out = np.empty(len(outcomes), dtype=np.int64)
    out[in_order.get_column("place").to_numpy()] = outcomes
    return combinations, out, steps


def _warnings(gathered: GatheredVotes, systems: Sequence[str], has_tie: bool) -> list[str]:
    warnings: list[str] = []
    n_without = gathered.n_rows - gathered.n_votes
    if n_without:
        warnings.append(
            f"{n_without:,} {'row' if n_without == 1 else 'rows'} without an outcome"
            f" {'is' if n_without == 1 else 'are'} excluded"
        )
    if not has_tie:
        warnings.append("there is no tie among the outcomes")
    warnings += lookalikes(systems)
    return warnings + _independence_notes(gathered.unknown_roles)


def _independence_notes(unknown_roles: Sequence[str]) -> list[str]:
    note_by_role = {
        "item": (
            "items are unknown, so each comparison counts as a separate item: comparisons of"
            " the same item are treated"
        )
    }
    note_by_role["rater"] = (
        "raters are unknown, so each comparison counts as a separate rater: comparisons by the"
        " same rater are treated"
    )
    return [f"{note_by_role[role]} as independent" for role in unknown_roles]


_CROSSED = 0.9
"""Share of the repeated comparisons that have every value of a column equally often, from which on
the column is taken for one of criteria, and not of what rows happen to have."""


def _refuse_pooled(gathered: GatheredVotes, votes: Votes, layout: Layout) -> None:
    """Refuse to pool rows without raters where each comparison is repeated for a column's values.

    Whether the rows are one rater's answers to several questions cannot be told without raters.
    """
    n_pairs = votes.n_systems * (votes.n_systems - 1) // 2
    at, number, _ = repeated_places(votes.questions.astype(np.int64) * n_pairs + votes.pairs)
    for name, values in gathered.values_of_others(at):
        if name in layout.stated or name in gathered.columns_with_role:
            continue
        n_values = len(np.unique(values))
        each, n_rows = np.unique(number * (FEW_VALUES + 1) + values, return_counts=True)
        _, begin, n_different = np.unique(
            each // (FEW_VALUES + 1), return_index=True, return_counts=True
        )
        is_even = np.minimum.reduceat(n_rows, begin) == np.maximum.reduceat(n_rows, begin)
        if len(begin) and np.mean(is_even & (n_different == n_values)) >= _CROSSED:
            raise SourceError(
                message(
                    "{table}: without raters, rows of the same item and pair are pooled as"
                    " independent comparisons, but column {column} has each of its values in"
                    " them; analyse or select its values with {slicing}, or list all of them with"
                    " {where} to pool them",
                    message_id="error.pooled_rows",
                    table=layout.name,
                    column=repr(name),
                    slicing=slicing(name, "..."),
                    where=option("where"),
                )
            )


def _repeated(gathered: GatheredVotes, votes: Votes) -> list[str]:
    """A note where one rater compared two systems on one item more than once.

    It names the column by which these comparisons differ.
    """
    # Without direction: A against B, then B against A, is one comparison made twice.
    n_pairs = votes.n_systems * (votes.n_systems - 1) // 2
    keys = votes.questions.astype(np.int64)
    if votes.n_questions * votes.n_raters * n_pairs >= 1 << 63:
        keys = np.unique(keys * votes.n_raters + votes.raters, return_inverse=True)[1].ravel()
    else:
        keys *= votes.n_raters
        keys += votes.raters
    keys *= n_pairs
    keys += votes.pairs
    at, number, n_again = repeated_places(keys)
    if not n_again:
        return []
    apart = [
        name
        for name, values in gathered.values_of_others(at)
        if len(np.unique(number * (FEW_VALUES + 1) + values)) == len(at)
    ]
    text = message(
        "{n:,} of {all:,} comparisons repeat an item, a rater and a pair of systems and are pooled;"
        " criteria are kept apart by {option}.",
        message_id="comparisons.repeated",
        n=n_again,
        all=votes.n_votes,
        option=slicing(apart[0] if apart else "COLUMN", "..." if apart else "VALUE"),
    )
    return [text]


def _refuse_empty(gathered: GatheredVotes, combinations: pl.DataFrame, layout: Layout) -> None:
    for role in ROLES:
        if role in gathered.empty:
            raise SourceError(
                f"{layout.name}: line {layout.line(gathered.empty[role])}: the {role} is empty;"
                f" every comparison needs its {role}"
            )
    same = combinations.filter(pl.col("first") == pl.col("second")).sort("row")
    if same.height:
        line = layout.line(int(same.item(0, "row")))
        raise SourceError(
            f"{layout.name}: line {line}: {same.item(0, 'first')!r} is compared with itself;"
            " expected two systems"
        )


def _outcomes(
    comparisons: pl.DataFrame, columns: tuple[str, str], layout: Layout
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]:
    """Steps in favour of the first system, and how far they reach."""
    observed = comparisons.get_column("outcome").unique().sort().to_list()
    if layout.scale:
        if len(layout.scale) < 2 or len({*layout.scale}) < len(layout.scale):
            raise SourceError(
                f"{layout.name}: {option('scale')} {','.join(layout.scale)}: expected two or more"
                " different labels"
            )
        steps = steps_of_scale(layout.scale)
        # The label 2.0 of the scale is the 2 of a cell.
        steps |= _by_number(steps, observed)
        unknown = comparisons.filter(~pl.col("outcome").is_in(list(steps)))
        if unknown.height:
            word, line = unknown.item(0, "outcome"), layout.line(int(unknown.item(0, "row")))
            raise SourceError(
                f"{layout.name}: line {line}: {word!r} is not on the scale; {nearest(word, steps)}"
            )
        return comparisons.get_column("outcome").replace_strict(
            steps, return_dtype=pl.Int64
        ).to_numpy(), reach(steps)
    words = {*FIRST, *SECOND, *TIE}
    named = {*comparisons.get_column("first"), *comparisons.get_column("second")}
    plain = [word for word in observed if word not in named or word.casefold() in words]
    steps = _words(plain, columns, comparisons, layout)
    by_name = (
        pl.when(pl.col("outcome") == pl.col("first"))
        .then(1)
        .when(pl.col("outcome") == pl.col("second"))
        .then(-1)
    )
    with_steps = comparisons.with_columns(
        by_name.otherwise(
            pl.col("outcome").replace_strict(steps, default=None, return_dtype=pl.Int64)
        ).alias("steps")
    )
    stranger = with_steps.filter(pl.col("steps").is_null())
    if stranger.height:
        word, line = stranger.item(0, "outcome"), layout.line(int(stranger.item(0, "row")))
        raise SourceError(
            f"{layout.name}: line {line}: the winner {word!r} is neither of the two systems"
            " compared"
        )
    return with_steps.get_column("steps").cast(pl.Int64).to_numpy(), reach(steps)


def _words(
    plain: Sequence[str], columns: tuple[str, str], comparisons: pl.DataFrame, layout: Layout
) -> dict[str, int]:
    """Words to steps; an error for an unknown word names its line."""
    try:
        return steps_of_words(plain, columns, layout.name)
    except AnalysisError:
        for word in plain:
            try:
                steps_of_words([word], columns, layout.name)
            except AnalysisError as error:
                line = layout.line(
                    int(comparisons.filter(pl.col("outcome") == word).item(0, "row"))
                )
                raise SourceError(
                    str(error).replace(layout.name, f"{layout.name}: line {line}", 1)
                ) from error
        raise


def _by_number(steps: Mapping[str, int], words: Sequence[str]) -> dict[str, int]:
    """Words that are no labels of the scale, with the step of the label that is the same number."""
    by_number = {number: step for label, step in steps.items() if (number := _number(label))}
    return {
        word: by_number[number]
        for word in words
        if word not in steps and (number := _number(word)) in by_number
    }


def _number(word: str) -> str:
    """The number that a word is, as text; empty where it is none."""
    try:
        return f"{float(word) + 0.0!r}"
    except ValueError:
        return ""
