"""Intervals of means of votes where the linearised interval fails: proportions and equal votes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from konsil.stats.engine.contract import Array
from konsil.stats.shares.shares import degrees_of_freedom


class Limits(NamedTuple):
    """An interval of each value and the p value of the test for zero that it inverts; all (m,)."""

    low: Array
    """Lower end."""
    high: Array
    """Upper end."""
    p: Array
    """Two-sided, never 0; nan where zero is an end of the values' range."""


def wilson_limits(
    share: Array, variance: Array, n_votes: Array, df: Array, level: float = 0.95
) -> tuple[Array, Array]:
    """Wilson's interval of proportions with any variance V, (m,) each.

    The sample sizes are n = min(p (1 - p) / V, n_votes); the t quantile of `df` degrees of freedom
    replaces z. nan where V is nan or 0, where df < 1 and where the proportion is 0 or 1: V carries
    no information on votes that are all alike.

    Source: Korn and Graubard (1998), Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data, with Wilson in the place of
    Clopper-Pearson.

    >>> low, high = wilson_limits(
    ...     np.array([0.9]), np.array([0.0009]), np.array([1000]), np.array([39.0])
    ... )
    >>> low.round(3), high.round(3)
    (array([0.823]), array([0.946]))
    """
    spread = share * (1 - share)
    usable = (variance > 0) & (spread > 0) & (df >= 1)
    # No sample is worth more than its votes: a smaller variance is luck.
    n = np.minimum(
        np.divide(spread, variance, out=np.ones_like(share), where=usable), np.maximum(n_votes, 1)
    )
    z = scipy.special.stdtrit(np.where(usable, df, 1.0), (1 + level) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * np.sqrt(spread / n + z * z / (4 * n * n))
    low, high = np.maximum(centre - reach, 0.0), np.minimum(centre + reach, 1.0)
    return np.where(usable, low, np.nan), np.where(usable, high, np.nan)


def unanimous_limits(
    value: Array, n: Array, limits: tuple[float, float], level: float = 0.95
) -> Limits:
    """Exact intervals of means of votes that are all alike within each pair, (m,) each.

    If another outcome has the chance u, n independent votes are all alike with the chance (1 -
    u)^n, so that u is at most 1 - (alpha / 2)^(1 / n), alpha = 1 - level. A share u of other votes
    moves the mean to no less than (1 - u) value + u limits[0] and to no more than (1 - u) value + u
    limits[1]: at an end of the range this is Clopper and Pearson's interval. p is the least alpha
    whose interval leaves out zero: that of the sign test where one system won every vote. nan with
    fewer than two effective votes or limits that are infinite.

    Source: Clopper and Pearson (1934), The use of confidence or fiducial limits.

    >>> limits = unanimous_limits(np.array([0.0, 1.0]), np.array([31.0, 31.0]), (0.0, 1.0))
    >>> limits.low.round(3), limits.high.round(3)
    (array([0.   , 0.888]), array([0.112, 1.   ]))
    >>> unanimous_limits(np.array([1.0]), np.array([6.0]), (-1.0, 1.0)).p
    array([0.03125])
    """
    low, high = limits
    usable = np.isfinite(value) & (n >= 2) & bool(np.isfinite(low) and np.isfinite(high))
    votes = np.where(usable, n, 2.0)
    others = 1 - ((1 - level) / 2) ** (1 / votes)
    ends = tuple(np.where(usable, (1 - others) * value + others * end, np.nan) for end in limits)
    # Zero lies outside of what the mean can be: nothing is tested.
    if not low < 0 < high:
        return Limits(ends[0], ends[1], np.full_like(value, np.nan))
    # The share of other votes that brings the mean to zero.
    moved = np.abs(value) / (np.abs(value) + np.where(value > 0, -low, high))
    p = np.clip(2 * (1 - moved) ** votes, np.finfo(np.float64).tiny, 1.0)
    return Limits(ends[0], ends[1], np.where(usable, p, np.nan))


def effective_votes(weights: Array) -> Array:
    """The effective number of votes of clusters whose votes are all alike, (G, m) to (m,).

    It is Satterthwaite's: `weights` is each cluster's part in each value. G for G clusters of equal
    parts, fewer for unequal ones; 0 with fewer than two clusters.

    >>> effective_votes(np.array([[1.0, 1.0], [1.0, 10.0], [1.0, 1.0]])).round(2)
    array([3.  , 2.69])
    """
    degrees = np.array([degrees_of_freedom(column) for column in weights.T])
    return np.where(degrees > 0, degrees + 1, 0.0)
