"""Wins, losses and margins of systems: head to head, and of one system against all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Finalise
from konsil.stats.pairs.votes import n_pairs, pair_members

Score = Literal["difference", "win", "half", "margin"]
"""The value of a vote for a system: 1, 0, -1; 1, 0, 0; 1, 1/2, 0; or its Likert steps."""

DIFFERENCE = "Pocock et al., Eur Heart J 33:176, 2012; equal weight for every comparator"
WIN_RATE = "proportion of comparisons won, ties in the denominator"
MARGIN = "mean preference in scale points; equal weight for every comparator"


@dataclass(frozen=True, eq=False)
class VoteStatistic:
    """A statistic of the cells' totals, with its derivative for intervals without resampling."""

    name: str
    """The field's name for it."""
    finalise: Finalise
    """Totals (..., n_cells) -> values (..., m)."""
    gradient: Callable[[Array], Array]
    """Totals (n_cells,) -> the change of each value with one more vote in a cell, (n_cells, m)."""
    support: NDArray[np.bool_]
    """(n_pairs, m) the pairs from which a value is computed."""
    terms: Callable[[Array], Array] | None
    """Totals (n_cells,) -> terms (n_cells, m), value = totals @ terms, where values change their
    sign when winner and loser of every vote are exchanged, so that flips test them; None for
    others."""
    source: str
    """Where the formula comes from."""
    limits: tuple[float, float] = (-np.inf, np.inf)
    """The range of the values; intervals are cut there."""
    by_pair: bool = True
    """Whether the values are made of each pair's own mean; otherwise all comparisons enter one
    fit."""
    kind: Literal["share", "mean", "other"] = "other"
    """A proportion of one pair's votes, a mean of bounded scores of pairs, or neither; it decides
    on the interval at the edges of the range."""


def scores(steps: int, score: Score = "difference", threshold: int = 1) -> tuple[Array, Array]:
    """The score of each outcome for a pair's first and second system, (2 steps + 1,) each.

    Outcomes of less than `threshold` steps are ties: with 2 only "much better" is a win.

    >>> scores(1, "half")
    (array([0. , 0.5, 1. ]), array([1. , 0.5, 0. ]))
    """
    if not 1 <= threshold <= steps:
        raise ValueError(f"threshold: got {threshold}, expected 1 to {steps} steps")
    outcomes = np.arange(-steps, steps + 1)
    signs = np.sign(outcomes) * (np.abs(outcomes) >= threshold)
    if score == "margin":
        first = outcomes.astype(np.float64)
    elif score == "difference":
        first = signs.astype(np.float64)
    else:
        first = (signs > 0) + (0.5 if score == "half" else 0.0) * (signs == 0)
    return first, first[::-1].copy()


def limits(steps: int, score: Score) -> tuple[float, float]:
    """The least and the greatest mean score.

    >>> limits(2, "margin"), limits(2, "win")
    ((-2.0, 2.0), (0.0, 1.0))
    """
    reach = float(steps) if score == "margin" else 1.0
    return (-reach if score in ("difference", "margin") else 0.0), reach


def head_to_head(
    n_systems: int, steps: int = 1, score: Score = "win", threshold: int = 1
) -> VoteStatistic:
    """Each system's mean score D(A, B) against each other system.

    D(A, B) = sum of s(outcome from A's side) / n_AB over the comparisons of A with B; with score
    "win" it is the proportion that A won, and ties stay in the denominator. Totals (..., n_cells)
    -> values (..., 2 n_pairs): for every pair the first system against the second, then all seconds
    against their firsts. nan for two systems that were never compared.

    >>> head_to_head(2).finalise(np.array([2.0, 3.0, 5.0]))
    array([0.5, 0.2])
    """
    return _of_two(
        n_systems,
        np.stack(scores(steps, score, threshold)),
        f"head_to_head_{score}",
        score,
        limits(steps, score),
    )


def mean_preference(n_systems: int, sides: Array) -> VoteStatistic:
    """Each system's mean share of the preference against each other system.

    P(A, B) = sum of A's share over the comparisons of A with B / n_AB; with whole preferences it is
    the proportion that A won, a tie being half. Totals (..., n_cells) -> values (..., 2 n_pairs),
    as in `head_to_head`. nan for two systems that were never compared.

    Args:
        n_systems: how many systems there are.
        sides: (2, n_outcomes) the share that each outcome gives to a pair's first and second
            system, from 0 to 1.

    Source: Dubois et al. (2024), Length-controlled AlpacaEval: the win rate as the mean preference.

    >>> mean_preference(2, np.array([[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]])).finalise(
    ...     np.array([2.0, 3.0, 5.0])
    ... )
    array([0.65, 0.35])
    """
    return _of_two(n_systems, sides, "mean_preference", "half", (0.0, 1.0))


