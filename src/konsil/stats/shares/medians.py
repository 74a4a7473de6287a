"""Medians of ratings in clusters, with the interval that inverts tests of proportions."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.shares.durations import median_of_cells
from konsil.stats.shares.shares import clustered_interval


def clustered_median(
    labels: NDArray[np.integer], clusters: IntArray, values: Array, level: float = 0.95
) -> tuple[float, float, float]:
    """The median of ratings on a scale, and the limits of its interval: two values of the scale.

    A value v is in the interval if it can be the median: the clustered interval of the proportion
    of ratings up to v reaches 1/2, and that of the proportion below v begins at 1/2 or below. Both
    are `clustered_interval`, Wilson's at the effective sample size; each of the two tests rejects
    the true median with probability (1 - level) / 2. The interval is all values next to one another
    that are not rejected, from the median on; it contains the median, and is a single value where
    all others are rejected. Where the median is between two values, it is the mean of them.

    Preferred to the percentile bootstrap: medians of a scale of few values are equal in nearly all
    resamples, and few clusters have the t quantiles here. It is conservative on scales of few
    values, as every interval of whole values is.

    Args:
        labels: (n_ratings,) place of each rating on the scale.
        clusters: (n_ratings,) number of the cluster of each rating, from 0.
        values: (n_values,) the numbers of the scale, rising.
        level: the nominal coverage.

    Undefined: all three are nan without ratings, the limits with fewer than two clusters.

    Source: Woodruff (1952), Confidence intervals for medians and other position measures; as a
    test of proportions in clusters Francisco and Fuller (1991), Quantile estimation with a complex
    survey design; the proportion's interval as in `clustered_interval`.

    >>> labels, clusters = np.array([0, 1, 1, 2, 2, 2, 3, 4]), np.arange(8)
    >>> clustered_median(labels, clusters, np.arange(1.0, 6.0))
    (3.0, 1.0, 5.0)
    """
    if not len(labels):
        return float("nan"), float("nan"), float("nan")
    counts = np.bincount(labels, minlength=len(values))
    median = float(median_of_cells(counts.astype(np.float64), values)[0])
    trials = np.bincount(clusters).astype(np.float64)
    if np.count_nonzero(trials) < 2:
        return median, float("nan"), float("nan")

    def proportion(place: int) -> tuple[float, float]:
        """The interval of the proportion of ratings up to a value."""
        is_hit = (labels <= place).astype(np.float64)
        hits = np.bincount(clusters, weights=is_hit, minlength=len(trials))
        return clustered_interval(np.asarray(hits, dtype=np.float64), trials, level)

    low = int(np.searchsorted(values, median, side="right")) - 1
    high = int(np.searchsorted(values, median, side="left"))
    while low > 0 and proportion(low - 1)[1] >= 0.5:
        low -= 1
    while high < len(values) - 1 and proportion(high)[0] <= 0.5:
        high += 1
    return median, float(values[low]), float(values[high])


def label_counts(labels: NDArray[np.integer], clusters: IntArray, shape: tuple[int, int]) -> Sums:
    """How often each label occurs in each cluster, (n_clusters, n_values).

    Sparse, since a scale of measured values has as many values as there are ratings.
    """
    return scipy.sparse.csr_array((np.ones(len(labels)), (clusters, labels)), shape=shape)
