"""Statistics of ranks on long scales, as functions of the units' weights.

Mid-ranks change with every resample, so that no few sums of a cluster decide them. The sums are
each cluster's units, of which there is one column each, and a resample's totals are the units'
weights. Their derivatives have closed forms: a unit moves the ranks of the labels above its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from konsil.stats.engine.arithmetic import WithGradient, ratio
from konsil.stats.engine.cluster_sums import Sparse
from konsil.stats.engine.contract import Array, Codes, IntArray


def compared(codes: Codes) -> Codes:
    """The units with at least two labels.

    >>> compared(Codes(np.array([[0, 1], [2, -1]]), np.array([0, 1]), 3)).labels.tolist()
    [[0, 1]]
    """
    units = np.flatnonzero((codes.labels >= 0).sum(axis=1) >= 2)
    return replace(codes, labels=codes.labels[units], clusters=codes.clusters[units])


def unit_members(codes: Codes) -> Sparse:
    """Tally which clusters the compared units are in, (n_clusters, n_units), one 1 a column.

    >>> unit_members(Codes(np.array([[0, 1], [2, -1], [1, 1]]), np.array([0, 1, 0]), 3)).toarray()
    array([[1., 1.],
           [0., 0.]])
    """
    clusters = compared(codes).clusters
    places = np.arange(len(clusters))
    shape = (codes.n_clusters, len(clusters))
    return scipy.sparse.csr_matrix((np.ones(len(clusters)), (clusters, places)), shape=shape)


def label_weights(labels: IntArray, n_labels: int, weights: Array) -> Array:
    """The weight of each label (..., n_labels), of labels (n_units, m), weights (..., n_units).

    >>> label_weights(np.array([[0, 1], [1, -1]]), 2, np.array([2.0, 1.0]))
    array([2., 3.])
    """
    units, places = np.nonzero(labels >= 0)
    member = scipy.sparse.csr_matrix(
        (np.ones(len(units)), (units, labels[units, places])), shape=(len(labels), n_labels)
    )
    *leading, n_units = np.shape(weights)
    flat = np.reshape(weights, (math.prod(leading), n_units))
    counts = np.asarray((member.T @ flat.T).T, dtype=np.float64)
    return counts.reshape(*np.shape(weights)[:-1], n_labels)


def centred_ranks(counts: Array) -> Array:
    """Mid-ranks of the labels around their mean, (..., n_labels).

    >>> centred_ranks(np.array([1.0, 2.0]))
    array([-1. ,  0.5])
    """
    return np.asarray(np.cumsum(counts, -1) - counts / 2 - counts.sum(-1, keepdims=True) / 2)


def through_ranks(slopes: Array) -> Array:
    """Derivatives by the labels' counts from those by their mid-ranks, (n_labels,) each.

    A label's rank is the counts below it and half its own.

    >>> through_ranks(np.array([1.0, 2.0, 4.0]))
    array([6.5, 5. , 2. ])
    """
    above = np.cumsum(slopes[::-1])[::-1]
    return np.asarray(above - slopes / 2)


def squares(counts: Array, ranks: Array) -> Array:
    """The sum of squares of ranks, (..., n_labels) to (...,)."""
    return np.asarray((counts * ranks * ranks).sum(-1))


def squares_slopes(counts: Array, ranks: Array) -> Array:
    """Its derivatives by the counts, (n_labels,)."""
    return np.asarray(ranks * ranks + through_ranks(2 * counts * ranks))


@dataclass(frozen=True, eq=False)
class Concordance(WithGradient):
    """Kendall's W over the units that every rater labelled; totals (..., n_units).

    sum of squared rank sums over raters times the raters' sums of squared ranks, all around their
    means: the same number as `engine.ranks.kendall_w` with ties. Values (..., 1). Source: Kendall
    1948.
    """

    labels: IntArray
    """(n_units, n_raters) of the compared units."""
    n_labels: int
    """Labels of the scale."""

    def __call__(self, totals: Array) -> Array:
        """Compute W, (..., n_units) to (..., 1)."""
        units = self._complete()
        weights = totals[..., units]
        sums, within = np.zeros(weights.shape), np.zeros(weights.shape[:-1])
        for column in self.labels[units].T:
            counts = label_weights(column[:, None], self.n_labels, weights)
            ranks = centred_ranks(counts)
            sums += ranks[..., column]
            within += squares(counts, ranks)
        n_raters = self.labels.shape[1]
        enough = (weights.sum(-1) > 1) & (n_raters > 1)
        above = (weights * sums * sums).sum(-1)
        return ratio(above, n_raters * np.where(enough, within, 0.0))[..., None]

    def gradient(self, totals: Array) -> Array:
        """The derivatives by the units' weights, (n_units,) to (n_units, 1)."""
        value = float(self(totals)[0])
        out = np.zeros((len(totals), 1))
        units = self._complete()
        weights, labels = totals[units], self.labels[units]
        counts = [label_weights(c[:, None], self.n_labels, weights) for c in labels.T]
        ranks = [centred_ranks(c) for c in counts]
        sums: Array = np.sum([r[c] for r, c in zip(ranks, labels.T, strict=True)], axis=0)
        above, within = sums * sums, np.zeros(len(units))
        for column, of_label, rank in zip(labels.T, counts, ranks, strict=True):
            pulled = np.bincount(column, 2 * weights * sums, self.n_labels)
            above += through_ranks(np.asarray(pulled, dtype=np.float64))[column]
            within += squares_slopes(of_label, rank)[column]
        n_raters = self.labels.shape[1]
        total = sum(float(squares(c, r)) for c, r in zip(counts, ranks, strict=True))
        out[units, 0] = (above / n_raters - value * within) / total
        return out if np.isfinite(value) else np.full_like(out, np.nan)

    def _complete(self) -> IntArray:
        return np.flatnonzero((self.labels >= 0).all(axis=1))


