"""Which columns of a table of comparisons hold what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from konsil.analysis.tabular.tallied import COUNT, written_out
from konsil.analysis.tabular.tallied import NAMES as COUNTED
from konsil.errors import SourceError, nearest, option

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
"""Usual names of the columns."""


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
    stated: tuple[str, ...] = ()
    """Columns by which rows are selected or grouped, so that what is pooled over them is stated."""
    line: Callable[[int], int | str] = field(default=lambda row: row + 2)
    """Row index -> line of the file, for errors."""
    name: str = "table"
    """The table's name, for errors."""
    rows: pl.Series | None = None
    """The rows' numbers in the whole table, where only some of them are here."""


@dataclass(frozen=True)
class ChosenColumns:
    """Which column has which role."""

    names: Mapping[str, str]
    """Role -> column."""
    counted: Mapping[str, str]
    """won, lost and tied -> column, where wins are counted; empty otherwise."""

    @property
    def unknown_roles(self) -> tuple[str, ...]:
        """The roles without a column: in these every comparison has a value of its own."""
        return tuple(role for role in ("item", "rater") if role not in self.names)


def choose_columns(frame: pl.DataFrame, layout: Layout) -> ChosenColumns:
    """The columns of a table of comparisons by role; its rows do not matter."""
    counted = _counts(frame, layout)
    chosen: dict[str, str] = {}
    for role in NAMES:
        if getattr(layout, role) == "-" and role in {"item", "rater"}:
            continue
        if role == "outcome" and counted:
            continue
        assigned = {*chosen.values(), *counted.values()}
        column = _column(frame, layout, role, NAMES[role], assigned)
        if column is None and counted and role in {"item", "rater"}:
            continue
        if column is None:
            columns = ", ".join(frame.columns)
            hint = f", or use {option(role, '-')} if unknown" if role in {"item", "rater"} else ""
            hint = (
                f", or columns that count wins with {option('won')} and {option('lost')}"
                if role == "outcome"
                else hint
            )
            raise SourceError(
                f"{layout.name}: no column for the {role}; name it with {option(role)}{hint}"
                f" (columns: {columns})"
            )
        if column in assigned:
            raise SourceError(
                f"{layout.name}: --{role} {column!r}: this column has another role already; name"
                " each once"
            )
        chosen[role] = column
    return ChosenColumns(chosen, counted)


def comparisons_of_counts(
    frame: pl.DataFrame, chosen: ChosenColumns, numbers: pl.Series, layout: Layout
) -> pl.DataFrame:
    """One row a comparison with its `steps`, from rows that count wins; columns by role."""
    rows = frame.select(
        numbers.cast(pl.Int64).alias("row"),
        *(
            pl.col(name).fill_null("").str.strip_chars().alias(role)
            for role, name in chosen.names.items()
        ),
        *(numbers.cast(pl.String).alias(role) for role in chosen.unknown_roles),
        *(pl.col(name).alias(COUNT + name) for name in chosen.counted.values()),
    )
    return written_out(rows, chosen.counted, list(chosen.unknown_roles), layout.line, layout.name)


def _column(
    frame: pl.DataFrame, layout: Layout, role: str, names: Sequence[str], assigned: Collection[str]
) -> str | None:
    """The column of a role: the one that is named, else one with a usual name."""
    name = getattr(layout, role)
    if name is not None and name not in frame.columns:
        raise SourceError(
            f"{layout.name}: --{role} {name!r}: there is no such column;"
            f" {nearest(name, frame.columns)}"
        )
    folded = {c.strip().casefold(): c for c in reversed(frame.columns)}
    return name or next(
        (folded[n] for n in names if n in folded and folded[n] not in assigned), None
    )


def _counts(frame: pl.DataFrame, layout: Layout) -> dict[str, str]:
    """The columns that count wins, losses and ties; none where there is a column of outcomes."""
    folded = {c.strip().casefold() for c in frame.columns}
    if (
        layout.won is None
        and layout.lost is None
        and (layout.outcome or layout.scale or folded & {*NAMES["outcome"]})
    ):
        return {}
    columns = {role: _column(frame, layout, role, names, ()) for role, names in COUNTED.items()}
    named = {role: name for role, name in columns.items() if name is not None}
    if {"won", "lost"} <= named.keys():
        return named
    if layout.won is not None or layout.lost is not None:
        absent = "lost" if "won" in named else "won"
        raise SourceError(
            f"{layout.name}: {option('won')} and {option('lost')}: expected both columns; name the"
            f" other one with {option(absent)}"
        )
    return {}
