"""What statistics are in a population: plain formulas on a very large matrix of labels.

Written a second time on purpose, without konsil.stats: a truth that used the code it checks would
check nothing. Matrices are (n_units, n_raters) of codes, -1 where there is no label.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Matrix = NDArray[np.int64]

PAIRWISE = (
    "percent_agreement",
    "within_one",
    "pabak",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "light_kappa",
)
"""Averages over pairs of raters of a number of their common table."""

PANEL = ("krippendorff_alpha", "gwet_ac1", "randolph_kappa")
"""Numbers of all raters at once."""


def table(first: Matrix, second: Matrix, k: int) -> Array:
    """Joint shares of two columns of labels where both are given, (k, k)."""
    both = (first >= 0) & (second >= 0)
    counts = (
        np.bincount(first[both] * k + second[both], minlength=k * k)
        .reshape(k, k)
        .astype(np.float64)
    )
    return np.asarray(counts / counts.sum()) if counts.sum() else np.full((k, k), np.nan)


def of_table(name: str, joint: Array, values: Array) -> float:
    """A pairwise statistic of one joint table of shares."""
    k = len(joint)
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    agreement = float(np.trace(joint))
    if name == "percent_agreement":
        return agreement
    if name == "within_one":
        return float(joint[steps <= 1].sum())
    if name == "pabak":
        return (k * agreement - 1) / (k - 1)
    distance = np.abs(np.subtract.outer(values, values))
    cost = {"cohen_kappa_linear": distance, "cohen_kappa_quadratic": distance**2}.get(
        name, (steps > 0).astype(float)
    )
    chance = float((cost * np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum())
    return 1 - float((cost * joint).sum()) / chance if chance > 0 else float("nan")


def pairwise(name: str, labels: Matrix, k: int, values: Array) -> float:
    """The mean over pairs of raters."""
    estimates = [
        of_table(name, table(labels[:, r], labels[:, s], k), values)
        for r, s in combinations(range(labels.shape[1]), 2)
    ]
    return (
        float(np.nanmean(estimates))
        if estimates and not np.all(np.isnan(estimates))
        else float("nan")
    )


def of_panel(name: str, labels: Matrix, k: int, values: Array, level: str) -> float:
    """A statistic of all raters at once."""
    counts = np.stack([(labels == c).sum(axis=1) for c in range(k)], axis=1).astype(np.float64)
    n_rated = counts.sum(axis=1)
    if name == "krippendorff_alpha":
        return _alpha(counts[n_rated >= 2], values, level)
    is_paired = n_rated >= 2
    agreeing = (counts[is_paired] * (counts[is_paired] - 1)).sum(axis=1) / (
        n_rated[is_paired] * (n_rated[is_paired] - 1)
    )
    observed = float(agreeing.mean())
    if name == "randolph_kappa":
        return (observed - 1 / k) / (1 - 1 / k)
    any_label = n_rated >= 1
    shares = (counts[any_label] / n_rated[any_label, None]).mean(axis=0)
    chance = float((shares * (1 - shares)).sum()) / (k - 1)
    return (observed - chance) / (1 - chance)


def _alpha(counts: Array, values: Array, level: str) -> float:
    n = counts.sum(axis=1)
    margins = counts.sum(axis=0)
    if level == "ordinal":
        ranks = np.cumsum(margins) - margins / 2
        distance = np.subtract.outer(ranks, ranks) ** 2
    elif level == "nominal":
        distance = 1 - np.eye(len(margins))
    else:
        distance = np.subtract.outer(values, values) ** 2
    observed = float((((counts @ distance) * counts).sum(axis=1) / (n - 1)).sum())
    expected = float(margins @ distance @ margins) / (float(margins.sum()) - 1)
    return 1 - observed / expected if expected > 0 else float("nan")


def of_answers(codes: Matrix, owner: NDArray[np.int64], rule: str) -> Matrix:
    """One label for each answer and rater, from the labels of its sentences.

    It is the worst label for 'all' and the best for 'any'; the owners are sorted.

    >>> of_answers(np.array([[0, 1], [1, -1], [1, -1]]), np.array([4, 4, 7]), "all")
    array([[ 0,  1],
           [ 1, -1]])
    """
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    if rule == "any":
        return np.asarray(np.maximum.reduceat(codes, starts, axis=0), dtype=np.int64)
    # A missing label is -1 and would be the worst of all: it is put last, and back again.
    none = np.iinfo(np.int64).max
    worst = np.minimum.reduceat(np.where(codes < 0, none, codes), starts, axis=0)
    return np.where(worst == none, -1, worst).astype(np.int64)


def majority(labels: Matrix, k: int) -> Matrix:
    """Strictly more than half of those who gave a label, else -1; (n_units,)."""
    return _majority_label(_counts(labels, k))


def _counts(labels: Matrix, k: int) -> Matrix:
    """How many raters gave each label, (k, n_units).

    Labels come first, since NumPy is slow along a short last axis.
    """
    counts = np.zeros((k, len(labels)), dtype=np.int64)
    for column in labels.T:
        for label in range(k):
            counts[label] += column == label
    return counts


def _majority_label(counts: Matrix) -> Matrix:
    """The label of more than half of those who gave one, else -1, of counts (k, n_units)."""
    return np.where(2 * counts.max(axis=0) > counts.sum(axis=0), counts.argmax(axis=0), -1).astype(
        np.int64
    )


def _rests(labels: Matrix, k: int) -> list[Matrix]:
    """The majority of all raters but one, for each of them."""
    # Counted once for all: the others' votes are everybody's less the one rater's own.
    counts = _counts(labels, k)
    label_numbers = np.arange(k)[:, None]
    return [_majority_label(counts - (column == label_numbers)) for column in labels.T]


def conflicting(labels: Matrix, k: int) -> NDArray[np.bool_]:
    """Where raters gave different labels and none has more than half, (n_units,)."""
    counts = _counts(labels, k)
    return np.asarray(
        ((counts > 0).sum(axis=0) > 1) & (2 * counts.max(axis=0) <= counts.sum(axis=0)),
        dtype=np.bool_,
    )


def against_rest(
    name: str, labels: Matrix, k: int, values: Array, only: int | None = None
) -> float:
    """The mean over raters of their statistic with the majority of the other raters.

    With `only`, the statistic is that of this rater.
    """
    rests = _rests(labels, k)
    estimates = [
        of_table(name, table(labels[:, r], rests[r], k), values)
        for r in (range(labels.shape[1]) if only is None else [only])
    ]
    return float(np.nanmean(estimates))


def judge_and_ceiling(
    name: str, panel: Matrix, judge: Matrix, k: int, values: Array
) -> tuple[float, float]:
    """A judge and each held-out rater against the same majorities on the same units.

    The values are averaged over the raters.
    """
    judges, ceilings = [], []
    for r, rest in enumerate(_rests(panel, k)):
        both = (judge >= 0) & (panel[:, r] >= 0)
        judges.append(of_table(name, table(np.where(both, judge, -1), rest, k), values))
        ceilings.append(of_table(name, table(np.where(both, panel[:, r], -1), rest, k), values))
    return float(np.nanmean(judges)), float(np.nanmean(ceilings))


def slope(x: Array, events: NDArray[np.bool_]) -> float:
    """Least squares of yes or no on a number."""
    centred = x - x.mean()
    return float((centred * events).sum() / (centred**2).sum())


def mean_strata(panel: Matrix, values: Array) -> NDArray[np.int64]:
    """Answers by the panel's mean number, to the nearest half step of the scale.

    -1 without a label, (n_units,).

    Scales of more than 13 half steps are cut into 13 equal steps, as analyses do.
    """
    is_scored = panel >= 0
    grid = np.unique(np.concatenate([values, (values[1:] + values[:-1]) / 2]))
    grid = grid if len(grid) <= 13 else np.linspace(grid[0], grid[-1], 13)
    mean = (values[np.maximum(panel, 0)] * is_scored).sum(axis=1) / np.maximum(
        is_scored.sum(axis=1), 1
    )
    # Rounded: of a mean halfway between two steps the lower is taken, whatever its last bits are.
    nearest = np.abs(mean[:, None] - grid[None, :]).round(8).argmin(axis=1)
    return np.where(is_scored.any(axis=1), nearest, -1).astype(np.int64)


def preference(
    own_scores: Array,
    peers: Array,
    is_own: NDArray[np.bool_],
    is_other: NDArray[np.bool_],
    stratum: Matrix | None,
) -> float:
    """How much better a judge scores its own answers than each peer does.

    The same difference on other answers of equal stratum is subtracted. Without strata, its own
    answers alone, beside the peers' mean. `own_scores` (n_units,) and `peers` (n_units, n_peers)
    hold nan where there is no label and where a peer or its family wrote the answer, `stratum` -1
    where there is none.
    """
    if stratum is None:
        rated = np.isfinite(peers).any(axis=1) & np.isfinite(own_scores) & is_own
        return float((own_scores[rated] - np.nanmean(peers[rated], axis=1)).mean())
    total, weight = 0.0, 0
    for peer in peers.T:
        ahead = own_scores - peer
        for label in np.unique(stratum[stratum >= 0]):
            in_stratum = np.isfinite(ahead) & (stratum == label)
            n = int((in_stratum & is_own).sum())
            if n and (in_stratum & is_other).any():
                total += n * float(
                    ahead[in_stratum & is_own].mean() - ahead[in_stratum & is_other].mean()
                )
                weight += n
    return total / weight if weight else float("nan")
