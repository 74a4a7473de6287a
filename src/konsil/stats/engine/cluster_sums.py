"""Sums over clusters made ready for products: checked, exact, collapsed to patterns.

Every total of every draw is exact, so its bits depend neither on the order of summing nor on tiles,
threads or the shapes of products. Whole numbers are so by themselves, in single precision while no
total can pass 2^24, else in double precision. Fractions are first rounded to a grid, a power of two
for each column: so fine that an entry moves by less than 2^-53 of the largest total possible, and
so coarse that no total needs more than 53 bits.

For the same reason a wide product may be made in parts without changing a bit: equal columns once,
and the columns that are exact in single precision in single precision, beside those that are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.engine.weights import BLOCK, Weights, bootstrap_weights, pattern_weights

Sparse: TypeAlias = Any
"""Compressed sparse rows of SciPy; the published types do not fit all supported SciPy versions."""
Sums: TypeAlias = "Array | Sparse"
"""(n_clusters, k): dense, or compressed sparse rows for wide tallies."""

_GROUP_BYTES = 4 << 20
_COLLAPSE = 32
"""Patterns are sampled where there are this many clusters a pattern: a binomial number costs about
as much as thirty uniform ones."""
_COLLAPSE_FROM = 1024
_PARTS = 16.0
"""Fractions are exact as they are where they are multiples of one sixteenth."""
_SPLIT_FROM = 1024
"""Patterns from which on equal columns are looked for: below, a product costs no more than that."""


@dataclass(frozen=True, eq=False)
class Factor:
    """Patterns as draws' weights are multiplied with them, in the cheapest exact precision."""

    first: Sums
    """(n_patterns, a) the columns that decide the weights' precision: float32 where that is exact,
    else float64."""
    second: Array | None = None
    """(n_patterns, b) float64: columns that single precision would round, where others need no
    more."""
    places: IntArray | None = None
    """(k,) each sum's place among the columns of both; None where they are in order."""

    @property
    def dtype(self) -> np.dtype[np.floating[Any]]:
        """The precision of the weights."""
        return np.dtype(self.first.dtype)

    def of(self, patterns: slice) -> Factor:
        """Some of the patterns."""
        second = None if self.second is None else self.second[patterns]
        return Factor(self.first[patterns], second, self.places)

    def product(self, weights: Weights) -> Array:
        """The totals (n, k), in double precision, of weights (n, n_patterns)."""
        if _is_sparse(self.first):
            return np.asarray((self.first.T @ weights.T).T, dtype=np.float64)
        totals = np.asarray(weights @ self.first, dtype=np.float64)
        if self.second is not None:
            totals = np.concatenate([totals, weights.astype(np.float64) @ self.second], axis=1)
        # `take` lays the totals out row by row, as a plain product does: in another layout, sums of
        # their columns would be rounded otherwise.
        return totals if self.places is None else np.take(totals, self.places, axis=1)


