"""Pairs of raters that share few units, and the mean over pairs weighted by shared units.

A pair that shares five units and agrees in all of them adds nothing to a variance that is estimated
from the labels, though it has the weight of a pair that shares fifty. The same holds for a rater
and the majority of the others, whose mean is the inter-expert benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from konsil.stats.agreement.kappa import MeanOfTables
from konsil.stats.engine import ranks
from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array, Codes, Finalise, Statistic
from konsil.stats.engine.renumbering import renumbered

FEWEST_SHARED = 50
"""A pair that shares at least this many clusters is not thin."""

FEWEST_PART = 0.5
"""Nor is a pair that shares at least this proportion of the clusters with two labels of a unit:
such designs are almost complete."""


@dataclass(frozen=True)
class ThinPairs:
    """How many clusters pairs of raters share, where some share few."""

    least: int
    """The number of clusters of the pair that shares the fewest, among pairs that share any."""
    effective: float
    """The harmonic mean over pairs: the variance of their mean is as if every pair shared this many
    clusters."""
    is_of_majorities: bool = False
    """Whether the pairs are a rater, or a judge in a rater's place, and the majority of the
    others."""

    @property
    def df(self) -> float:
        """Degrees of freedom of the mean over pairs."""
        return self.effective - 1


def thin_pairs(codes: Codes) -> ThinPairs | None:
    """How many clusters pairs of raters share; None where every pair shares many.

    A pair is thin that shares fewer than FEWEST_SHARED clusters and less than FEWEST_PART of those
    that two raters of a unit labelled. Pairs that share nothing do not count, since they are
    excluded from the mean.

    >>> labels = np.zeros((30, 3), dtype=np.int64)
    >>> thin_pairs(Codes(labels, np.arange(30), 2))
    >>> labels[5:, 2] = -1
    >>> found = thin_pairs(Codes(labels, np.arange(30), 2))
    >>> found.least, round(found.effective, 3)
    (5, 6.923)
    """
    is_rated = codes.labels >= 0
    compared = np.flatnonzero(is_rated.sum(axis=1) >= 2)
    units, raters = np.nonzero(is_rated[compared])
    # Pairs share a unit, and what they share is counted in clusters.
    rated = scipy.sparse.csr_matrix(
        (np.ones(len(units)), (units, raters)), shape=(len(compared), is_rated.shape[1])
    )
    clusters, of = renumbered(codes.clusters[compared])
    # Every unit its own cluster, the usual case: one sparse product counts all pairs.
    if len(clusters) == len(compared):
        shared = scipy.sparse.triu(rated.T @ rated, k=1).data
    else:
        shared = _shared_clusters(rated, of)
    return _thin(shared, len(clusters))


def thin_majorities(slots: Sums) -> ThinPairs | None:
    """How many clusters raters share with the majority of the others.

    `slots` (n_clusters, n_raters) are the numbers of a rater's labels with a majority of the
    others. The clusters are those with a slot. A rater without a slot does not count, since a mean
    over raters excludes them.

    >>> thin_majorities(np.array([[2, 1], [1, 0], [3, 0], [1, 0]]))
    ThinPairs(least=1, effective=1.6, is_of_majorities=True)
    """
    any_slot = np.asarray(slots.sum(axis=1)).ravel() > 0
    shared = np.asarray((slots > 0).sum(axis=0)).ravel()
    thin = _thin(shared[shared > 0], int(any_slot.sum()))
    return thin if thin is None else replace(thin, is_of_majorities=True)


def slots_of(sums: Sums, size: int) -> Sums:
    """The number of units of each table in each cluster, (n_clusters, k / size).

    >>> slots_of(np.array([[0, 0, 1, 0], [2, 1, 0, 2]]), 2)
    array([[0., 1.],
           [3., 2.]])
    """
    n_tables = sums.shape[1] // size
    of_table = np.repeat(np.arange(n_tables), size)
    columns = (np.ones(len(of_table)), (np.arange(len(of_table)), of_table))
    return sums @ scipy.sparse.csr_matrix(columns, shape=(len(of_table), n_tables))


def _thin(shared: Array, n_clusters: int) -> ThinPairs | None:
    """The rule, of the clusters that each pair shares and of all clusters."""
    if len(shared) < 2 or shared.min() >= min(FEWEST_SHARED, FEWEST_PART * n_clusters):
        return None
    # The harmonic mean: what is averaged over the pairs are variances of about 1 / n.
    return ThinPairs(int(shared.min()), float(len(shared) / (1 / shared).sum()))


def _shared_clusters(rated: scipy.sparse.csr_matrix, of: np.ndarray) -> np.ndarray:
    """How many clusters each pair shares a unit in, of pairs that share any."""
    n_raters = rated.shape[1]
    units, raters = rated.nonzero()
    raters = raters.astype(np.int64)
    pairs = [np.zeros(0, dtype=np.int64)]
    # A rater with the next of the same unit, with the next but one, and so on.
    for step in range(1, int(np.bincount(units, minlength=1).max())):
        is_pair = units[step:] == units[:-step]
        first, second = raters[:-step][is_pair], raters[step:][is_pair]
        # Cluster and pair in one whole number: these are sorted much faster than rows.
        pairs.append((of[units[step:][is_pair]] * n_raters + first) * n_raters + second)
    every = np.unique(np.concatenate(pairs))
    return np.unique(every % n_raters**2, return_counts=True)[1].astype(np.float64)


@dataclass(frozen=True)
class MeanBySize:
    """A finalise: each pair's value, averaged with the units that the pair shares as weights.

    sum(n_p v_p)/sum(n_p) over the pairs p for which the value v_p is defined, n_p the units both
    raters labelled. For percent agreement it is the share of agreeing pairs of labels among all.
    """

    each: Finalise
    """Totals (..., n_pairs * size) to the pairs' values (..., n_pairs)."""
    size: int
    """How many sums a pair has."""

    def __call__(self, totals: Array) -> Array:
        """Totals (..., n_pairs * size) to (..., 1); nan where no pair is defined."""
        values = self.each(totals)
        n = np.asarray(totals, dtype=np.float64).reshape(*values.shape, self.size).sum(-1)
        # A pair without a value must not weigh in the denominator either.
        n = np.where(np.isnan(values), 0.0, n)
        total = (n * np.where(np.isnan(values), 0.0, values)).sum(-1, keepdims=True)
        return ratio(total, n.sum(-1, keepdims=True))


def by_shared_units(statistic: Statistic, n_raters: int, n_labels: int) -> Statistic:
    """A statistic that is a mean over pairs of raters, with pairs weighted by the units they share.

    Sums: those of the statistic, pair_tables. Values: (..., 1). Without it each pair has the same
    weight, so that a pair with three common units counts as much as one with fifty. Source:
    convention.

    Example:
        >>> from konsil.stats.agreement.kappa import percent_agreement
        >>> tables = np.array([1.0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0])
        >>> by_shared_units(percent_agreement(3, 2), 3, 2).finalise(tables)
        array([0.5])
    """
    if isinstance(statistic.finalise, MeanOfTables):
        each: Finalise = statistic.finalise.each
    elif statistic.name in {"spearman", "kendall_tau_b"}:
        make = ranks.spearman if statistic.name == "spearman" else ranks.kendall_tau_b
        each = make(n_raters, n_labels, per_pair=True).finalise
    else:
        raise ValueError(f"{statistic.name}: expected a mean over pairs of raters")
    return Statistic(
        statistic.name, statistic.tally, MeanBySize(each, n_labels**2), statistic.source
    )
