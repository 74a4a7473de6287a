"""Models of paired comparisons: how outcomes enter, and whether a maximum exists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.pairs.votes import n_pairs, pair_members
from konsil.stats.pairs.wins import scores

Ties = Literal["half", "dropped"]


Model = Literal["davidson", "bradley_terry"]


@dataclass(frozen=True, eq=False)
class Design:
    """How outcomes enter a model."""

    n_systems: int
    """How many systems there are."""
    model: Model
    """Which model."""
    half: Array
    """(2 steps + 1,) the value of a vote for the pair's first system: 1, 1/2, 0; 0 if it is
    excluded."""
    tie: Array
    """(2 steps + 1,) 1 where the outcome is a tie of the model."""
    included: Array
    """(2 steps + 1,) 0 where the outcome is excluded, otherwise 1."""
    sides: Array
    """(n_pairs, n_systems) 1 for the pair's first system, -1 for its second."""
    penalty: float = 0.0
    """How many virtual comparisons each system has with an average one; 0: none, no penalty."""


@dataclass(frozen=True, eq=False)
class Counts:
    """The counts of some data sets on which the likelihood depends, (n, n_pairs) each."""

    half: Array
    """Wins plus half the ties of the pair's first system."""
    tie: Array
    """Ties."""
    n: Array
    """Comparisons."""


def design(
    n_systems: int,
    steps: int = 1,
    model: Model = "davidson",
    ties: Ties = "half",
    threshold: int = 1,
    penalty: float = 0.0,
) -> Design:
    """The design of a model.

    Bradley and Terry's model counts ties half for each side or excludes them; it has no third way.
    Outcomes of less than `threshold` steps are ties. `penalty`: as in `with_virtual_system`.
    """
    win, loss = scores(steps, "win", threshold)
    tie = 1 - win - loss
    sides = sides_of(n_systems)
    if model == "davidson":
        return Design(n_systems, model, win + tie / 2, tie, np.ones(len(tie)), sides, penalty)
    counted = 1.0 if ties == "half" else 0.0
    return Design(
        n_systems,
        model,
        win + counted * tie / 2,
        0 * tie,
        win + loss + counted * tie,
        sides,
        penalty,
    )


def sides_of(n_systems: int) -> Array:
    """(n_pairs, n_systems) 1 for the pair's first system, -1 for its second."""
    pairs = np.arange(n_pairs(n_systems))
    first, second = pair_members(n_systems)
    sides = np.zeros((len(pairs), n_systems))
    sides[pairs, first], sides[pairs, second] = 1, -1
    return sides


def counts_of(cell_totals: Array, chosen: Design) -> Counts:
    """The counts on which the likelihood depends; leading axes of the totals become one.

    Totals (..., n_cells).

    >>> counts_of(np.array([2.0, 4.0, 4.0]), design(2)).half
    array([[6.]])
    """
    table = cell_totals.reshape(-1, len(chosen.sides), len(chosen.half))
    return Counts(table @ chosen.half, table @ chosen.tie, table @ chosen.included)


def with_virtual_system(counts: Counts, chosen: Design) -> tuple[Counts, Design]:
    """The counts and the design of a penalised fit: that of one system more, which is virtual.

    Each system has `penalty` comparisons with it, half of them won and half lost, in Davidson's
    model a third of them won, tied and lost each. The log-likelihood then falls without limit in
    every direction, so that one maximum exists whatever was compared. Unchanged without a penalty.

    Source: Mease, Am Stat 57:241, 2003, where each team wins and loses once against a virtual team
    (penalty 2); with ties alike.

    >>> counts = counts_of(np.array([0.0, 0.0, 3.0]), design(2))
    >>> with_virtual_system(counts, design(2, penalty=1.5))[0].half
    array([[3.  , 0.75, 0.75]])
    """
    if not chosen.penalty:
        return counts, chosen
    k = chosen.n_systems
    is_virtual = pair_members(k + 1)[1] == k
    n_tied = chosen.penalty / 3 if chosen.model == "davidson" else 0.0

    def together(real: Array, virtual: float) -> Array:
        out = np.full((len(real), len(is_virtual)), virtual)
        out[:, ~is_virtual] = real
        return out

    both = Counts(
        together(counts.half, chosen.penalty / 2),
        together(counts.tie, n_tied),
        together(counts.n, chosen.penalty),
    )
    return both, replace(chosen, n_systems=k + 1, sides=sides_of(k + 1), penalty=0.0)


