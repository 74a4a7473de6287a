"""Scores of answers: the mean number of the labels that an answer got."""

from __future__ import annotations

import polars as pl

from konsil.analysis.model.context import Context
from konsil.analysis.table.conformity import refuse_unknown_labels
from konsil.analysis.table.encoding import labels_in, select
from konsil.analysis.table.frame import RatingTable

HIGHEST = "highest"
"""The column of the highest number that an answer got."""

OUTPUT = ("item", "case", "answers", "system")
"""What tells one answer from another."""


def scores(context: Context, frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """One row an answer: the mean number of the labels it got, in a column `score`.

    Abstentions are no labels.

    `keys` are columns that tell the rows apart beside the answer, such as the rater.
    """
    labels, collapse = labels_in(context, frame), context.analysis.collapse
    of_label = dict(zip(labels.names, map(float, labels.values), strict=True))
    scale = context.criterion.scale
    if scale.kind == "choice":
        of_label |= {
            before: of_label[after] for before, after in collapse.items() if after in of_label
        }
        refuse_unknown_labels(frame, {*of_label, *collapse})
        number = pl.col("label").replace_strict(of_label, default=None, return_dtype=pl.Float64)
    else:
        number = pl.col("label").cast(pl.Float64, strict=False)
    numbered = (
        frame.filter(pl.col("state") == "rated")
        .with_columns(number.alias("score"))
        .drop_nulls("score")
    )
    columns = [c for c in (*OUTPUT, *keys, *context.analysis.by) if c in frame.columns]
    return numbered.group_by(list(dict.fromkeys(columns)), maintain_order=True).agg(
        pl.col("score").max().alias(HIGHEST),
        pl.col("score").mean(),
        pl.col("rater").n_unique().alias("n_raters"),
        pl.len().alias("n_ratings"),
    )


def panel_scores(context: Context, table: RatingTable, panel: str) -> pl.DataFrame:
    """One row an answer: what a panel gave it on the context's criterion."""
    return scores(context, select(table, context.analysis, panel))


def reaches(threshold: float) -> pl.Expr:
    """Whether a score is at the threshold or above, with a tolerance for rounding errors.

    A mean of raters must not fail it by a rounding error.
    """
    return pl.col("score") >= threshold - 1e-9
