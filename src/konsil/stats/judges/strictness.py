"""The strictness of a judge: approval of failures against rejection of successes."""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, IntArray

STRICTNESS = "Hanley and McNeil, Radiology 143:29, 1982: the area as a share of pairs"


def strictness_sums(
    places: IntArray, is_failure: Array, clusters: IntArray, n_values: int, n_clusters: int
) -> Array:
    """How often a judge gave each value to failures and to successes, (n_clusters, 2 n_values).

    `places` (n,) says which of the values, rising, a judgement is; `is_failure` (n,) 1 for a
    failure, 0 for a success.

    >>> strictness_sums(
    ...     np.array([0, 1, 1]), np.array([1.0, 1, 0]), np.array([0, 0, 1]), 2, 2
    ... ).tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    sums = np.zeros((n_clusters, 2 * n_values))
    np.add.at(sums, (clusters, places + n_values * (is_failure < 0.5)), 1.0)
    return sums


def separation(totals: Array) -> Array:
    """Discrimination: the probability that a success is rated above a failure, ties one half.

    Totals (..., 2 n_values), values (..., 1): the area under the ROC curve (AUC).

    sum over v of s_v (f_below_v + f_v / 2) / (S F): the area above the curve of false rejections
    against false approvals. 1 separates all, 0.5 is chance. nan without a failure or without a
    success.

    Source: Hanley and McNeil 1982.

    >>> separation(np.array([3.0, 1.0, 0.0, 4.0]))
    array([0.875])
    """
    failures, successes = np.split(np.asarray(totals, dtype=np.float64), 2, axis=-1)
    below = np.cumsum(failures, axis=-1) - failures
    pairs = (successes * (below + failures / 2)).sum(axis=-1)
    return ratio(pairs, failures.sum(axis=-1) * successes.sum(axis=-1))[..., None]


def trade_off(totals: Array) -> tuple[Array, Array]:
    """False approvals and false rejections at each threshold of approval.

    A judgement is approval from each value on in turn, and then never. approved[v] = failures with
    v or more / F, rejected[v] = successes below v / S; (2 n_values,) to (n_values + 1,) each, from
    the most lenient threshold to the strictest. nan without a failure or without a success.

    >>> approved, rejected = trade_off(np.array([3.0, 1.0, 0.0, 4.0]))
    >>> approved, rejected
    (array([1.  , 0.25, 0.  ]), array([0., 0., 1.]))
    """
    failures, successes = np.split(np.asarray(totals, dtype=np.float64), 2)
    n = len(failures)
    above = np.append(np.cumsum(failures[::-1])[::-1], 0.0)
    below = np.append(0.0, np.cumsum(successes))
    return ratio(above, np.full(n + 1, failures.sum())), ratio(
        below, np.full(n + 1, successes.sum())
    )
