"""Strengths of the systems that won and lost against each other, and the place of the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from konsil.stats.pairs.bradley_terry_davidson import fit
from konsil.stats.pairs.strong_parts import design_within, strong_part, votes_within
from konsil.stats.pairs.votes import Votes, totals, votes
from konsil.stats.pairs.worth_designs import design


def from_wins(wins: np.ndarray) -> Votes:
    """Votes of a matrix: how often the system of a row beat that of a column."""
    first, second = np.nonzero(wins)
    first, second = (np.repeat(side, wins[first, second]) for side in (first, second))
    n = np.arange(len(first))
    return votes(first, second, np.ones(len(n)), n, n % 3, n_systems=len(wins))


def closure(wins: np.ndarray) -> np.ndarray:
    """Whether a system has a chain of wins to another one, by Warshall's algorithm."""
    reach = (wins > 0) | np.eye(len(wins), dtype=bool)
    for via in range(len(wins)):
        reach |= np.outer(reach[:, via], reach[via])
    return reach


@given(arrays(np.int64, (5, 5), elements=st.sampled_from([0, 0, 0, 1, 2])))
def test_places_are_those_of_chains_of_wins(wins: np.ndarray) -> None:
    np.fill_diagonal(wins, 0)
    made, reach = from_wins(wins), closure(wins)
    mutual = reach & reach.T
    part = strong_part(totals(made), design(5, model="bradley_terry"))
    largest = mutual.sum(axis=1).max()
    if largest < 2:
        assert part is None
        return
    assert part is not None
    assert len(part.systems) == largest
    inside = part.systems[0]
    assert np.array_equal(np.flatnonzero(mutual[inside]), part.systems)
    for n, place in enumerate(part.places):
        chains = bool(reach[n, inside]), bool(reach[inside, n])
        expected = {(True, True): "estimated", (True, False): "above", (False, True): "below"}
        assert place == expected.get(chains, "apart")


def test_the_part_has_the_strengths_of_its_own_comparisons() -> None:
    """In the limit, comparisons with a system that won all say nothing about the others."""
    wins = np.array([[0, 9, 6, 3], [0, 0, 7, 5], [0, 4, 0, 6], [0, 2, 4, 0]])
    made, chosen = from_wins(wins), design(4, model="bradley_terry")
    assert fit(totals(made), chosen).reason == "undefeated"
    part = strong_part(totals(made), chosen)
    assert part is not None
    assert part.places == ("above", "estimated", "estimated", "estimated")
    some = votes_within(made, part.systems)
    mine = fit(totals(some), design_within(chosen, 3))
    alone = fit(totals(from_wins(wins[1:, 1:])), design(3, model="bradley_terry"))
    assert mine.log_worths == pytest.approx(alone.log_worths, abs=1e-12)
    # One lost comparison in place of none, of ever smaller weight: the fit of all tends to it.
    cells = totals(made).copy()
    lost = np.flatnonzero(totals(votes([0], [1], [-1], [0], [0], n_systems=4)))
    gaps = []
    for weight in (1e-1, 1e-3, 1e-5):
        cells[lost] = weight
        of_all = fit(cells, chosen).log_worths[1:]
        gaps.append(np.abs(of_all - of_all.mean() - alone.log_worths).max())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-4


def test_of_equally_large_parts_that_with_more_comparisons_is_estimated() -> None:
    wins = np.zeros((5, 5), dtype=np.int64)
    wins[0, 1] = wins[1, 0] = 2
    wins[2, 3] = wins[3, 2] = 3
    wins[0, 2] = wins[3, 4] = 1
    part = strong_part(totals(from_wins(wins)), design(5, model="bradley_terry"))
    assert part is not None
    assert part.systems.tolist() == [2, 3]
    assert part.places == ("above", "above", "estimated", "estimated", "below")


def test_votes_within_keep_outcomes_and_raters() -> None:
    made = votes(
        [0, 3, 1, 2], [1, 1, 3, 0], [2, -1, 1, 0], [5, 7, 7, 9], [0, 2, 1, 2], n_systems=4, steps=2
    )
    some = votes_within(made, np.array([1, 3]))
    assert some.outcomes.tolist() == [1, 1]
    assert (some.n_systems, some.steps, some.n_questions, some.n_raters) == (2, 2, 1, 3)
    assert some.raters.tolist() == [2, 1]
