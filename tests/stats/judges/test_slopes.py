"""Slopes of shares on a number of the item."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from konsil.stats.inference.infer import infer
from konsil.stats.judges.abstention_slope import slope, slope_sums


@given(st.integers(0, 10_000))
def test_equals_least_squares_of_single_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 2, 20)
    trials = rng.integers(1, 6, 20)
    events = rng.binomial(trials, 0.3)
    single_x = np.repeat(x, trials)
    single_y = np.concatenate(
        [np.r_[np.ones(e), np.zeros(t - e)] for e, t in zip(events, trials, strict=True)]
    )
    expected = stats.linregress(single_x, single_y).slope
    got = slope(slope_sums(x, events.astype(float), trials.astype(float)).sum(axis=0))
    assert got[0] == pytest.approx(expected, abs=1e-9)


def test_undefined_and_unknown() -> None:
    constant = slope_sums(np.ones(5), np.arange(5.0), np.full(5, 5.0))
    assert np.isnan(slope(constant.sum(axis=0))[0])
    assert np.isnan(slope(np.zeros(5))[0])
    with_gap = slope_sums(np.array([0.0, np.nan, 2.0]), np.array([1.0, 5.0, 3.0]), np.full(3, 5.0))
    assert slope(with_gap.sum(axis=0))[0] == pytest.approx(0.2)


def test_a_gap_is_paired() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 2, 200)
    people = slope_sums(x, rng.binomial(5, 0.05 + 0.1 * x).astype(float), np.full(200, 5.0))
    judges = slope_sums(x, rng.binomial(3, 0.02, 200).astype(float), np.full(200, 3.0))
    found = infer(
        np.hstack([people, judges]),
        lambda t: slope(t[..., :5]) - slope(t[..., 5:]),
        draws=500,
        key=1,
    )
    assert found.low[0] < 0.1 < found.high[0]
    assert found.low[0] > 0
