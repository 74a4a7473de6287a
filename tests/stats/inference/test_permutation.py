import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.stats.inference.permutation import flip_test, flips_and_max_t


def brute_force(column):
    signs = np.array(list(itertools.product([-1, 1], repeat=len(column))))
    return np.mean(np.abs(signs @ column) >= abs(column.sum()) - 1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=11))
def test_whole_numbers_by_convolution_as_by_brute_force(column):
    result = flip_test(np.array(column, dtype=float))
    assert result.method == ("convolution",)
    assert result.p[0] == pytest.approx(brute_force(np.array(column, dtype=float)), rel=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-3, 3).map(lambda x: round(x, 3) + 0.0001), min_size=2, max_size=10))
def test_fractions_by_enumeration_as_by_brute_force(column):
    result = flip_test(np.array(column))
    assert result.method == ("enumeration",)
    assert result.p[0] == pytest.approx(brute_force(np.array(column)), rel=1e-12)


def test_monte_carlo_agrees_with_the_exact_p():
    d = np.random.default_rng(4).integers(-2, 4, (60, 3)).astype(float)
    exact = flip_test(d, exact=True)
    sampled = flip_test(d, draws=20_000, key=3, exact=False)
    assert sampled.method == ("monte-carlo",) * 3
    assert sampled.draws == 20_000
    assert exact.draws == 0
    assert sampled.p == pytest.approx(exact.p, abs=4 * np.sqrt(0.25 / 20_000))


def test_p_is_never_zero():
    strong = np.column_stack([np.full(1500, 2.0), np.random.default_rng(1).random(1500) + 1])
    result = flip_test(strong, draws=99)
    assert result.method == ("convolution", "monte-carlo")
    assert result.p[0] > 0
    assert result.p[1] == 1 / 100
    assert flips_and_max_t(strong, draws=99)[1].tolist() == [1 / 100] * 2


def test_nothing_and_undefined():
    d = np.zeros((30, 3))
    d[:, 1] = np.nan
    d[:, 2] = np.random.default_rng(1).random(30)
    result = flip_test(d, draws=199)
    assert result.p[0] == 1
    assert np.isnan(result.p[1])
    assert result.method[1] == "undefined"
    adjusted = flips_and_max_t(d, draws=199)[1]
    assert adjusted[0] == 1
    assert np.isnan(adjusted[1])
    assert adjusted[2] == pytest.approx(result.p[2])


def test_exact_where_it_is_not_open_is_refused():
    with pytest.raises(ValueError, match="column 0"):
        flip_test(np.random.default_rng(1).random((40, 1)), exact=True)
    with pytest.raises(ValueError, match="expected \\(n_clusters, m\\)"):
        flip_test(np.ones((2, 2, 2)))


def test_max_t_by_a_plain_loop():
    d = np.random.default_rng(5).normal([0.1, 0.5, 0.3, 0.0], 1.0, (9, 4))
    signs = np.array(list(itertools.product([-1, 1], repeat=9)))
    size = np.sqrt((d**2).sum(axis=0))
    t = np.abs(d.sum(axis=0)) / size
    null = np.abs(signs @ d) / size
    single = np.array([(null.max(axis=1) >= t[j] - 1e-12).mean() for j in range(4)])
    assert flips_and_max_t(d, draws=40_000, key=2)[1] == pytest.approx(single, abs=0.012)


def test_max_t_lies_between_the_raw_p_and_bonferroni():
    d = np.random.default_rng(6).normal(0.2, 1.0, (80, 6))
    raw = flip_test(d, draws=4999, key=1, exact=False).p
    adjusted = flips_and_max_t(d, draws=4999, key=1)[1]
    assert np.all(adjusted >= raw - 1e-12)
    assert np.all(adjusted <= np.minimum(6 * raw, 1) + 0.02)


@pytest.mark.slow
def test_the_level_is_held_under_the_null():
    generator = np.random.default_rng(8)
    rejected = [
        flip_test(generator.normal(size=(25, 1)), draws=399, key=i).p[0] <= 0.05
        for i in range(1000)
    ]
    assert 0.03 < np.mean(rejected) < 0.07
