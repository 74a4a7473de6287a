"""Rating times in seconds, summed over an answer's screens, and ratings by an answer's length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from konsil.analysis.estimation.group_estimates import Group, estimate_of, group_of
from konsil.analysis.estimation.measure import Measure, mean
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import DesignOptions
from konsil.analysis.model.sample import Sample
from konsil.analysis.table.answer_scores import scores
from konsil.analysis.table.columns import enumerated
from konsil.analysis.table.encoding import groups, matrix
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.labels import Labels
from konsil.errors import AnalysisError
from konsil.errors.message import message
from konsil.stats.designs.subsets import Points, spearman_of_points
from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.shares.durations import geometric_mean, median_of_cells

PAIR = ["rater", "item", "case", "answers"]
"""Who worked on what: an item with the answers of its screen."""


def seconds_by_pair(context: Context, table: RatingTable, frame: pl.DataFrame) -> pl.DataFrame:
    """Seconds of each rater and screenful, summed over its screens.

    A screenful with a screen without a time is left out. By the active clock: what a rating says.
    By the open one: for how long the screens' pages were open.
    """
    by = [c for c in context.analysis.by if c not in PAIR]
    numbered = [c for c in frame.columns if c.endswith(", numbered")]
    clock = context.analysis.options_as(DesignOptions).clock
    if clock == "open":
        worked = table.data.worked if table.data is not None else ()
        open_seconds = {
            task_time.task: task_time.wall for task_time in worked if task_time.wall is not None
        }
        seconds = pl.col("task").replace_strict(open_seconds, default=None, return_dtype=pl.Float64)
        frame = frame.with_columns(seconds.alias("seconds"))
    screens = frame.group_by(["task", "rater", "item", "case", *by], maintain_order=True).agg(
        pl.col("answers").unique().sort().str.join(" | "),
        pl.col("seconds").first(),
        pl.col(numbered).first(),
    )
    if "system" in by and screens.get_column("answers").str.contains(" | ", literal=True).any():
        raise AnalysisError(
            f"{context.analysis.name}: by: tasks show several answers at once; their time"
            " cannot be assigned to a single system"
        )
    # Numbers as one column say in which order the raters and clusters come.
    screenfuls = screens.group_by([*PAIR, *by], maintain_order=True).agg(
        pl.when(pl.col("seconds").null_count() == 0).then(pl.col("seconds").sum()).alias("seconds"),
        pl.col(numbered).first(),
    )
    # Zero seconds are those of a clock that did not run.
    return screenfuls.filter(pl.col("seconds") > 0)


def timed_groups(context: Context, table: RatingTable, frame: pl.DataFrame) -> list[Group]:
    """The time of every group, as the analysis' kind of mean."""
    pairs = seconds_by_pair(context, table, frame)
    if context.analysis.statistic == "standardised_seconds":
        pairs = _standardised(pairs, context.analysis.by)
    results = []
    for keys, part in groups(pairs, context.analysis.by):
        results.append(
            group_of(
                context, keys, _sample(context, part), partial(_measure, context.analysis.statistic)
            )
        )
    if not results:
        reason = message("no times recorded for these pages")
        nothing = _sample(context, pairs)
        group = group_of(context, {}, nothing, mean)
        headline = replace(group.summary.headline, value=math.nan, reason=reason)
        return [replace(group, summary=replace(group.summary, headline=headline))]
    return results


def _standardised(pairs: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Times in standard deviations within groups, pooled over the groups.

    None where nothing varies within a group.
    """
    seconds = pl.col("seconds")
    mean_of_group = seconds.mean().over(list(by)) if by else seconds.mean()
    squares = pairs.select((seconds - mean_of_group) ** 2).to_series().sum()
    n_groups = pairs.select(list(by)).n_unique() if by else 1
    variance = squares / max(1, pairs.height - n_groups)
    return pairs.with_columns(seconds / math.sqrt(variance)) if variance > 0 else pairs.clear()


def _sample(context: Context, pairs: pl.DataFrame) -> Sample:
    """Each pair's seconds as a label that is its own number."""
    seconds = pairs.get_column("seconds").to_numpy().astype(np.float64)
    values, codes = np.unique(seconds, return_inverse=True)
    labels = Labels(tuple(map(str, values.tolist())), tuple(values.tolist()), "ratio")
    unit = pairs.select(
        pl.concat_str([pl.col("item").fill_null(""), "answers"], separator="\x1f")
    ).to_series()
    cluster = pairs.get_column("case" if context.analysis.cluster == "case" else "item").fill_null(
        ""
    )
    return matrix(unit, pairs.get_column("rater"), cluster, codes.astype(np.int64), labels)


def _measure(statistic: str, sample: Sample) -> Measure:
    plain = mean(sample)
    if statistic == "geometric_seconds":
        values = tuple(math.log(v) for v in sample.codes.values or ())
        logs = replace(sample, codes=replace(sample.codes, values=values))
        return replace(mean(logs), finalise=geometric_mean)
    if statistic == "median_seconds":
        seconds = np.asarray(sample.codes.values, dtype=np.float64)
        median = partial(median_of_cells, values=seconds)
        return replace(plain, sums=_cells(sample), finalise=median, cell=None, is_smooth=False)
    return plain


def _cells(sample: Sample) -> Sums:
    """How often each value occurs in each cluster, (n_clusters, n_values)."""
    has_value = sample.codes.labels >= 0
    unit, _ = np.nonzero(has_value)
    sums = np.zeros((len(sample.clusters), sample.codes.n_labels))
    np.add.at(sums, (sample.codes.clusters[unit], sample.codes.labels[has_value]), 1.0)
    return sums


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
        measure = _length_measure(context, part, n_raters)
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


def _length_measure(context: Context, part: pl.DataFrame, n_raters: int) -> Measure:
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
