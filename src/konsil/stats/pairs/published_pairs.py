"""Comparisons as the Real-POCQi paper computes them, for reproduction only.

Weights are computed once, intervals are percentiles, and single comparisons are flipped. Where
comparisons share questions or raters the test rejects too often, and weights that are computed once
do not follow a resample in which a pair is rarer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.engine.streams import stream_key
from konsil.stats.engine.weights import bootstrap_weights
from konsil.stats.inference.infer import infer
from konsil.stats.pairs.votes import Votes, pair_members

AT_ONCE = 256
"""Resamples whose flips are drawn together."""


@dataclass(frozen=True, eq=False)
class Published:
    """Values with percentile intervals and p values, each (m,)."""

    value: Array
    """The estimates; nan where there are no comparisons."""
    low: Array
    """The percentile interval's lower end; nan with fewer than two clusters."""
    high: Array
    """Its upper end."""
    p: Array
    """Share of flipped resamples at least as far from zero; it can be 0. nan where nothing is
    tested."""
    n_undefined: IntArray
    """Resamples in which the value was undefined."""


def pair_weights(votes: Votes) -> Array:
    """The weight of each vote, 1 / (number of comparisons of its two systems), (n_votes,).

    All comparator systems then have the same weight.

    >>> from konsil.stats.pairs.votes import votes
    >>> pair_weights(votes([0, 0, 0], [1, 1, 2], [1, 0, 1], [0, 1, 2], [0, 0, 0], n_systems=3))
    array([0.5, 0.5, 1. ])
    """
    count = np.bincount(votes.pairs, minlength=1)
    return np.asarray(1.0 / count[votes.pairs])


def published_wins(
    votes: Votes,
    weights: Array,
    clusters: IntArray,
    *,
    threshold: int = 1,
    tested: bool = True,
    draws: int = 10_000,
    level: float = 0.95,
    key: int = 0,
) -> Published:
    """Win difference of each system, with percentiles over clusters and a flip test; (n_systems,).

    value_s = sum of w (1 won, -1 lost, 0 tied) / sum of w over the comparisons of s. `weights` and
    `clusters` (n_votes,): the weights stay with their comparisons in every resample. `threshold`:
    the steps from which on a comparison is won. p: in each resample of clusters every comparison,
    each of its copies by itself, is flipped with probability 1/2; p is the proportion of |flipped
    difference| >= |value|, without the usual addition of one. nan for a system that was never
    compared.

    Source: Real-POCQi's analysis, arXiv:2606.28960.

    >>> from konsil.stats.pairs.votes import votes
    >>> two = votes([0] * 4, [1] * 4, [1, 1, 1, -1], [0, 1, 2, 3], [0] * 4, n_systems=2)
    >>> published_wins(two, pair_weights(two), two.questions, draws=200).value
    array([ 0.5, -0.5])
    """
    first, second = pair_members(votes.n_systems)
    won = np.sign(votes.outcomes) * (np.abs(votes.outcomes) >= threshold)
    different, place = renumbered(clusters)
    n_clusters = len(different)
    shape = (votes.n_systems, votes.n_votes)
    gain, weight = np.zeros(shape), np.zeros(shape)
    at = np.arange(votes.n_votes)
    for side, sign in ((first, 1.0), (second, -1.0)):
        gain[side[votes.pairs], at] = sign * weights * won
        weight[side[votes.pairs], at] = weights
    sums = np.zeros((n_clusters, 2 * votes.n_systems))
    np.add.at(sums, place, np.concatenate([gain, weight]).T)

    def finalise(totals: Array) -> Array:
        return ratio(totals[..., : votes.n_systems], totals[..., votes.n_systems :])

    if n_clusters < 1:
        nothing = np.full(votes.n_systems, np.nan)
        return Published(
            nothing, nothing, nothing, nothing, np.zeros(votes.n_systems, dtype=np.int64)
        )
    interval = infer(sums, finalise, draws=draws, level=level, key=key, method="percentile")
    p = np.full(votes.n_systems, np.nan)
    if tested and n_clusters > 1:
        p = _flipped(interval.value, gain, weight, place, n_clusters, draws=draws, key=key)
    return Published(interval.value, interval.low, interval.high, p, interval.n_undefined)


