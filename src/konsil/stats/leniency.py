"""Self and family preference of judges: own minus peers, and what is left of it beside general leniency.

A judge that approves of everything also approves of its own: the plain difference cannot tell the two apart. The
difference in differences compares the judge's advantage for its own answers with that for everybody else's, within
answers that the experts labelled alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from konsil.stats.contract import Array, IntArray
from konsil.stats.kappa import ratio

Bools = NDArray[np.bool_]


def advantage(judge: Array, peers: Array) -> Array:
    """A judge's score minus the mean of the peers that labelled the same slot; nan where one is missing.

    `judge` (n_slots,) and `peers` (n_slots, n_peers) hold scores, nan where a judge gave no label.

    >>> advantage(np.array([1.0, 0.0, np.nan]), np.array([[1.0, 0.0], [np.nan, np.nan], [1.0, 1.0]]))
    array([0.5, nan, nan])
    """
    given = np.isfinite(peers)
    n = given.sum(axis=1)
    total = np.where(given, peers, 0.0).sum(axis=1)
    return np.where(n > 0, judge - total / np.maximum(n, 1), np.nan)


def preference_sums(difference: Array, own: Bools, expert: IntArray, clusters: IntArray, n_labels: int) -> Array:
    """Tally a judge's advantage on its own and on other answers, by the experts' label.

    `difference` (n_slots,) of `advantage`; `own` (n_slots,) whose answer it is; `expert` (n_slots,) the experts'
    majority as 0 .. n_labels - 1, -1 undefined. Columns, (n_clusters, 4 + 4 n_labels): own sum and count, other sum and
    count, over all slots; then the same four for each label.
    """
    known = np.isfinite(difference)
    value = np.where(known, difference, 0.0)
    n = int(clusters.max()) + 1 if len(clusters) else 0
    columns = []
    for label in (None, *range(n_labels)):
        for mine in (True, False):
            use = known & (own == mine) & ((expert == label) if label is not None else True)
            columns.append(np.bincount(clusters, np.where(use, value, 0.0), n))
            columns.append(np.bincount(clusters, use.astype(np.float64), n))
    return np.column_stack(columns)


def plain_preference(totals: Array) -> Array:
    """Mean advantage on own answers, (..., 4 + 4 n_labels) to (..., 1): leniency in disguise.

    mean over own answers of (judge - peers). nan without own answers. Source: MedQADE's self and family preference.

    >>> plain_preference(np.array([2.0, 4.0, 1.0, 10.0]))
    array([0.5])
    """
    return ratio(totals[..., 0:1], totals[..., 1:2])


def adjusted_preference(totals: Array) -> Array:
    """Difference in differences within the experts' label, (..., 4 + 4 n_labels) to (..., 1).

    sum over labels of w_l (own advantage_l - other advantage_l), w_l the label's share of the own answers. A judge that
    is merely lenient has zero on average. nan if for a label that own answers have there is no other answer.

    >>> adjusted_preference(np.array([0, 0, 0, 0, 2.0, 4.0, 3.0, 10.0, 1.0, 4.0, 1.0, 10.0])).round(3)
    array([0.175])
    """
    by_label = totals[..., 4:].reshape(*totals.shape[:-1], -1, 4)
    own_n = by_label[..., 1]
    gap = ratio(by_label[..., 0], own_n) - ratio(by_label[..., 2], by_label[..., 3])
    with np.errstate(invalid="ignore"):
        parts = np.where(own_n > 0, own_n * gap, 0.0)
    return ratio(parts.sum(axis=-1), own_n.sum(axis=-1))[..., None]
