"""Answers rated by a part of their sentences: part-whole correlation and variance between raters.

An answer's sentences are rated by the same raters. A part is a subset of them; every subset of a
size is as likely as any other, so that a statistic over all subsets is exact and needs no draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import scipy

from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array, Finalise, IntArray
from konsil.stats.engine.ranks import spearman_scores

PART_WHOLE = (
    "Spearman's rho of the mean of a random part with the mean of the whole or of the"
    " rest, over all subsets"
)
MOST_SUBSETS = 256
"""Up to this many subsets of an answer's sentences all are used; otherwise this many, sampled
once."""
SHUFFLES = 100
"""Shuffles of the sentences among the answers for the correlation expected from overlap."""
_GRID = 9
"""Decimals to which means are rounded, so that equal ones tie."""


class Points(NamedTuple):
    """One point for each answer and subset; arrays (n_points,)."""

    x: Array
    """The mean over the part."""
    y: Array
    """The mean that the part is compared with."""
    weights: Array
    """One over the number of the answer's subsets."""
    clusters: IntArray
    """The answer's cluster."""


@lru_cache(maxsize=256)
def subsets_of(n: int, size: int) -> Array:
    """Subsets of `size` out of n positions as rows of 0 and 1, (n_subsets, n).

    All subsets, or MOST_SUBSETS of them, sampled once. A size of n and more has one subset, the
    whole.

    >>> subsets_of(3, 2)
    array([[1., 1., 0.],
           [1., 0., 1.],
           [0., 1., 1.]])
    """
    size = min(n, size)
    if comb(n, size) <= MOST_SUBSETS:
        chosen = [list(subset) for subset in combinations(range(n), size)]
    else:
        # A key of the two numbers alone: every analysis and every study has the same subsets.
        generator = np.random.Generator(np.random.Philox(key=n * 1000 + size))
        chosen = [generator.permutation(n)[:size].tolist() for _ in range(MOST_SUBSETS)]
    rows = np.zeros((len(chosen), n))
    for row, places in zip(rows, chosen, strict=True):
        row[places] = 1.0
    return rows


def part_whole_points(
    scores: Array, clusters: IntArray, size: int, *, held_out: bool = False
) -> Points:
    """Every answer's part means with the mean of all its sentences, or of those not in the part.

    `scores` (n_answers, n_sentences): the sentences' scores, nan where an answer has no further
    sentence; `clusters` (n_answers,). An answer of `size` sentences or fewer is its own part; with
    `held_out` no sentence remains to compare the part with, and the answer is excluded.

    >>> part_whole_points(np.array([[1.0, 0.0, np.nan]]), np.array([0]), 1, held_out=True).y
    array([0., 1.])
    """
    parts = []
    for n, rows, row_scores in _by_number(scores):
        if held_out and n <= size:
            continue
        chosen = subsets_of(n, size)
        x = row_scores @ chosen.T / chosen.sum(1)
        y = (
            row_scores @ (1 - chosen).T / (n - chosen.sum(1))
            if held_out
            else np.repeat(row_scores.mean(1)[:, None], len(chosen), 1)
        )
        weights = np.full(x.shape, 1 / len(chosen))
        of = np.repeat(clusters[rows][:, None], len(chosen), 1)
        parts.append([x.ravel().round(_GRID), y.ravel().round(_GRID), weights.ravel(), of.ravel()])
    if not parts:
        nothing = np.zeros(0)
        return Points(nothing, nothing, nothing, clusters[:0])
    x, y, weights, of = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Points(x, y, weights, of)


