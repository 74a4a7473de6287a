"""Any table of comparisons as votes: for people without a study."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

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
from konsil.analysis.tabular.tallied import COUNT, written_out
from konsil.analysis.tabular.tallied import NAMES as COUNTED
from konsil.errors import AnalysisError, SourceError, nearest, option
from konsil.stats.pairs.votes import Votes, votes

NAMES = {
    "item": ("item", "question", "question_id", "prompt", "item_id", "prompt_id", "unit", "id"),
    "rater": ("rater", "judge", "annotator", "worker", "user", "user_id", "rater_id"),
    "first": (
        *(
            "first",
            "left",
            "system_a",
            "model_a",
            "a",
            "slot_a_provider",
            "system 1",
            "model_x",
            "i",
            "system_i",
        ),
        *("model_i", "system1", "system_1", "model1", "model_1"),
    ),
    "second": (
        *(
            "second",
            "right",
            "system_b",
            "model_b",
            "b",
            "slot_b_provider",
            "system 2",
            "model_y",
            "j",
            "system_j",
        ),
        *("model_j", "system2", "system_2", "model2", "model_2"),
    ),
    "outcome": ("outcome", "winner", "choice", "label", "rating", "vote", "preference"),
}
"""What the columns are called where nobody says."""

MANY = 200
"""More systems than this are taken for a mistake: an item's or a rater's column named as a
system's."""


@dataclass(frozen=True)
class Layout:
    """How the table is to be read; empty names are looked for."""

    item: str | None = None
    """The column of the items; '-': every comparison is an item of its own."""
    rater: str | None = None
    """The column of the raters; '-': every comparison is a rater of its own."""
    first: str | None = None
    """The column of the first of the two systems."""
    second: str | None = None
    """The column of the second."""
    outcome: str | None = None
    """The column of the outcomes."""
    scale: tuple[str, ...] = ()
    """The outcomes in order, from the first system's side to the second's; empty: a winner or a
    tie."""
    won: str | None = None
    """The column of how often the first system won, where there is none of the outcomes."""
    lost: str | None = None
    """The column of how often the second system won."""
    tied: str | None = None
    """The column of how often neither did."""
    missing: tuple[str, ...] = ("",)
    """Words that mean: not rated."""
    line: Callable[[int], int] = field(default=lambda row: row + 2)
    """Row index -> line of the file, for errors."""
    name: str = "table"
    """The table's name, for errors."""
    rows: pl.Series | None = None
    """The rows' numbers in the whole table, where only some of them are here."""


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


def read_comparisons(frame: pl.DataFrame, asked: Layout) -> Comparisons:
    """Read a table of comparisons; raises SourceError with one sentence for what cannot be read."""
    if frame.height == 0:
        raise SourceError(f"{asked.name}: has no rows; expected one row a comparison")
    frame = as_text(frame, asked.name)
    rows, unknown_roles, is_counted = _columns(frame, asked)
    given = (
        rows.drop_nulls("steps")
        if is_counted
        else rows.filter(~pl.col("outcome").is_in(list({*asked.missing, ""})))
    )
    if given.height == 0:
        raise SourceError(f"{asked.name}: no row has an outcome; every cell of the column is empty")
    _refuse_empty(given, asked)
    systems = tuple(sorted({*given.get_column("first"), *given.get_column("second")}))
    if len(systems) > MANY:
        raise SourceError(
            f"{asked.name}: {len(systems):,} different systems; expected at most {MANY}: are"
            f" {option('first')} and {option('second')} the columns of the systems?"
        )
    outcomes, steps = (
        (given.get_column("steps").to_numpy(), 1) if is_counted else _outcomes(given, asked)
    )
    warnings: list[str] = []
    if given.height < rows.height:
        gone = rows.height - given.height
        warnings.append(
            f"{gone:,} {'row' if gone == 1 else 'rows'} without an outcome"
            f" {'is' if gone == 1 else 'are'} left out"
        )
    if not asked.scale and steps == 1 and not (outcomes == 0).any():
        warnings.append("there is no tie among the outcomes")
    warnings += lookalikes(systems)
    warnings += _independence_notes(unknown_roles)
    if not unknown_roles:
        warnings += _repeated(given, frame, asked)
    number = {name: n for n, name in enumerate(systems)}
    first, second = (
        given.get_column(c).replace_strict(number, return_dtype=pl.Int64)
        for c in ("first", "second")
    )
    items, raters = (
        given.get_column(c).rank("dense").to_numpy().astype(np.int64) - 1 for c in ("item", "rater")
    )
    one = np.zeros(given.height, dtype=np.int64)
    return Comparisons(
        votes(first, second, outcomes, items, raters, n_systems=len(systems), steps=steps),
        votes(one, one + 1, outcomes, items, raters, n_systems=2, steps=steps),
        systems,
        rows.height - given.height,
        "rater" not in unknown_roles,
        tuple(warnings),
        tuple(given.get_column("rater").unique().sort().to_list()),
        tuple(given.get_column("item").unique().sort().to_list()),
    )


