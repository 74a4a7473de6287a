"""Which columns of a table of comparisons hold what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
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
    line: Callable[[int], int] = field(default=lambda row: row + 2)
    """Row index -> line of the file, for errors."""
    name: str = "table"
    """The table's name, for errors."""
    rows: pl.Series | None = None
    """The rows' numbers in the whole table, where only some of them are here."""


def columns_of_votes(frame: pl.DataFrame, layout: Layout) -> tuple[pl.DataFrame, list[str], bool]:
    """The rows by role, the roles that no column has, and whether wins are counted.

    In a role without a column every comparison has a value of its own. One row a comparison; where
    wins are counted it has `steps` instead of `outcome`.
    """
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
    unknown_roles = [role for role in ("item", "rater") if role not in chosen]
    numbers = (
        layout.rows
        if layout.rows is not None
        else pl.int_range(frame.height, dtype=pl.Int64, eager=True)
    )
    rows = frame.select(
        numbers.cast(pl.Int64).alias("row"),
        *(
            pl.col(name).fill_null("").str.strip_chars().alias(role)
            for role, name in chosen.items()
        ),
        *(numbers.cast(pl.String).alias(role) for role in unknown_roles),
        *(pl.col(name).alias(COUNT + name) for name in counted.values()),
        pl.lit(chosen["first"]).alias("first column"),
        pl.lit(chosen["second"]).alias("second column"),
    )
    return (
        (written_out(rows, counted, unknown_roles, layout.line, layout.name) if counted else rows),
        unknown_roles,
        bool(counted),
    )


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
