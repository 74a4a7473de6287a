"""Differences of preference statistics between two groups of comparisons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from konsil.stats.engine.contract import Array
from konsil.stats.pairs.votes import Votes, votes
from konsil.stats.pairs.wins import VoteStatistic


def side_by_side(
    first: tuple[Array, Array, Array, Array, Array],
    second: tuple[Array, Array, Array, Array, Array],
    *,
    n_systems: int,
    steps: int,
) -> Votes:
    """Two groups of comparisons as one set of votes, the second's systems numbered on.

    Those of the second group start at n_systems. Each group: columns (n_votes,) of first system,
    second system, outcome, question and rater; questions and raters have the same numbers in both,
    so that a rater who voted in both groups is one cluster.
    """
    a, b, y, q, r = (np.concatenate(columns) for columns in zip(first, second, strict=True))
    # Both groups side by side as if of other systems: one linearisation covers the difference.
    shift = np.repeat([0, n_systems], [len(first[0]), len(second[0])])
    return votes(a + shift, b + shift, y, q, r, n_systems=2 * n_systems, steps=steps)


def between_groups(statistic: VoteStatistic, n_systems: int) -> VoteStatistic:
    """Each system's value in the first group minus that in the second, of votes by `side_by_side`.

    `statistic` has one value a system, of 2 n_systems systems. Values: (..., n_systems); nan for a
    system without a value in one of the groups. Flips do not test it: exchanging winners and losers
    does not exchange the groups.

    Example:
        >>> from konsil.stats.pairs.wins import system_against_others
        >>> both = between_groups(system_against_others(4), 2)
        >>> totals = np.zeros(18)
        >>> totals[[0, 2, 15, 17]] = [1, 3, 2, 2]
        >>> both.finalise(totals)
        array([ 0.5, -0.5])
    """

    def finalise(totals: Array) -> Array:
        values = statistic.finalise(totals)
        return np.asarray(values[..., :n_systems] - values[..., n_systems:])

    def gradient(totals: Array) -> Array:
        moves = statistic.gradient(totals)
        return np.asarray(moves[:, :n_systems] - moves[:, n_systems:])

    support = statistic.support[:, :n_systems] | statistic.support[:, n_systems:]
    low, high = statistic.limits
    return replace(
        statistic,
        name=f"difference({statistic.name})",
        finalise=finalise,
        gradient=gradient,
        support=support,
        terms=None,
        limits=(low - high, high - low),
        kind="other",
    )