def _of_two(
    n_systems: int, sides: Array, name: str, score: Score, ends: tuple[float, float]
) -> VoteStatistic:
    """A mean score of each of two systems; `sides` (2, n_outcomes) has the score of an outcome."""
    width, pairs = sides.shape[1], n_pairs(n_systems)
    products = _products(sides, pairs)

    def finalise(cell_totals: Array) -> Array:
        n, first, second = _by_pair(cell_totals, products)
        return np.concatenate([ratio(first, n), ratio(second, n)], axis=-1)

    def gradient(cell_totals: Array) -> Array:
        table = cell_totals.reshape(pairs, width)
        n, means = table.sum(1), finalise(cell_totals).reshape(2, pairs)
        out = np.zeros((pairs, width, 2, pairs))
        at = np.arange(pairs)
        for side in range(2):
            out[at, :, side, at] = ratio(
                sides[side] - means[side][:, None], np.tile(n[:, None], width)
            )
        return out.reshape(pairs * width, 2 * pairs)

    def terms(cell_totals: Array) -> Array:
        n = cell_totals.reshape(pairs, width).sum(1)
        out = np.zeros((pairs, width, 2, pairs))
        at = np.arange(pairs)
        for side in range(2):
            out[at, :, side, at] = sides[side] / np.maximum(n, 1)[:, None]
        return out.reshape(pairs * width, 2 * pairs)

    support = np.tile(np.eye(pairs, dtype=bool), 2)
    return VoteStatistic(
        name,
        finalise,
        gradient,
        support,
        _tested(score, terms),
        WIN_RATE,
        ends,
        kind="share" if score == "win" else "mean",
    )


def system_against_others(
    n_systems: int, steps: int = 1, score: Score = "difference", threshold: int = 1
) -> VoteStatistic:
    """Each system's mean score against the others, all comparator systems with the same weight.

    value_i = mean over the comparators j of i of D_ij, D_ij the mean score of i over its
    comparisons with j. A comparison so weighs one over the number of comparisons of its pair; these
    weights are computed again for all totals, so also in every resample. Totals (..., n_cells) ->
    values (..., n_systems). Comparators that were never met are excluded from the mean; nan for a
    system without comparisons. Source: with score "difference" the win difference or net benefit
    (Pocock et al. 2012).

    >>> system_against_others(3).finalise(np.array([0.0, 0, 1, 4, 0, 4, 2, 0, 0]))
    array([ 0.5, -1. ,  0.5])
    """
    sides = np.stack(scores(steps, score, threshold))
    width, pairs = 2 * steps + 1, n_pairs(n_systems)
    first, second = pair_members(n_systems)
    incidence = np.zeros((2, pairs, n_systems))
    incidence[0, np.arange(pairs), first] = 1
    incidence[1, np.arange(pairs), second] = 1
    products = _products(sides, pairs)

    def finalise(cell_totals: Array) -> Array:
        n, ours, theirs = _by_pair(cell_totals, products)
        # Every rival weighs the same, however many comparisons there are with it.
        is_compared = n > 0
        divisor = np.where(is_compared, n, 1.0)
        sums = (ours / divisor) @ incidence[0] + (theirs / divisor) @ incidence[1]
        return ratio(sums, is_compared @ (incidence[0] + incidence[1]))

    def derivative(cell_totals: Array, centred: bool) -> Array:
        table = cell_totals.reshape(pairs, width)
        n = table.sum(1)
        is_compared = n > 0
        rivals = np.maximum(is_compared @ (incidence[0] + incidence[1]), 1)
        out = np.zeros((pairs, width, n_systems))
        at = np.arange(pairs)
        for side, system in ((0, first), (1, second)):
            mean = table @ sides[side] / np.where(is_compared, n, 1.0) * centred
            moved = (
                (sides[side] - mean[:, None])
                / np.where(is_compared, n, 1.0)[:, None]
                * is_compared[:, None]
            )
            out[at, :, system] = moved / rivals[system][:, None]
        return out.reshape(pairs * width, n_systems)

    def gradient(cell_totals: Array) -> Array:
        return derivative(cell_totals, centred=True)

    def terms(cell_totals: Array) -> Array:
        return derivative(cell_totals, centred=False)

    name = {
        "difference": "win_difference",
        "win": "win_rate",
        "half": "win_rate_half",
        "margin": "margin",
    }[score]
    source = {"difference": DIFFERENCE, "margin": MARGIN}.get(score, WIN_RATE)
    support = (incidence[0] + incidence[1]) > 0
    return VoteStatistic(
        name,
        finalise,
        gradient,
        support,
        _tested(score, terms),
        source,
        limits(steps, score),
        kind="mean",
    )


