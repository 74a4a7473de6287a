"""Answers rated by some of their sentences: part–whole correlation, rater variance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import estimate_of
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.estimation.rows.result_rows import estimate_rows, estimates_of, row
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import OTHER_SENTENCES, OVERLAP_ALONE, WHOLE_ANSWER
from konsil.analysis.table.encoding import groups, sample_of
from konsil.errors.message import message
from konsil.stats.designs.subsets import (
    Points,
    overlap_alone,
    part_whole_points,
    rater_variances,
    spearman_of_points,
)
from konsil.stats.engine.contract import Array, Estimate, IntArray

MOST_SENTENCES = 12
"""Up to so many sentences a curve is followed."""
SENTENCES = "sentences"
"""The column that says how many sentences of an answer are rated."""


@dataclass(frozen=True)
class Numbers:
    """Ratings of one design as numbers."""

    values: Array
    """(n_answers, n_raters, n_sentences), nan where there is none; an answer's own raters come
    first."""
    clusters: IntArray
    """(n_answers,)."""
    names: tuple[str, ...]
    """The clusters' names."""
    answers: tuple[str, ...]
    """Which answers: item and answer."""

    @property
    def scores(self) -> Array:
        """Each sentence's mean over its raters, (n_answers, n_sentences); nan if unrated."""
        is_rated = np.isfinite(self.values)
        n = is_rated.sum(axis=1)
        sums = np.where(is_rated, self.values, 0.0).sum(axis=1)
        return np.where(n > 0, sums / np.maximum(n, 1), np.nan)

    @property
    def n_raters(self) -> float:
        """How many raters an answer has, on average."""
        by_answer = np.isfinite(self.values).any(axis=2).sum(axis=1)
        return float(by_answer[by_answer > 0].mean()) if (by_answer > 0).any() else math.nan

    @property
    def sizes(self) -> range:
        """How many sentences a part may have."""
        longest = int(np.isfinite(self.scores).sum(axis=1).max(initial=0))
        return range(1, min(longest, MOST_SENTENCES) + 1)


def numbers_of(context: Context, frame: pl.DataFrame) -> Numbers | None:
    """The ratings of one group as numbers by answer, rater and sentence.

    None where nothing was rated.
    """
    if not frame.height:
        return None
    raters = tuple(frame.get_column("rater").unique().sort().to_list())
    sample = sample_of(context, frame, raters)
    labels, values = sample.codes.labels, np.asarray(sample.codes.values, dtype=np.float64)
    if not (labels >= 0).any():
        return None
    about = [unit.rsplit("\x1f", 1)[0] for unit in sample.units]
    answers, of_unit = np.unique(about, return_inverse=True)
    of_unit = of_unit.astype(np.int64)
    # Units are sorted, so that the sentences of an answer stand together in their order.
    start = np.searchsorted(of_unit, np.arange(len(answers)))
    sentence = np.arange(len(of_unit)) - start[of_unit]
    rated = np.zeros((len(answers), len(raters)), dtype=bool)
    np.logical_or.at(rated, of_unit, labels >= 0)
    place = np.cumsum(rated, axis=1) - 1
    unit, rater = np.nonzero(labels >= 0)
    shape = (len(answers), int(rated.sum(axis=1).max()), int(sentence.max()) + 1)
    array = np.full(shape, np.nan)
    array[of_unit[unit], place[of_unit[unit], rater], sentence[unit]] = values[labels[unit, rater]]
    return Numbers(array, sample.codes.clusters[start], sample.clusters, tuple(answers.tolist()))


def designs_in(context: Context, frame: pl.DataFrame) -> tuple[Numbers | None, Numbers | None]:
    """The ratings of whole answers and those of sentences, apart."""
    is_full_answer = pl.col("span").fill_null("") == ""
    return numbers_of(context, frame.filter(is_full_answer)), numbers_of(
        context, frame.filter(~is_full_answer)
    )


def part_rows(context: Context, frame: pl.DataFrame) -> Iterator[Row]:
    """A row for each number of sentences, and beside it what it is to be read against."""
    for keys, part in groups(frame, context.analysis.by):
        full_answers, sentences = designs_in(context, part)
        if sentences is None:
            reason = message("no sentences are rated")
            yield row(
                context,
                keys,
                EstimateSummary(Estimate(math.nan, level=context.resampling.level, reason=reason)),
            )
        elif context.analysis.statistic == "part_whole":
            yield from _part_whole(context, keys, sentences)
        else:
            yield from _variance(context, keys, full_answers, sentences)


