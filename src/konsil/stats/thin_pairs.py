"""Pairs of raters that share few of the units: what a mean over pairs with equal weight rests on there.

A pair that shares five units and agrees in all of them adds nothing to a variance that is taken from the labels, though
it has the weight of a pair that shares fifty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from konsil.stats.contract import Codes

FEWEST_SHARED = 50
"""A pair that shares at least so many clusters is not thin."""

FEWEST_PART = 0.5
"""Nor is one that shares at least this part of the clusters with two labels of a unit: such designs are all but
complete."""


@dataclass(frozen=True)
class ThinPairs:
    """How many clusters pairs of raters share, where some share few."""

    least: int
    """The clusters that the thinnest pair shares, of pairs that share any."""
    effective: float
    """The harmonic mean over pairs: the variance of their mean is as if every pair shared so many clusters."""

    @property
    def df(self) -> float:
        """Degrees of freedom of the mean over pairs."""
        return self.effective - 1


def thin_pairs(codes: Codes) -> ThinPairs | None:
    """What pairs of raters share; None where every pair shares much, and where there are fewer than two pairs.

    A pair is thin that shares fewer than FEWEST_SHARED clusters and less than FEWEST_PART of those that two raters of a
    unit labelled. Pairs that share nothing do not count, since they are left out of the mean.

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
    rated = scipy.sparse.csr_matrix((np.ones(len(units)), (units, raters)), shape=(len(compared), is_rated.shape[1]))
    clusters, of = np.unique(codes.clusters[compared], return_inverse=True)
    if len(clusters) == len(compared):
        shared = scipy.sparse.triu(rated.T @ rated, k=1).data
    else:
        shared = _shared_clusters(rated, of)
    if len(shared) < 2 or shared.min() >= min(FEWEST_SHARED, FEWEST_PART * len(clusters)):
        return None
    return ThinPairs(int(shared.min()), float(len(shared) / (1 / shared).sum()))


def _shared_clusters(rated: scipy.sparse.csr_matrix, of: np.ndarray) -> np.ndarray:
    """How many clusters each pair shares a unit in, of pairs that share any."""
    n_raters = rated.shape[1]
    pairs = []
    for unit in range(rated.shape[0]):
        raters = np.sort(rated.indices[rated.indptr[unit] : rated.indptr[unit + 1]]).astype(np.int64)
        first, second = np.triu_indices(len(raters), 1)
        pairs.append((of[unit] * n_raters + raters[first]) * n_raters + raters[second])
    every = np.unique(np.concatenate(pairs)) if pairs else np.zeros(0, dtype=np.int64)
    return np.unique(every % n_raters**2, return_counts=True)[1].astype(np.float64)
