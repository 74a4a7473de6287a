"""Labels before and after adjudication: which of them a table of ratings has."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from konsil.errors.message import listed, message

PURPOSE = "adjudication"
_SUBJECT = "answers, sorted"


@dataclass(frozen=True, slots=True)
class Adjudicated:
    """What became of labels at the adjudication."""

    labels: int = 0
    """Labels that were looked at once more."""
    changed: int = 0
    """How many of them are others now."""


def with_adjudicated_labels(
    frame: pl.DataFrame, *, after: bool
) -> tuple[pl.DataFrame, Adjudicated]:
    """The ratings without those of the adjudication, with the labels before it or after it."""
    plain = frame.filter(pl.col("purpose") != PURPOSE)
    if plain.height == frame.height:
        return frame, Adjudicated()
    # Where a scale does not say how it reads the other way round, the two may have a pair's answers
    # in another order.
    sides = pl.col("answers").str.split(" | ").list.sort().list.join(" | ").alias(_SUBJECT)
    key = ["task", "criterion", _SUBJECT, "span"]
    values = ["answers", "system", "state", "label"]
    late = (
        frame.filter(pl.col("purpose") == PURPOSE)
        .with_columns(sides)
        .select(
            pl.col("repeat_of").alias("task"),
            *key[1:],
            *(pl.col(v).alias(f"{v}, after") for v in values),
        )
    )
    joined = plain.with_columns(sides).join(late, on=key, how="left", maintain_order="left")
    decided = pl.col("state, after").is_not_null()
    other = ~pl.col("label, after").eq_missing(pl.col("label")) | (
        pl.col("answers, after") != pl.col("answers")
    )
    counts = Adjudicated(joined.filter(decided).height, joined.filter(decided & other).height)
    if after:
        joined = joined.with_columns(
            pl.when(decided).then(pl.col(f"{v}, after")).otherwise(pl.col(v)).alias(v)
            for v in values
        )
    return joined.select(frame.columns), counts


def adjudication_sentences(adjudicated: Adjudicated, after: list[str]) -> tuple[str, ...]:
    """Methods sentences on the adjudication; `after`: the analyses of labels after it.

    Nothing where there was none.
    """
    if not adjudicated.labels:
        return ()
    first = message(
        "Raters who disagreed reviewed {n:,} {n|label|labels} together and changed {changed:,} of"
        " them.",
        message_id="adjudication.reviewed",
        n=adjudicated.labels,
        changed=adjudicated.changed,
    )
    if not after:
        return (
            first,
            message(
                "All analyses use the labels given before this adjudication.",
                message_id="adjudication.before",
            ),
        )
    return (
        first,
        message(
            "{analyses} use the labels after this adjudication; all other analyses use those given"
            " before it.",
            message_id="adjudication.after",
            analyses=listed(after),
        ),
    )