def spearman_of_points(points: Points, n_clusters: int) -> tuple[Sums, Finalise]:
    """Spearman's rho of weighted points, as sums (n_clusters, n_cells), sparse, and their finalise.

    The sums are over the distinct points: equal points are one cell whose weights are added, so
    that rho is a function of sums over clusters; ties have mid-ranks. nan where either side is
    constant or there are no points. Source: Spearman, Am J Psychol 15:72, 1904.

    >>> found, finalise = spearman_of_points(
    ...     Points(np.arange(3.0), np.arange(3.0), np.ones(3), np.arange(3)), 3
    ... )
    >>> finalise(found.sum(0)).round(6)
    array([1.])
    """
    if not len(points.x):
        return np.zeros((max(n_clusters, 1), 1)), _undefined
    # As complex numbers: one column of points is sorted much faster than rows of two.
    both = points.x + 1j * points.y
    cells, place = np.unique(both, return_inverse=True)
    shape = (n_clusters, len(cells))
    sums = scipy.sparse.csr_array((points.weights, (points.clusters, place)), shape=shape)
    finalise = spearman_scores(cells.real.copy(), cells.imag.copy(), np.arange(len(cells))).finalise
    # Few columns are faster dense; the products are the same.
    return (sums.toarray() if shape[1] <= 4096 else sums), finalise


def overlap_alone(scores: Array, size: int, *, key: int, shuffles: int = SHUFFLES) -> Array:
    """The part-whole correlation expected from overlap: rho of every shuffle, (shuffles,).

    All sentences' scores are assigned to the answers at random, each answer keeping its number of
    sentences. The remaining correlation arises because the part is in the whole. `scores` as for
    `part_whole_points`; nan where rho is undefined.

    >>> scores = np.tile(np.arange(4.0), (30, 1))
    >>> bool(0.4 < overlap_alone(scores, 2, key=1, shuffles=20).mean() < 0.9)
    True
    """
    generator = np.random.Generator(np.random.Philox(key=key % 2**64))
    is_finite = np.isfinite(scores)
    single_cluster = np.zeros(len(scores), dtype=np.int64)
    rhos = np.full(shuffles, np.nan)
    dealt = scores.copy()
    for n in range(shuffles):
        dealt[is_finite] = generator.permutation(scores[is_finite])
        points = part_whole_points(dealt, single_cluster, size)
        if len(points.x):
            rhos[n] = spearman_scores(points.x, points.y, np.arange(len(points.x))).finalise(
                points.weights
            )[0]
    return rhos


def rater_variances(numbers: Array, size: int) -> Array:
    """Each answer's variance between raters' means over a part, (n_answers,).

    The variances are averaged over the subsets of `size` sentences. `numbers` (n_answers, n_raters,
    n_sentences), nan where there is none. For a subset S it is sum_r (m_rS - m_S)^2 / (k - 1) over
    the k raters who rated all the answer's sentences. nan with fewer than two raters.

    >>> rater_variances(np.array([[[1.0, 0.0], [0.0, 0.0]]]), 2)
    array([0.125])
    """
    variances = np.full(len(numbers), np.nan)
    is_rated = np.asarray(np.isfinite(numbers).any(axis=1))
    for n, rows, _ in _by_number(np.where(is_rated, 0.0, np.nan)):
        # Stable: those present come first and keep their order.
        values = np.take_along_axis(
            numbers[rows], np.argsort(~is_rated[rows], axis=1, kind="stable")[:, None, :], 2
        )[:, :, :n]
        is_complete = np.asarray(np.isfinite(values).all(axis=2))
        k = is_complete.sum(axis=1)
        chosen = subsets_of(n, size)
        means = np.where(
            is_complete[:, :, None], np.nan_to_num(values) @ chosen.T / chosen.sum(1), 0.0
        )
        centre = means.sum(axis=1) / np.maximum(k, 1)[:, None]
        squares = (
            np.where(is_complete[:, :, None], (means - centre[:, None, :]) ** 2, 0.0)
            .sum(axis=1)
            .mean(axis=1)
        )
        variances[rows] = np.where(k > 1, squares / np.maximum(k - 1, 1), np.nan)
    return variances


def _by_number(scores: Array) -> Iterator[tuple[int, IntArray, Array]]:
    """Answers with equally many sentences: number, answers, scores (n_these, number)."""
    is_present = np.isfinite(scores)
    counts = is_present.sum(axis=1)
    first = np.take_along_axis(scores, np.argsort(~is_present, axis=1, kind="stable"), axis=1)
    for n in np.unique(counts[counts > 0]).tolist():
        rows = np.flatnonzero(counts == n)
        yield n, rows, first[rows, :n]


def _undefined(totals: Array) -> Array:
    return np.full((*np.shape(totals)[:-1], 1), np.nan)
