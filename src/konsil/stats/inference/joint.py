"""Max-T adjustment of the p values of a family of tests by the covariance of their estimates."""

from __future__ import annotations

import numpy as np
import scipy

from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.engine.renumbering import renumbered

DRAWS = 20_000
"""Number of sampled normal vectors; it does not depend on the study's number of resamples."""

_AT_ONCE = 1 << 22


def summed_products(clusters: IntArray, columns: IntArray, values: Array, m: int) -> Array:
    """The sum over clusters of the products of their columns' sums, (m, m).

    Entries are given one by one, (n,) each: cluster, column and value.

    Source: the cluster covariance of influences (Liang and Zeger 1986), without a factor for few
    clusters.

    >>> summed_products(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2.0, 3.0, 1.0]), 2)
    array([[ 4.,  6.],
           [ 6., 10.]])
    """
    different, place = renumbered(clusters)
    shape = (len(different), m)
    rows = scipy.sparse.coo_matrix((values, (place, columns)), shape=shape).tocsr()
    return np.asarray((rows.T @ rows).toarray())


def joint_p(p: Array, covariance: Array, df: float, *, draws: int = DRAWS, key: int = 0) -> Array:
    """The max-T adjusted p values of a family, (m,).

    Each is the probability that the largest |Z| of the family reaches the |z| of this p value, z =
    Phi^-1(1 - p / 2). `p` (m,) are two-sided p values, each valid by itself; `covariance` (m, m) is
    that of the estimates. Z is normal with their correlations, those off the diagonal shrunk by df
    / (df + m), since few raters or items carry little information on m (m - 1) / 2 correlations;
    shrinking leads towards independence, where the adjustment is largest. The result lies between p
    and Sidak's 1 - (1 - p)^m, which is sufficient under any correlations. nan where p is nan or the
    variance is 0.

    Source: Westfall and Young (1993), Resampling-Based Multiple Testing, 2.5; Hothorn, Bretz and
    Westfall (2008), Simultaneous inference in general parametric models; Sidak (1967) for the
    bound.

    >>> joint_p(np.array([0.01, 0.5]), np.eye(2), 100).round(2)
    array([0.02, 0.75])
    """
    adjusted = np.full(len(p), np.nan)
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    members = np.flatnonzero(np.isfinite(p) & (spread > 0))
    m = len(members)
    if not m:
        return adjusted
    member_p = p[members]
    correlation = covariance[np.ix_(members, members)] / np.outer(spread[members], spread[members])
    shrunk = correlation * df / (df + m)
    np.fill_diagonal(shrunk, 1.0)
    # A two-way covariance need not be positive: negative directions are left out and the scale is
    # restored.
    values, vectors = np.linalg.eigh((shrunk + shrunk.T) / 2)
    # The symmetric root: columns of eigenvectors alone would turn with the last bit of the
    # covariance.
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    root /= np.sqrt((root**2).sum(axis=1))[:, None]
    generator = np.random.Generator(np.random.Philox(key=key % 2**64))
    limit = scipy.special.ndtri(1 - member_p / 2)
    reached = np.zeros(m)
    step = max(_AT_ONCE // m, 1)
    for at in range(0, draws, step):
        largest = np.sort(
            np.abs(generator.standard_normal((min(step, draws - at), m)) @ root.T).max(axis=1)
        )
        reached += len(largest) - np.searchsorted(largest, limit)
    # p = 1 has no logarithm of its complement.
    sidak = -np.expm1(m * np.log1p(-np.minimum(member_p, 1 - 1e-16)))
    adjusted[members] = np.minimum(np.maximum((reached + 1) / (draws + 1), member_p), sidak)
    return adjusted
