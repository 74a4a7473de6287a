"""Correlation of an answer's mean rating and its number of words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.estimation.group_estimates import Group, estimate_of
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import message
from konsil.analysis.table.answer_scores import scores
from konsil.analysis.table.columns import enumerated
from konsil.analysis.table.encoding import groups
from konsil.analysis.table.frame import RatingTable
from konsil.stats.designs.subsets import Points, spearman_of_points


def length_groups(context: Context, table: RatingTable, frame: pl.DataFrame) -> list[Group]:
    """Spearman's rho of rating and length in every group.

    Answers whose length is not known stay out.
    """
    words = words_of(table)
    rated = scores(context, frame).with_columns(
        pl.col("answers")
        .replace_strict(words, default=None, return_dtype=pl.Float64)
        .alias("words")
    )
    n_raters = frame.get_column("rater").n_unique()
    results = []
    with_length = rated.drop_nulls("words")
    for keys, part in groups(with_length, context.analysis.by) or [({}, with_length)]:
        measure = _measure(context, part, n_raters)
        summary = estimate_of(context, measure)
        if not part.height:
            reason = message("the lengths of the answers are not known")
            summary = replace(summary, headline=replace(summary.headline, reason=reason))
        results.append(Group(keys, measure, summary))
    return results


def words_of(table: RatingTable) -> dict[str, float]:
    """Answer -> its number of words, or its given length where the text is not at hand."""
    if table.data is None:
        return {}
    word_counts = {a.id: float(len(a.text.split())) for a in table.data.answers if a.text}
    return {**{a: float(n) for a, n in table.data.lengths.items()}, **word_counts}


def _measure(context: Context, part: pl.DataFrame, n_raters: int) -> Measure:
    column = part.get_column("case" if context.analysis.cluster == "case" else "item").fill_null("")
    names = column.unique().sort()
    cluster = enumerated(column).to_physical().to_numpy().astype(np.int64)
    x, y = (part.get_column(c).to_numpy().astype(np.float64) for c in ("words", "score"))
    # Rounded, so that equal means stay ties.
    sums, finalise = spearman_of_points(
        Points(x, y.round(9), np.ones(len(x)), cluster), max(len(names), 1)
    )
    n_ratings = int(part.get_column("n_ratings").sum() or 0)
    return Measure(
        sums, finalise, tuple(names.to_list()), part.height, n_raters, n_ratings, scale="atanh"
    )
