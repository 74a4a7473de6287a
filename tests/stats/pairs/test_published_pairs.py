"""Comparisons as published: against code written out vote by vote, and against scikit-learn's
kappa."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from konsil.stats.pairs.paired_choice_agreement import KAPPA, choice_agreement, choice_tables
from konsil.stats.pairs.published_pairs import (
    pair_weights,
    published_agreement,
    published_tables,
    published_wins,
)
from konsil.stats.pairs.votes import Votes, votes


def drawn(
    seed: int, n: int = 120, systems: int = 4, questions: int = 50
) -> tuple[Votes, np.ndarray]:
    rng = np.random.default_rng(seed)
    two = np.array([rng.choice(systems, 2, replace=False) for _ in range(n)])
    outcome = rng.integers(-2, 3, n)
    ballots = votes(
        two[:, 0],
        two[:, 1],
        outcome,
        rng.integers(0, questions, n),
        rng.integers(0, 9, n),
        n_systems=systems,
        steps=2,
    ).among(n_questions=questions)
    return ballots, np.column_stack([two, outcome])


def by_hand(rows: np.ndarray, system: int, threshold: int = 1) -> float:
    """Mean over rivals of (wins - losses) / comparisons, one rival after the other."""
    of_rival: dict[int, list[int]] = {}
    for a, b, outcome in rows.tolist():
        if system in (a, b):
            gain = (outcome if a == system else -outcome) if abs(outcome) >= threshold else 0
            of_rival.setdefault(b if a == system else a, []).append(int(np.sign(gain)))
    return float(np.mean([np.mean(v) for v in of_rival.values()]))


@pytest.mark.parametrize("threshold", [1, 2])
def test_every_rival_counts_alike(threshold: int) -> None:
    ballots, rows = drawn(1)
    wins = published_wins(
        ballots,
        pair_weights(ballots),
        ballots.questions,
        threshold=threshold,
        tested=False,
        draws=50,
    )
    assert wins.value == pytest.approx([by_hand(rows, s, threshold) for s in range(4)], abs=1e-12)


def test_weights_travel_with_their_comparisons() -> None:
    """The percentiles are those of sums of fixed weights, not of weights made anew in each
    resample."""
    ballots, _ = drawn(2, n=40, systems=2, questions=12)
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.1, 2, ballots.n_votes)
    wins = published_wins(ballots, weights, ballots.questions, tested=False, draws=4000)
    resampled = []
    members = [np.flatnonzero(ballots.questions == q) for q in np.unique(ballots.questions)]
    for _ in range(4000):
        at = np.concatenate([members[q] for q in rng.integers(0, len(members), len(members))])
        resampled.append((weights[at] * np.sign(ballots.outcomes[at])).sum() / weights[at].sum())
    assert [wins.low[0], wins.high[0]] == pytest.approx(
        np.percentile(resampled, [2.5, 97.5]), abs=0.03
    )


def test_single_comparisons_change_sides_in_every_resample() -> None:
    ballots, _ = drawn(3, n=30, systems=2, questions=10)
    weights = pair_weights(ballots)
    wins = published_wins(ballots, weights, ballots.questions, draws=6000)
    rng = np.random.default_rng(9)
    members = [np.flatnonzero(ballots.questions == q) for q in np.unique(ballots.questions)]
    null = []
    for _ in range(6000):
        at = np.concatenate([members[q] for q in rng.integers(0, len(members), len(members))])
        signs = rng.choice([-1, 1], len(at))
        null.append((signs * weights[at] * np.sign(ballots.outcomes[at])).sum() / weights[at].sum())
    expected = np.mean(np.abs(null) >= abs(wins.value[0]) - 1e-12)
    assert wins.p[0] == pytest.approx(expected, abs=0.03)
    assert wins.p[0] == wins.p[1]


def test_p_can_be_zero_as_in_the_paper() -> None:
    ballots = votes([0] * 60, [1] * 60, [1] * 60, range(60), [0] * 60, n_systems=2)
    assert published_wins(
        ballots, pair_weights(ballots), ballots.questions, draws=100
    ).p.tolist() == [0.0, 0.0]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(-2, 2), st.integers(-2, 2)),
        min_size=3,
        max_size=40,
    )
)
def test_kappa_is_that_of_the_raters_as_they_come(pairs: list[tuple[int, int, int]]) -> None:
    n = len(pairs)
    outcomes = [outcome for _, x, y in pairs for outcome in (x, y)]
    ballots = votes(
        [0] * 2 * n, [1] * 2 * n, outcomes, np.repeat(range(n), 2), [0, 1] * n, n_systems=2, steps=2
    )
    within, kappa = published_agreement(
        published_tables(ballots, np.zeros(2 * n, dtype=np.int64)).sum(axis=0)
    )
    x, y = np.array(outcomes[::2]), np.array(outcomes[1::2])
    assert within == pytest.approx(np.mean(np.abs(x - y) <= 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cohen_kappa_score(x, y, weights="quadratic", labels=[-2, -1, 0, 1, 2])
    assert kappa == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_a_favourite_that_both_share_is_chance_as_published_and_agreement_where_sides_are_exchanged() -> (
    None
):
    rng, n = np.random.default_rng(0), 4000
    favourite = 0.6 + rng.normal(0, 0.5, n)
    both = favourite + rng.normal(0, 0.9, (2, n))
    steps = np.sign(both) * (np.abs(both) > 0.35) * (1 + (np.abs(both) > 1.2))
    outcomes = steps.T.astype(int).ravel()
    ballots = votes(
        [0] * 2 * n, [1] * 2 * n, outcomes, np.repeat(range(n), 2), [0, 1] * n, n_systems=2, steps=2
    )
    published = published_agreement(
        published_tables(ballots, np.zeros(2 * n, dtype=np.int64)).sum(axis=0)
    )[1]
    exchanged = choice_agreement(choice_tables(ballots).sum(axis=0))[KAPPA]
    assert published == pytest.approx(0.20, abs=0.03)
    assert exchanged == pytest.approx(0.41, abs=0.03)


def test_only_votes_of_one_arm_are_compared() -> None:
    ballots = votes([0] * 4, [1] * 4, [1, 1, 0, -1], [0] * 4, [0, 1, 2, 3], n_systems=2)
    tables = published_tables(ballots, np.array([0, 0, 1, 1]))
    assert tables.reshape(3, 3).tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