def _independence_notes(unknown_roles: Sequence[str]) -> list[str]:
    said = {
        "item": (
            "no item is known, so every comparison counts as one of its own: comparisons of one"
            " item are taken"
        )
    }
    said["rater"] = (
        "no rater is known, so every comparison counts as one of its own: comparisons by one rater"
        " are taken"
    )
    return [f"{said[role]} as independent" for role in unknown_roles]


def _columns(frame: pl.DataFrame, asked: Layout) -> tuple[pl.DataFrame, list[str], bool]:
    """The roles under their own names, those in which every comparison is one of its own, and whether wins are counted.

    One row a comparison; where wins are counted it has `steps` instead of `outcome`.
    """
    counted = _counts(frame, asked)
    chosen: dict[str, str] = {}
    for role in NAMES:
        if getattr(asked, role) == "-" and role in {"item", "rater"}:
            continue
        if role == "outcome" and counted:
            continue
        taken = {*chosen.values(), *counted.values()}
        found = _column(frame, asked, role, NAMES[role], taken)
        if found is None and counted and role in {"item", "rater"}:
            continue
        if found is None:
            columns = ", ".join(frame.columns)
            hint = (
                f", or say {option(role, '-')} where none is known"
                if role in {"item", "rater"}
                else ""
            )
            hint = (
                f", or columns that count wins with {option('won')} and {option('lost')}"
                if role == "outcome"
                else hint
            )
            raise SourceError(
                f"{asked.name}: no column for the {role}; name it with {option(role)}{hint}"
                f" (columns: {columns})"
            )
        if found in taken:
            raise SourceError(
                f"{asked.name}: --{role} {found!r}: this column has another role already; name each"
                " once"
            )
        chosen[role] = found
    own = [role for role in ("item", "rater") if role not in chosen]
    numbers = (
        asked.rows
        if asked.rows is not None
        else pl.int_range(frame.height, dtype=pl.Int64, eager=True)
    )
    rows = frame.select(
        numbers.cast(pl.Int64).alias("row"),
        *(
            pl.col(name).fill_null("").str.strip_chars().alias(role)
            for role, name in chosen.items()
        ),
        *(numbers.cast(pl.String).alias(role) for role in own),
        *(pl.col(name).alias(COUNT + name) for name in counted.values()),
        pl.lit(chosen["first"]).alias("first column"),
        pl.lit(chosen["second"]).alias("second column"),
    )
    return (
        (written_out(rows, counted, own, asked.line, asked.name) if counted else rows),
        own,
        bool(counted),
    )


def _column(
    frame: pl.DataFrame, asked: Layout, role: str, names: Sequence[str], taken: Collection[str]
) -> str | None:
    """The column of a role: the one that is named, else one with a usual name."""
    name = getattr(asked, role)
    if name is not None and name not in frame.columns:
        raise SourceError(
            f"{asked.name}: --{role} {name!r}: there is no such column;"
            f" {nearest(name, frame.columns)}"
        )
    folded = {c.strip().casefold(): c for c in reversed(frame.columns)}
    return name or next((folded[n] for n in names if n in folded and folded[n] not in taken), None)


