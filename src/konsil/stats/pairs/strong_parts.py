"""The systems whose strengths have an estimate where those of all have none, and the others' place.

Strengths have a maximum of the likelihood among systems of which each has a chain of wins or ties
to each other one. Where some have none, the likelihood grows without limit as the distance to them
grows, and in that limit the comparisons with them say nothing about the rest: the strengths of the
rest are those of their own comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.pairs.votes import Votes, pair_members, votes
from konsil.stats.pairs.worth_designs import Design, counts_of, reachable, sides_of

Place = Literal["estimated", "above", "below", "apart"]
"""Where a system is: among those with an estimate; above them, as it never lost to them, not even
by way of third ones; below them, as it never won; or neither, without a chain of wins either
way."""


@dataclass(frozen=True, eq=False)
class StrongPart:
    """Some of the systems, each with a chain of wins or ties to each other one."""

    systems: IntArray
    """Their numbers, rising."""
    places: tuple[Place, ...]
    """The place of each system, of all of them."""


def strong_part(cell_totals: Array, chosen: Design) -> StrongPart | None:
    """The largest such part of two systems or more; of equal ones that with most comparisons.

    None where no two systems are such a part. Source: Ford, Am Math Mon 64:28, 1957.

    >>> from konsil.stats.pairs.worth_designs import design
    >>> cells = np.array([0, 0, 9, 0, 0, 9, 4, 0, 5])  # the first of three won all
    >>> strong_part(cells, design(3, model="bradley_terry")).places
    ('above', 'estimated', 'estimated')
    """
    counts = counts_of(np.asarray(cell_totals, dtype=np.float64), chosen)
    reach = reachable(counts, chosen)[0]
    mutual = reach & reach.T
    first, second = pair_members(chosen.n_systems)
    n_within = ((mutual[:, first] & mutual[:, second]) * counts.n[0]).sum(axis=1)
    # Of equal ones the first: sorting is stable.
    at = int(np.lexsort((-n_within, -mutual.sum(axis=1)))[0])
    inside = mutual[at]
    if inside.sum() < 2:
        return None
    places: list[Place] = []
    for n in range(chosen.n_systems):
        reaches, is_reached = bool(reach[n, at]), bool(reach[at, n])
        if reaches and is_reached:
            places.append("estimated")
        elif reaches or is_reached:
            places.append("above" if reaches else "below")
        else:
            places.append("apart")
    return StrongPart(np.flatnonzero(inside), tuple(places))


def votes_within(all_votes: Votes, systems: IntArray) -> Votes:
    """The votes on two of some systems, which are numbered anew, as are the questions.

    Raters keep their numbers.
    """
    number = np.full(all_votes.n_systems, -1)
    number[systems] = np.arange(len(systems))
    first, second = (number[side[all_votes.pairs]] for side in pair_members(all_votes.n_systems))
    inside = (first >= 0) & (second >= 0)
    made = votes(
        first[inside],
        second[inside],
        all_votes.outcomes[inside],
        np.unique(all_votes.questions[inside], return_inverse=True)[1],
        all_votes.raters[inside],
        n_systems=len(systems),
        steps=all_votes.steps,
    )
    return made.among(n_raters=all_votes.n_raters)


def design_within(chosen: Design, n_systems: int) -> Design:
    """The design of a model for so many systems, with the same outcomes."""
    return replace(chosen, n_systems=n_systems, sides=sides_of(n_systems))
