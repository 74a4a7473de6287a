"""Standardised differences of two groups as functions of moments, with their rank tests."""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array

COHEN = "Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd ed. 1988, chapter 2"


def moments(values: Array) -> Array:
    """Count, sum and sum of squares of each row's value, (n,) to (n, 3); nan counts as no value.

    >>> moments(np.array([2.0, np.nan]))
    array([[1., 2., 4.],
           [0., 0., 0.]])
    """
    is_finite = np.isfinite(values)
    value = np.where(is_finite, values, 0.0)
    return np.column_stack([is_finite.astype(np.float64), value, value * value])


def paired_d(totals: Array) -> Array:
    """Mean of the paired differences over their standard deviation, (..., 3) to (..., 1).

    d = mean / sd, sd with n - 1; totals are the differences' moments. nan with fewer than two pairs
    or where all differences are the same.

    Source: Cohen 1988 (d of paired differences, d_z).

    >>> paired_d(moments(np.array([1.0, 2.0, 3.0])).sum(axis=0))
    array([2.])
    """
    mean, variance = _mean_variance(totals)
    return ratio(mean, np.sqrt(variance))[..., None]


def cohen_d(totals: Array) -> Array:
    """Difference of two means over their pooled standard deviation, (..., 6) to (..., 1).

    d = (mean a - mean b) / sqrt(((n_a - 1) var a + (n_b - 1) var b) / (n_a + n_b - 2)); totals are
    a's moments, then b's. nan where a group has no two values, or both groups do not vary.

    Source: Cohen 1988.

    >>> a, b = moments(np.array([2.0, 4.0])), moments(np.array([1.0, 3.0]))
    >>> cohen_d(np.concatenate([a.sum(axis=0), b.sum(axis=0)])).round(3)
    array([0.707])
    """
    (mean_a, var_a), (mean_b, var_b) = (
        _mean_variance(totals[..., :3]),
        _mean_variance(totals[..., 3:]),
    )
    n_a, n_b = totals[..., 0], totals[..., 3]
    pooled = ratio((n_a - 1) * var_a + (n_b - 1) * var_b, n_a + n_b - 2)
    return ratio(mean_a - mean_b, np.sqrt(pooled))[..., None]


def _mean_variance(totals: Array) -> tuple[Array, Array]:
    n, total, squares = totals[..., 0], totals[..., 1], totals[..., 2]
    mean = ratio(total, n)
    spread = squares - total * mean
    # What is left of equal values is a rounding error, and no variance.
    # Relative to the squares: means of equal values differ in their last digits.
    spread = np.where(spread > 1e-12 * np.maximum(squares, 1e-300), spread, 0.0)
    return mean, ratio(spread, n - 1)


def _ties(values: Array) -> Array:
    """Means that differ by rounding errors only, made equal, so that ranks treat them as ties."""
    return np.round(values, 12)


def signed_rank(differences: Array) -> tuple[float, float]:
    """Wilcoxon's signed-rank test of paired differences: the smaller rank sum and its two-sided p.

    Differences of zero are left out; exact for up to 50 differences without ties or zeros, else by
    the normal approximation with correction for ties. (nan, nan) where no difference is other than
    zero.

    Source: Wilcoxon, Biometrics Bull 1:80, 1945.

    >>> signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    (0.0, 0.0625)
    """
    # Imported here: it costs a second, and few analyses test ranks.
    from scipy.stats import (
        wilcoxon,
    )

    nonzero = _ties(differences[np.isfinite(differences)])
    if not nonzero.any():
        return float("nan"), float("nan")
    test = wilcoxon(nonzero)
    return float(test.statistic), float(test.pvalue)


def rank_sum(a: Array, b: Array) -> tuple[float, float]:
    """Mann and Whitney's U of a against b, the number of pairs with a > b, and its two-sided p.

    U = number of pairs with a > b, ties one half; p by the normal approximation with correction for
    ties. Values must be independent. (nan, nan) where a group is empty.

    Source: Mann and Whitney, Ann Math Stat 18:50, 1947.

    >>> u, p = rank_sum(np.array([3.0, 4.0, 5.0]), np.array([1.0, 2.0, 3.0]))
    >>> u, round(p, 3)
    (8.5, 0.121)
    """
    from scipy.stats import mannwhitneyu  # imported here for the same reason

    a, b = _ties(a[np.isfinite(a)]), _ties(b[np.isfinite(b)])
    if not len(a) or not len(b):
        return float("nan"), float("nan")
    test = mannwhitneyu(a, b, method="asymptotic")
    return float(test.statistic), float(test.pvalue)
