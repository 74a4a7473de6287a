"""Derived columns: an item's mean rating and its bin, or groups of the values of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from konsil.analysis.model.results import DerivedValue
from konsil.analysis.model.spec import Bin, Closed, Derived
from konsil.analysis.table.conformity import refuse_unknown_labels
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError, nearest
from konsil.errors.message import message
from konsil.instrument import Criterion, Instrument

SCORE = "{}: mean"
"""The column of the mean itself, next to the column of its bin."""


def with_derived(
    table: RatingTable, derived: Sequence[Derived], instruments: Sequence[Instrument]
) -> RatingTable:
    """Add the columns that the protocol derives from ratings or groups.

    An item without a rating, and a rating of no group, have none of them.
    """
    frame = table.frame
    added: list[str] = []
    for definition in derived:
        if definition.name in frame.columns:
            raise AnalysisError(
                f"derived {definition.name!r}: ratings have a column of this name already;"
                " choose another"
            )
        if definition.groups:
            frame = grouped(frame, [definition])
            continue
        scores = _scores(table, definition, _criterion(definition, instruments))
        column = SCORE.format(definition.name)
        frame = frame.join(scores.rename({"score": column}), on="item", how="left")
        frame = frame.with_columns(_binned(pl.col(column), definition.bins).alias(definition.name))
        added += [column, definition.name]
    groups = tuple(definition for definition in derived if definition.groups)
    return replace(
        table, frame=frame, derived=(*table.derived, *added), groups=(*table.groups, *groups)
    )


def grouped(frame: pl.DataFrame, definitions: Sequence[Derived]) -> pl.DataFrame:
    """Add the columns of groups, each from the values of another column."""
    for definition in definitions:
        frame = frame.with_columns(_group(frame, definition).alias(definition.name))
    return frame


def _group(frame: pl.DataFrame, definition: Derived) -> pl.Expr:
    if definition.column not in frame.columns:
        raise AnalysisError(
            message(
                "derived {name!r}: ratings have no column {column!r}; {nearest}",
                message_id="refused.column_of_groups",
                name=definition.name,
                column=definition.column,
                nearest=nearest(definition.column, frame.columns),
            )
        )
    group_of = {value: group for group, values in definition.groups.items() for value in values}
    column = pl.col(definition.column).cast(pl.String)
    return column.replace_strict(group_of, default=None, return_dtype=pl.String)


def derived_columns(table: RatingTable, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns that are derived: ratings in none of their groups form no group."""
    derived = {*table.derived, *(definition.name for definition in table.groups)}
    return tuple(name for name in names if name in derived)


def derived_values(table: RatingTable, derived: Sequence[Derived]) -> tuple[DerivedValue, ...]:
    """Each item's derived numbers, those of items without a rating left out."""
    values: list[DerivedValue] = []
    for definition in derived:
        if definition.groups:
            continue
        score = SCORE.format(definition.name)
        rows = (
            table.frame.select("item", score, definition.name)
            .drop_nulls(score)
            .unique(subset="item")
            .sort("item")
        )
        values += [
            DerivedValue(definition.name, item, value, label or "")
            for item, value, label in rows.iter_rows()
        ]
    return tuple(values)


def _criterion(definition: Derived, instruments: Sequence[Instrument]) -> Criterion:
    criteria = [c for i in instruments for c in i.criteria if c.id == definition.criterion]
    if not criteria:
        criterion_ids = [c.id for i in instruments for c in i.criteria]
        hint = nearest(definition.criterion, criterion_ids)
        raise AnalysisError(
            f"derived {definition.name!r}: there is no criterion {definition.criterion!r}; {hint}"
        )
    return criteria[0]


def _scores(table: RatingTable, definition: Derived, criterion: Criterion) -> pl.DataFrame:
    """Item -> mean number of the panel's main ratings."""
    chosen = table.frame.filter(
        (pl.col("criterion") == definition.criterion)
        & pl.col("panel").is_in(table.together.get(definition.raters, (definition.raters,)))
        & (pl.col("purpose") == "main")
        & (pl.col("state") == "rated")
    )
    if criterion.scale.kind == "number":
        number = pl.col("label").cast(pl.Float64, strict=False)
    else:
        numbers = dict(zip(criterion.scale.labels, criterion.scale.numbers(), strict=True))
        refuse_unknown_labels(chosen, numbers)
        number = pl.col("label").replace_strict(numbers, default=None, return_dtype=pl.Float64)
    return (
        chosen.group_by("item")
        .agg(number.mean().alias("score"))
        .filter(pl.col("score").is_not_null())
    )


def _binned(score: pl.Expr, bins: Sequence[Bin]) -> pl.Expr:
    label: pl.Expr = pl.lit(None, dtype=pl.String)
    for score_bin in reversed(bins):
        inside = score.is_between(score_bin.low, score_bin.high, closed=_CLOSED[score_bin.closed])
        label = pl.when(inside).then(pl.lit(score_bin.label)).otherwise(label)
    return label


_CLOSED: dict[Closed, Literal["both", "left", "right", "none"]] = {
    "both": "both",
    "left": "left",
    "right": "right",
    "neither": "none",
}
