"""Sums over clusters made ready for products: checked, collapsed to patterns, in the cheapest exact precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from konsil.stats.contract import Array, IntArray
from konsil.stats.weights import BLOCK, Weights, bootstrap_weights, pattern_weights

Sparse: TypeAlias = Any
"""Compressed sparse rows of SciPy; its published types do not fit all the SciPy versions we support."""
Sums: TypeAlias = "Array | Sparse"
"""(n_clusters, k): dense, or compressed sparse rows for wide tallies."""

_GROUP_BYTES = 4 << 20
_COLLAPSE = 32
"""Patterns are drawn where clusters outnumber them by so much: a binomial number costs some thirty uniform ones."""
_COLLAPSE_FROM = 1024


@dataclass(frozen=True, eq=False)
class Rows:
    """Sums made ready for products: checked, collapsed to patterns where that pays, in the cheapest exact precision."""

    patterns: Sums
    """(n_patterns, k) float64: the rows themselves, or each distinct row once."""
    counts: IntArray | None
    """(n_patterns,) how many clusters have this row; None where rows stand for themselves."""
    of_cluster: IntArray | None
    """(n_clusters,) each cluster's pattern; None where rows stand for themselves."""
    total: Array
    """(k,) the sum over all clusters."""
    largest: Array
    """(k,) the largest absolute entry of each column."""
    informative: int
    """How many clusters carry information: those whose row is not all zero."""
    factor: Sums
    """What draws' weights are multiplied with: float32 where exact, else float64."""
    exact: bool
    """Whether every possible total is exact in the factor's precision, so that any order of summing gives its bits."""
    n_clusters: int
    """How many clusters are resampled."""

    @property
    def k(self) -> int:
        """How many sums a cluster has."""
        return int(self.patterns.shape[1])

    @property
    def group(self) -> int:
        """How many draws `finalise` sees at once: from the sums' width alone, a multiple of a block."""
        return int(min(max(_GROUP_BYTES // (8 * max(self.k, 1)) // BLOCK, 1), 64)) * BLOCK

    @property
    def block(self) -> int:
        """How many draws are multiplied at once where sums round: from the patterns alone, a divisor of a block."""
        too_many = max(int(self.patterns.shape[0] - 1).bit_length() - 16, 0)
        return max(BLOCK >> too_many, 1)

    def expand(self, values: Array) -> Array:
        """Values of the patterns (n_patterns, ...) -> of the clusters (n_clusters, ...)."""
        return values if self.of_cluster is None else values[self.of_cluster]

    def dense(self, start: int, stop: int) -> Array:
        """Some patterns as a dense array (stop - start, k)."""
        some: Any = self.patterns[start:stop]
        out: Array = some.toarray() if _is_sparse(some) else np.asarray(some)
        return out

    def clusters(self) -> Array:
        """Every cluster's row, dense (n_clusters, k)."""
        return self.expand(self.dense(0, self.patterns.shape[0]))

    def draw(self, key: int, start: int, stop: int) -> Weights:
        """The weights of the draws start .. stop - 1, (stop - start, n_patterns), in the factor's precision."""
        if self.counts is None:
            return bootstrap_weights(key, self.n_clusters, start, stop, self.factor.dtype)
        return pattern_weights(key, self.counts, start, stop, self.factor.dtype)

    def product(self, weights: Weights) -> Array:
        """The totals (n, k), in double precision, of weights (n, n_patterns)."""
        if _is_sparse(self.factor):
            return np.asarray((self.factor.T @ weights.T).T, dtype=np.float64)
        return np.asarray(weights @ self.factor, dtype=np.float64)


def prepare(sums: Sums | Rows) -> Rows:
    """Sums (n_clusters, k) -> rows ready for products; what is drawn and how exactly follows from the sums alone."""
    if isinstance(sums, Rows):
        return sums
    if _is_sparse(sums):
        csr: Sparse = sparse.csr_array(sums, dtype=np.float64)
        _check(csr.shape, csr.data)
        largest = (
            np.asarray(abs(csr).max(axis=0).toarray(), dtype=np.float64).ravel() if csr.nnz else np.zeros(csr.shape[1])
        )
        exact, dtype = exact_precision(csr.data, float(largest.max(initial=0.0)) * csr.shape[0])
        filled = np.bincount(csr.nonzero()[0], minlength=csr.shape[0]) > 0
        total = np.asarray(csr.sum(axis=0), dtype=np.float64).ravel()
        factor = csr.astype(dtype)
        return Rows(csr, None, None, total, largest, int(filled.sum()), factor, exact, csr.shape[0])
    dense = np.ascontiguousarray(sums, dtype=np.float64)
    _check(dense.shape, dense)
    patterns, counts, of_cluster = _collapse(dense)
    largest = np.maximum(patterns.max(axis=0, initial=0.0), -patterns.min(axis=0, initial=0.0))
    exact, dtype = exact_precision(patterns, float(largest.max(initial=0.0)) * len(dense))
    filled = patterns.any(axis=1)
    informative = int(np.count_nonzero(filled)) if counts is None else int(counts[filled].sum())
    factor = patterns.astype(dtype, copy=False)
    return Rows(patterns, counts, of_cluster, dense.sum(axis=0), largest, informative, factor, exact, len(dense))


def _is_sparse(numbers: object) -> bool:
    return bool(sparse.issparse(numbers))


def _check(shape: tuple[int, ...], numbers: Array) -> None:
    if len(shape) != 2 or shape[0] < 1:
        raise ValueError(f"sums: got shape {shape}, expected (n_clusters, k) with at least one cluster")
    if not np.isfinite(numbers).all():
        raise ValueError("sums: got numbers that are not finite, expected finite sums (undefined belongs in finalise)")


def exact_precision(numbers: Array, bound: float) -> tuple[bool, type[np.floating[Any]]]:
    """Whether sums below `bound` are exact whatever their order, and in which precision.

    Multiples of 1/16 are exact in single precision below 2^24 / 16, in double precision below 2^53 / 16.
    """
    for scale in (1.0, 16.0):
        scaled = numbers * scale if scale != 1.0 else numbers
        if np.array_equal(scaled, np.rint(scaled)):
            if bound * scale < 2**24:
                return True, np.float32
            return bound * scale < 2**53, np.float64
    return False, np.float64


def _collapse(rows: Array) -> tuple[Array, IntArray | None, IntArray | None]:
    """Each distinct row once, how often, and each cluster's; or the rows as they are where that is no clear win."""
    n, k = rows.shape
    if n < _COLLAPSE_FROM or k == 0:
        return rows, None, None
    probe = rows[:: max(n // _COLLAPSE_FROM, 1)]
    if len(np.unique(_digests(probe))) > len(probe) // 2:
        return rows, None, None
    _, first, of_cluster, counts = np.unique(_digests(rows), return_index=True, return_inverse=True, return_counts=True)
    if len(first) * _COLLAPSE > n:
        return rows, None, None
    patterns = rows[first]
    step = max((1 << 18) // k, 1)
    if not all(np.array_equal(patterns[of_cluster[at : at + step]], rows[at : at + step]) for at in range(0, n, step)):
        return rows, None, None  # two different rows with one digest: rare, and then the rows stand for themselves
    return patterns, counts.astype(np.int64), of_cluster.astype(np.int64)


def _digests(rows: Array) -> NDArray[np.uint64]:
    """A 64-bit digest a row: equal rows have equal digests."""
    n, k = rows.shape
    factors = np.random.Generator(np.random.Philox(key=k)).integers(0, 2**63, k, dtype=np.uint64) * np.uint64(2)
    factors += np.uint64(1)
    out = np.empty(n, np.uint64)
    step = max((1 << 16) // k, 1)
    for at in range(0, n, step):
        words = (rows[at : at + step] + 0.0).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
        words ^= words >> np.uint64(29)
        words *= factors
        words ^= words >> np.uint64(32)
        out[at : at + step] = words.sum(axis=1, dtype=np.uint64)
    return out
