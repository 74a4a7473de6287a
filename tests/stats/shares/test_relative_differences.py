"""Relative differences of shares: an independent solution of the interval's equation, statsmodels'
ratio, and the test of the difference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.proportion import confint_proportions_2indep as ratio_of_statsmodels

from konsil.stats.engine.contract import Array
from konsil.stats.shares.relative_differences import relative_difference
from konsil.stats.shares.share_differences import square_and_add


def independent(x: int, n: int, y: int, m: int) -> tuple[Array, Array, Array, Array]:
    """One outcome a cluster, and no cluster of both groups."""
    hits_a, hits_b = np.zeros(n + m), np.zeros(n + m)
    hits_a[:x] = 1
    hits_b[n : n + y] = 1
    trials_a = np.r_[np.ones(n), np.zeros(m)]
    return hits_a, trials_a, hits_b, 1 - trials_a


def wilson(x: int, n: int, level: float) -> tuple[float, float]:
    """Roots of (p - x / n)^2 = t^2 p (1 - p) / n', the unbiased variance's n' = n - 1."""
    size = n - 1 if 0 < x < n else n
    t = stats.t.ppf((1 + level) / 2, n - 1)
    p = x / n

    def beyond(at: float) -> float:
        return (at - p) ** 2 - t * t * at * (1 - at) / size

    low = 0.0 if x == 0 else optimize.brentq(beyond, 0.0, p - 1e-14)
    high = 1.0 if x == n else optimize.brentq(beyond, p + 1e-14, 1.0)
    return low, high


@pytest.mark.parametrize(
    "counts", [(16, 100, 12, 40), (5, 37, 4, 9), (3, 20, 18, 20), (0, 12, 5, 10), (10, 10, 4, 12)]
)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_limits_solve_the_equation_of_the_method(
    counts: tuple[int, int, int, int], level: float
) -> None:
    """Found by a search over the ratios R for which the square-and-add limit of a - R b is 0."""
    x, n, y, m = counts
    a, b = x / n, y / m
    (low_a, high_a), (low_b, high_b) = wilson(x, n, level), wilson(y, m, level)

    def lower(ratio: float) -> float:
        return a - ratio * b - math.hypot(a - low_a, ratio * (high_b - b))

    def upper(ratio: float) -> float:
        return a - ratio * b + math.hypot(high_a - a, ratio * (b - low_b))

    difference = relative_difference(*independent(*counts), level)
    assert difference.value == pytest.approx(a / b - 1)
    assert difference.high == pytest.approx(optimize.brentq(upper, a / b, 100) - 1, rel=1e-6)
    expected = 0.0 if x == 0 else optimize.brentq(lower, 0, a / b)
    assert difference.low == pytest.approx(expected - 1, abs=1e-6)


@pytest.mark.parametrize("counts", [(160, 1000, 120, 400), (300, 900, 310, 800)])
def test_large_groups_have_the_score_interval_of_a_ratio(counts: tuple[int, ...]) -> None:
    x, n, y, m = counts
    difference = relative_difference(*independent(x, n, y, m))
    low, high = ratio_of_statsmodels(*counts, method="score", compare="ratio")
    assert (difference.low + 1, difference.high + 1) == pytest.approx((low, high), rel=0.01)


def test_pairs_are_narrower_than_groups_and_swapped_groups_are_the_inverse_ratio() -> None:
    rng = np.random.default_rng(3)
    ease = rng.random(200)
    first, second = (ease < 0.4) * 1.0, (ease + rng.normal(0, 0.05, 200) < 0.6) * 1.0
    ones = np.ones(200)
    paired = relative_difference(first, ones, second, ones)
    swapped = relative_difference(second, ones, first, ones)
    groups = relative_difference(
        *independent(int(first.sum()), 200, int(second.sum()), 200),
    )
    assert paired.value == groups.value
    assert paired.high - paired.low < 0.8 * (groups.high - groups.low)
    assert swapped.low + 1 == pytest.approx(1 / (paired.high + 1))
    assert swapped.high + 1 == pytest.approx(1 / (paired.low + 1))


def test_zero_is_outside_exactly_where_the_difference_is_shown() -> None:
    rng = np.random.default_rng(5)
    n_shown = 0
    for _ in range(150):
        trials = rng.integers(0, 4, (2, 25)).astype(float)
        hits = rng.binomial(trials.astype(int), rng.uniform(0.2, 0.8, (2, 1))).astype(float)
        relative = relative_difference(hits[0], trials[0], hits[1], trials[1])
        straight = square_and_add(hits[0], trials[0], hits[1], trials[1])
        assert relative.low < relative.value < relative.high
        assert (relative.low > 0, relative.high < 0) == (straight.low > 0, straight.high < 0)
        n_shown += relative.low > 0 or relative.high < 0
    assert 20 < n_shown < 130


def test_what_is_undefined() -> None:
    ones, none = np.ones(4), np.zeros(4)
    assert all(map(math.isnan, relative_difference(ones, ones, none, ones)))
    assert all(map(math.isnan, relative_difference(none, none, ones, ones)))
    one = np.array([3.0, 0, 0, 0])
    value, low, high = relative_difference(one / 3, one, ones, ones)
    assert value == pytest.approx(-2 / 3)
    assert math.isnan(low) and math.isnan(high)


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "m", "p", "q"), [(37, 9, 0.3, 0.5), (304, 76, 0.16, 0.29), (40, 40, 0.05, 0.3)]
)
def test_the_interval_covers(n: int, m: int, p: float, q: float) -> None:
    rng = np.random.default_rng(7)
    covered = []
    for _ in range(800):
        x, y = rng.binomial(n, p), rng.binomial(m, q)
        difference = relative_difference(*independent(x, n, y, m))
        if not math.isnan(difference.low):
            covered.append(difference.low <= p / q - 1 <= difference.high)
    assert np.mean(covered) >= 0.94
