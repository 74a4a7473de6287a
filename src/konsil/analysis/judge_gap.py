"""A judge minus the panel's ceiling: tested by exchanging the judge and the raters of the panel within items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.agree import spaced
from konsil.analysis.coding import Sample
from konsil.analysis.difference_methods import by_linearisation, why_no_interval
from konsil.analysis.estimate import Told, too_long
from konsil.analysis.measure import Measure, value
from konsil.analysis.panels import judges_and_panel, one_table
from konsil.analysis.said import say
from konsil.analysis.spec import Analysis, Resampling
from konsil.stats.alpha import Level
from konsil.stats.both_ways import both_ways
from konsil.stats.consensus import judge_and_ceiling
from konsil.stats.contract import Array, Estimate, Finalise, IntArray
from konsil.stats.exchange import Exchanged, permuted_together


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
) -> list[Told]:
    """For each judge, or for their mean where there is one measure of several judges: judge minus ceiling.

    Where a judge is one more rater of the panel, it and they can change places within each item. All turns of their
    columns are such exchanges, each item's its own.
    """
    codes, names = judges_and_panel(panel, judges)
    codes = spaced(codes, analysis.statistic, level)
    n_panel = panel.codes.labels.shape[1]
    name, weights = one_table(analysis)
    # The order of the turns is that of the raters' labels, so that no number depends on the raters' names.
    experts = sorted(range(n_panel), key=lambda rater: np.ascontiguousarray(codes.labels[:, rater]).tobytes())
    every = np.arange(n_panel, codes.labels.shape[1])
    groups = [every] if len(measures) < len(names) else [every[n : n + 1] for n in range(len(names))]
    starts = [_start(m, resampling) for m in measures]
    if too_long(measures[0].sums, resampling.draws):
        return [
            Told(e if e.reason else by_linearisation(e, m, m.finalise, cluster), notes=m.notes)
            for e, m in zip(starts, measures, strict=True)
        ]

    def turned(columns: IntArray) -> tuple[list[Array], Finalise]:
        statistic = judge_and_ceiling(
            n_panel, len(columns), codes.n_labels, name, "difference", "valid", weights, codes.values
        )
        statistic = both_ways(statistic, codes)
        labels = codes.labels[:, [*experts, *columns]]
        turns = (np.roll(labels, turn, axis=1) for turn in range(labels.shape[1]))
        return [np.asarray(statistic.tally(replace(codes, labels=some))) for some in turns], _mean(statistic.finalise)

    exchanges = permuted_together(map(turned, groups), draws=resampling.draws, level=resampling.level, key=key)
    return [
        Told(e if e.reason else _estimate(e, exchange, analysis, cluster), notes=m.notes)
        for e, exchange, m in zip(starts, exchanges, measures, strict=True)
    ]


def _start(measure: Measure, resampling: Resampling) -> Estimate:
    at = value(measure)
    used = int(np.asarray(np.asarray(measure.sums.sum(axis=1)) != 0).sum())
    start = Estimate(at, level=resampling.level, n_clusters=used, n_ratings=measure.n_ratings)
    return replace(start, reason=say("one of the two is undefined")) if math.isnan(at) else start


def _mean(finalise: Finalise) -> Finalise:
    def averaged(totals: Array) -> Array:
        return np.asarray(np.mean(finalise(totals), axis=-1, keepdims=True), dtype=np.float64)

    return averaged


def _estimate(start: Estimate, exchange: Exchanged, analysis: Analysis, cluster: str) -> Estimate:
    if math.isnan(exchange.p):
        return replace(start, reason=say("one cluster has no interval"))
    return replace(
        start,
        low=exchange.low,
        high=exchange.high,
        se=exchange.se if exchange.se > 0 else math.nan,
        p=exchange.p if analysis.test != "none" else math.nan,
        method=say(
            "judge minus ceiling, studentised permutation of the judge and the raters of the panel within {cluster}"
            " clusters, {draws:,} permutations",
            message_id="difference.judge_and_panel",
            cluster=cluster,
            draws=exchange.draws,
        ),
        reason=why_no_interval(exchange, cluster),
    )