_FEW_PAIRS = 40
"""Up to this many pairs one product with a matrix that is mostly zeros is faster."""


def _products(sides: Array, pairs: int) -> Array:
    """The matrices that multiply the totals, of all pairs (n_cells, 3 n_pairs) or of one."""
    columns = np.vstack([np.ones(sides.shape[1]), sides]).T
    if pairs > _FEW_PAIRS:
        return columns
    return np.hstack([np.kron(np.eye(pairs), column[:, None]) for column in columns.T])


def _by_pair(cell_totals: Array, products: Array) -> tuple[Array, Array, Array]:
    """Each pair's number of votes and its two systems' sums of scores, (..., n_pairs) each.

    Sums of whole numbers and halves: in whatever order, they are exact.
    """
    width, wide = products.shape
    if wide > 3 or cell_totals.shape[-1] == width:
        sums, pairs = cell_totals @ products, wide // 3
        return sums[..., :pairs], sums[..., pairs : 2 * pairs], sums[..., 2 * pairs :]
    # One product for all pairs.
    sums = np.ascontiguousarray((cell_totals.reshape(-1, width) @ products).T)
    shape = (*cell_totals.shape[:-1], cell_totals.shape[-1] // width)
    return sums[0].reshape(shape), sums[1].reshape(shape), sums[2].reshape(shape)


def pooled(
    n_systems: int, steps: int = 1, score: Score = "difference", threshold: int = 1
) -> VoteStatistic:
    """Each system's mean score over all its comparisons, wins minus losses over comparisons.

    Comparators that were met more often weigh more; where the pairs were sampled with unequal
    weights, report `system_against_others`. Totals (..., n_cells) -> values (..., n_systems); nan
    for a system without comparisons.

    >>> pooled(3).finalise(np.array([0.0, 0, 1, 4, 0, 4, 2, 0, 0])).round(3)
    array([ 0.111, -1.   ,  0.2  ])
    """
    sides = np.stack(scores(steps, score, threshold))
    width, pairs = 2 * steps + 1, n_pairs(n_systems)
    first, second = pair_members(n_systems)
    above = np.zeros((pairs, width, n_systems))
    below = np.zeros((pairs, width, n_systems))
    at = np.arange(pairs)
    for side, system in ((0, first), (1, second)):
        above[at, :, system] = sides[side]
        below[at, :, system] = 1
    score_of, counted = above.reshape(-1, n_systems), below.reshape(-1, n_systems)

    def finalise(cell_totals: Array) -> Array:
        return ratio(cell_totals @ score_of, cell_totals @ counted)

    def gradient(cell_totals: Array) -> Array:
        n, mean = cell_totals @ counted, np.nan_to_num(finalise(cell_totals))
        return np.asarray((score_of - counted * mean) / np.maximum(n, 1))

    def terms(cell_totals: Array) -> Array:
        return np.asarray(score_of / np.maximum(cell_totals @ counted, 1))

    support, source = below[:, 0] > 0, "wins minus losses over all comparisons"
    return VoteStatistic(
        f"pooled_{score}",
        finalise,
        gradient,
        support,
        _tested(score, terms),
        source,
        limits(steps, score),
        by_pair=False,
    )


def _tested(score: Score, terms: Callable[[Array], Array]) -> Callable[[Array], Array] | None:
    """Whether flips test a score: rates do not change sign with winner and loser."""
    return terms if score in ("difference", "margin") else None


def matrix(values: Array, n_systems: int) -> Array:
    """The values of `head_to_head` (..., 2 n_pairs) as a matrix (..., n_systems, n_systems).

    The row's system is compared with the column's; nan on the diagonal.

    >>> matrix(np.array([0.5, 0.2]), 2)
    array([[nan, 0.5],
           [0.2, nan]])
    """
    first, second = pair_members(n_systems)
    out = np.full((*values.shape[:-1], n_systems, n_systems), np.nan)
    out[..., first, second] = values[..., : len(first)]
    out[..., second, first] = values[..., len(first) :]
    return out
