"""Intervals of shares of votes and of votes that are all alike: by hand, at the edges, and by
simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from konsil.stats.pairs.two_way_clusters import crossed
from konsil.stats.pairs.votes import votes
from konsil.stats.pairs.wins import head_to_head, system_against_others
from konsil.stats.shares import shares
from konsil.stats.shares.vote_limits import effective_votes, unanimous_limits, wilson_limits


def alike(n_votes: int, n_raters: int, outcome: int = -1):
    """As many votes on as many items, all with one outcome, by raters in turn."""
    ones = np.ones(n_votes, dtype=int)
    return votes(
        0 * ones,
        ones,
        outcome * ones,
        np.arange(n_votes),
        np.arange(n_votes) % n_raters,
        n_systems=2,
    ).among(n_raters=n_raters)


def test_none_of_31_has_the_exact_interval_of_items_and_of_raters() -> None:
    estimates = crossed(alike(31, 31), head_to_head(2))
    low, high = shares.clopper_pearson(0, 31)
    for interval in (estimates.two_way, estimates.question, estimates.rater):
        assert (interval.low[0], interval.method[0]) == (low, "exact")
        assert interval.high[0] == pytest.approx(float(high))
        assert interval.low[1] == pytest.approx(1 - float(high))
        assert interval.high[1] == 1
    few = crossed(alike(30, 5), head_to_head(2))
    assert few.question.high[0] == pytest.approx(float(shares.clopper_pearson(0, 30)[1]))
    # Five raters who vote alike are worth five votes: two-way it is the fewer of both.
    for interval in (few.two_way, few.rater):
        assert interval.high[0] == pytest.approx(float(shares.clopper_pearson(0, 5)[1]))


def test_one_item_or_one_rater_has_no_exact_interval() -> None:
    estimates = crossed(alike(6, 1), head_to_head(2))
    assert np.isnan(estimates.two_way.low).all() and np.isnan(estimates.rater.high).all()
    assert np.isfinite(estimates.question.low).all()


def test_a_system_that_wins_all_has_the_sign_test() -> None:
    estimates = crossed(alike(6, 6, 1), system_against_others(2))
    assert estimates.two_way.p == pytest.approx([stats.binomtest(6, 6).pvalue] * 2)
    assert (estimates.two_way.p[0] < 0.05) == (estimates.two_way.low[0] > 0)
    for level in (0.5, 0.9, 0.95, 0.99):
        interval = crossed(alike(6, 6, 1), system_against_others(2), level=level).two_way
        assert (interval.p[0] < 1 - level) == (interval.low[0] > 0)
    # All ties: no sign at all.
    tied = crossed(alike(6, 6, 0), system_against_others(2)).two_way
    assert tied.p == pytest.approx([1, 1])
    assert tied.low == pytest.approx(-tied.high)
    assert tied.high[0] == pytest.approx(1 - 0.025 ** (1 / 6))


def test_the_pair_with_the_fewest_votes_bounds_what_all_are_worth() -> None:
    """Two rivals, 3 and 100 votes: the exact bound of the mean is 1 - 0.025^(1/3) of the first,
    halved."""
    n = np.array([3, 100])
    first = np.zeros(103, dtype=int)
    second = np.repeat([1, 2], n)
    estimates = crossed(
        votes(first, second, np.ones(103, dtype=int), np.arange(103), np.arange(103), n_systems=3),
        system_against_others(3),
    )
    worst = 2 * (1 - 0.025 ** (1 / 3)) / 2
    assert 1 - estimates.two_way.low[0] >= worst
    assert estimates.two_way.df[0] + 1 == pytest.approx(6)


def test_wilson_limits_are_those_of_one_share_at_a_time() -> None:
    share, variance = np.array([0.05, 0.5, 0.9]), np.array([0.001, 0.01, 0.0])
    low, high = wilson_limits(
        share, variance, np.array([400, 400, 400]), np.array([12.0, 30.0, 5.0])
    )
    for n, df in enumerate((12, 30)):
        expected = shares.effective_interval(share[n], variance[n], 400, df)
        assert (low[n], high[n]) == pytest.approx(expected)
    assert math.isnan(low[2])
    # Never worth more votes than there are.
    assert wilson_limits(np.array([0.5]), np.array([1e-9]), np.array([20]), np.array([19.0]))[
        0
    ] == pytest.approx(shares.effective_interval(0.5, 1e-9, 20, 19)[0])


def test_effective_votes_and_limits_by_hand() -> None:
    assert effective_votes(np.ones((5, 2))) == pytest.approx([5, 5])
    assert effective_votes(np.array([[4.0], [0.0]])) == pytest.approx([0])
    margin = unanimous_limits(np.array([2.0, -2.0, 1.0]), np.full(3, 10.0), (-2.0, 2.0))
    others = 1 - 0.025 ** (1 / 10)
    assert margin.low == pytest.approx([2 - 4 * others, -2, (1 - others) - 2 * others])
    assert margin.high == pytest.approx([2, -2 + 4 * others, (1 - others) + 2 * others])
    assert np.isnan(unanimous_limits(np.zeros(1), np.full(1, 9.0), (-np.inf, np.inf)).low).all()
    assert np.isnan(unanimous_limits(np.zeros(1), np.full(1, 1.0), (0.0, 1.0)).low).all()


@pytest.mark.slow
def test_rare_wins_are_covered() -> None:
    """A system that wins 2 % of 31 comparisons with raters of tastes: the linearised interval
    covers .46."""
    generator, sets, p = np.random.default_rng(3), 600, 0.02
    cut = stats.norm.ppf(1 - p) * math.sqrt(1 + 0.36 + 0.16)
    covered = 0
    for _ in range(sets):
        raters = generator.integers(0, 10, 31)
        taste = 0.4 * generator.normal(size=10)[raters]
        won = taste + generator.normal(size=31) * math.sqrt(1.36) > cut
        ballots = votes(
            [0] * 31,
            [1] * 31,
            np.where(won, 1, -1),
            np.arange(31),
            raters,
            n_systems=2,
        ).among(n_raters=10)
        two = crossed(ballots, head_to_head(2)).two_way
        covered += bool(two.low[0] <= p <= two.high[0])
    assert 0.93 < covered / sets < 0.99
