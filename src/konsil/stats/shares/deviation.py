"""The standard deviation of numbers as a function of their moments, and its interval."""

from __future__ import annotations

import math

import numpy as np
import scipy

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array

_ROUNDING = 1e-12
"""A spread of so small a part of the squares is a rounding error of equal numbers."""


def standard_deviation(totals: Array) -> Array:
    """Standard deviation with n - 1, (..., 3) to (..., 1).

    s = sqrt((sum of squares - sum^2 / n) / (n - 1)); totals are count, sum and sum of squares of
    the numbers. nan with fewer than two numbers, 0 where all are equal.

    >>> standard_deviation(np.array([3.0, 6.0, 14.0]))
    array([1.])
    >>> standard_deviation(np.array([1.0, 2.0, 4.0]))
    array([nan])
    """
    n, total, squares = totals[..., 0], totals[..., 1], totals[..., 2]
    spread = squares - total * ratio(total, n)
    spread = np.where(spread > _ROUNDING * np.maximum(squares, 1e-300), spread, 0.0)
    return np.sqrt(np.where(n > 1, ratio(spread, n - 1), np.nan))[..., None]


LEAST_CLUSTERS = 3
"""With fewer clusters nothing is known of how much the variance of the clusters varies."""


def log_jackknife(sums: Array, level: float) -> tuple[float, float, float, float]:
    """Ends of the interval, standard error of the logarithm, and degrees of freedom.

    log s +- t se, with the jackknife over clusters, whose moments are the rows of `sums`. The
    degrees of freedom follow from the kurtosis of the values without each cluster, as those of a
    variance do, and are at most the clusters' number minus 1. nan with fewer than three clusters,
    and where s is 0 or undefined with or without a cluster, or does not vary.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 11, for the
    jackknife; Satterthwaite, Biometrics Bull 2:110, 1946, for the degrees of freedom.

    >>> rows = np.array([[2.0, x + y, x * x + y * y] for x, y in ((0, 1), (2, 4), (3, 3), (5, 9))])
    >>> low, high, se, df = log_jackknife(rows, 0.95)
    >>> bool(low < standard_deviation(rows.sum(axis=0))[0] < high), 1 <= df <= 3
    (True, True)
    """
    # Empty clusters leave out nothing and would dilute the jackknife.
    rows = sums[sums[:, 0] > 0]
    n = len(rows)
    nothing = (math.nan, math.nan, math.nan, math.nan)
    if n < LEAST_CLUSTERS:
        return nothing
    total = float(standard_deviation(rows.sum(axis=0))[0])
    without = standard_deviation(rows.sum(axis=0) - rows)[:, 0]
    if not (total > 0 and np.all(without > 0)):
        return nothing
    # On the log scale: a standard deviation is positive, and its estimates are skewed.
    gaps = np.log(without) - np.log(without).mean()
    variance = float((gaps**2).mean())
    if not variance > 0:
        return nothing
    excess = float((gaps**4).mean()) / variance**2 - (n - 3) / (n - 1)
    df = max(1.0, min(2 * n / excess if excess > 0 else math.inf, n - 1.0))
    se = math.sqrt((n - 1) * variance)
    reach = float(scipy.special.stdtrit(df, (1 + level) / 2)) * se
    return total * math.exp(-reach), total * math.exp(reach), se, df
