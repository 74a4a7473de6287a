"""Permutation tests that flip the signs of whole clusters.

Exact where enumeration or convolution is cheap, otherwise Monte Carlo with (b + 1) / (B + 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from konsil.stats.engine.blocks import in_draws
from konsil.stats.engine.cluster_sums import exact_precision, on_grid
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.engine.weights import BLOCK, draw_blocks, random_signs

_ENUMERATE = 16
"""Up to this many clusters, all sign patterns are enumerated: 65,536, as many as a large Monte
Carlo sample."""
_CONVOLVE = 50_000_000
"""Up to this many operations, the exact null distribution of whole-number rows is computed."""
_TILE_BYTES = 4 << 20


@dataclass(frozen=True, eq=False)
class Flips:
    """Two-sided p values of a sign-flip test, one for each column."""

    p: Array
    """(m,) p values; never 0."""
    value: Array
    """(m,) the observed sums."""
    method: tuple[Literal["convolution", "enumeration", "monte-carlo", "undefined"], ...]
    """(m,) the method of each p value."""
    draws: int
    """The number of sign patterns of the Monte Carlo columns; 0 where there are none."""


def flip_test(
    differences: Array, *, draws: int = 10_000, key: int = 0, exact: bool | None = None
) -> Flips:
    """Test whether the clusters' differences sum to zero, by flipping whole clusters' signs.

    p = P(|sum of +-d_c| >= |sum of d_c|), each sign + or - with probability 1/2. `differences`
    (n_clusters, m). A column of whole numbers is exact by convolution of its clusters' two-point
    distributions, a column with at most 16 non-zero clusters by enumeration; others are by Monte
    Carlo with p = (b + 1) / (draws + 1), never 0. `exact=False` requests Monte Carlo everywhere;
    `exact=True` raises ValueError where neither exact method is feasible. A column without any
    non-zero difference has p = 1; a column with a nan has p = nan.

    Source: Fisher (1935), The Design of Experiments, 21; (b + 1) / (B + 1): Phipson and Smyth
    (2010).

    >>> flip_test(np.array([[1.0], [2.0], [1.0], [3.0]])).p
    array([0.125])
    """
    rows = _columns(differences)
    m = rows.shape[1]
    value = rows.sum(axis=0)
    p = np.full(m, np.nan)
    method: list[Literal["convolution", "enumeration", "monte-carlo", "undefined"]] = [
        "undefined"
    ] * m
    sampled: list[int] = []
    for j in range(m):
        column = rows[:, j][rows[:, j] != 0]
        if np.isnan(value[j]):
            continue
        if exact is not False and _convolvable(column):
            p[j], method[j] = _convolution(column), "convolution"
        elif exact is not False and len(column) <= _ENUMERATE:
            p[j], method[j] = _enumeration(column), "enumeration"
        elif exact:
            raise ValueError(
                f"column {j}: got {len(column)} clusters with fractions, expected whole numbers or"
                f" at most {_ENUMERATE} clusters for an exact p"
            )
        else:
            sampled.append(j)
            method[j] = "monte-carlo"
    if sampled:
        some = rows[:, sampled]
        # Sums equal to the observed one but for rounding are as far out.
        limit = np.abs(some.sum(axis=0)) * (1 - 1e-12)
        b = np.zeros(len(sampled), dtype=np.int64)
        for null in _null_sums(some, draws, key):
            b += np.count_nonzero(np.abs(null) >= limit, axis=0)
        p[sampled] = (b + 1) / (draws + 1)
    return Flips(p, value, tuple(method), draws if sampled else 0)


def flips_and_max_t(
    differences: Array,
    *,
    draws: int = 10_000,
    key: int = 0,
    p: Array | None = None,
    families: IntArray | None = None,
) -> tuple[Array, Array]:
    """`flip_test` by Monte Carlo and max-T adjusted p values from the same signs, both (m,).

    The adjusted p is the proportion of sign patterns in which the largest |t| of all columns of the
    family reaches this column's |t|: t_j = sum_c d_cj / sqrt(sum_c d_cj^2), and one sign a cluster
    flips all columns, so that their dependence is preserved. p_j = (b + 1) / (draws + 1), both 1
    for a column of zeros. `differences` (n_clusters, m).

    `p` (m,): p values from an exact distribution, which stay; nan where there is none. `families`
    (m,): columns with the same number are adjusted together, those with -1 not at all; None: all
    together. Columns with a nan have p = nan and are no members of a family.

    Source: Westfall and Young (1993), Resampling-Based Multiple Testing, 2.5.

    >>> d = np.random.default_rng(1).normal([0.0, 1.0], 1.0, (40, 2))
    >>> p, adjusted = flips_and_max_t(d, draws=999)
    >>> bool((p == flip_test(d, draws=999).p).all()), bool(adjusted[1] < 0.01)
    (True, True)
    """
    rows = _columns(differences)
    members = np.flatnonzero(~np.isnan(rows).any(axis=0))
    p_values, adjusted = np.full((2, rows.shape[1]), np.nan)
    if len(members):
        some = rows[:, members]
        size = np.sqrt((some**2).sum(axis=0))
        size_or_one = np.where(size > 0, size, 1.0)
        value = np.abs(some.sum(axis=0))
        limit, limit_t = value * (1 - 1e-12), value / size_or_one * (1 - 1e-12)
        labels = np.zeros(len(members), dtype=np.int64) if families is None else families[members]
        groups = [np.flatnonzero(labels == label) for label in np.unique(labels[labels >= 0])]
        b, b_t = np.zeros((2, len(members)), dtype=np.int64)
        for null in _null_sums(some, draws, key):
            far = np.abs(null)
            b += np.count_nonzero(far >= limit, axis=0)
            far /= size_or_one
            for group in groups:  # how many draws' largest |t| reach each column's
                largest = np.sort(far[:, group].max(axis=1))
                b_t[group] += len(largest) - np.searchsorted(largest, limit_t[group])
        p_values[members] = np.where(size > 0, (b + 1) / (draws + 1), 1.0)
        adjusted[members] = np.where(
            labels < 0, np.nan, np.where(size > 0, (b_t + 1) / (draws + 1), 1.0)
        )
    return (p_values if p is None else np.where(np.isnan(p), p_values, p)), adjusted


def _columns(differences: Array) -> Array:
    rows = np.asarray(differences, dtype=np.float64)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or len(rows) < 1:
        raise ValueError(
            f"differences: got shape {rows.shape}, expected (n_clusters, m) with at least one"
            " cluster"
        )
    return rows


def _null_sums(rows: Array, draws: int, key: int) -> Iterator[Array]:
    """The sums signs @ rows for all draws, some draws at a time: arrays (n, m)."""
    bounds = np.abs(rows).sum(axis=0)
    dtype = exact_precision(rows, float(bounds.max(initial=0.0)))
    factor = on_grid(rows, bounds) if dtype is None else rows.astype(dtype, copy=False)
    step = max(_TILE_BYTES // (4 * len(rows)) // BLOCK, 1) * BLOCK

    def sums(key: int, start: int, stop: int) -> Array:
        tiles = [(at, min(at + step, stop)) for at in range(start, stop, step)]
        return np.concatenate(
            [random_signs(key, len(rows), *tile, factor.dtype) @ factor for tile in tiles],
            dtype=np.float64,
        )

    yield from in_draws(sums, key, len(rows), draw_blocks(0, draws, len(rows)))


def _convolvable(column: Array) -> bool:
    """Whether all differences are whole numbers with a distribution that is small enough."""
    return bool(
        np.array_equal(column, np.rint(column))
        and len(column) * (np.abs(column).sum() + 1) <= _CONVOLVE
    )


def _convolution(column: Array) -> float:
    """The exact p value of whole-number differences, by convolution.

    With S = sum |d|, the sum is S - 2 * (sum of the |d| that are negative). The latter is a subset
    sum whose distribution is computed one difference at a time: P(t) <- (P(t) + P(t - |d|)) / 2.
    """
    sizes = np.abs(column).astype(np.int64)
    total, observed = int(sizes.sum()), abs(int(column.sum()))
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    reached = 0
    # Small sizes first: the part of the array that is not zero stays short.
    for size in np.sort(sizes):
        reached += int(size)
        # A copy, because source and target overlap.
        chance[size : reached + 1] += chance[: reached + 1 - size].copy()
        chance[: reached + 1] *= 0.5
    far = np.abs(total - 2 * np.arange(total + 1)) >= observed
    return float(min(max(chance[far].sum(), np.finfo(np.float64).tiny), 1.0))


def _enumeration(column: Array) -> float:
    """The exact p value over all 2^n sign patterns; by symmetry the first sign is fixed."""
    if not len(column):
        return 1.0
    # The first sign stays: a pattern and its mirror image are as far out.
    patterns = np.arange(1 << (len(column) - 1), dtype=np.uint32)[:, None]
    signs = 1.0 - 2.0 * ((patterns >> np.arange(len(column), dtype=np.uint32)) & 1)
    return float(np.mean(np.abs(signs @ column) >= abs(column.sum()) * (1 - 1e-12)))
