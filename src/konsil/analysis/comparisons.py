"""Any table of comparisons as votes: for people without a study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from konsil.analysis.pair_labels import FIRST, SECOND, TIE, reach, steps_of_scale, steps_of_words
from konsil.analysis.tabular import as_text
from konsil.errors import AnalysisError, SourceError, nearest
from konsil.stats.votes import Votes, votes

NAMES = {
    "item": ("item", "question", "question_id", "prompt", "item_id", "prompt_id", "unit", "id"),
    "rater": ("rater", "judge", "annotator", "worker", "user", "user_id", "rater_id"),
    "first": ("first", "left", "system_a", "model_a", "a", "slot_a_provider", "system 1", "model_x"),
    "second": ("second", "right", "system_b", "model_b", "b", "slot_b_provider", "system 2", "model_y"),
    "outcome": ("outcome", "winner", "choice", "label", "rating", "vote", "preference"),
}
"""What the columns are called where nobody says."""

MANY = 200
"""More systems than this are taken for a mistake: an item's or a rater's column named as a system's."""


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
    """The outcomes in order, from the first system's side to the second's; empty: a winner or a tie."""
    missing: tuple[str, ...] = ("",)
    """Words that mean: not rated."""
    line: Callable[[int], int] = field(default=lambda row: row + 2)
    """Row index -> line of the file, for errors."""
    name: str = "table"
    """The table's name, for errors."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """A table read."""

    votes: Votes
    """The comparisons."""
    shown: Votes
    """The same with the first column's system as system 0 and the second's as 1, whoever they are."""
    systems: tuple[str, ...]
    """The systems' names, sorted."""
    n_missing: int
    """Rows without an outcome."""
    has_raters: bool
    """Whether it is known who compared."""
    warnings: tuple[str, ...]
    """Decisions taken for the user."""


def read_comparisons(frame: pl.DataFrame, asked: Layout) -> Comparisons:
    """Read a table of comparisons; raises SourceError with one sentence for what cannot be read."""
    if frame.height == 0:
        raise SourceError(f"{asked.name}: has no rows; expected one row a comparison")
    frame = as_text(frame, asked.name)
    rows = _columns(frame, asked)
    given = rows.filter(~pl.col("outcome").is_in(list({*asked.missing, ""})))
    if given.height == 0:
        raise SourceError(f"{asked.name}: no row has an outcome; every cell of the column is empty")
    _refuse_empty(given, asked)
    systems = tuple(sorted({*given.get_column("first"), *given.get_column("second")}))
    if len(systems) > MANY:
        raise SourceError(
            f"{asked.name}: {len(systems):,} different systems; expected at most {MANY}: are --first and --second the"
            " columns of the systems?"
        )
    outcomes, steps = _outcomes(given, asked)
    warnings = []
    if given.height < rows.height:
        warnings.append(f"{rows.height - given.height:,} rows without an outcome are left out")
    if not asked.scale and steps == 1 and not (outcomes == 0).any():
        warnings.append("there is no tie among the outcomes")
    warnings += _own(asked)
    number = {name: n for n, name in enumerate(systems)}
    first, second = (given.get_column(c).replace_strict(number, return_dtype=pl.Int64) for c in ("first", "second"))
    items, raters = (given.get_column(c).rank("dense").to_numpy().astype(np.int64) - 1 for c in ("item", "rater"))
    one = np.zeros(given.height, dtype=np.int64)
    return Comparisons(
        votes(first, second, outcomes, items, raters, n_systems=len(systems), steps=steps),
        votes(one, one + 1, outcomes, items, raters, n_systems=2, steps=steps),
        systems,
        rows.height - given.height,
        asked.rater != "-",
        tuple(warnings),
    )


def _own(asked: Layout) -> list[str]:
    said = {"item": "no item is known, so every comparison counts as one of its own: comparisons of one item are taken"}
    said["rater"] = (
        "no rater is known, so every comparison counts as one of its own: comparisons by one rater are taken"
    )
    return [f"{said[role]} as independent" for role in ("item", "rater") if getattr(asked, role) == "-"]


