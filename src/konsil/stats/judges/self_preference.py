"""Self-preference and model-family preference of judges, with and without adjustment for leniency.

A judge that approves of everything also approves of its own answers: the plain difference cannot
separate the two. The difference in differences compares the judge's advantage for its own answers
with that for answers of other families, peer by peer and within answers that the experts scored
alike. A peer never counts on an answer that it, or a model of its family, wrote, and counts only
with answers of both kinds, so that neither its own preference nor its own leniency enters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, IntArray

Bools = NDArray[np.bool_]
MOST_STRATA = 13
"""Scales with more half steps than this are divided into as many equal ranges."""
PLAIN = 2
"""Columns of the plain difference, before those by stratum and peer."""
CELL = 4
"""Columns of a stratum and a peer: own sum and count, other sum and count."""


def advantage(judge: Array, peers: Array) -> Array:
    """A judge's score minus the mean of the peers that labelled the same slot.

    `judge` (n_slots,) and `peers` (n_slots, n_peers) hold scores, nan without a label. nan where
    the judge or all peers lack one.

    >>> advantage(
    ...     np.array([1.0, 0.0, np.nan]), np.array([[1.0, 0.0], [np.nan, np.nan], [1.0, 1.0]])
    ... )
    array([0.5, nan, nan])
    """
    is_scored = np.isfinite(peers)
    n = is_scored.sum(axis=1)
    total = np.where(is_scored, peers, 0.0).sum(axis=1)
    return np.where(n > 0, judge - total / np.maximum(n, 1), np.nan)


def strata_of_means(means: Array, values: Array) -> tuple[IntArray, int]:
    """Strata of answers by the experts' mean score to the nearest half step, and their number.

    `means` (n_slots,), nan where no expert scored; `values` the labels' numbers, rising. A mean
    halfway between two half steps goes to the lower one; a slot without a mean gets -1. Two
    experts' means are half steps already.

    >>> strata_of_means(np.array([0.0, 0.25, 1.0, 2.0, np.nan]), np.array([0.0, 1.0, 2.0]))
    (array([ 0,  0,  2,  4, -1]), 5)
    """
    grid = np.unique(np.concatenate([values, (values[1:] + values[:-1]) / 2]))
    if len(grid) > MOST_STRATA:
        grid = np.linspace(grid[0], grid[-1], MOST_STRATA)
    limits = (grid[1:] + grid[:-1]) / 2
    is_finite = np.isfinite(means)
    # A mean of raters must not leave its stratum by a rounding error.
    at = np.searchsorted(limits + 1e-9, np.where(is_finite, means, 0.0), side="left")
    return np.where(is_finite, at, -1).astype(np.int64), len(grid)


def preference_sums(
    judge: Array,
    peers: Array,
    own_answers: Bools,
    other: Bools,
    stratum: IntArray,
    clusters: IntArray,
    n_strata: int,
) -> Array:
    """Tally a judge's advantage over each peer on its own and on other answers, by stratum.

    `judge` (n_slots,) and `peers` (n_slots, n_peers) hold scores, nan where there is none and where
    a peer, or its family, wrote the answer; `own` and `other` (n_slots,) which answers are its own
    and which are of other families; `stratum` (n_slots,) 0 .. n_strata - 1, -1 undefined. Columns,
    (n_clusters, 2 + 4 n_strata n_peers): sum and count of `advantage` on own answers; then by
    stratum and peer own sum and count, other sum and count.
    """
    n, n_peers = int(clusters.max()) + 1 if len(clusters) else 0, peers.shape[1]
    plain = advantage(judge, peers)
    use = own_answers & np.isfinite(plain)
    cells = np.zeros((n * n_strata, n_peers, CELL))
    for k in range(n_peers):
        difference = judge - peers[:, k]
        for first, side in ((0, own_answers), (2, other)):
            rows = side & (stratum >= 0) & np.isfinite(difference)
            at = clusters[rows] * n_strata + stratum[rows]
            cells[:, k, first] = np.bincount(at, difference[rows], n * n_strata)
            cells[:, k, first + 1] = np.bincount(at, minlength=n * n_strata)
    return np.column_stack(
        [
            np.bincount(clusters[use], plain[use], n),
            np.bincount(clusters[use], minlength=n),
            cells.reshape(n, -1),
        ]
    )


def plain_preference(totals: Array) -> Array:
    """Mean advantage on own answers, (..., 2 + 4 n_strata n_peers) to (..., 1).

    The mean over own answers of (judge - peers), which includes the judge's general leniency. nan
    without own answers. Source: MedQADE's self and family preference.

    >>> plain_preference(np.array([2.0, 4.0]))
    array([0.5])
    """
    return ratio(totals[..., 0:1], totals[..., 1:2])


def adjusted_preference(totals: Array) -> Array:
    """Difference in differences by peer and stratum, (..., 2 + 4 n_strata n_peers) to (..., 1).

    sum over strata l and peers k of w_lk (own advantage_lk - other advantage_lk), w_lk the share of
    the own answers compared with k in l. A judge that is merely lenient has zero on average, and so
    has one whose peers are lenient or prefer their own. Cells without own or without other answers
    are left out (see `comparable`); nan where all are.

    >>> adjusted_preference(np.array([0, 0, 2.0, 4.0, 3.0, 10.0, 1.0, 4.0, 1.0, 10.0])).round(3)
    array([0.175])
    """
    cells = totals[..., PLAIN:].reshape(*totals.shape[:-1], -1, CELL)
    own_n, other_n = cells[..., 1], cells[..., 3]
    # Only strata with answers of others count: there is nothing to compare the rest with.
    weight = np.where(other_n > 0, own_n, 0.0)
    with np.errstate(invalid="ignore"):
        gap = ratio(cells[..., 0], own_n) - ratio(cells[..., 2], other_n)
    return ratio(np.where(weight > 0, weight * gap, 0.0).sum(axis=-1), weight.sum(axis=-1))[
        ..., None
    ]


def comparable(
    judge: Array, peers: Array, own_answers: Bools, other: Bools, stratum: IntArray, n_strata: int
) -> Bools:
    """Which own answers `adjusted_preference` uses, (n_slots,).

    They are those for which some peer also rated answers of other families in the same stratum.
    Arguments as of `preference_sums`.

    >>> comparable(
    ...     np.ones(3),
    ...     np.ones((3, 1)),
    ...     np.array([True, True, False]),
    ...     np.array([False, False, True]),
    ...     np.array([0, 1, 0]),
    ...     2,
    ... )
    array([ True, False, False])
    """
    is_scored = np.isfinite(judge)[:, None] & np.isfinite(peers) & (stratum >= 0)[:, None]
    matched = np.zeros((n_strata + 1, peers.shape[1]), dtype=bool)
    slots, peer = np.nonzero(is_scored & other[:, None])
    matched[stratum[slots], peer] = True
    return np.asarray(own_answers & (is_scored & matched[stratum]).any(axis=1))
