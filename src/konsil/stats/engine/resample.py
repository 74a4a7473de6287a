"""One engine for every statistic: bootstrap and jackknife in bounded memory.

    bootstrap  = finalise(weights @ sums)          weights: how often each cluster was drawn
    jackknife  = finalise(sums.sum(0) - sums)

The product is made in tiles of draws and every total is exact (`rows`); `finalise` is called on
groups of draws whose size follows from the sums alone. So no result depends on the tile size, to
the last bit. Where many clusters have identical rows, patterns and their multiplicities are drawn
instead: the same law at the cost of the patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from konsil.stats.engine.blocks import Each, in_blocks, in_draws
from konsil.stats.engine.cluster_sums import Factor, Rows, Sums, prepare
from konsil.stats.engine.contract import Array, Finalise
from konsil.stats.engine.weights import (
    BLOCK,
    VIRTUAL_BLOCKS,
    VIRTUAL_FROM,
    block_weights,
    draw_blocks,
    whole_blocks,
)

_TILE_BYTES = 4 << 20
_THREADS_FROM = 4 << 20
"""Weights from which on threads save more time than they take."""


def evaluate(finalise: Finalise, totals: Array) -> Array:
    """The values (n, m) of finalise at totals (n, k), with their shape checked.

    Infinite values are undefined and become nan.
    """
    # Undefined resamples are counted and reported: a warning for each would be noise.
    with np.errstate(all="ignore"):
        values = np.asarray(finalise(totals), dtype=np.float64)
    if values.ndim != 2 or len(values) != len(totals):
        raise ValueError(
            f"finalise: got values of shape {values.shape} for totals of shape {totals.shape}, "
            f"expected ({len(totals)}, m)"
        )
    # Division by zero is undefined, too, and must not pull a mean or a quantile.
    infinite = np.isinf(values)
    return np.where(infinite, np.nan, values) if infinite.any() else values


def bootstrap(
    sums: Sums | Rows,
    finalise: Finalise,
    *,
    draws: int,
    key: int,
    tile: int | None = None,
    start: int = 0,
) -> Array:
    """The statistic in every resample of whole clusters, finalise(weights @ sums), (draws, m).

    Computed are the resamples start .. start + draws - 1, so that they may be spread over machines
    and concatenated. `tile` bounds how many resamples' weights are in memory at once and changes no
    bit of the result. nan where the statistic is undefined.

    Source: Efron (1979); clusters as units: Field and Welsh (2007), Bootstrapping clustered data.

    >>> bootstrap(np.ones((4, 2)), lambda totals: totals[..., :1] / totals[..., 1:], draws=2, key=1)
    array([[1.],
           [1.]])
    """
    rows = prepare(sums)
    if draws < 1:
        raise ValueError(f"{draws} draws: expected at least one")
    if tile is not None and tile < 1:
        raise ValueError(f"a tile of {tile} draws: expected at least one")
    stop = start + draws
    # Groups begin at multiples, so that any range of draws is computed in the same products.
    groups = [
        (max(start, group), min(stop, group + rows.group))
        for group in range(start - start % rows.group, stop, rows.group)
    ]
    each: Each = in_blocks if draws * rows.patterns.shape[0] >= _THREADS_FROM else map
    totals = _totals(rows, key, groups, tile, each)
    parts = list(each(partial(evaluate, finalise), totals))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _totals(
    rows: Rows, key: int, groups: Sequence[tuple[int, int]], tile: int | None, each: Each
) -> Iterator[Array]:
    """The totals of each group of draws, computed in blocks."""
    n_patterns = rows.patterns.shape[0]
    if tile is None:
        tile = max(_TILE_BYTES // (rows.factor.dtype.itemsize * n_patterns), 1)
    blocks = [draw_blocks(start, stop, n_patterns) for start, stop in groups]
    totals = in_draws(
        partial(_block_totals, rows, tile),
        key,
        rows.n_clusters,
        (block for group in blocks for block in group),
        each,
    )
    for group in blocks:
        parts = [next(totals) for _ in group]
        yield parts[0] if len(parts) == 1 else np.concatenate(parts)


def _block_totals(rows: Rows, tile: int, key: int, start: int, stop: int) -> Array:
    """Totals of the draws start .. stop - 1, tile by tile."""
    if rows.counts is None and rows.n_clusters > VIRTUAL_FROM:
        return block_totals(rows, key, start, stop)
    totals = [
        rows.product(rows.draw(key, at, min(at + tile, stop))) for at in range(start, stop, tile)
    ]
    return totals[0] if len(totals) == 1 else np.concatenate(totals)


def block_totals(
    sums: Sums | Rows,
    key: int,
    start: int,
    stop: int,
    blocks: Sequence[int] = range(VIRTUAL_BLOCKS),
) -> Array:
    """The part of some virtual blocks in the totals of the draws start .. stop - 1, (n, k).

    The parts of all blocks add up to weights @ sums, exactly and in any order: a worker with the
    clusters of some blocks computes its part by itself. `sums` are those of all clusters, or whole
    numbers that are zero outside of the blocks.

    Source: `konsil.stats.engine.weights.block_weights`.

    >>> sums = np.ones((200_000, 1))
    >>> first = block_totals(sums, 7, 0, 1, range(500))
    >>> first + block_totals(sums, 7, 0, 1, range(500, 1024))
    array([[200000.]])
    """
    rows = prepare(sums)
    out = np.zeros((stop - start, rows.k))
    # Blocks consist of clusters, also where many of these are alike.
    factor = rows.factor if rows.counts is None else Factor(rows.clusters().astype(rows.dtype))
    for first, last in whole_blocks(start, stop):
        low, high = max(start, first), min(stop, last)
        for weights, clusters in block_weights(key, rows.n_clusters, first // BLOCK, blocks):
            part = np.asarray(weights[low - first : high - first], dtype=factor.dtype)
            out[low - start : high - start] += factor.of(clusters).product(part)
    return out


def jackknife(sums: Sums | Rows, finalise: Finalise) -> Array:
    """The statistic without each cluster in turn, finalise(sums.sum(0) - sums), (n_clusters, m).

    nan where the statistic is undefined without the cluster.

    Source: Tukey (1958), Bias and confidence in not-quite large samples.

    >>> jackknife(
    ...     np.array([[1.0, 1.0], [3.0, 1.0]]), lambda totals: totals[..., :1] / totals[..., 1:]
    ... )
    array([[3.],
           [1.]])
    """
    rows = prepare(sums)
    n_patterns = rows.patterns.shape[0]
    parts = [
        evaluate(finalise, rows.total - rows.dense(at, min(at + rows.group, n_patterns)))
        for at in range(0, n_patterns, rows.group)
    ]
    return rows.expand(np.concatenate(parts))


def by_cluster(sums: Sums | Rows, finalise: Finalise) -> Array:
    """The statistic of each cluster by itself: finalise(sums), shape (n_clusters, m).

    nan where it is undefined.

    >>> by_cluster(
    ...     np.array([[1.0, 2.0], [3.0, 3.0]]), lambda totals: totals[..., :1] / totals[..., 1:]
    ... )
    array([[0.5],
           [1. ]])
    """
    rows = prepare(sums)
    n_patterns = rows.patterns.shape[0]
    parts = [
        evaluate(finalise, rows.dense(at, min(at + rows.group, n_patterns)))
        for at in range(0, n_patterns, rows.group)
    ]
    return rows.expand(np.concatenate(parts))