def _columns(frame: pl.DataFrame, asked: Layout) -> pl.DataFrame:
    """The five roles under their own names, rows numbered."""
    chosen: dict[str, str] = {}
    folded = {c.strip().casefold(): c for c in reversed(frame.columns)}
    for role, names in NAMES.items():
        name = getattr(asked, role)
        if name == "-" and role in {"item", "rater"}:
            continue
        if name is not None and name not in frame.columns:
            raise SourceError(
                f"{asked.name}: --{role} {name!r}: there is no such column; {nearest(name, frame.columns)}"
            )
        found = name or next((folded[n] for n in names if n in folded and folded[n] not in chosen.values()), None)
        if found is None:
            columns = ", ".join(frame.columns)
            hint = f", or say --{role} - where none is known" if role in {"item", "rater"} else ""
            raise SourceError(
                f"{asked.name}: no column for the {role}; name it with --{role}{hint} (columns: {columns})"
            )
        if found in chosen.values():
            raise SourceError(f"{asked.name}: --{role} {found!r}: this column has another role already; name each once")
        chosen[role] = found
    numbered = frame.with_row_index("\x1frow")
    own = pl.col("\x1frow").cast(pl.String)
    return numbered.select(
        pl.col("\x1frow").cast(pl.Int64).alias("row"),
        *(
            (pl.col(chosen[role]).fill_null("").str.strip_chars() if role in chosen else own).alias(role)
            for role in NAMES
        ),
        pl.lit(chosen["first"]).alias("first column"),
        pl.lit(chosen["second"]).alias("second column"),
    )


def _refuse_empty(given: pl.DataFrame, asked: Layout) -> None:
    for role in ("item", "rater", "first", "second"):
        empty = given.filter(pl.col(role) == "")
        if empty.height:
            line = asked.line(int(empty.item(0, "row")))
            raise SourceError(f"{asked.name}: line {line}: the {role} is empty; every comparison names its {role}")
    same = given.filter(pl.col("first") == pl.col("second"))
    if same.height:
        line = asked.line(int(same.item(0, "row")))
        raise SourceError(
            f"{asked.name}: line {line}: {same.item(0, 'first')!r} is compared with itself; expected two systems"
        )


def _outcomes(given: pl.DataFrame, asked: Layout) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]:
    """Steps in favour of the first system, and how far they reach."""
    observed = given.get_column("outcome").unique().sort().to_list()
    if asked.scale:
        if len(asked.scale) < 2 or len({*asked.scale}) < len(asked.scale):
            raise SourceError(f"{asked.name}: --scale {','.join(asked.scale)}: expected two or more different labels")
        steps = steps_of_scale(asked.scale)
        unknown = given.filter(~pl.col("outcome").is_in(list(steps)))
        if unknown.height:
            word, line = unknown.item(0, "outcome"), asked.line(int(unknown.item(0, "row")))
            raise SourceError(f"{asked.name}: line {line}: {word!r} is not on the scale; {nearest(word, steps)}")
        return given.get_column("outcome").replace_strict(steps, return_dtype=pl.Int64).to_numpy(), reach(steps)
    words = {*FIRST, *SECOND, *TIE}
    named = {*given.get_column("first"), *given.get_column("second")}
    plain = [word for word in observed if word not in named or word.casefold() in words]
    columns = (str(given.item(0, "first column")), str(given.item(0, "second column")))
    steps = _words(plain, columns, given, asked)
    by_name = pl.when(pl.col("outcome") == pl.col("first")).then(1).when(pl.col("outcome") == pl.col("second")).then(-1)
    found = given.with_columns(
        by_name.otherwise(pl.col("outcome").replace_strict(steps, default=None, return_dtype=pl.Int64)).alias("steps")
    )
    stranger = found.filter(pl.col("steps").is_null())
    if stranger.height:
        word, line = stranger.item(0, "outcome"), asked.line(int(stranger.item(0, "row")))
        raise SourceError(f"{asked.name}: line {line}: the winner {word!r} is neither of the two systems compared")
    return found.get_column("steps").cast(pl.Int64).to_numpy(), reach(steps)


def _words(plain: Sequence[str], columns: tuple[str, str], given: pl.DataFrame, asked: Layout) -> dict[str, int]:
    """Words to steps; a word nobody knows is refused by its line."""
    try:
        return steps_of_words(plain, columns, asked.name)
    except AnalysisError:
        for word in plain:
            try:
                steps_of_words([word], columns, asked.name)
            except AnalysisError as error:
                line = asked.line(int(given.filter(pl.col("outcome") == word).item(0, "row")))
                raise SourceError(str(error).replace(asked.name, f"{asked.name}: line {line}", 1)) from error
        raise
