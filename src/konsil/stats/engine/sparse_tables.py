"""Tallies as compressed sparse rows, for hundreds of raters or long scales.

Their memory is proportional to the number of labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy

from konsil.stats.engine.contract import Codes, IntArray


def sparse_pair_tables(codes: Codes) -> scipy.sparse.csr_matrix:
    """Tally pair_tables as a CSR matrix.

    The memory is proportional to the number of labels, not to the number of raters squared.

    Example:
        >>> codes = Codes(np.array([[0, 1], [1, 1]]), np.array([0, 0]), 2)
        >>> sparse_pair_tables(codes).toarray()
        array([[0., 1., 0., 1.]])
    """
    k, n_raters = codes.n_labels, codes.labels.shape[1]
    width = n_raters * (n_raters - 1) // 2 * k * k
    units, raters = np.nonzero(codes.labels >= 0)
    labels = codes.labels[units, raters].astype(np.int64)
    keys = []
    for first, second in together(units):
        a, b = raters[first].astype(np.int64), raters[second]
        pair = a * (2 * n_raters - a - 1) // 2 + b - a - 1
        cell = (pair * k + labels[first]) * k + labels[second]
        keys.append(codes.clusters[units[first]] * width + cell)
    return counted(keys, codes.n_clusters, width)


def counted(keys: Sequence[IntArray], n_clusters: int, width: int) -> scipy.sparse.csr_matrix:
    """How often each cell occurs, (n_clusters, width), of keys cluster * width + column.

    >>> counted([np.array([0, 3]), np.array([3])], 2, 2).toarray()
    array([[1., 0.],
           [0., 2.]])
    """
    cells, counts = np.unique(
        np.concatenate(keys) if keys else np.zeros(0, np.int64), return_counts=True
    )
    # Each cluster's first cell is found by its smallest key: the keys are sorted already.
    starts = np.searchsorted(cells, np.arange(n_clusters + 1, dtype=np.int64) * width)
    return scipy.sparse.csr_matrix(
        (counts.astype(np.float64), cells % max(width, 1), starts), (n_clusters, width)
    )


def sparse_coincidences(codes: Codes, per_unit: bool = False) -> scipy.sparse.csr_matrix:
    """Tally coincidences as a CSR matrix.

    The memory is proportional to the number of labels, not to the number of declared labels
    squared. `per_unit`: every unit's pairs sum to one, as in unit_agreement, and not to the number
    of its labels.

    Example:
        >>> sparse_coincidences(Codes(np.array([[0, 1, 1]]), np.array([0]), 2)).toarray()
        array([[0., 1., 1., 1.]])
    """
    k = codes.n_labels
    units, raters = np.nonzero(codes.labels >= 0)
    labels = codes.labels[units, raters].astype(np.int64)
    n_by_unit = np.bincount(units, minlength=len(codes.labels)).astype(np.float64)
    weight = 1 / np.maximum((n_by_unit - 1) * (n_by_unit if per_unit else 1.0), 1.0)
    shape = (codes.n_clusters, k * k)
    total = scipy.sparse.csr_matrix(shape)
    for first, second in together(units):
        a, b = labels[first], labels[second]
        cells, rows = (
            np.concatenate([a * k + b, b * k + a]),
            np.tile(codes.clusters[units[first]], 2),
        )
        total = total + scipy.sparse.csr_matrix(
            (np.tile(weight[units[first]], 2), (rows, cells)), shape=shape
        )
    return total


def together(units: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Every two entries of the same unit, as positions of the first and of the second.

    `units` is sorted, so that the entries of a unit are neighbours.
    """
    for step in range(1, len(units)):
        first = np.flatnonzero(units[step:] == units[:-step])
        if not first.size:
            return
        yield first, first + step
