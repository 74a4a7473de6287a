"""How often each cluster is drawn, from counter-based random streams.

The streams do not depend on tiles, shards or the order of work.

Every block of 64 draws has a stream of its own, keyed by (key, block), so any range of draws can be
made anywhere and is the same bits. The law is the bootstrap's own: `n_clusters` draws with
replacement, multinomial weights.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from konsil.stats.engine.contract import IntArray
from konsil.stats.engine.streams import (
    CHOICES,
    CLUSTERS,
    ORDERS,
    PATTERNS,
    SHARES,
    SIGNS,
    WITHIN,
    Streams,
    uniform,
)

Weights: TypeAlias = NDArray[np.floating[Any]]
"""(draws, n_clusters) how often each cluster was drawn."""

BLOCK = 64
"""Draws that share one random stream."""

_AT_ONCE = 32768
"""Cluster numbers drawn and counted at once, so that they fit the cache. The number is part of the
streams' definition and must not be tuned."""

_KEPT_BYTES = 128 << 20
"""The most that a `Remembered` key stores, one byte a weight: ten thousand draws of thirteen
thousand clusters."""

_KEPT_DRAWS = 4 * BLOCK
"""Draws that are stored together."""

_BLOCK_WEIGHTS = 1 << 20
"""About how many weights a block for threads has: about a millisecond's work."""

VIRTUAL_FROM = 1 << 17
"""With more clusters than this, clusters are drawn in virtual blocks."""

VIRTUAL_BLOCKS = 1024
"""The number of virtual blocks, a part of the streams' definition."""


