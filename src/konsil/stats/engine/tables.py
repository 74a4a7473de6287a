"""Tallies: what each cluster adds to the sums that the agreement statistics are functions of.

Every tally is a module-level function of the codes, so statistics that share one are tallied once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from konsil.stats.engine.contract import Array, Codes, IntArray
from konsil.stats.engine.sparse_tables import counted, sparse_coincidences, sparse_pair_tables

DENSE_CELLS = 1 << 24
"""A tally of pair tables with more cells than this comes as a sparse matrix: 128 MB of doubles."""
MOST_CELLS = 1 << 27
"""A tally of tables of few labels is dense up to a gigabyte, since its rows are mostly equal ones,
which are resampled together."""
FEW_LABELS = 5
"""As many labels are few."""
_CHUNK = 1 << 22  # labels handled at a time: keeps the index arrays in tens of megabytes


def unit_counts(codes: Codes) -> IntArray:
    """Count how many raters gave each label to each unit, (n_units, n_labels).

    Example:
        >>> unit_counts(Codes(np.array([[0, 1, 1], [-1, 0, -1]]), np.array([0, 1]), 2))
        array([[1, 2],
               [1, 0]])
    """
    (n_units, n_raters), width = codes.labels.shape, codes.n_labels + 1
    counts = np.empty((n_units, width), dtype=np.int64)
    step = max(1, _CHUNK // max(n_raters, 1))
    for start in range(0, n_units, step):
        labels = codes.labels[start : start + step]
        # One column further right: missing labels (-1) go to a first one that is cut off below.
        index = labels + (np.arange(len(labels), dtype=np.int64) * width + 1)[:, None]
        counts[start : start + step] = np.bincount(
            index.ravel(), minlength=len(labels) * width
        ).reshape(-1, width)
    return counts[:, 1:]


def by_cluster(rows: NDArray[np.generic], codes: Codes) -> Array:
    """Add up the units' rows inside their clusters: (n_units, k) to (n_clusters, k)."""
    n_units, n_clusters = codes.clusters.size, codes.n_clusters
    # Every unit its own cluster: the sums are the rows themselves.
    if n_units == n_clusters and np.array_equal(codes.clusters, np.arange(n_units)):
        return np.asarray(rows, dtype=np.float64)
    member = scipy.sparse.csr_matrix(
        (np.ones(n_units), codes.clusters, np.arange(n_units + 1)), shape=(n_units, n_clusters)
    )
    return np.asarray(member.T @ np.asarray(rows, dtype=np.float64), dtype=np.float64)


