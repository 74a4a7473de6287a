"""Differences of shares: published intervals, an independent likelihood, agreement of interval and
p, level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import test_proportions_2indep as score_test

from konsil.stats.shares.share_differences import Outcomes, score_difference, square_and_add


def independent(x: int, n: int, y: int, m: int) -> Outcomes:
    return Outcomes(0, 0, 0, 0, x, n, y, m)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((56, 70, 48, 80), 0.0528, 0.3382),
        ((9, 10, 3, 10), 0.1700, 0.8406),
        ((6, 7, 2, 7), 0.0342, 0.8534),
        ((5, 56, 0, 29), -0.0326, 0.1933),
        ((0, 10, 0, 20), -0.1658, 0.2844),
        ((10, 10, 0, 20), 0.7156, 1.0),
    ],
)
def test_independent_shares_have_the_published_intervals(
    counts: tuple[int, int, int, int], low: float, high: float
) -> None:
    # Newcombe (1998), Stat Med 17:873, table II, method 6 (Miettinen and Nurminen).
    difference = score_difference(independent(*counts))
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=5e-5)
    assert difference.method == "miettinen-nurminen"


@pytest.mark.parametrize(
    ("pairs", "low", "high"),
    [((43, 0, 1, 0), -0.118, 0.059), ((1, 1, 7, 12), -0.517, -0.026)],
)
def test_paired_shares_have_the_published_intervals(
    pairs: tuple[int, int, int, int], low: float, high: float
) -> None:
    # Tango (1998), Stat Med 17:891, contact lenses; Fagerland, Lydersen and Laake (2014), Stat Med
    # 33:2850, airways.
    difference = score_difference(Outcomes(*pairs))
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=6e-4)
    assert difference.p == pytest.approx(
        float(mcnemar([pairs[:2], pairs[2:]], exact=False, correction=False).pvalue)
    )


def test_the_test_of_independent_shares_is_that_of_statsmodels() -> None:
    for counts in [(56, 70, 48, 80), (1, 31, 5, 31), (4, 18, 1, 5)]:
        theirs = score_test(*counts, method="score", compare="diff").pvalue
        assert score_difference(independent(*counts)).p == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize(
    "outcomes",
    [
        Outcomes(3, 2, 5, 7, 4, 9, 1, 6),
        Outcomes(0, 0, 1, 3, 0, 0, 2, 14),
        Outcomes(1, 0, 0, 27, 0, 2),
        Outcomes(5, 4, 2, 9),
        Outcomes(0, 0, 0, 0, 2, 11, 7, 13),
    ],
)
@pytest.mark.parametrize("at", [-0.2, 0.0, 0.15])
def test_z_stands_on_the_probabilities_of_greatest_likelihood(
    outcomes: Outcomes, at: float
) -> None:
    """The interval at the level that ends at `at` has the z of a likelihood maximised by a general
    program."""
    both, first, second, neither, x_a, n_a, x_b, n_b = outcomes

    def unlikely(free: np.ndarray) -> float:
        p10, p11 = free
        p01 = p10 - at
        p00, a, b = 1 - p11 - p10 - p01, p11 + p10, p11 + p01
        terms = [(both, p11), (first, p10), (second, p01), (neither, p00)]
        terms += [(x_a, a), (n_a - x_a, 1 - a), (x_b, b), (n_b - x_b, 1 - b)]
        if min(p for _, p in terms) < 0:
            return 1e9
        return -sum(n * math.log(max(p, 1e-300)) for n, p in terms if n)

    starts = [(max(at, 0) + s, t) for s in (0.02, 0.1, 0.2) for t in (0.02, 0.2, 0.5)]
    best = min(
        (
            optimize.minimize(
                unlikely, s, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13}
            )
            for s in starts
            if unlikely(np.array(s)) < 1e8
        ),
        key=lambda fit: fit.fun,
    )
    p10, p11 = best.x
    a, b, n = p11 + p10, p11 + p10 - at, outcomes.pairs
    joint = p11 if n else a * b
    alone = n_a or n_b
    size = outcomes.n_a + outcomes.n_b
    variance = a * (1 - a) / outcomes.n_a + b * (1 - b) / outcomes.n_b
    variance -= 2 * n * (joint - a * b) / (outcomes.n_a * outcomes.n_b)
    z = (outcomes.difference - at) / math.sqrt(variance * (size / (size - 1) if alone else 1))
    if abs(z) < 0.05:
        pytest.skip("the end lies at the estimate")
    difference = score_difference(outcomes, level=1 - 2 * stats.norm.sf(abs(z)))
    assert (difference.low if z > 0 else difference.high) == pytest.approx(at, abs=2e-5)


def test_no_events_still_have_a_width() -> None:
    for outcomes in [
        Outcomes(0, 0, 0, 30),
        Outcomes(30, 0, 0, 0),
        independent(0, 31, 0, 31),
        Outcomes(1, 0, 0, 29),
    ]:
        difference = score_difference(outcomes)
        assert difference.low < -0.05
        assert difference.high > 0.05
        assert difference.p == 1.0
    ones = np.ones(30)
    for hits in (np.zeros(30), ones):
        difference = square_and_add(hits * 3, ones * 3, hits * 3, ones * 3)
        assert difference.low < -0.05 < 0.05 < difference.high
        assert difference.p == 1.0


def test_none_of_four_against_three_of_eighteen_tells_nothing() -> None:
    for outcomes in [independent(0, 4, 3, 18), Outcomes(0, 0, 1, 3, 0, 0, 2, 14)]:
        difference = score_difference(outcomes)
        assert difference.low < -0.3
        assert difference.high > 0.3
        assert difference.p > 0.3


def test_undefined_without_outcomes_and_in_one_cluster() -> None:
    assert math.isnan(score_difference(Outcomes(0, 0, 0, 0, 0, 0, 3, 9)).value)
    ones = np.ones(1)
    assert math.isnan(square_and_add(ones, 3 * ones, ones, 3 * ones).low)


def test_p_is_small_exactly_where_the_interval_leaves_out_zero() -> None:
    rng = np.random.default_rng(4)
    crossed = 0
    for _ in range(300):
        counts = rng.multinomial(30, rng.dirichlet([1, 2, 1, 2]))
        alone = (3, 8, 2, 9) if rng.random() < 0.3 else (0, 0, 0, 0)
        some = Outcomes(*map(float, counts), *alone)
        trials = rng.integers(1, 4, (2, 20)).astype(float)
        hits = rng.binomial(trials.astype(int), [[0.5], [rng.choice([0.1, 0.4])]]).astype(float)
        for difference in (
            score_difference(some, 0.9),
            square_and_add(hits[0], trials[0], hits[1], trials[1], 0.9),
        ):
            outside = difference.low > 0 or difference.high < 0
            assert (difference.p < 0.1) == outside, difference
            crossed += outside
    assert 60 < crossed < 540


def test_swapping_the_groups_turns_the_difference_round() -> None:
    there, back = (
        score_difference(Outcomes(1, 4, 2, 9, 1, 5, 0, 3)),
        score_difference(Outcomes(1, 2, 4, 9, 0, 3, 1, 5)),
    )
    assert (there.value, there.low, there.high, there.p) == pytest.approx(
        (-back.value, -back.high, -back.low, back.p)
    )


def test_square_and_add_of_many_single_outcomes_is_newcombe_s() -> None:
    # 56 of 70 against 48 of 80: Newcombe (1998), method 10: 0.0524 to 0.3339; the t quantile widens
    # it a little.
    hits, trials = np.zeros((2, 150)), np.zeros((2, 150))
    trials[0, :70] = trials[1, 70:] = 1
    hits[0, :56] = hits[1, 70:118] = 1
    difference = square_and_add(hits[0], trials[0], hits[1], trials[1])
    assert (difference.low, difference.high) == pytest.approx((0.0524, 0.3339), abs=0.005)


def test_outcomes_of_one_cluster_count_as_what_they_are_worth() -> None:
    """Three equal outcomes a cluster tell no more than one."""
    rng = np.random.default_rng(2)
    a, b = (rng.random((2, 60)) < 0.4) * 1.0
    ones = np.ones(60)
    single, triple = (
        square_and_add(a, ones, b, ones),
        square_and_add(3 * a, 3 * ones, 3 * b, 3 * ones),
    )
    assert (triple.low, triple.high, triple.p) == pytest.approx(
        (single.low, single.high, single.p), abs=0.01
    )


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.05, 0.15, 0.5])
def test_clustered_shares_of_one_law_differ_in_at_most_one_set_of_twenty(share: float) -> None:
    rng = np.random.default_rng(3)
    n_sets, trials = 1500, np.full(40, 3.0)
    rejected = covered = 0
    for _ in range(n_sets):
        chance = rng.beta(share * 2, (1 - share) * 2, 40)
        a, b = (rng.binomial(3, chance).astype(float) for _ in range(2))
        difference = square_and_add(a, trials, b, trials)
        rejected += difference.p <= 0.05
        covered += difference.low <= 0 <= difference.high
    assert stats.binomtest(rejected, n_sets).proportion_ci().low <= 0.06
    assert covered + rejected == n_sets


def test_one_cluster_with_much_of_the_outcomes_makes_no_difference() -> None:
    """60 clusters of two groups of one law; without the bias-reduced variance one of six of these
    is found."""
    generator, sets = np.random.default_rng(6), 300
    trials = np.append(np.full(59, 3), 118)
    cluster = np.repeat(np.arange(60), trials)

    def hits() -> np.ndarray:
        taste = math.sqrt(0.3) * generator.normal(size=60)[cluster]
        return np.bincount(
            cluster,
            weights=taste + math.sqrt(0.7) * generator.normal(size=len(cluster)) > 0,
            minlength=60,
        )

    differences = [
        square_and_add(hits(), trials.astype(float), hits(), trials.astype(float))
        for _ in range(sets)
    ]
    assert sum(difference.p <= 0.05 for difference in differences) / sets < 0.06
    assert all(
        (difference.p <= 0.05) == (not difference.low <= 0 <= difference.high)
        for difference in differences
    )
