"""Any table of comparisons as votes: for people without a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from konsil.analysis.tabular.ratings_table import as_text
from konsil.analysis.tabular.scale import lookalikes
from konsil.analysis.tabular.slices import slicing
from konsil.analysis.tabular.votes_layout import Layout, columns_of_votes
from konsil.errors import AnalysisError, SourceError, nearest, option
from konsil.stats.pairs.votes import Votes, votes

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
    raters: tuple[str, ...]
    """The raters' names by their numbers."""
    items: tuple[str, ...] = ()
    """The items' names by their numbers."""


def read_comparisons(frame: pl.DataFrame, layout: Layout) -> Comparisons:
    """Read a table of comparisons; raises SourceError with one sentence for what cannot be read."""
    if frame.height == 0:
        raise SourceError(f"{layout.name}: has no rows; expected one row per comparison")
    frame = as_text(frame, layout.name)
    rows, unknown_roles, is_counted = columns_of_votes(frame, layout)
    comparisons = (
        rows.drop_nulls("steps")
        if is_counted
        else rows.filter(~pl.col("outcome").is_in(list({*layout.missing, ""})))
    )
    if comparisons.height == 0:
        raise SourceError(
            f"{layout.name}: no row has an outcome; every cell of the column is empty"
        )
    _refuse_empty(comparisons, layout)
    systems = tuple(sorted({*comparisons.get_column("first"), *comparisons.get_column("second")}))
    if len(systems) > MANY:
        raise SourceError(
            f"{layout.name}: {len(systems):,} different systems; expected at most {MANY}: are"
            f" {option('first')} and {option('second')} the columns of the systems?"
        )
    outcomes, steps = (
        (comparisons.get_column("steps").to_numpy(), 1)
        if is_counted
        else _outcomes(comparisons, layout)
    )
    warnings: list[str] = []
    if comparisons.height < rows.height:
        n_without = rows.height - comparisons.height
        warnings.append(
            f"{n_without:,} {'row' if n_without == 1 else 'rows'} without an outcome"
            f" {'is' if n_without == 1 else 'are'} excluded"
        )
    if not layout.scale and steps == 1 and not (outcomes == 0).any():
        warnings.append("there is no tie among the outcomes")
    warnings += lookalikes(systems)
    warnings += _independence_notes(unknown_roles)
    if not unknown_roles:
        warnings += _repeated(comparisons, frame, layout)
    number = {name: n for n, name in enumerate(systems)}
    first, second = (
        comparisons.get_column(c).replace_strict(number, return_dtype=pl.Int64)
        for c in ("first", "second")
    )
    items, raters = (
        comparisons.get_column(c).rank("dense").to_numpy().astype(np.int64) - 1
        for c in ("item", "rater")
    )
    # The first column is always system 0 here, whoever is in it: what remains is the effect of the
    # side.
    zeros = np.zeros(comparisons.height, dtype=np.int64)
    return Comparisons(
        votes(first, second, outcomes, items, raters, n_systems=len(systems), steps=steps),
        votes(zeros, zeros + 1, outcomes, items, raters, n_systems=2, steps=steps),
        systems,
        rows.height - comparisons.height,
        "rater" not in unknown_roles,
        tuple(warnings),
        tuple(comparisons.get_column("rater").unique().sort().to_list()),
        tuple(comparisons.get_column("item").unique().sort().to_list()),
    )


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


def _repeated(comparisons: pl.DataFrame, frame: pl.DataFrame, layout: Layout) -> list[str]:
    """A note where one rater compared two systems on one item more than once.

    It names the column by which these comparisons differ.
    """
    # Without direction: A against B, then B against A, is one comparison made twice.
    pair = [
        pl.min_horizontal("first", "second").alias("\x1flow"),
        pl.max_horizontal("first", "second").alias("\x1fhigh"),
    ]
    keyed = comparisons.select("row", "item", "rater", *pair)
    key = ["item", "rater", "\x1flow", "\x1fhigh"]
    n = keyed.height - keyed.select(key).n_unique()
    if n == 0:
        return []
    numbers = (
        layout.rows
        if layout.rows is not None
        else pl.int_range(frame.height, dtype=pl.Int64, eager=True)
    )
    others = [c for c in frame.columns if 1 < frame.get_column(c).n_unique() <= _FEW_VALUES]
    values = frame.select(
        numbers.cast(pl.Int64).alias("row"), *(pl.col(c).alias(f"\x1f {c}") for c in others)
    )
    joined = keyed.join(values, on="row", how="left")
    apart = [c for c in others if joined.select(*key, f"\x1f {c}").n_unique() == joined.height]
    text = message(
        "{n:,} of {all:,} comparisons repeat an item, a rater and a pair of systems and are pooled;"
        " criteria are kept apart by {option}.",
        message_id="comparisons.repeated",
        n=n,
        all=comparisons.height,
        option=slicing(apart[0] if apart else "COLUMN", "..." if apart else "VALUE"),
    )
    return [text]


_FEW_VALUES = 50
"""Columns with more values than this are no criteria."""


def _refuse_empty(comparisons: pl.DataFrame, layout: Layout) -> None:
    for role in ("item", "rater", "first", "second"):
        empty = comparisons.filter(pl.col(role) == "")
        if empty.height:
            line = layout.line(int(empty.item(0, "row")))
            raise SourceError(
                f"{layout.name}: line {line}: the {role} is empty; every comparison needs its"
                f" {role}"
            )
    same = comparisons.filter(pl.col("first") == pl.col("second"))
    if same.height:
        line = layout.line(int(same.item(0, "row")))
        raise SourceError(
            f"{layout.name}: line {line}: {same.item(0, 'first')!r} is compared with itself;"
            " expected two systems"
        )


def _outcomes(
    comparisons: pl.DataFrame, layout: Layout
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
    columns = (str(comparisons.item(0, "first column")), str(comparisons.item(0, "second column")))
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