class Remembered(int):
    """A key that stores its weights, so that statistics of the same clusters share them.

    It draws the same weights as the plain number and compares equal to it.

    >>> bool((bootstrap_weights(Remembered(7), 5, 0, 3) == bootstrap_weights(7, 5, 0, 3)).all())
    True
    """

    def __init__(self, key: int) -> None:  # noqa: ARG002  int takes it when it is made
        self._kept: OrderedDict[int, dict[int, NDArray[np.uint8]]] = OrderedDict()
        self._bytes = 0
        self._signs: tuple[int, dict[int, NDArray[np.int8]]] = (0, {})

    def __reduce__(self) -> tuple[type[Remembered], tuple[int]]:
        """A copy in another process begins without weights: they are drawn sooner than sent."""
        return Remembered, (int(self),)

    def lend(self, n_clusters: int, start: int, stop: int) -> Remembered:
        """A key with what is stored of the draws start .. stop - 1, for another thread.

        It stores what it draws anew, so that the tiles of a block share a part.

        >>> key = Remembered(7)
        >>> lent = key.lend(5, 0, 256)
        >>> lent.draws(5, 0) is lent.draws(5, 0)
        True
        >>> key.take(lent)
        >>> key.draws(5, 0) is lent.draws(5, 0)
        True
        """
        lent = Remembered(int(self))
        parts = range(start // _KEPT_DRAWS, -(-stop // _KEPT_DRAWS))
        stored = self._kept.get(n_clusters, {})
        for part in parts:
            if part in stored:
                lent._store(n_clusters, part, stored[part])
        signs = self._signs[1] if self._signs[0] == n_clusters else {}
        lent._signs = n_clusters, {part: signs[part] for part in parts if part in signs}
        return lent

    def take(self, lent: Remembered) -> None:
        """Store what a lent key drew."""
        for n_clusters, parts in lent._kept.items():
            for part, weights in parts.items():
                self._store(n_clusters, part, weights)
        n_clusters, signs = lent._signs
        for part, some in signs.items():
            self._store_signs(n_clusters, part, some)

    def draws(self, n_clusters: int, part: int) -> Weights | NDArray[np.uint8]:
        """The draws part * 256 .. part * 256 + 255 of some clusters.

        They stay in memory unless they exceed its limit.
        """
        if n_clusters in self._kept:
            self._kept.move_to_end(n_clusters)
            if part in self._kept[n_clusters]:
                return self._kept[n_clusters][part]
        new_draws = _part_draws(self, n_clusters, part)
        self._store(n_clusters, part, new_draws)
        return new_draws

    def _store(self, n_clusters: int, part: int, new_draws: Weights | NDArray[np.uint8]) -> None:
        parts = self._kept.setdefault(n_clusters, {})
        self._kept.move_to_end(n_clusters)
        # Counts above 255 do not fit a byte: such draws are made anew each time.
        if part in parts or new_draws.dtype != np.uint8:
            return
        # What was used longest ago goes first.
        while self._bytes + new_draws.size > _KEPT_BYTES and len(self._kept) > 1:
            self._bytes -= sum(other.size for other in self._kept.popitem(last=False)[1].values())
        if self._bytes + new_draws.size <= _KEPT_BYTES:
            parts[part] = new_draws.astype(np.uint8, copy=False)
            self._bytes += new_draws.size

    def signs(self, n_clusters: int, part: int) -> NDArray[np.int8]:
        """The signs of the draws part * 256 .. part * 256 + 255.

        Those of the most recent number of clusters are stored.
        """
        if self._signs[0] == n_clusters and part in self._signs[1]:
            return self._signs[1][part]
        new_signs = _signs(self, n_clusters, part * _KEPT_DRAWS, (part + 1) * _KEPT_DRAWS)
        self._store_signs(n_clusters, part, new_signs)
        return new_signs

    def _store_signs(self, n_clusters: int, part: int, new_signs: NDArray[np.int8]) -> None:
        if self._signs[0] != n_clusters:
            self._signs = (n_clusters, {})
        if (len(self._signs[1]) + 1) * new_signs.size <= _KEPT_BYTES:
            self._signs[1][part] = new_signs


def _part_draws(key: int, n_clusters: int, part: int) -> Weights | NDArray[np.uint8]:
    """The draws of a part, a byte each where all of them fit one."""
    start, stop = part * _KEPT_DRAWS, (part + 1) * _KEPT_DRAWS
    step = _KEPT_DRAWS if n_clusters <= _AT_ONCE // BLOCK else BLOCK
    out = np.empty((stop - start, n_clusters), np.uint8)
    for at in range(start, stop, step):
        weights = _drawn(key, n_clusters, at, at + step, np.float32)
        if weights.max() > np.iinfo(np.uint8).max:
            return _drawn(key, n_clusters, start, stop, np.float32)
        out[at - start : at - start + step] = weights
    return out


def _empty(start: int, stop: int, width: int, dtype: DTypeLike) -> Weights:
    if not 0 <= start <= stop:
        raise ValueError(f"draws {start} to {stop}: expected 0 <= start <= stop")
    if width < 1:
        raise ValueError(f"{width} clusters: expected at least one")
    return np.empty((stop - start, width), dtype)


def _blocks(start: int, stop: int) -> list[tuple[int, int, int]]:
    """(block, first, last) for every block that the draws start .. stop - 1 touch.

    First and last count within the block.
    """
    return [
        (block, max(start - block * BLOCK, 0), min(stop - block * BLOCK, BLOCK))
        for block in range(start // BLOCK, -(-stop // BLOCK))
    ]


def bootstrap_weights(
    key: int, n_clusters: int, start: int, stop: int, dtype: DTypeLike = np.float32
) -> Weights:
    """How often each cluster is drawn in the draws start .. stop - 1.

    Multinomial(n_clusters; 1/n_clusters, ...), exactly. Row b depends on (key, n_clusters, start +
    b) and on nothing else. Shape (stop - start, n_clusters); every row sums to n_clusters. More
    than `VIRTUAL_FROM` clusters are drawn by `block_weights`.

    Source: Efron (1979), Bootstrap methods: another look at the jackknife, Annals of Statistics
    7:1-26; streams: Salmon et al. (2011), Parallel random numbers: as easy as 1, 2, 3.

    >>> bootstrap_weights(7, 5, 0, 3).sum(axis=1)
    array([5., 5., 5.], dtype=float32)
    """
    if not isinstance(key, Remembered):
        return _drawn(key, n_clusters, start, stop, dtype)
    out = _empty(start, stop, n_clusters, dtype)
    for part, at, low, high in _parts(start, stop):
        out[low - start : high - start] = key.draws(n_clusters, part)[low - at : high - at]
    return out


def draw_blocks(start: int, stop: int, width: int) -> list[tuple[int, int]]:
    """The draws start .. stop - 1 of `width` clusters in blocks for threads.

    Blocks begin where the parts begin that a `Remembered` key draws at once.

    >>> draw_blocks(100, 600, 1_000_000), draw_blocks(100, 600, 2000)
    ([(100, 256), (256, 512), (512, 600)], [(100, 512), (512, 600)])
    """
    n = max(_BLOCK_WEIGHTS // (_KEPT_DRAWS * max(width, 1)), 1) * _KEPT_DRAWS
    return [(max(start, at), min(stop, at + n)) for at in range(start - start % n, stop, n)]


def _parts(start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """The stored parts of the draws start .. stop - 1: part, first draw, requested draws."""
    for part in range(start // _KEPT_DRAWS, -(-stop // _KEPT_DRAWS)):
        at = part * _KEPT_DRAWS
        yield part, at, max(start, at), min(stop, at + _KEPT_DRAWS)


def _drawn(key: int, n_clusters: int, start: int, stop: int, dtype: DTypeLike) -> Weights:
    """The weights, drawn without a store."""
    out = _empty(start, stop, n_clusters, dtype)
    if n_clusters > VIRTUAL_FROM:
        for first, last in whole_blocks(start, stop):
            for weights, clusters in block_weights(key, n_clusters, first // BLOCK):
                low, high = max(start, first), min(stop, last)
                out[low - start : high - start, clusters] = weights[low - first : high - first]
        return out
    rows = min(max(_AT_ONCE // n_clusters, 1), BLOCK)
    offsets = np.repeat(np.arange(rows, dtype=np.uint32) * np.uint32(n_clusters), n_clusters)
    streams = Streams(key, CLUSTERS)
    at = 0
    for block, first, last in _blocks(start, stop):
        # From a multiple of `rows` on, so that a range that begins anywhere has the same draws.
        for row in range(first - first % rows, last, rows):
            drawn = uniform(streams.at(block, row), n_clusters, rows * n_clusters)
            drawn += offsets
            counts = np.bincount(drawn, minlength=rows * n_clusters).reshape(rows, n_clusters)
            low, high = max(first, row), min(last, row + rows)
            out[at : at + high - low] = counts[low - row : high - row]
            at += high - low
    return out


def virtual_edges(n_clusters: int) -> IntArray:
    """The first clusters of the virtual blocks, and the number of clusters: (1025,).

    >>> virtual_edges(2048)[:3]
    array([0, 2, 4])
    """
    return np.arange(VIRTUAL_BLOCKS + 1, dtype=np.int64) * n_clusters // VIRTUAL_BLOCKS


def whole_blocks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """The first and last draws of the blocks of draws that contain start .. stop - 1."""
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        yield block * BLOCK, (block + 1) * BLOCK


def block_weights(
    key: int, n_clusters: int, draws: int, blocks: Iterable[int] = range(VIRTUAL_BLOCKS)
) -> Iterator[tuple[NDArray[np.int64], slice]]:
    """How often the clusters of some virtual blocks are drawn, and which clusters these are.

    Of the `BLOCK` draws with the number `draws`, (BLOCK, n of the block's clusters) for each block.
    Block j are the clusters floor(j n / 1024) .. floor((j + 1) n / 1024) - 1, n_j of them. With
    N = (N_1, ..., N_1024) ~ Multinomial(n; n_1 / n, ...) from a stream of the draws alone, and the
    clusters of block j ~ Multinomial(N_j; 1 / n_j, ...) from a stream of the draws and the block,
    all clusters together are Multinomial(n; 1 / n, ...): the law of `bootstrap_weights`. A block
    needs no other block's random numbers, so that any union of blocks can be drawn anywhere.

    Source: the multinomial given sums of its parts, Johnson, Kotz and Balakrishnan (1997), Discrete
    Multivariate Distributions, 35.2.

    >>> drawn = [weights.sum(axis=1) for weights, _ in block_weights(7, 2048, 0)]
    >>> bool((np.sum(drawn, axis=0) == 2048).all())
    True
    """
    edges = virtual_edges(n_clusters)
    counts = (
        Streams(key, SHARES).at(draws).multinomial(n_clusters, np.diff(edges) / n_clusters, BLOCK)
    )
    streams = Streams(key, WITHIN)
    for block in blocks:
        n = int(edges[block + 1] - edges[block])
        of_draws = counts[:, block]
        numbers = uniform(streams.at(draws, block), n, int(of_draws.sum())).astype(np.int64)
        numbers += np.repeat(np.arange(BLOCK) * n, of_draws)
        weights = np.bincount(numbers, minlength=BLOCK * n).reshape(BLOCK, n)
        yield weights, slice(int(edges[block]), int(edges[block + 1]))


def pattern_weights(
    key: int, multiplicities: IntArray, start: int, stop: int, dtype: DTypeLike = np.float32
) -> Weights:
    """How often each pattern is drawn, where `multiplicities` clusters share a pattern.

    Multinomial(n; multiplicities / n) with n = multiplicities.sum(): the distribution of the sums
    of `bootstrap_weights` over the clusters of each pattern. Shape (stop - start, n_patterns).

    >>> pattern_weights(7, np.array([90, 10]), 0, 2).sum(axis=1)
    array([100., 100.], dtype=float32)
    """
    n = int(multiplicities.sum())
    out = _empty(start, stop, len(multiplicities), dtype)
    shares = multiplicities / n
    streams = Streams(key, PATTERNS)
    at = 0
    for block, first, last in _blocks(start, stop):
        # A whole block is drawn and cut: a draw does not depend on where a range begins.
        out[at : at + last - first] = streams.at(block).multinomial(n, shares, BLOCK)[first:last]
        at += last - first
    return out


def random_signs(
    key: int, n_clusters: int, start: int, stop: int, dtype: DTypeLike = np.float32
) -> Weights:
    """Fair signs, -1 or 1, one a cluster, for the draws start .. stop - 1.

    Shape (stop - start, n_clusters).

    >>> sorted(set(random_signs(7, 50, 0, 2).ravel().tolist()))
    [-1.0, 1.0]
    """
    if not isinstance(key, Remembered):
        return _signs(key, n_clusters, start, stop).astype(dtype)
    out = _empty(start, stop, n_clusters, dtype)
    for part, at, low, high in _parts(start, stop):
        out[low - start : high - start] = key.signs(n_clusters, part)[low - at : high - at]
    return out


def _signs(key: int, n_clusters: int, start: int, stop: int) -> NDArray[np.int8]:
    """The signs, drawn without a store."""
    out = np.empty(_empty(start, stop, n_clusters, np.float32).shape, np.int8)
    width = -(-n_clusters // 8)
    streams = Streams(key, SIGNS)
    at = 0
    for block, first, last in _blocks(start, stop):
        octets = np.frombuffer(streams.at(block).bytes(BLOCK * width), np.uint8).reshape(
            BLOCK, width
        )
        bits = np.unpackbits(octets[first:last], axis=1, count=n_clusters).view(np.int8)
        bits <<= 1
        bits -= 1
        out[at : at + last - first] = bits
        at += last - first
    return out


def random_choices(
    key: int, n_clusters: int, n_states: int, start: int, stop: int
) -> NDArray[np.uint8]:
    """One of `n_states` states, 0 first, for every cluster in the draws start .. stop - 1.

    Shape (stop - start, n_clusters).

    >>> sorted(set(random_choices(7, 50, 3, 0, 2).ravel().tolist()))
    [0, 1, 2]
    """
    out = np.empty(_empty(start, stop, n_clusters, np.float32).shape, np.uint8)
    streams = Streams(key, CHOICES)
    at = 0
    for block, first, last in _blocks(start, stop):
        chosen = streams.at(block).integers(0, n_states, (BLOCK, n_clusters), np.uint8)
        out[at : at + last - first] = chosen[first:last]
        at += last - first
    return out


def random_orders(key: int, members: NDArray[np.bool_], start: int, stop: int) -> NDArray[np.bool_]:
    """Which members are in the first of two groups after shuffling, (stop - start, n).

    The groups keep their sizes.

    >>> random_orders(7, np.array([True, True, False]), 0, 4).sum(axis=1)
    array([2, 2, 2, 2])
    """
    out = np.empty(_empty(start, stop, len(members), np.float32).shape, np.bool_)
    streams = Streams(key, ORDERS)
    at = 0
    for block, first, last in _blocks(start, stop):
        # The whole block, as above: a draw's order belongs to its number alone.
        shuffled = streams.at(block).permuted(np.tile(members, (BLOCK, 1)), axis=1)
        out[at : at + last - first] = shuffled[first:last]
        at += last - first
    return out
