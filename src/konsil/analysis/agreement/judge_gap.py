"""A judge minus the panel's ceiling, tested by exchanging judge and raters within items."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.estimation.agreement_scales import spaced
from konsil.analysis.estimation.difference_methods import by_linearisation, no_interval_reason
from konsil.analysis.estimation.estimate import EstimateSummary, too_long
from konsil.analysis.estimation.measure import Measure, value
from konsil.analysis.estimation.raters.leave_one_out import table_measure
from konsil.analysis.model.message import message
from konsil.analysis.model.sample import Sample, judges_and_panel
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.stats.agreement.alpha import Level
from konsil.stats.agreement.consensus import judge_and_ceiling
from konsil.stats.engine.contract import Array, Estimate, Finalise, IntArray
from konsil.stats.inference.both_ways import both_ways
from konsil.stats.inference.exchange import Exchanged, permuted_together

MOST_TURNS = 60
"""Raters of a unit by up to six, ten or twelve divide it."""


def gaps(
    panel: Sample,
    judges: Sample,
    measures: Sequence[Measure],
    analysis: Analysis,
    level: Level,
    *,
    key: int,
    resampling: Resampling,
    cluster: str,
) -> list[EstimateSummary]:
    """Judge minus ceiling, for each judge or for the mean of several judges.

    The mean is used where there is one measure of several judges. Where a judge is one more rater
    of the panel, judge and raters can be exchanged within each item. All rotations of the labels
    among the raters who labelled an item are such exchanges, each item's its own; which raters
    labelled the item does not change.
    """
    codes, names = judges_and_panel(panel, judges)
    codes = spaced(codes, analysis.statistic, level)
    n_panel = panel.codes.labels.shape[1]
    name, weights = table_measure(analysis)
    # The order of the turns is that of the raters' labels, so that no number depends on the raters'
    # names.
    experts = sorted(
        range(n_panel), key=lambda rater: np.ascontiguousarray(codes.labels[:, rater]).tobytes()
    )
    every = np.arange(n_panel, codes.labels.shape[1])
    groups = (
        [every] if len(measures) < len(names) else [every[n : n + 1] for n in range(len(names))]
    )
    starts = [_start(m, resampling) for m in measures]
    if too_long(measures[0].sums, resampling.draws):
        return [
            EstimateSummary(
                e if e.reason else by_linearisation(e, m, m.finalise, cluster), notes=m.notes
            )
            for e, m in zip(starts, measures, strict=True)
        ]

    sizes = [(codes.labels[:, [*experts, *columns]] >= 0).sum(axis=1) for columns in groups]
    n_turns = turns_needed(int(size) for size in np.unique(np.concatenate(sizes)))

    def turned(columns: IntArray) -> tuple[list[Array], Finalise]:
        statistic = judge_and_ceiling(
            n_panel,
            len(columns),
            codes.n_labels,
            name,
            "difference",
            "valid",
            weights,
            codes.values,
        )
        statistic = both_ways(statistic, codes)
        labels = codes.labels[:, [*experts, *columns]]
        tallied = [
            np.asarray(statistic.tally(replace(codes, labels=some)))
            for some in turns(labels, n_turns)
        ]
        return tallied, _mean(statistic.finalise)

    exchanges = permuted_together(
        map(turned, groups), draws=resampling.draws, level=resampling.level, key=key
    )
    return [
        EstimateSummary(e if e.reason else _estimate(e, exchange, analysis, cluster), notes=m.notes)
        for e, exchange, m in zip(starts, exchanges, measures, strict=True)
    ]


def turns(labels: IntArray, n_turns: int) -> Iterator[IntArray]:
    """The labels, those of each unit rotated among its raters, (n_units, n_raters) each.

    Only raters who labelled a unit take part. The first is the labels as they are.

    >>> [some.tolist() for some in turns(np.array([[0, 1, -1], [2, -1, -1]]), 2)]
    [[[0, 1, -1], [2, -1, -1]], [[1, 0, -1], [2, -1, -1]]]
    """
    # Only those who labelled a unit change places on it.
    is_given = labels >= 0
    sizes = is_given.sum(axis=1)
    units, columns = np.nonzero(is_given)
    place = (np.cumsum(is_given, axis=1) - 1)[units, columns]
    packed = np.full_like(labels, -1)
    packed[units, place] = labels[units, columns]
    for turn in range(n_turns):
        some = np.full_like(labels, -1)
        some[units, columns] = packed[units, (place - turn) % sizes[units]]
        yield some


def turns_needed(sizes: Iterable[int]) -> int:
    """How many turns there are of which every one of a unit comes equally often.

    `sizes`: the raters of a unit.

    At most MOST_TURNS: of a number of raters that does not divide these, some turns come once more
    than others.

    >>> turns_needed([4, 4, 3]), turns_needed([7, 8, 9])
    (12, 60)
    """
    return min(math.lcm(*{max(size, 1) for size in sizes}), MOST_TURNS)


def _start(measure: Measure, resampling: Resampling) -> Estimate:
    at = value(measure)
    used = int(np.asarray(np.asarray(measure.sums.sum(axis=1)) != 0).sum())
    start = Estimate(at, level=resampling.level, n_clusters=used, n_ratings=measure.n_ratings)
    return (
        replace(start, reason=message("one of the two is not estimable"))
        if math.isnan(at)
        else start
    )


def _mean(finalise: Finalise) -> Finalise:
    def averaged(totals: Array) -> Array:
        return np.asarray(np.mean(finalise(totals), axis=-1, keepdims=True), dtype=np.float64)

    return averaged


def _estimate(start: Estimate, exchange: Exchanged, analysis: Analysis, cluster: str) -> Estimate:
    if math.isnan(exchange.p):
        return replace(start, reason=message("no CI from a single cluster"))
    return replace(
        start,
        low=exchange.low,
        high=exchange.high,
        se=exchange.se if exchange.se > 0 else math.nan,
        p=exchange.p if analysis.test != "none" else math.nan,
        method=message(
            (
                "judge minus inter-expert benchmark, studentised permutation of the judge and"
                " the raters of the panel within {cluster} clusters, {draws:,} permutations"
            ),
            message_id="difference.judge_and_panel",
            cluster=cluster,
            draws=exchange.draws,
        ),
        reason=no_interval_reason(exchange, cluster),
    )
