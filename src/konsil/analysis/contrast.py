"""Differences: a minus b on the same resamples, with interval and test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.estimate import Told, blank, raters_matter, stepwise, two_way, why_no_interval
from konsil.analysis.measure import Measure, pair, together
from konsil.analysis.said import say
from konsil.analysis.spec import Resampling, Test
from konsil.errors import AnalysisError
from konsil.stats import infer
from konsil.stats.contract import Estimate
from konsil.stats.permutation import swap_test
from konsil.stats.rows import prepare


def contrast(
    a: Measure, b: Measure, *, key: int, resampling: Resampling, cluster: str, test: Test = "interval"
) -> Told:
    """A minus b on the same resamples, with its own interval and a two-sided p value, never 0.

    test: 'interval' inverts the interval, 'flip' swaps the groups in whole clusters by fair coins, 'none' gives no p.
    """
    if min(a.n_ratings, b.n_ratings) == 0:
        return Told(Estimate(float("nan"), level=resampling.level, reason=say("one of the two has no labels")))
    both = pair(a, b)
    minus = np.array([[1.0, -1.0]])
    found = infer.difference(both.sums, both.finalise, minus, draws=resampling.draws, level=resampling.level, key=key)
    told = _difference(found, 0, both, resampling, cluster)
    if not np.isfinite(found.value[0]):
        return told
    headline = replace(told.headline, p=_p(a, b, both, told.headline.p, test, key, resampling))
    difference = replace(both, finalise=infer.contrasted(both.finalise, minus))
    two = two_way(headline, difference, cluster)
    if two is None:
        return replace(told, headline=headline)
    p = infer.t_p_value(np.array([two.value]), np.array([two.se]), _df(difference))
    notes = (*both.notes, *raters_matter(headline, two, difference))
    companion = replace(two, p=float(p[0]) if test != "none" else math.nan)
    return replace(told, headline=headline, companions=(companion,), notes=notes)


def differences(measures: Sequence[Measure], *, key: int, resampling: Resampling, cluster: str) -> list[Told]:
    """Several numbers that are differences already, on one array of sums: intervals and p values, resampled once."""
    if any(m.sums is not measures[0].sums for m in measures):
        raise ValueError("differences: expected all on the same sums; join them first")

    found = infer.difference(
        measures[0].sums,
        together(measures),
        np.eye(len(measures)),
        draws=resampling.draws,
        level=resampling.level,
        key=key,
    )
    return [_difference(found, n, m, resampling, cluster) for n, m in enumerate(measures)]


def _difference(found: infer.Difference, n: int, measure: Measure, resampling: Resampling, cluster: str) -> Told:
    if not np.isfinite(found.value[n]):
        return Told(
            blank(measure, resampling, found.n_clusters, say("one of the two is undefined")), notes=measure.notes
        )
    headline = Estimate(
        float(found.value[n]),
        float(found.low[n]),
        float(found.high[n]),
        resampling.level,
        float(found.se[n]),
        float(found.p[n]),
        found.n_clusters,
        measure.n_ratings,
        int(found.n_undefined[n]),
        say(
            "paired difference, {cluster}-cluster bootstrap, BCa, {draws:,} resamples",
            cluster=cluster,
            draws=found.draws,
        ),
        why_no_interval(found),
    )
    return Told(headline, (), measure.notes, stepwise(infer.cautions(found, n), measure))


def _p(a: Measure, b: Measure, both: Measure, inverted: float, test: Test, key: int, resampling: Resampling) -> float:
    if test == "none":
        return math.nan
    if test == "interval":
        return inverted
    sums = prepare(both.sums).clusters()
    half = a.sums.shape[1]
    if half != b.sums.shape[1]:
        raise AnalysisError("test = 'flip' needs groups with the same raters, which can be swapped; use 'interval'")
    swapped = np.concatenate([sums[:, half:], sums[:, :half]], axis=1)
    finalise = infer.contrasted(both.finalise, np.array([[1.0, -1.0]]))
    return float(swap_test(sums, swapped, finalise, draws=resampling.draws, key=key)[0])


def _df(measure: Measure) -> int:
    if measure.cell is None:
        return 0
    return min(len(np.unique(measure.cell.clusters)), len(np.unique(measure.cell.raters))) - 1