def some_of(counts: Counts, which: IntArray) -> Counts:
    """Some of the data sets."""
    return Counts(counts.half[which], counts.tie[which], counts.n[which])


WhyUndefined = Literal[
    "",
    "no_comparisons",
    "no_ties",
    "all_ties",
    "unconnected",
    "undefeated",
    "unbounded",
    "no_maximum",
]
"""Why worths are undefined: no comparisons, or no ties, which Davidson's parameter needs; nothing
but ties; systems never compared with the others, or that lost to none of them, not even by way of
third ones; no comparison against the order of the others; no maximum found. Empty: they are
defined."""


def undefined_because(counts: Counts, chosen: Design) -> WhyUndefined:
    """Why one data set has no fit; empty where it has one."""
    if not counts.n.any():
        return "no_comparisons"
    if chosen.model == "davidson" and not counts.tie.any():
        return "no_ties"
    if chosen.model == "davidson" and counts.tie.sum() == counts.n.sum():
        return "all_ties"
    reach = reachable(counts, chosen)[0]
    if not (reach | reach.T).all():
        return "unconnected"
    if not reach.all():
        return "undefeated"
    if chosen.model == "davidson" and not contradicts(counts, chosen)[0]:
        return "unbounded"
    return ""


def contradicts(counts: Counts, chosen: Design) -> NDArray[np.bool_]:
    """(n,) whether some cycle of wins and ties has more wins than ties.

    Such a cycle bounds the tie parameter from above. Two systems that beat each other are such a
    cycle. Longer cycles are searched only without one, as negative cycles of the graph in which a
    win is a step of -1 and a tie a step of 1 either way.
    """
    win, loss = counts.half - counts.tie / 2 > 0, counts.n - counts.half - counts.tie / 2 > 0
    contradicted: NDArray[np.bool_] = np.asarray((win & loss).any(axis=1))
    first, second = pair_members(chosen.n_systems)
    for at in np.flatnonzero(~contradicted):
        steps = np.full((chosen.n_systems, chosen.n_systems), np.inf)
        steps[first, second] = np.where(win[at], -1.0, np.where(counts.tie[at] > 0, 1.0, np.inf))
        steps[second, first] = np.where(loss[at], -1.0, np.where(counts.tie[at] > 0, 1.0, np.inf))
        for via in range(chosen.n_systems):  # Floyd and Warshall
            np.minimum(steps, steps[:, via, None] + steps[None, via], out=steps)
        contradicted[at] = bool((np.diag(steps) < 0).any())
    return contradicted


def reachable(counts: Counts, chosen: Design) -> NDArray[np.bool_]:
    """(n, n_systems, n_systems) whether one system has a chain of wins or ties to another."""
    k = chosen.n_systems
    first, second = pair_members(k)
    reach = np.zeros((len(counts.n), k, k), dtype=np.float32)
    reach[:, np.arange(k), np.arange(k)] = 1
    reach[:, first, second], reach[:, second, first] = counts.half > 0, counts.n > counts.half
    # Every pair won and lost, the usual case: no products are needed.
    if all((reach[:, a, b] > 0).all() for a, b in ((first, second), (second, first))):
        return reach > 0
    # Squaring doubles the length of the paths that are found.
    for _ in range(max(int(np.ceil(np.log2(max(k, 2)))), 1)):
        reach = np.asarray(np.minimum(reach @ reach, 1), dtype=np.float32)
    return np.asarray(reach > 0)
