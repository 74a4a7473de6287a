"""Intervals of proportions k / n: Wilson and Clopper-Pearson, also for outcomes in clusters."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from konsil.stats.engine.contract import Array
from konsil.stats.inference.cluster_variance import tally

FEW_HITS = 50
"""Where fewer clusters hold a share's rarer outcome, its interval is Wilson's and not the
bootstrap's."""


def _counts(k: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    some, all_ = np.broadcast_arrays(
        np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    )
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
    z = float(scipy.special.ndtri((1 + level) / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (some + z * z / 2) / (all_ + z * z)
        reach = z / (all_ + z * z) * np.sqrt(some * (all_ - some) / all_ + z * z / 4)
    # At 0 and n a bound is exact; the difference above would leave a rounding error.
    low = np.where(some == 0, 0.0, centre - reach)
    high = np.where(some == all_, 1.0, centre + reach)
    return np.where(all_ > 0, low, np.nan), np.where(all_ > 0, high, np.nan)


def clopper_pearson(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """The exact interval of k / n by beta quantiles, with coverage of at least `level`.

    `k`, `n` broadcast; low and high have their shape. nan where n = 0.

    Source: Clopper and Pearson (1934), The use of confidence or fiducial limits.

    >>> low, high = clopper_pearson(2, 2)
    >>> round(float(low), 3), float(high)
    (0.158, 1.0)
    """
    some, all_ = _counts(k, n)
    tail = (1 - level) / 2
    none, every = some == 0, some == all_
    low = np.where(
        none, 0.0, scipy.special.betaincinv(np.where(none, 1.0, some), all_ - some + 1, tail)
    )
    high = np.where(
        every, 1.0, scipy.special.betaincinv(some + 1, np.where(every, 1.0, all_ - some), 1 - tail)
    )
    return np.where(all_ > 0, low, np.nan), np.where(all_ > 0, high, np.nan)


def interval(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """The interval of a proportion without clusters: Wilson, or Clopper-Pearson where k is 0 or n.

    `k`, `n` broadcast. nan where n = 0.

    >>> low, high = interval([0, 8], [10, 10])
    >>> low.round(3), high.round(3)
    (array([0.  , 0.49]), array([0.308, 0.943]))
    """
    some, all_ = _counts(k, n)
    # Wilson's interval is too short at 0 and n: there the exact one is used.
    extreme = (some == 0) | (some == all_)
    score, exact = wilson(some, all_, level), clopper_pearson(some, all_, level)
    return np.where(extreme, exact[0], score[0]), np.where(extreme, exact[1], score[1])


def clustered_interval(hits: Array, trials: Array, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a proportion of outcomes in clusters, at their effective sample size.

    p = sum(hits) / sum(trials), v = C / (C - 1) sum((hits - p trials)^2) / sum(trials)^2 over the C
    clusters with trials, n = min(p (1 - p) / v, sum(trials)), with the t quantile of
    `degrees_of_freedom(trials)` for z: C - 1 for clusters of one size. Where none or all outcomes
    are hits, v is 0 and the interval is Clopper-Pearson's with n one more than these degrees of
    freedom, C for clusters of one size. Where the clusters are `uneven`, v is the bias-reduced
    variance and t has its effective degrees of freedom (`cluster_variance`), because a cluster with
    many of the outcomes pulls the proportion towards itself. `hits`, `trials` (n_clusters,). nan
    with fewer than two clusters.

    Where the less frequent outcome occurs in few clusters, the coverage of a bootstrap is far too
    low (0.5 instead of 0.95 with one expected hit); that of this interval is 0.95 to 0.98.

    Source: Korn and Graubard (1998), Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data; Wilson in the place of Clopper-Pearson,
    which is wider than it need be.

    >>> low, high = clustered_interval(np.array([1.0, 0, 0, 0, 0, 0]), np.full(6, 5.0))
    >>> round(low, 3), round(high, 3)
    (0.004, 0.236)
    """
    used = trials > 0
    n_clusters, total, n_hits = int(used.sum()), float(trials.sum()), float(hits.sum())
    if n_clusters < 2:
        return float("nan"), float("nan")
    p = n_hits / total
    # Uneven clusters: the plain variance is too small, because large clusters set their own mean.
    if uneven(trials) and 0 < p < 1:
        variance, df = reduced_variance(hits, trials)
        return effective_interval(p, variance, total, df, level)
    variance = (
        n_clusters / (n_clusters - 1) * float(((hits - p * trials)[used] ** 2).sum()) / total**2
    )
    return effective_interval(p, variance, total, degrees_of_freedom(trials), level)


def uneven(sizes: Array) -> bool:
    """Whether the effective number of clusters is below half of their number.

    (sum of m)^2 / sum of m^2 < C / 2 for clusters of sizes m (n_clusters,): for instance one of 60
    clusters with 12 % of the outcomes or more. Empty clusters do not count.

    >>> uneven(np.full(60, 3.0)), uneven(np.append(np.full(59, 3.0), 118.0))
    (False, True)
    """
    m = sizes[sizes > 0]
    return bool(len(m) > 1 and 2 * float(m.sum()) ** 2 < len(m) * float((m**2).sum()))


def reduced_variance(hits: Array, trials: Array) -> tuple[float, float]:
    """The bias-reduced variance of a clustered proportion, and its degrees of freedom.

    V = sum of (d / N)^2 / (1 - h), d = hits - p trials, h = trials / N: C / (C - 1) times the plain
    sum for C clusters of one size. The degrees of freedom are between those for independent
    outcomes and for outcomes that are alike within clusters, by what clusters add to the variance p
    (1 - p) / N. `hits`, `trials` (n_clusters,).

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with
    multi-stage samples.

    >>> variance, df = reduced_variance(np.array([3.0, 1.0, 2.0]), np.full(3, 4.0))
    >>> round(variance, 5), round(df, 2)
    (0.02083, 2.0)
    """
    total = float(trials.sum())
    share = float(hits.sum()) / total
    parts = (trials / total)[:, None]
    tallied = tally(((hits - share * trials) / total)[:, None], parts, parts**2)
    return float(tallied.variance()[0]), float(
        tallied.df(np.array([share * (1 - share) / total]))[0]
    )


def degrees_of_freedom(sizes: Array) -> float:
    """Satterthwaite's degrees of freedom of the variance between clusters: (tr S)^2 / tr(S^2).

    S = diag(m) - m m' / sum(m), with `sizes` m (n_clusters,), is the covariance of the clusters'
    deviations from the overall proportion if outcomes were independent. C - 1 for C clusters of one
    size, fewer for unequal ones: 4.7 for 10 clusters of 1, 1, 1, 1, 1, 2, 2, 3, 6 and 12. Clusters
    of size 0 do not count; 0 with fewer than two.

    Source: Satterthwaite (1946), An approximate distribution of estimates of variance components.

    >>> degrees_of_freedom(np.full(8, 5.0)), round(degrees_of_freedom(np.array([1.0, 1, 10])), 3)
    (7.0, 1.69)
    """
    m = sizes[sizes > 0]
    if len(m) < 2:
        return 0.0
    if (m == m[0]).all():
        return float(len(m) - 1)
    total, squares, cubes = (float((m**power).sum()) for power in (1, 2, 3))
    trace = total - squares / total
    return trace**2 / (squares - 2 * cubes / total + (squares / total) ** 2)


def effective_interval(
    p: float, variance: float, total: float, df: float, level: float = 0.95
) -> tuple[float, float]:
    """Wilson's interval of a proportion with any variance, at n = min(p (1 - p) / variance, total).

    `total` bounds n: the number of outcomes. The t quantile of `df` degrees of freedom replaces z.
    At a proportion of 0 or 1, where the variance is 0, the interval is Clopper-Pearson's with n =
    df + 1. nan with df < 1.

    Source: Korn and Graubard (1998), with Wilson in the place of Clopper-Pearson.

    >>> low, high = effective_interval(0.9, 0.0009, 1000, 39)
    >>> round(low, 3), round(high, 3)
    (0.823, 0.946)
    """
    if df < 1:
        return float("nan"), float("nan")
    if p in (0.0, 1.0):
        low, high = clopper_pearson((df + 1) * p, df + 1, level)
        return float(low), float(high)
    n = min(p * (1 - p) / variance, total) if variance > 0 else total
    z = float(scipy.special.stdtrit(df, (1 + level) / 2))
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * float(np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
    return max(0.0, centre - reach), min(1.0, centre + reach)
