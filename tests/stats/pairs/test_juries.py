"""Juries, agreement of rankings, raters of the same comparison, against plain computations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.stats.pairs.ranking_baselines import elo

from konsil.stats.inference.infer import infer
from konsil.stats.pairs import paired_choice_agreement
from konsil.stats.pairs.paired_choice_agreement import (
    KAPPA,
    OVER_SIDES,
    WITHIN_PAIRS,
    KappasOfChoices,
    choice_agreement,
    choice_tables,
    tables_by_pair,
)
from konsil.stats.pairs.rank_agreement import (
    jury,
    own_minus_others,
    rank_agreement,
)
from konsil.stats.pairs.votes import Votes, cell_counts, pair_members, totals, votes
from konsil.stats.pairs.wins import head_to_head, system_against_others

K = 4


def panel(seed: int, lean: tuple[float, ...], steps: int = 2) -> Votes:
    """Votes on comparisons that are the same for every seed; each seed is another panel."""
    plan, g = np.random.default_rng(0), np.random.default_rng(seed)
    n = 500
    first = plan.integers(0, K, n)
    second = (first + plan.integers(1, K, n)) % K
    question, rater = plan.integers(0, 120, n), plan.integers(0, 30, n)
    gap = np.array(lean)[first] - np.array(lean)[second] + g.normal(0, 1, n)
    return votes(
        first,
        second,
        np.clip(np.rint(gap), -steps, steps),
        question,
        rater,
        n_systems=K,
        steps=steps,
    )


def test_agreement_is_that_of_all_pairs_of_votes():
    made = panel(1, (0.5, 0.0, 0.0, -0.5))
    plain = []
    for a, b in itertools.permutations(range(made.n_votes), 2):
        if made.questions[a] == made.questions[b] and made.pairs[a] == made.pairs[b]:
            plain.append((made.outcomes[a], made.outcomes[b]))
    x, y = np.array(plain, dtype=float).T
    within, chance, kappa = choice_agreement(choice_tables(made).sum(0))
    assert abs(within - np.mean(np.abs(x - y) <= 1)) < 1e-12
    both = np.r_[x, -x]
    assert abs(chance - np.mean(np.abs(both[:, None] - both) <= 1)) < 1e-12
    assert abs(kappa - (1 - np.mean((x - y) ** 2) / np.mean((both[:, None] - both) ** 2))) < 1e-12


def test_agreement_without_two_votes_is_undefined():
    made = votes([0, 0], [1, 2], [1, 0], [0, 0], [0, 1], n_systems=3)
    assert np.isnan(choice_agreement(choice_tables(made).sum(0))).all()
    same = votes([0, 0], [1, 1], [0, 0], [0, 0], [0, 1], n_systems=2)
    within, chance, kappa = choice_agreement(choice_tables(same).sum(0))
    assert (within, chance) == (1, 1)
    assert math.isnan(kappa)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=2, max_size=30))
def test_kappa_of_two_systems_is_the_alpha_of_interval_labels(pairs):
    """Two votes a question on one pair of systems, and a question with one vote, which adds nothing."""
    labels = np.array(pairs) + 2
    n = len(labels)
    made = votes(
        [0] * (2 * n + 1),
        [1] * (2 * n + 1),
        [*(labels - 2).ravel(), 2],
        [*np.repeat(np.arange(n), 2), n],
        [*([0, 1] * n), 0],
        n_systems=2,
        steps=2,
    )
    value = KappasOfChoices(5)(np.asarray(tables_by_pair(made)).sum(axis=0))[WITHIN_PAIRS]
    x, y = labels.T.astype(float)
    pooled = labels.ravel().astype(float)
    expected = ((pooled[:, None] - pooled) ** 2).sum() / (2 * n * (2 * n - 1))
    if not expected:
        assert math.isnan(value)
    else:
        assert abs(value - (1 - ((x - y) ** 2).mean() / expected)) < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_kappa_within_pairs_depends_on_no_order_of_systems(seed):
    """Kills: chance over all pairs, which credits a common favourite and depends on names."""
    made = panel(seed, (0.9, 0.3, -0.3, -0.9))
    first, second = pair_members(made.n_systems)
    a, b = first[made.pairs], second[made.pairs]
    other = np.random.default_rng(seed).permutation(made.n_systems)
    renamed = votes(
        other[a],
        other[b],
        made.outcomes,
        made.questions,
        made.raters,
        n_systems=made.n_systems,
        steps=made.steps,
    )
    kappas = KappasOfChoices(made.n_outcomes)
    values = [kappas(np.asarray(tables_by_pair(v)).sum(axis=0)) for v in (made, renamed)]
    assert np.allclose(values[0], values[1], rtol=0, atol=1e-12)
    exchanged = choice_agreement(choice_tables(made).sum(axis=0))[KAPPA]
    assert values[0][OVER_SIDES] == exchanged
    assert abs(values[0][WITHIN_PAIRS] - within_pairs(made)) < 1e-12
    assert values[0][WITHIN_PAIRS] < exchanged - 0.01


def within_pairs(made: Votes) -> float:
    """Kappa with the chance of each pair of systems, vote by vote."""
    observed = expected = 0.0
    others = np.array(
        [
            np.sum((made.questions == q) & (made.pairs == p)) - 1
            for q, p in zip(made.questions, made.pairs, strict=True)
        ]
    )
    for p in np.unique(made.pairs):
        at = np.flatnonzero(made.pairs == p)
        pairs = list(itertools.permutations(at, 2))
        apart = np.array(
            [(made.outcomes[i] - made.outcomes[j]) ** 2 for i, j in pairs], dtype=float
        )
        weight = np.array([others[i] * others[j] for i, j in pairs], dtype=float)
        same = np.array([made.questions[i] == made.questions[j] for i, j in pairs])
        observed += apart[same].sum()
        if weight.sum():
            expected += same.sum() * (apart * weight).sum() / weight.sum()
    return 1 - observed / expected


def test_many_pairs_are_sparse_and_have_the_same_value(monkeypatch):
    made = panel(3, (0.9, 0.3, -0.3, -0.9))
    dense = tables_by_pair(made)
    monkeypatch.setattr(paired_choice_agreement, "DENSE_CELLS", dense.size - 1)
    sparse = tables_by_pair(made)
    assert scipy.sparse.issparse(sparse) and np.array_equal(sparse.toarray(), dense)


def test_a_jury_is_the_mean_of_its_judges():
    units, values = np.array([0, 0, 0, 1, 1, 2, 2]), [2, 0, 0, 1, 0, -2, -1]
    assert jury(units, values, 4).tolist() == [1, 0, -1, -2]
    assert jury(units, values, 4, line=1.2).tolist() == [0, 0, -1, -2]


def test_rankings_agree_as_scipy_says():
    criteria = [
        (panel(1, (0.9, 0.2, 0.0, -0.4)), panel(2, (0.2, 0.4, 0.1, -0.6), 1)),
        (panel(3, (1, 0, 0.1, -1)), panel(4, (-1, 0, 0, 1))),
    ]
    finalise = rank_agreement(K, [(a.steps, b.steps) for a, b in criteria])
    sums = np.hstack([cell_counts(v, v.questions, 120) for two in criteria for v in two])
    found = finalise(sums.sum(0))
    each = []
    for a, b in criteria:
        ranks = [system_against_others(K, v.steps).finalise(totals(v)) for v in (a, b)]
        each.append(stats.kendalltau(*ranks).statistic)
    np.testing.assert_allclose(found, [*each, np.mean(each)], atol=1e-12)
    draws = infer(sums, finalise, draws=200, key=1, keep_draws=True)
    assert draws.replicates is not None
    assert draws.replicates.shape == (200, 3)
    np.testing.assert_allclose(draws.replicates[:, 2], draws.replicates[:, :2].mean(1), atol=1e-12)


def test_own_minus_others_is_a_difference_of_win_differences():
    panels = [panel(1, (1.5, 0, 0, 0)), panel(2, (0.1, 0, 0, 0)), panel(3, (-0.2, 0, 0, 0))]
    cells = np.concatenate([totals(v) for v in panels])
    own = [system_against_others(K, 2).finalise(totals(v))[0] for v in panels]
    found = own_minus_others(K, 0, [2, 2, 2])(cells)
    np.testing.assert_allclose(
        found, [own[0] - (own[1] + own[2]) / 2, own[0] - own[1], own[0] - own[2]], atol=1e-12
    )
    assert found[0] > 0.3


def test_a_peer_that_is_a_rival_gives_a_judge_nothing():
    """Peer 2 is system 1 and puts it first; where that counts, an unbiased judge seems to prefer
    its own system 0."""
    fair, partial = panel(4, (0, 0, 0, 0)), panel(5, (0, 3, 0, 0))
    cells = np.concatenate([totals(fair), totals(partial)])
    assert own_minus_others(K, 0, [2, 2])(cells)[0] > 0.2
    without = own_minus_others(K, 0, [2, 2], written=[{1}])(cells)[0]
    assert abs(without) < 0.15
    # Comparisons with system 1 count neither here nor there.
    neutral = [
        n for n, (a, b) in enumerate(itertools.combinations(range(K), 2)) if a == 0 and b != 1
    ]
    by_hand = [
        head_to_head(K, 2, "difference").finalise(totals(v))[neutral].mean()
        for v in (fair, partial)
    ]
    assert abs(without - (by_hand[0] - by_hand[1])) < 1e-12


@pytest.mark.parametrize("k", [4.0, 32.0])
def test_elo_moves_points_from_one_to_the_other(k):
    scores = elo([0, 1, 2, 0], [1, 2, 0, 2], [1, 0, -1, 2], 3, k=k)
    assert abs(scores.sum() - 3000) < 1e-9
    assert scores[0] > scores[1]
