"""Two groups in which raters agree on every unit: what the units bound of the difference."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from konsil.analysis.estimation.measure import Measure
from konsil.analysis.model.message import message
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.engine.resample import by_cluster
from konsil.stats.shares.share_differences import Outcomes, score_difference


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
