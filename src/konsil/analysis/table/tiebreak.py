"""Tie-breaks: a further rater's label joins where, and only where, there is no majority.

The labels of the panel conflict there.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

_UNIT = ["item", "answers", "span"]


def with_tiebreaks(
    frame: pl.DataFrame, ties: pl.DataFrame, collapse: Mapping[str, str]
) -> pl.DataFrame:
    """Add the tie-break labels of conflicting units to a panel's ratings.

    A unit conflicts where the panel gave different labels and none has more than half. Where the
    tie-breaker abstains the unit stays without a majority; tie-break labels of other units of the
    same item stay out.
    """
    label = (
        pl.col("label").replace_strict(dict(collapse), default=pl.col("label"))
        if collapse
        else pl.col("label")
    )
    counts = (
        frame.filter(pl.col("state") == "rated")
        .with_columns(label.alias("label"))
        .group_by([*_UNIT, "label"])
        .len()
        .group_by(_UNIT)
        .agg(
            pl.col("len").sum().alias("n"),
            pl.col("len").max().alias("most"),
            pl.len().alias("different"),
        )
    )
    conflicts = counts.filter(
        (pl.col("different") > 1) & (2 * pl.col("most") <= pl.col("n"))
    ).select(_UNIT)
    joined = ties.filter(pl.col("purpose") == "tiebreak").join(
        conflicts, on=_UNIT, how="semi", nulls_equal=True
    )
    return pl.concat([frame, joined])
