"""Intervals of shares k / n: Wilson, and Clopper-Pearson when none or all; the same for outcomes in clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from konsil.stats.contract import Array


def _counts(k: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    some, all_ = np.broadcast_arrays(np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64))
    if np.any(some < 0) or np.any(some > all_):
        raise ValueError("counts: expected 0 <= k <= n everywhere")
    return some, all_


def wilson(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """Wilson's score interval of k / n: (k + z^2/2 -+ z sqrt(k (n - k) / n + z^2/4)) / (n + z^2).

    `k`, `n` broadcast; low and high have their shape. nan where n = 0.

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference.

    >>> low, high = wilson(8, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.49, 0.943)
    """
    some, all_ = _counts(k, n)
    z = float(special.ndtri((1 + level) / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (some + z * z / 2) / (all_ + z * z)
        reach = z / (all_ + z * z) * np.sqrt(some * (all_ - some) / all_ + z * z / 4)
    # At 0 and n a bound is exact; the difference above would leave a rounding error.
    low = np.where(some == 0, 0.0, centre - reach)
    high = np.where(some == all_, 1.0, centre + reach)
    return np.where(all_ > 0, low, np.nan), np.where(all_ > 0, high, np.nan)


def clopper_pearson(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """The exact interval of k / n: beta quantiles; covers at least `level` at every true share.

    `k`, `n` broadcast; low and high have their shape. nan where n = 0.

    Source: Clopper and Pearson (1934), The use of confidence or fiducial limits.

    >>> low, high = clopper_pearson(2, 2)
    >>> round(float(low), 3), float(high)
    (0.158, 1.0)
    """
    some, all_ = _counts(k, n)
    tail = (1 - level) / 2
    none, every = some == 0, some == all_
    low = np.where(none, 0.0, special.betaincinv(np.where(none, 1.0, some), all_ - some + 1, tail))
    high = np.where(every, 1.0, special.betaincinv(some + 1, np.where(every, 1.0, all_ - some), 1 - tail))
    return np.where(all_ > 0, low, np.nan), np.where(all_ > 0, high, np.nan)


def interval(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """The interval that stands beside a share without clusters: Wilson, or Clopper-Pearson when k is 0 or n.

    nan where n = 0.

    >>> low, high = interval([0, 8], [10, 10])
    >>> low.round(3), high.round(3)
    (array([0.  , 0.49]), array([0.308, 0.943]))
    """
    some, all_ = _counts(k, n)
    extreme = (some == 0) | (some == all_)
    score, exact = wilson(some, all_, level), clopper_pearson(some, all_, level)
    return np.where(extreme, exact[0], score[0]), np.where(extreme, exact[1], score[1])


def clustered_interval(hits: Array, trials: Array, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share of outcomes in clusters, at the sample size that they are worth.

    p = sum(hits) / sum(trials), v = C / (C - 1) sum((hits - p trials)^2) / sum(trials)^2 over the C clusters with
    trials, n = min(p (1 - p) / v, sum(trials)), with the t quantile of C - 1 for z. Where none or all are hits, v says
    nothing: Clopper-Pearson with n = C. `hits`, `trials` (n_clusters,). nan with fewer than two clusters.

    Where few clusters have the rarer outcome a bootstrap covers far too seldom (with one hit expected, 0.5 instead of
    0.95), and this interval 0.95 to 0.98.

    Source: Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data; Wilson in the place of Clopper-Pearson, which is wider than it need be.

    >>> low, high = clustered_interval(np.array([1.0, 0, 0, 0, 0, 0]), np.full(6, 5.0))
    >>> round(low, 3), round(high, 3)
    (0.004, 0.236)
    """
    used = trials > 0
    n_clusters, total, found = int(used.sum()), float(trials.sum()), float(hits.sum())
    if n_clusters < 2:
        return float("nan"), float("nan")
    if found in (0.0, total):
        low, high = clopper_pearson(n_clusters * found / total, n_clusters, level)
        return float(low), float(high)
    p = found / total
    variance = n_clusters / (n_clusters - 1) * float(((hits - p * trials)[used] ** 2).sum()) / total**2
    n = min(p * (1 - p) / variance, total) if variance > 0 else total
    z = float(special.stdtrit(n_clusters - 1, (1 + level) / 2))
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * float(np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
    return max(0.0, centre - reach), min(1.0, centre + reach)
