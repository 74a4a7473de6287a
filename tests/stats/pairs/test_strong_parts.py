"""Strengths of the systems that won and lost against each other, and the place of the others."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize

from konsil.stats.pairs.bradley_terry_davidson import fit, worths
from konsil.stats.pairs.strong_parts import design_within, strong_part, votes_within
from konsil.stats.pairs.votes import Votes, totals, votes
from konsil.stats.pairs.worth_designs import Model, design


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


def by_quasi_newton(table: np.ndarray, k: int, model: Model, penalty: float) -> np.ndarray:
    """Penalised strengths, and Davidson's log tie parameter, by BFGS of the log-likelihood.

    `table` (n_pairs, 3): losses, ties and wins of a pair's first system.
    """
    first, second = np.triu_indices(k, 1)
    is_davidson = model == "davidson"

    def loss(x: np.ndarray) -> float:
        log_tie = x[k] if is_davidson else -np.inf
        gaps = np.concatenate([x[first] - x[second], x[:k]])
        scores = np.column_stack([0 * gaps, log_tie + gaps / 2, gaps])
        log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        virtual = np.full((k, 3), penalty / 3)
        counts = np.vstack([table, virtual])
        if not is_davidson:
            counts = counts[:, [0, 2]] + counts[:, [1]] / 2
            log_p = log_p[:, [0, 2]]
        return -float((counts * log_p).sum())

    x = optimize.minimize(loss, np.zeros(k + is_davidson), options={"gtol": 1e-8}).x
    x[:k] -= x[:k].mean()
    return x


MODELS = get_args(Model)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("penalty", [0.5, 2.0])
def test_penalised_strengths_are_those_of_another_optimiser(model: Model, penalty: float) -> None:
    for seed in range(4):
        table = np.random.default_rng(seed).integers(0, 5, (6, 3)).astype(float)
        table[:3] *= [0, 0, 1]  # the first of four won all
        fitted = fit(table.ravel(), design(4, model=model, penalty=penalty))
        expected = by_quasi_newton(table, 4, model, penalty)
        got = [*fitted.log_worths, *([fitted.log_tie] if model == "davidson" else [])]
        assert got == pytest.approx(expected, abs=1e-5)


def test_two_systems_have_the_closed_form() -> None:
    """Of two systems, both at equal distances from the average one: the score is zero there."""
    for wins, losses, penalty in ((7, 0, 1.0), (7, 0, 2.0), (5, 2, 0.5)):
        cells = np.array([losses, 0.0, wins])
        a, b = fit(cells, design(2, model="bradley_terry", penalty=penalty)).log_worths
        assert a == pytest.approx(-b)
        share, of_virtual = 1 / (1 + np.exp(b - a)), 1 / (1 + np.exp(-a))
        score = wins - (wins + losses) * share + penalty / 2 - penalty * of_virtual
        assert score == pytest.approx(0, abs=1e-8)


TABLES = arrays(np.int64, (6, 3), elements=st.sampled_from([0, 0, 0, 0, 1, 2, 40]))
"""Losses, ties and wins of every two of four systems: often unconnected, or without a loss."""


@pytest.mark.parametrize("model", MODELS)
@given(table=TABLES, penalty=st.sampled_from([0.1, 0.5, 1.0, 2.0, 100.0]), seed=st.integers(0, 99))
def test_a_penalty_gives_finite_strengths_by_whatever_name(
    model: Model, table: np.ndarray, penalty: float, seed: int
) -> None:
    chosen = design(4, model=model, penalty=penalty)
    fitted = fit(table.astype(float).ravel(), chosen)
    if not table.any():
        assert fitted.reason == "no_comparisons"
        return
    assert not fitted.reason
    assert np.isfinite(fitted.log_worths).all()
    assert fitted.log_worths.sum() == pytest.approx(0, abs=1e-9)
    # Other names of the systems, and everything won that was lost.
    order = np.random.default_rng(seed).permutation(4)
    first, second = np.triu_indices(4, 1)
    renamed = np.zeros_like(table)
    for pair, (a, b) in enumerate(zip(order[first], order[second], strict=True)):
        at = np.flatnonzero((first == min(a, b)) & (second == max(a, b)))[0]
        renamed[pair] = table[at] if a < b else table[at][::-1]
    of_renamed = fit(renamed.astype(float).ravel(), chosen).log_worths
    assert of_renamed == pytest.approx(fitted.log_worths[order], abs=1e-6)
    mirrored = fit(table[:, ::-1].astype(float).ravel(), chosen).log_worths
    assert mirrored == pytest.approx(-fitted.log_worths, abs=1e-6)
    # The gradient is the change with one comparison more.
    cells = table.astype(float).ravel()
    statistic, step = worths(cells, chosen), 1e-4
    at = int(np.random.default_rng(seed).integers(len(cells)))
    beside = cells + step * np.eye(len(cells))[at]
    change = (statistic.finalise(beside) - statistic.finalise(cells)) / step
    # Where a weak penalty alone holds the fit, a comparison moves it by thousands: what should be 0
    # is that up to the rounding of these.
    slack = 1e-3 + 2e-3 * np.abs(change).max()
    assert statistic.gradient(cells)[at] == pytest.approx(change, rel=0.02, abs=slack)


def test_a_weak_penalty_changes_little_and_a_strong_one_makes_all_alike() -> None:
    table = np.random.default_rng(1).integers(20, 40, (6, 3)).astype(float)
    alone = fit(table.ravel(), design(4))
    weak, strong = (fit(table.ravel(), design(4, penalty=p)) for p in (0.1, 100.0))
    assert weak.log_worths == pytest.approx(alone.log_worths, abs=0.01)
    assert np.abs(strong.log_worths).max() < np.abs(alone.log_worths).max()
    assert (strong.log_worths * alone.log_worths > 0).all()
    # The variance of the virtual comparisons is a part of that of all.
    assert weak.of_penalty is not None
    assert alone.of_penalty is None
    assert strong.of_penalty is not None
    for fitted in (weak, strong):
        parts = np.diag(fitted.of_penalty) / np.diag(fitted.covariance)
        assert (parts > 0).all()
        assert (parts < 1).all()
    assert np.diag(strong.of_penalty).max() > np.diag(weak.of_penalty).max()