def _part_whole(context: Context, keys: dict[str, str], of: Numbers) -> Iterator[Row]:
    """Part against whole.

    What mere overlap gives; and part against the sentences that are not in it.
    """
    scores = of.scores
    longest = int(np.isfinite(scores).sum(axis=1).max(initial=0))
    for size in of.sizes:
        group = {**keys, SENTENCES: str(size)}
        measure = _correlation(of, part_whole_points(scores, of.clusters, size))
        summary = estimate_of(context, measure)
        if size == longest and np.isfinite(summary.headline.value):
            summary = EstimateSummary(exact(summary.headline), notes=summary.notes)
        yield from estimate_rows(context, group, summary, measure)
        # A stream for each size: the permutations of two sizes are independent.
        alone = overlap_alone(scores, size, key=context.key + size)
        alone = alone[np.isfinite(alone)]
        if len(alone):
            tail = (1 - context.resampling.level) / 2
            low, high = np.quantile(alone, [tail, 1 - tail])
            overlap = Estimate(
                float(alone.mean()),
                float(low),
                float(high),
                context.resampling.level,
                n_ratings=measure.n_ratings,
                method=message(
                    "{n:,} {n|permutation|permutations} of the sentences among the answers",
                    message_id="method.shuffles",
                    n=len(alone),
                ),
            )
            # Where every part is the whole answer the shuffles cannot differ.
            overlap = exact(overlap) if size == longest else rare_events.with_width(overlap)
            yield row(
                context,
                {**group, "version": OVERLAP_ALONE},
                EstimateSummary(overlap),
                measure,
                kind="companion",
            )
        if size < len(of.sizes):
            rest = _correlation(of, part_whole_points(scores, of.clusters, size, held_out=True))
            summary = EstimateSummary(estimate_of(context, rest).headline)
            yield row(
                context,
                {**group, "version": OTHER_SENTENCES},
                summary,
                rest,
                kind="companion",
            )


def exact(estimate: Estimate) -> Estimate:
    """The estimate where each part is the whole answer: no sampling, so there is no interval."""
    nothing = math.nan
    reason = message("exact: every part is the whole answer", message_id="edges.exact_part")
    return replace(
        estimate, low=nothing, high=nothing, se=nothing, n_undefined=0, method="", reason=reason
    )


def _correlation(of: Numbers, points: Points) -> Measure:
    sums, finalise = spearman_of_points(points, len(of.names))
    n_units = int(np.isfinite(of.scores).any(axis=1).sum())
    n_ratings = int(np.isfinite(of.values).sum())
    return Measure(sums, finalise, of.names, n_units, of.values.shape[1], n_ratings, scale="atanh")


def _variance(
    context: Context, keys: dict[str, str], full_answers: Numbers | None, of: Numbers
) -> Iterator[Row]:
    """Variance between raters by number of sentences.

    Beside it whole answers, and the paired differences to them.
    """
    measures = [_mean_variance(of, rater_variances(of.values, size)) for size in of.sizes]
    coarse = None
    if full_answers is not None:
        coarse = _mean_variance(full_answers, rater_variances(full_answers.values, 1))
        summary = estimate_of(context, coarse)
        yield from estimate_rows(context, {**keys, SENTENCES: WHOLE_ANSWER}, summary, coarse)
    for size, measure, summary in zip(
        of.sizes, measures, estimates_of(context, measures), strict=True
    ):
        yield from estimate_rows(context, {**keys, SENTENCES: str(size)}, summary, measure)
    if coarse is not None:
        yield from minus_whole(
            context, keys, [(str(s), m) for s, m in zip(of.sizes, measures, strict=True)], coarse
        )


def minus_whole(
    context: Context, keys: dict[str, str], parts: Sequence[tuple[str, Measure]], coarse: Measure
) -> Iterator[Row]:
    """Each number of sentences minus whole answers, on the same resamples."""
    for size, measure in parts:
        summary = contrast(
            measure,
            coarse,
            key=context.key,
            resampling=context.resampling,
            cluster=context.cluster,
            test=context.analysis.test,
        )
        group, versus = {**keys, SENTENCES: size}, {**keys, SENTENCES: WHOLE_ANSWER}
        difference = row(context, group, summary, measure, kind="difference", versus=versus)
        yield replace(difference, n_units_versus=coarse.n_units)


def _mean_variance(of: Numbers, variances: Array) -> Measure:
    is_finite = np.isfinite(variances)
    sums = np.zeros((len(of.names), 2))
    np.add.at(sums, of.clusters, np.column_stack([np.where(is_finite, variances, 0.0), is_finite]))
    n_ratings = int(np.isfinite(of.values[is_finite]).sum())
    return Measure(sums, quotient, of.names, int(is_finite.sum()), of.values.shape[1], n_ratings)