@dataclass(frozen=True, eq=False)
class Rows:
    """Sums ready for products: checked, in the cheapest exact precision.

    Equal rows are collapsed to patterns where that is faster.
    """

    patterns: Sums
    """(n_patterns, k) float64, on the grid: the rows themselves, or each distinct row once."""
    counts: IntArray | None
    """(n_patterns,) how many clusters have this row; None where rows stand for themselves."""
    of_cluster: IntArray | None
    """(n_clusters,) each cluster's pattern; None where rows stand for themselves."""
    total: Array
    """(k,) the sum over all clusters."""
    largest: Array
    """(k,) the largest absolute entry of each column."""
    informative: int
    """The number of clusters with information: those whose row is not all zero."""
    dtype: type[np.floating[Any]]
    """The cheapest precision in which all sums are exact."""
    n_clusters: int
    """How many clusters are resampled."""

    @cached_property
    def factor(self) -> Factor:
        """The patterns as weights are multiplied with them; only resampling needs it."""
        if _is_sparse(self.patterns) or len(self.patterns) < _SPLIT_FROM:
            return Factor(self.patterns.astype(self.dtype, copy=False))
        return _factor(np.asarray(self.patterns), self.n_clusters * self.largest, self.dtype)

    @cached_property
    def is_informative(self) -> NDArray[np.bool_]:
        """(n_patterns,) whether a pattern's row is not all zero."""
        if _is_sparse(self.patterns):
            return np.asarray(abs(self.patterns).sum(axis=1)).ravel() > 0
        return np.asarray(self.patterns.any(axis=1))

    @property
    def k(self) -> int:
        """How many sums a cluster has."""
        return int(self.patterns.shape[1])

    @property
    def group(self) -> int:
        """How many draws `finalise` sees at once.

        It follows from the sums' width alone and is a multiple of a block.
        """
        return int(min(max(_GROUP_BYTES // (8 * max(self.k, 1)) // BLOCK, 1), 64)) * BLOCK

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
        """The weights of the draws start .. stop - 1, (stop - start, n_patterns).

        They have the factor's precision.
        """
        if self.counts is None:
            return bootstrap_weights(key, self.n_clusters, start, stop, self.factor.dtype)
        return pattern_weights(key, self.counts, start, stop, self.factor.dtype)

    def product(self, weights: Weights) -> Array:
        """The totals (n, k), in double precision, of weights (n, n_patterns)."""
        return self.factor.product(weights)


def _factor(patterns: Array, bounds: Array, dtype: type[np.floating[Any]]) -> Factor:
    """Each distinct column once, and in single precision those that are exact in it.

    `bounds` (k,) are the largest totals possible.
    """
    columns = np.ascontiguousarray(patterns.T)
    _, first, places = np.unique(_digests(columns), return_index=True, return_inverse=True)
    if not np.array_equal(columns[first][places], columns):
        # Two different columns with one digest: rare, and then each stands for itself.
        first = places = np.arange(len(columns))
    distinct = columns[first]
    is_single = np.full(len(first), dtype is np.float32)
    if dtype is not np.float32:
        scaled = distinct * _PARTS
        is_single = (scaled == np.rint(scaled)).all(axis=1) & (bounds[first] * _PARTS < 2**24)
    if not is_single.any():
        return Factor(_by_pattern(distinct, np.float64), None, places)
    singles, doubles = np.flatnonzero(is_single), np.flatnonzero(~is_single)
    order = np.argsort(np.concatenate([singles, doubles]))
    second = _by_pattern(distinct[doubles], np.float64) if len(doubles) else None
    return Factor(_by_pattern(distinct[singles], np.float32), second, order[places])


def _by_pattern(columns: Array, dtype: type[np.floating[Any]]) -> Array:
    out: Array = np.ascontiguousarray(columns.T, dtype=dtype)
    return out


def prepare(sums: Sums | Rows) -> Rows:
    """Rows ready for products from sums (n_clusters, k).

    The pattern of sampling and the precision follow from the sums alone.
    """
    if isinstance(sums, Rows):
        return sums
    if _is_sparse(sums):
        return _prepare_sparse(scipy.sparse.csr_array(sums, dtype=np.float64))
    dense = np.ascontiguousarray(sums, dtype=np.float64)
    _check(dense.shape, dense)
    n = len(dense)
    patterns, counts, of_cluster = _collapse(dense)
    largest = np.maximum(patterns.max(axis=0, initial=0.0), -patterns.min(axis=0, initial=0.0))
    dtype = exact_precision(patterns, n * float(largest.max(initial=0.0)))
    if dtype is None:
        patterns, dtype = on_grid(patterns, n * largest), np.float64
    filled = patterns.any(axis=1)
    informative = int(np.count_nonzero(filled)) if counts is None else int(counts[filled].sum())
    total = patterns.sum(axis=0) if counts is None else counts.astype(np.float64) @ patterns
    return Rows(
        patterns,
        counts,
        of_cluster,
        total,
        largest,
        informative,
        dtype,
        n,
    )


def _prepare_sparse(rows: Sparse) -> Rows:
    _check(rows.shape, rows.data)
    n, k = rows.shape
    largest = np.zeros(k)
    np.maximum.at(largest, rows.indices, np.abs(rows.data))
    dtype = exact_precision(rows.data, n * float(largest.max(initial=0.0)))
    if dtype is None:
        entries = on_grid(rows.data, n * largest[rows.indices])
        rows, dtype = (
            scipy.sparse.csr_array((entries, rows.indices, rows.indptr), shape=(n, k)),
            np.float64,
        )
    filled = np.bincount(rows.nonzero()[0], minlength=n) > 0
    total = np.asarray(rows.sum(axis=0), dtype=np.float64).ravel()
    return Rows(rows, None, None, total, largest, int(filled.sum()), dtype, n)


def _is_sparse(numbers: object) -> bool:
    return bool(scipy.sparse.issparse(numbers))


def _check(shape: tuple[int, ...], numbers: Array) -> None:
    if len(shape) != 2 or shape[0] < 1:
        raise ValueError(
            f"sums: got shape {shape}, expected (n_clusters, k) with at least one cluster"
        )
    if not np.isfinite(numbers).all():
        raise ValueError(
            "sums: got numbers that are not finite, expected finite sums (undefined belongs in"
            " finalise)"
        )


def exact_precision(numbers: Array, bound: float) -> type[np.floating[Any]] | None:
    """The cheapest precision in which no sum up to `bound` is rounded; None if none is.

    Multiples of 1/16 are exact in single precision up to 2^24 / 16, in double precision up to 2^53
    / 16.
    """
    for scale in (1.0, _PARTS):
        scaled = numbers * scale if scale != 1.0 else numbers
        if np.array_equal(scaled, np.rint(scaled)):
            if bound * scale < 2**24:
                return np.float32
            return np.float64 if bound * scale < 2**53 else None
    return None


def on_grid(numbers: Array, bounds: Array) -> Array:
    """The numbers rounded to the finest power of two at which sums up to `bounds` have 53 bits.

    `numbers` and `bounds` broadcast.

    >>> third = on_grid(np.array([1 / 3]), np.array([1000.0]))
    >>> bool(abs(third[0] - 1 / 3) < 1e-13), bool(sum([third[0]] * 3000) == third[0] * 3000)
    (True, True)
    """
    exponents = 53 - np.frexp(bounds)[1]
    return np.asarray(np.ldexp(np.rint(np.ldexp(numbers, exponents)), -exponents))


def _collapse(rows: Array) -> tuple[Array, IntArray | None, IntArray | None]:
    """Each distinct row once, its number of clusters, and each cluster's pattern.

    The rows are unchanged where collapsing them is no clear gain.
    """
    n, k = rows.shape
    if n < _COLLAPSE_FROM or k == 0:
        return rows, None, None
    probe = rows[:: max(n // _COLLAPSE_FROM, 1)]
    if len(np.unique(_digests(probe))) > len(probe) // 2:
        return rows, None, None
    _, first, of_cluster, counts = np.unique(
        _digests(rows), return_index=True, return_inverse=True, return_counts=True
    )
    if len(first) * _COLLAPSE > n:
        return rows, None, None
    patterns = rows[first]
    step = max((1 << 18) // k, 1)
    if not all(
        np.array_equal(patterns[of_cluster[at : at + step]], rows[at : at + step])
        for at in range(0, n, step)
    ):
        # Two different rows with one digest: rare, and then the rows stand for themselves.
        return (
            rows,
            None,
            None,
        )
    return patterns, counts.astype(np.int64), of_cluster.astype(np.int64)


def _digests(rows: Array) -> NDArray[np.uint64]:
    """A 64-bit digest a row: equal rows have equal digests."""
    n, k = rows.shape
    factors = np.random.Generator(np.random.Philox(key=k)).integers(
        0, 2**63, k, dtype=np.uint64
    ) * np.uint64(2)
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