def table_counts(
    first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]], codes: Codes
) -> Array:
    """Cross-tabulate columns of labels pair by pair, inside clusters.

    first, second: (n_units, n_pairs), -1 where there is no label, which leaves the unit out of that
    pair's table. Returns (n_clusters, n_pairs * n_labels * n_labels); rows of a table belong to
    `first`. A scipy CSR matrix of the same shape where the dense one would pass DENSE_CELLS, or
    MOST_CELLS with at most FEW_LABELS labels.
    """
    k, (n_units, n_pairs) = codes.n_labels, first.shape
    width = n_pairs * k * k
    size = codes.n_clusters * width
    is_sparse = size > (MOST_CELLS if k <= FEW_LABELS else DENSE_CELLS)
    offsets = np.arange(n_pairs, dtype=np.int64) * (k * k)
    step = max(1, _CHUNK // max(n_pairs, 1))
    total = np.zeros(0 if is_sparse else size)
    keys = []
    for start in range(0, n_units, step):
        rows = slice(start, start + step)
        a, b = first[rows], second[rows]
        index = (codes.clusters[rows, None] * width + offsets) + a * np.int64(k) + b
        # Complete tables, the usual case, need no masks.
        if min(a.min(initial=0), b.min(initial=0)) < 0:
            index = index[(a >= 0) & (b >= 0)]
        if is_sparse:
            keys.append(index.ravel())
        else:
            np.add.at(total, index.ravel(), 1.0)
    if is_sparse:
        return cast("Array", counted(keys, codes.n_clusters, width))
    return total.reshape(codes.n_clusters, width)


def pair_tables(codes: Codes) -> Array:
    """Tally one contingency table for every two raters a < b, over the units both labelled.

    Returns (n_clusters, n_pairs * n_labels * n_labels), pairs in the order of
    itertools.combinations, rater a in a table's rows; a scipy CSR matrix of the same shape where
    the dense one would pass DENSE_CELLS.

    Example:
        >>> pair_tables(Codes(np.array([[0, 1], [1, 1], [1, -1]]), np.array([0, 0, 1]), 2))
        array([[0., 1., 0., 1.],
               [0., 0., 0., 0.]])
    """
    n_raters = codes.labels.shape[1]
    n_pairs = n_raters * (n_raters - 1) // 2
    if codes.n_clusters * n_pairs * codes.n_labels**2 > DENSE_CELLS:
        return cast("Array", sparse_pair_tables(codes))
    first, second = np.triu_indices(n_raters, 1)
    if codes.labels.shape[0] * n_pairs <= _CHUNK:
        return table_counts(codes.labels[:, first], codes.labels[:, second], codes)
    sums = np.zeros((codes.n_clusters, n_pairs, codes.n_labels**2))
    for pair in range(n_pairs):
        # Few pairs of very many units: one pair at a time keeps the memory bounded.
        a, b = first[pair], second[pair]
        table = table_counts(codes.labels[:, a : a + 1], codes.labels[:, b : b + 1], codes)
        sums[:, pair] = table
    return sums.reshape(codes.n_clusters, -1)


def coincidences(codes: Codes) -> Array:
    """Tally Krippendorff's coincidence matrix.

    Every ordered pair of a unit's labels weighs 1 / (its number of labels - 1). Returns
    (n_clusters, n_labels * n_labels), a scipy CSR matrix where the dense one would pass
    DENSE_CELLS; units with fewer than two labels add nothing. Source: Krippendorff, Computing
    Krippendorff's Alpha-Reliability, 2011.

    Example:
        >>> coincidences(Codes(np.array([[0, 1, 1]]), np.array([0]), 2))
        array([[0., 1., 1., 1.]])
    """
    n_units, k = len(codes.labels), codes.n_labels
    if max(n_units, codes.n_clusters) * k * k > DENSE_CELLS:
        return _dense_if_small(sparse_coincidences(codes))
    counts = unit_counts(codes)
    n_given = counts.sum(1)
    return by_cluster(_ordered_pairs(counts, np.maximum(n_given - 1, 1)), codes)


def unit_agreement(codes: Codes) -> Array:
    """Tally pairs of labels and proportions of labels, with equal weight for every unit.

    Returns (n_clusters, n_labels * n_labels + n_labels): ordered pairs of labels as shares of the
    unit's pairs (units with at least two labels), then the shares of the unit's labels (units with
    at least one). Source: Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, chapter 2.

    Example:
        >>> unit_agreement(Codes(np.array([[0, 1], [1, -1]]), np.array([0, 1]), 2))
        array([[0. , 0.5, 0.5, 0. , 0.5, 0.5],
               [0. , 0. , 0. , 0. , 0. , 1. ]])
    """
    counts = unit_counts(codes)
    n_given = counts.sum(1)
    shares = counts / np.maximum(n_given, 1)[:, None]
    if max(len(counts), codes.n_clusters) * codes.n_labels**2 > DENSE_CELLS:
        pair_shares = sparse_coincidences(codes, per_unit=True)
        return _dense_if_small(
            scipy.sparse.hstack(
                [pair_shares, scipy.sparse.csr_matrix(by_cluster(shares, codes))], format="csr"
            )
        )
    pairs = _ordered_pairs(counts, np.maximum(n_given * (n_given - 1), 1))
    return by_cluster(np.hstack([pairs, shares]), codes)


def unit_agreement_and_margins(codes: Codes) -> Array:
    """Tally unit_agreement, followed by each rater's label counts.

    Returns (n_clusters, n_labels * n_labels + n_labels + n_raters * n_labels).

    Example:
        >>> unit_agreement_and_margins(Codes(np.array([[0, 1]]), np.array([0]), 2))[0, 6:]
        array([1., 0., 0., 1.])
    """
    agreement, margins = unit_agreement(codes), rater_margins(codes)
    if scipy.sparse.issparse(agreement):
        blocks: list[Any] = [agreement, scipy.sparse.csr_matrix(margins)]
        return cast("Array", scipy.sparse.hstack(blocks, format="csr"))
    return np.hstack([agreement, margins])


def rater_margins(codes: Codes) -> Array:
    """Tally how often each rater gave each label, (n_clusters, n_raters * n_labels).

    Example:
        >>> rater_margins(Codes(np.array([[0, 1], [-1, 1]]), np.array([0, 0]), 2))
        array([[1., 0., 0., 2.]])
    """
    width = codes.labels.shape[1] * codes.n_labels
    units, raters = np.nonzero(codes.labels >= 0)
    index = codes.clusters[units] * width + raters * codes.n_labels + codes.labels[units, raters]
    counts = np.bincount(index, minlength=codes.n_clusters * width)
    return counts.reshape(codes.n_clusters, width).astype(np.float64)


def complete(codes: Codes) -> Codes:
    """Blank every unit that a rater left out, so that all raters are compared on the same units.

    Example:
        >>> complete(Codes(np.array([[0, 1], [-1, 1]]), np.array([0, 1]), 2)).labels
        array([[ 0,  1],
               [-1, -1]])
    """
    missing = (codes.labels < 0).any(1, keepdims=True)
    labels = np.where(missing, -1, codes.labels) if missing.any() else codes.labels
    return replace(codes, labels=labels)


def complete_pair_tables(codes: Codes) -> Array:
    """Tally pair_tables over the units that every rater labelled.

    Example:
        >>> complete_pair_tables(Codes(np.array([[0, 1], [-1, 1]]), np.array([0, 0]), 2))
        array([[0., 1., 0., 0.]])
    """
    return pair_tables(complete(codes))


@cache
def unanimity_sums(tolerance: int) -> Callable[[Codes], Array]:
    """Return the tally of close units and of complete units, (n_clusters, 2).

    The labels of a close unit span at most `tolerance` scale points.

    Example:
        >>> unanimity_sums(0)(Codes(np.array([[0, 1], [1, 1]]), np.array([0, 0]), 2))
        array([[1., 2.]])
    """

    def tally(codes: Codes) -> Array:
        is_complete = (codes.labels >= 0).all(1)
        close = is_complete & (np.ptp(codes.labels, axis=1) <= tolerance)
        return by_cluster(np.column_stack([close, is_complete]), codes)

    return tally


def identity(codes: Codes) -> Array:
    """Tally the identity, so that finalise takes the clusters' weights themselves.

    There is one column a cluster.

    Returns the identity of n_clusters as a scipy CSR matrix.

    Example:
        >>> identity(Codes(np.array([[0], [1]]), np.array([0, 1]), 2)).toarray()
        array([[1., 0.],
               [0., 1.]])
    """
    return cast("Array", scipy.sparse.identity(codes.n_clusters, format="csr"))


def table_margins(tables: Array, n_labels: int) -> tuple[Array, Array, Array]:
    """Row sums (..., k), column sums (..., k) and totals (...,) of flat tables (..., k * k).

    >>> rows, columns, n = table_margins(np.array([20.0, 5.0, 10.0, 15.0]), 2)
    >>> rows, columns, float(n)
    (array([25., 25.]), array([30., 20.]), 50.0)
    """
    cells = np.asarray(tables).reshape(*np.shape(tables)[:-1], n_labels, n_labels)
    # Ten times as fast as `sum` along short axes.
    rows = np.einsum("...ij->...i", cells)
    return rows, np.einsum("...ij->...j", cells), np.einsum("...i->...", rows)


def label_counts(codes: Codes) -> IntArray:
    """Count how often each label was given, (n_labels,).

    >>> label_counts(Codes(np.array([[0, 1, 1], [-1, 0, -1]]), np.array([0, 1]), 2))
    array([2, 2])
    """
    return np.bincount(codes.labels.ravel() + 1, minlength=codes.n_labels + 1)[1:]


def _dense_if_small(sums: scipy.sparse.csr_matrix) -> Array:
    dense = sums.shape[0] * sums.shape[1] <= DENSE_CELLS
    return np.asarray(sums.toarray(), dtype=np.float64) if dense else cast("Array", sums)


def _ordered_pairs(counts: IntArray, divisor: IntArray) -> Array:
    """Ordered pairs of different raters' labels, divided; (n_units, n_labels * n_labels)."""
    n_units, k = counts.shape
    scaled = counts / divisor[:, None]
    pairs = scaled[:, :, None] * counts[:, None, :]
    diagonal = np.arange(k)
    # A label makes no pair with itself.
    pairs[:, diagonal, diagonal] -= scaled
    return np.asarray(pairs.reshape(n_units, k * k), dtype=np.float64)