def _flipped(
    value: Array,
    gain: Array,
    weight: Array,
    place: IntArray,
    n_clusters: int,
    *,
    draws: int,
    key: int,
) -> Array:
    """The proportion of resamples with a flipped difference at least as far from zero, (m,)."""
    further, defined = np.zeros(len(value)), np.zeros(len(value))
    generator = np.random.default_rng(stream_key(int(key), "flips of single comparisons"))
    for start in range(0, draws, AT_ONCE):
        stop = min(draws, start + AT_ONCE)
        times = bootstrap_weights(key, n_clusters, start, stop, np.float64)[:, place].astype(
            np.int64
        )
        # Each copy of a comparison has a coin of its own: the sum of n signs is twice a binomial
        # number less n.
        signs = 2.0 * generator.binomial(times, 0.5) - times
        null = ratio(signs @ gain.T, times.astype(np.float64) @ weight.T)
        is_finite = np.isfinite(null)
        further += (np.abs(np.where(is_finite, null, 0.0)) >= np.abs(value) - 1e-12).sum(
            axis=0, where=is_finite
        )
        defined += is_finite.sum(axis=0)
    return np.where(np.isfinite(value), ratio(further, defined), np.nan)


def published_tables(votes: Votes, apart: IntArray) -> Array:
    """Every two votes on the same question, pair and arm as one cell, the earlier vote in the rows.

    Sums (n_questions, n_outcomes^2). Outcomes are from the side of the pair's first system; neither
    raters nor sides are exchanged. `apart` (n_votes,): only votes with the same number are
    compared, such as those of one arm.

    >>> from konsil.stats.pairs.votes import votes
    >>> two = votes([0, 0], [1, 1], [1, 0], [0, 0], [0, 1], n_systems=2)
    >>> published_tables(two, np.zeros(2, dtype=np.int64)).reshape(3, 3)
    array([[0., 0., 0.],
           [0., 0., 0.],
           [0., 1., 0.]])
    """
    width = votes.n_outcomes
    sums = np.zeros((votes.n_questions, width * width))
    groups: dict[tuple[int, int, int], list[int]] = {}
    for question, pair, arm, outcome in zip(
        votes.questions.tolist(),
        votes.pairs.tolist(),
        apart.tolist(),
        (votes.outcomes + votes.steps).tolist(),
        strict=True,
    ):
        earlier = groups.setdefault((question, pair, arm), [])
        for other in earlier:
            sums[question, other * width + outcome] += 1
        earlier.append(outcome)
    return sums


def published_agreement(totals: Array) -> Array:
    """Agreement within one step and Cohen's kappa with squared weights.

    Totals (..., n_outcomes^2), values (..., 2).

    kappa = 1 - sum of (i - j)^2 o_ij / sum of (i - j)^2 r_i c_j, with the margins r of the earlier
    and c of the later votes as they are. nan without pairs of votes; kappa also where all outcomes
    are the same.

    Source: Cohen, Psychol Bull 70:213, 1968; Real-POCQi's analysis, arXiv:2606.28960.

    >>> published_agreement(np.array([2.0, 0, 0, 0, 0, 0, 0, 0, 2.0]))
    array([1., 1.])
    """
    width = round(np.shape(totals)[-1] ** 0.5)
    table = np.asarray(totals, dtype=np.float64).reshape(*np.shape(totals)[:-1], width, width)
    n = table.sum((-2, -1))
    steps = np.abs(np.subtract.outer(np.arange(width), np.arange(width))).astype(np.float64)
    within = ratio((table * (steps <= 1)).sum((-2, -1)), n)
    observed = (table * steps**2).sum((-2, -1)) * n
    expected = ((table.sum(-1) @ steps**2) * table.sum(-2)).sum(-1)
    return np.stack([within, 1 - ratio(observed, expected)], axis=-1)
