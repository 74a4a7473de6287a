"""Permutation test of whether sums over clusters differ between groups of clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from konsil.stats.engine.contract import Array, IntArray

DRAWS = 999
"""Permutations of the clusters among the groups."""


class Shift(NamedTuple):
    """A test of the hypothesis that all groups have the same distribution."""

    statistic: float
    """How much the groups differ; nan where that is undefined."""
    p: float
    """The p value, never 0; nan where there is no test."""


def shift_test(
    sums: Array,
    groups: IntArray,
    spread: Callable[[Array], float],
    *,
    draws: int = DRAWS,
    key: int = 0,
) -> Shift:
    """Test of whether the groups' totals differ more than under random allocation of clusters.

    `sums` (n_clusters, k), `groups` (n_clusters,) numbered from 0; `spread` of the totals
    (n_groups, k) is the statistic. Whole clusters are exchanged between groups, whose numbers of
    clusters stay the same: p = (1 + b) / (1 + draws), b the permutations whose spread is at least
    the observed one. Valid where clusters are exchangeable under the hypothesis.

    nan where fewer than two groups have two clusters each or more, and where the spread is
    undefined. Source: Fisher (1935); (b + 1) / (draws + 1): Phipson and Smyth (2010).

    >>> counts = np.array([[1.0, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]])
    >>> shift_test(counts, np.repeat([0, 1], 4), chi_square).p < 0.05
    True
    """
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, np.int64)
    if (sizes >= 2).sum() < 2:
        return Shift(np.nan, np.nan)
    member = np.eye(len(sizes))[groups]
    observed = spread(member.T @ sums)
    if not np.isfinite(observed):
        return Shift(np.nan, np.nan)
    generator = np.random.Generator(np.random.Philox(key=key))
    # A rounding error must not make the observed allocation rarer than it is.
    least = observed - 1e-9 * max(1.0, abs(observed))
    n_as_large = sum(
        spread(member[generator.permutation(len(groups))].T @ sums) >= least for _ in range(draws)
    )
    return Shift(float(observed), (1 + n_as_large) / (1 + draws))


def chi_square(counts: Array) -> float:
    """Pearson's chi-square of a table of counts (n_groups, n_labels); nan of an empty table.

    As a spread of `shift_test`, it allows for labels that are correlated within clusters.

    >>> chi_square(np.array([[10.0, 0], [0, 10]]))
    20.0
    """
    total = counts.sum()
    if total <= 0:
        return float("nan")
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / total
    parts = np.divide(
        (counts - expected) ** 2, expected, out=np.zeros_like(counts), where=expected > 0
    )
    return float(parts.sum())


def variance_of_means(totals: Array) -> float:
    """Weighted variance of the groups' means; (n_groups, 2) their sums and numbers of units.

    nan where no group has a unit.

    >>> round(variance_of_means(np.array([[1.0, 2], [3, 4]])), 6)
    0.013889
    """
    sums, n = totals[:, 0], totals[:, 1]
    if n.sum() <= 0:
        return float("nan")
    means = np.divide(sums, n, out=np.zeros_like(sums), where=n > 0)
    return float(n @ (means - sums.sum() / n.sum()) ** 2 / n.sum())
