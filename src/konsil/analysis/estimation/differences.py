"""Differences: a minus b, with an interval and a test that agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.difference_methods import (
    by_exchange,
    by_linearisation,
    by_rare_events,
    n_clusters,
    of_shares,
)
from konsil.analysis.estimation.estimate import (
    EstimateSummary,
    stepwise,
    undefined_estimate,
)
from konsil.analysis.estimation.interval_rules import few_cluster_interval, no_interval_reason
from konsil.analysis.estimation.measure import (
    Measure,
    clusters_used,
    is_linearised,
    linear,
    pair,
    together,
    value,
)
from konsil.analysis.estimation.raters.rater_notes import dominated, rater_sampling_notes
from konsil.analysis.estimation.raters.two_way import two_way
from konsil.analysis.model.spec import AsPublished, Resampling, Test
from konsil.errors import AnalysisError
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.engine.cluster_sums import prepare
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.engine.resample import by_cluster
from konsil.stats.inference import infer
from konsil.stats.shares.share_differences import Outcomes, score_difference


def contrast(
    a: Measure,
    b: Measure,
    *,
    key: int,
    resampling: Resampling,
    cluster: str,
    test: Test = "interval",
) -> EstimateSummary:
    """A minus b, with a CI and a two-sided p value of one procedure.

    p <= 1 - level where the CI excludes 0. test: 'interval' uses the method that suits the number
    (`difference_methods`), 'flip' exchanges the groups in whole clusters whatever the number is,
    'none' gives no p.
    """
    if min(a.n_ratings, b.n_ratings) == 0:
        return EstimateSummary(
            Estimate(
                float("nan"), level=resampling.level, reason=message("one of the two has no labels")
            )
        )
    a, b = (linear(m) if is_linearised(m) else m for m in (a, b))
    both = pair(a, b)
    minus = infer.contrasted(both.finalise, np.array([[1.0, -1.0]]))
    difference = replace(both, finalise=minus)
    at = value(difference)
    used = n_clusters(both)
    if not np.isfinite(at):
        return EstimateSummary(
            undefined_estimate(both, resampling, used, message("one of the two is not estimable")),
            notes=both.notes,
        )
    start = Estimate(at, level=resampling.level, n_clusters=used, n_ratings=both.n_ratings)
    # In this order: each method is for what the ones before it do not fit.
    headline = None if test == "flip" else of_shares(start, a, b, both, cluster)
    if headline is None and test != "flip" and (a.is_rare or b.is_rare):
        headline = by_rare_events(start, both, minus, cluster)
    robust = headline is not None
    if headline is None and test != "flip":
        headline = of_perfect_groups(start, a, b, both)
        robust = headline is not None
    if headline is None:
        headline = by_exchange(start, a, b, both, cluster, key, resampling)
        robust = headline is not None
    if headline is None and test == "flip":
        raise AnalysisError(
            "test = 'flip' needs groups with the same raters, which can be swapped; use 'interval'"
        )
    if headline is None and both.is_smooth:
        headline = by_linearisation(start, both, minus, cluster)
    if headline is None:
        bootstrap = infer.difference(
            both.sums, minus, np.eye(1), draws=resampling.draws, level=resampling.level, key=key
        )
        is_paired = not clusters_used(a).isdisjoint(clusters_used(b))
        summary = _difference(bootstrap, 0, both, resampling, cluster, is_paired=is_paired)
    else:
        summary = EstimateSummary(
            headline,
            (),
            (*both.notes, *_undefined(headline, resampling)),
            _cautions(headline, robust),
        )
    # No interval without width, unless a paper is reproduced as it is.
    if not isinstance(resampling, AsPublished):
        summary = replace(summary, headline=rare_events.with_width(summary.headline))
    if test == "none":
        summary = replace(summary, headline=replace(summary.headline, p=math.nan))
    two = two_way(summary.headline, difference, cluster)
    if two is None or not rare_events.has_width(two):
        return replace(summary, notes=(*summary.notes, *dominated(difference)))
    notes = (*summary.notes, *rater_sampling_notes(summary.headline, two, difference))
    return replace(summary, companions=(replace(two, reason=""),), notes=notes)


def _cautions(headline: Estimate, robust: bool) -> tuple[infer.Caution, ...]:
    """Few clusters, where the procedure is not made for few."""
    if robust or headline.n_clusters >= infer.FEW_CLUSTERS:
        return ()
    return (infer.Caution("few-clusters", (headline.n_clusters, infer.FEW_CLUSTERS)),)


def _undefined(headline: Estimate, resampling: Resampling) -> tuple[str, ...]:
    if not headline.n_undefined:
        return ()
    return (
        message(
            (
                "The difference is not estimable in {n:,} of {all:,} permutations, which are"
                " excluded."
            ),
            message_id="difference.undefined_draws",
            n=headline.n_undefined,
            all=resampling.draws,
        ),
    )


def differences(
    measures: Sequence[Measure], *, key: int, resampling: Resampling, cluster: str
) -> list[EstimateSummary]:
    """CIs and p values of several numbers that are differences already, resampled once.

    All are on one array of sums. Those that depend on rare events have the linearised interval and
    its test, unless they are computed as published.
    """
    if any(m.sums is not measures[0].sums for m in measures):
        raise ValueError("differences: expected all on the same sums; join them first")
    if all(m.is_rare for m in measures) and not isinstance(resampling, AsPublished):
        return [_of_rare_events(m, resampling, cluster) for m in measures]
    bootstrap = infer.difference(
        measures[0].sums,
        together(measures),
        np.eye(len(measures)),
        draws=resampling.draws,
        level=resampling.level,
        key=key,
    )
    return [_difference(bootstrap, n, m, resampling, cluster) for n, m in enumerate(measures)]


def _of_rare_events(measure: Measure, resampling: Resampling, cluster: str) -> EstimateSummary:
    used, at = prepare(measure.sums).informative, value(measure)
    if not np.isfinite(at):
        return EstimateSummary(
            undefined_estimate(
                measure, resampling, used, message("one of the two is not estimable")
            ),
            notes=measure.notes,
        )
    start = Estimate(at, level=resampling.level, n_clusters=used, n_ratings=measure.n_ratings)
    return EstimateSummary(
        by_rare_events(start, measure, measure.finalise, cluster), (), measure.notes
    )


def _difference(
    bootstrap: infer.Difference,
    n: int,
    measure: Measure,
    resampling: Resampling,
    cluster: str,
    is_paired: bool = True,
) -> EstimateSummary:
    is_published = isinstance(resampling, AsPublished)
    if not np.isfinite(bootstrap.value[n]):
        return EstimateSummary(
            undefined_estimate(
                measure,
                resampling,
                bootstrap.n_clusters,
                message("one of the two is not estimable"),
            ),
            notes=measure.notes,
        )
    headline = Estimate(
        float(bootstrap.value[n]),
        float(bootstrap.low[n]),
        float(bootstrap.high[n]),
        resampling.level,
        float(bootstrap.se[n]),
        float(bootstrap.p[n]),
        bootstrap.n_clusters,
        measure.n_ratings,
        int(bootstrap.n_undefined[n]),
        _bootstrap(cluster, bootstrap.draws, is_paired=is_paired),
        no_interval_reason(bootstrap),
    )
    cautions = stepwise(infer.cautions(bootstrap, n), measure)
    first = None
    if measure.is_smooth and not is_published:
        first = few_cluster_interval(headline, bootstrap, n, cluster)
    if first is None:
        return EstimateSummary(headline, (), measure.notes, cautions)
    is_few = math.isfinite(first.low)
    cautions = tuple(c for c in cautions if c.code == "few-clusters" and is_few)
    return EstimateSummary(first, (), measure.notes, cautions)


def _bootstrap(cluster: str, draws: int, *, is_paired: bool) -> TranslatableMessage:
    if is_paired:
        return message(
            "paired difference, {cluster}-cluster bootstrap, BCa, {draws:,} resamples",
            message_id="method.paired_bootstrap",
            cluster=cluster,
            draws=draws,
        )
    return message(
        "difference of independent groups, {cluster}-cluster bootstrap, BCa, {draws:,} resamples",
        message_id="groups.independent_bootstrap",
        cluster=cluster,
        draws=draws,
    )


def of_perfect_groups(blank: Estimate, a: Measure, b: Measure, both: Measure) -> Estimate | None:
    """The difference of two shares of agreement that are both 1, or both 0, in every cluster.

    None for others.

    A cluster counts once, with the outcome that all its comparisons agree (or that none does):
    agreement is at least the share of clusters in which all agree, so that an interval for the
    difference of these shares, each as far from 1 as its number of clusters allows, is wide enough
    for that of agreement. No resample and no exchange differs here.
    """
    if a.share is None or a.share != b.share:
        return None
    first, second = (_alike(m, both.clusters) for m in (a, b))
    if first is None or second is None or first[1] != second[1]:
        return None
    in_a, in_b = first[0], second[0]
    n_both, n_a, n_b = (float(np.sum(some)) for some in (in_a & in_b, in_a & ~in_b, in_b & ~in_a))
    if n_both + min(n_a, n_b) < 2:
        return None
    difference = score_difference(Outcomes(n_both, 0.0, 0.0, 0.0, n_a, n_a, n_b, n_b), blank.level)
    if math.isnan(difference.low):
        return None
    step = a.share[1]
    return replace(
        blank,
        low=step * difference.low,
        high=step * difference.high,
        p=difference.p,
        method=message(
            "difference of proportions, each cluster counted once as all its comparisons are alike,"
            " score interval and test",
            message_id="difference.perfect_groups",
        ),
    )


def _alike(measure: Measure, clusters: tuple[str, ...]) -> tuple[np.ndarray, int] | None:
    """Which of the clusters have a comparison, and the share that all of them have, 0 or 1.

    None where it differs.
    """
    if measure.share is None:
        return None
    start, step = measure.share
    each: Array = (by_cluster(measure.sums, measure.finalise)[:, 0] - start) / step
    is_defined = np.isfinite(each)
    if not is_defined.any():
        return None
    ends = [end for end in (0, 1) if np.all(np.abs(each[is_defined] - end) < 1e-9)]
    if not ends:
        return None
    used = np.zeros(len(clusters), dtype=np.bool_)
    used[np.searchsorted(clusters, np.array(measure.clusters)[is_defined])] = True
    return used, ends[0]