def _counts(frame: pl.DataFrame, asked: Layout) -> dict[str, str]:
    """The columns that count wins, losses and ties; none where there is a column of outcomes."""
    folded = {c.strip().casefold() for c in frame.columns}
    if (
        asked.won is None
        and asked.lost is None
        and (asked.outcome or asked.scale or folded & {*NAMES["outcome"]})
    ):
        return {}
    columns = {role: _column(frame, asked, role, names, ()) for role, names in COUNTED.items()}
    named = {role: name for role, name in columns.items() if name is not None}
    if {"won", "lost"} <= named.keys():
        return named
    if asked.won is not None or asked.lost is not None:
        absent = "lost" if "won" in named else "won"
        raise SourceError(
            f"{asked.name}: {option('won')} and {option('lost')}: expected both columns; name the"
            f" other one with {option(absent)}"
        )
    return {}


def _repeated(comparisons: pl.DataFrame, frame: pl.DataFrame, asked: Layout) -> list[str]:
    """Say so where one rater compared two systems on one item more than once, and by which column these differ."""
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
        asked.rows
        if asked.rows is not None
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


def _refuse_empty(given: pl.DataFrame, asked: Layout) -> None:
    for role in ("item", "rater", "first", "second"):
        empty = given.filter(pl.col(role) == "")
        if empty.height:
            line = asked.line(int(empty.item(0, "row")))
            raise SourceError(
                f"{asked.name}: line {line}: the {role} is empty; every comparison names its {role}"
            )
    same = given.filter(pl.col("first") == pl.col("second"))
    if same.height:
        line = asked.line(int(same.item(0, "row")))
        raise SourceError(
            f"{asked.name}: line {line}: {same.item(0, 'first')!r} is compared with itself;"
            " expected two systems"
        )


def _outcomes(
    given: pl.DataFrame, asked: Layout
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]:
    """Steps in favour of the first system, and how far they reach."""
    observed = given.get_column("outcome").unique().sort().to_list()
    if asked.scale:
        if len(asked.scale) < 2 or len({*asked.scale}) < len(asked.scale):
            raise SourceError(
                f"{asked.name}: {option('scale')} {','.join(asked.scale)}: expected two or more"
                " different labels"
            )
        steps = steps_of_scale(asked.scale)
        unknown = given.filter(~pl.col("outcome").is_in(list(steps)))
        if unknown.height:
            word, line = unknown.item(0, "outcome"), asked.line(int(unknown.item(0, "row")))
            raise SourceError(
                f"{asked.name}: line {line}: {word!r} is not on the scale; {nearest(word, steps)}"
            )
        return given.get_column("outcome").replace_strict(
            steps, return_dtype=pl.Int64
        ).to_numpy(), reach(steps)
    words = {*FIRST, *SECOND, *TIE}
    named = {*given.get_column("first"), *given.get_column("second")}
    plain = [word for word in observed if word not in named or word.casefold() in words]
    columns = (str(given.item(0, "first column")), str(given.item(0, "second column")))
    steps = _words(plain, columns, given, asked)
    by_name = (
        pl.when(pl.col("outcome") == pl.col("first"))
        .then(1)
        .when(pl.col("outcome") == pl.col("second"))
        .then(-1)
    )
    found = given.with_columns(
        by_name.otherwise(
            pl.col("outcome").replace_strict(steps, default=None, return_dtype=pl.Int64)
        ).alias("steps")
    )
    stranger = found.filter(pl.col("steps").is_null())
    if stranger.height:
        word, line = stranger.item(0, "outcome"), asked.line(int(stranger.item(0, "row")))
        raise SourceError(
            f"{asked.name}: line {line}: the winner {word!r} is neither of the two systems compared"
        )
    return found.get_column("steps").cast(pl.Int64).to_numpy(), reach(steps)


def _words(
    plain: Sequence[str], columns: tuple[str, str], given: pl.DataFrame, asked: Layout
) -> dict[str, int]:
    """Words to steps; a word nobody knows is refused by its line."""
    try:
        return steps_of_words(plain, columns, asked.name)
    except AnalysisError:
        for word in plain:
            try:
                steps_of_words([word], columns, asked.name)
            except AnalysisError as error:
                line = asked.line(int(given.filter(pl.col("outcome") == word).item(0, "row")))
                raise SourceError(
                    str(error).replace(asked.name, f"{asked.name}: line {line}", 1)
                ) from error
        raise
