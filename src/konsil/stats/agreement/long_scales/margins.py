"""Tallies on long scales: disagreements and margins in place of tables of labels by labels.

A table of two raters has as many cells as the square of the number of labels, its margins twice the
number of labels. All sums are sparse: their memory is proportional to the number of ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import scipy

from konsil.stats.agreement.long_scales.disagreement import Disagreement, of_codes
from konsil.stats.engine.cluster_sums import Sparse
from konsil.stats.engine.contract import Array, Codes, IntArray
from konsil.stats.engine.sparse_tables import together

SHARED = ("unweighted", "linear", "quadratic", "within_one")
"""Disagreements that every tally of pairs and units has, so that statistics share it."""

Tally = Callable[[Codes], Sparse]
Kinds = tuple[str, ...]


def kinds_with(kind: str) -> Kinds:
    """The disagreements of the tally that has one.

    >>> kinds_with("linear"), kinds_with("radical")
    (('unweighted', 'linear', 'quadratic', 'within_one'), ('radical',))
    """
    return SHARED if kind in SHARED else (kind,)


@cache
def pair_margins(kinds: Kinds) -> Tally:
    """The tally of pairs of raters a < b over the units that both labelled.

    Columns: each pair's number n of units; for each kind each pair's sum of disagreements; each
    pair's counts of the labels of a, then of b: n_pairs (1 + n_kinds + 2 n_labels) columns.

    >>> codes = Codes(np.array([[0, 1], [2, 2]]), np.array([0, 1]), 3)
    >>> pair_margins(("linear",))(codes).toarray()
    array([[1. , 0.5, 1. , 0. , 0. , 0. , 1. , 0. ],
           [1. , 0. , 0. , 0. , 1. , 0. , 0. , 1. ]])
    """

    def tally(codes: Codes) -> Sparse:
        return pair_sums(codes, [of_codes(kind, codes) for kind in kinds])

    return tally


@cache
def unit_margins(kinds: Kinds) -> Tally:
    """The tally of units, each with the same weight, and of the raters' labels.

    Columns: units with at least two labels; for each kind the sum of their mean disagreements; the
    shares of labels of units with at least one; then every rater's counts of labels:
    1 + n_kinds + n_labels (1 + n_raters) columns.

    >>> codes = Codes(np.array([[0, 1], [2, -1]]), np.array([0, 1]), 3)
    >>> unit_margins(("linear",))(codes).toarray()
    array([[1. , 0.5, 0.5, 0.5, 0. , 1. , 0. , 0. , 0. , 1. , 0. ],
           [0. , 0. , 0. , 0. , 1. , 0. , 0. , 1. , 0. , 0. , 0. ]])
    """

    def tally(codes: Codes) -> Sparse:
        return unit_sums(codes, [of_codes(kind, codes) for kind in kinds])

    return tally


@cache
def paired_labels(kinds: Kinds) -> Tally:
    """The tally of Krippendorff's alpha over the units with at least two labels.

    Columns: for each kind the sum of the disagreements of ordered pairs, each over the unit's
    number of labels less one; then the counts of the labels.

    >>> codes = Codes(np.array([[0, 1, 1], [2, -1, -1]]), np.array([0, 1]), 3)
    >>> paired_labels(("unweighted",))(codes).toarray()
    array([[2., 1., 2., 0.],
           [0., 0., 0., 0.]])
    """

    def tally(codes: Codes) -> Sparse:
        return coincidence_sums(codes, [of_codes(kind, codes) for kind in kinds])

    return tally


def pair_sums(codes: Codes, kinds: Sequence[Disagreement]) -> Sparse:
    """The sums of `pair_margins` for some disagreements."""
    k, n_raters = codes.n_labels, codes.labels.shape[1]
    n_pairs = n_raters * (n_raters - 1) // 2
    first_margin = n_pairs * (1 + len(kinds))
    sums = _Sums(codes.n_clusters, first_margin + 2 * n_pairs * k)
    for clusters, raters, labels, _ in _pairs(codes):
        a, b = raters
        pair = a * (2 * n_raters - a - 1) // 2 + b - a - 1
        sums.add(clusters, pair, np.ones(len(pair)))
        for place, kind in enumerate(kinds, 1):
            sums.add(clusters, place * n_pairs + pair, kind.between(*labels))
        for side, label in enumerate(labels):
            column = first_margin + (side * n_pairs + pair) * k + label
            sums.add(clusters, column, np.ones(len(pair)))
    return sums.matrix()


def unit_sums(codes: Codes, kinds: Sequence[Disagreement]) -> Sparse:
    """The sums of `unit_margins` for some disagreements."""
    k, n_raters = codes.n_labels, codes.labels.shape[1]
    sums = _Sums(codes.n_clusters, 1 + len(kinds) + k * (1 + n_raters))
    n_given = _n_given(codes)
    twice = np.flatnonzero(n_given >= 2)
    sums.add(codes.clusters[twice], np.zeros(len(twice), np.int64), np.ones(len(twice)))
    for clusters, _, labels, units in _pairs(codes):
        weight = 2 / (n_given[units] * (n_given[units] - 1.0))
        for place, kind in enumerate(kinds, 1):
            sums.add(clusters, np.full(len(units), place), weight * kind.between(*labels))
    units, raters = np.nonzero(codes.labels >= 0)
    label = codes.labels[units, raters].astype(np.int64) + 1 + len(kinds)
    sums.add(codes.clusters[units], label, 1 / n_given[units])
    sums.add(codes.clusters[units], label + (1 + raters) * k, np.ones(len(units)))
    return sums.matrix()


def coincidence_sums(codes: Codes, kinds: Sequence[Disagreement]) -> Sparse:
    """The sums of `paired_labels` for some disagreements."""
    sums = _Sums(codes.n_clusters, len(kinds) + codes.n_labels)
    n_given = _n_given(codes)
    for clusters, _, labels, units in _pairs(codes):
        for place, kind in enumerate(kinds):
            disagreeing = 2 / (n_given[units] - 1.0) * kind.between(*labels)
            sums.add(clusters, np.full(len(units), place), disagreeing)
    units, raters = np.nonzero((codes.labels >= 0) & (n_given >= 2)[:, None])
    label = codes.labels[units, raters].astype(np.int64)
    sums.add(codes.clusters[units], len(kinds) + label, np.ones(len(units)))
    return sums.matrix()


def label_sums(codes: Codes) -> Sparse:
    """How often each label was given in each cluster, (n_clusters, n_labels).

    >>> label_sums(Codes(np.array([[0, 1], [2, -1]]), np.array([0, 1]), 3)).toarray()
    array([[1., 1., 0.],
           [0., 0., 1.]])
    """
    units, raters = np.nonzero(codes.labels >= 0)
    sums = _Sums(codes.n_clusters, codes.n_labels)
    sums.add(codes.clusters[units], codes.labels[units, raters], np.ones(len(units)))
    return sums.matrix()


class _Sums:
    """Entries that are added up to sparse rows."""

    def __init__(self, n_clusters: int, width: int) -> None:
        self._shape = (n_clusters, width)
        self._matrix: Sparse = scipy.sparse.csr_matrix(self._shape)

    def add(self, clusters: IntArray, columns: IntArray, numbers: Array) -> None:
        """Add numbers at clusters and columns; zeros are left out."""
        part: Any = scipy.sparse.csr_matrix((numbers, (clusters, columns)), shape=self._shape)
        part.eliminate_zeros()
        self._matrix = self._matrix + part

    def matrix(self) -> Sparse:
        """The rows, (n_clusters, width)."""
        return self._matrix


def _n_given(codes: Codes) -> IntArray:
    return np.asarray((codes.labels >= 0).sum(axis=1), dtype=np.int64)


def _pairs(
    codes: Codes,
) -> Iterator[tuple[IntArray, tuple[IntArray, IntArray], tuple[IntArray, IntArray], IntArray]]:
    """Two labels of a unit: clusters, the raters, the labels, and units; in parts."""
    units, raters = np.nonzero(codes.labels >= 0)
    labels = codes.labels[units, raters].astype(np.int64)
    for first, second in together(units):
        yield (
            codes.clusters[units[first]],
            (raters[first], raters[second]),
            (labels[first], labels[second]),
            units[first],
        )