@dataclass(frozen=True, eq=False)
class OrdinalAlpha(WithGradient):
    """Krippendorff's ordinal alpha: interval alpha of the pooled mid-ranks; totals (..., n_units).

    1 - (n - 1) O/(n V): v the mid-ranks of the labels among those of units with two and more, V
    their sum of squares around their mean, O = sum over units (m sum v^2 - (sum v)^2)/(m - 1), m
    the unit's number of labels. Values (..., 1). Source: Krippendorff 2011.
    """

    labels: IntArray
    """(n_units, n_raters) of the compared units."""
    n_labels: int
    """Labels of the scale."""

    def __call__(self, totals: Array) -> Array:
        """Compute alpha, (..., n_units) to (..., 1)."""
        counts = label_weights(self.labels, self.n_labels, totals)
        ranks, n = centred_ranks(counts), counts.sum(-1)
        observed = (totals * self._within(ranks)).sum(-1)
        defined = (n > 1) & ((counts > 0).sum(-1) > 1)
        expected = n * squares(counts, ranks)
        return np.asarray(
            1 - ratio((n - 1) * observed, np.where(defined, expected, 0.0))[..., None]
        )

    def gradient(self, totals: Array) -> Array:
        """The derivatives by the units' weights, (n_units,) to (n_units, 1)."""
        counts = label_weights(self.labels, self.n_labels, totals)
        ranks, n = centred_ranks(counts), counts.sum()
        within, total = self._within(ranks), float(squares(counts, ranks))
        observed = float(totals @ within)
        if not np.isfinite(self(totals)[0]):
            return np.full((len(totals), 1), np.nan)
        is_given = self.labels >= 0
        m = is_given.sum(axis=1, keepdims=True)
        v = np.where(is_given, ranks[self.labels], 0.0)
        pull = 2 * (totals[:, None] / (m - 1)) * (m * v - v.sum(axis=1, keepdims=True))
        pulled = np.bincount(self.labels[is_given], pull[is_given], self.n_labels)
        by_label = through_ranks(np.asarray(pulled, dtype=np.float64))
        more = np.where(is_given, by_label[self.labels], 0.0).sum(axis=1) + within
        by_rank = squares_slopes(counts, ranks)
        spread = np.where(is_given, by_rank[self.labels], 0.0).sum(axis=1)
        factor = (n - 1) / n
        slopes = factor * (more / total - observed / total**2 * spread)
        slopes += m[:, 0] / n**2 * observed / total
        return np.asarray(-slopes[:, None])

    def _within(self, ranks: Array) -> Array:
        """Each unit's disagreement, (..., n_units)."""
        is_given = self.labels >= 0
        m = is_given.sum(axis=1)
        v = np.where(is_given, ranks[..., self.labels], 0.0)
        return np.asarray((m * (v * v).sum(-1) - v.sum(-1) ** 2) / np.maximum(m - 1, 1))
