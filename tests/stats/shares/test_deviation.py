"""Standard deviations against NumPy, and where their interval has nothing to say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.stats.shares.deviation import log_jackknife, standard_deviation


def moments(clusters: list[list[float]]) -> np.ndarray:
    return np.array([[len(c), sum(c), sum(x * x for x in c)] for c in clusters])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=2, max_size=30))
def test_it_is_that_of_numpy(numbers: list[float]) -> None:
    ours = float(standard_deviation(moments([[x] for x in numbers]).sum(axis=0))[0])
    assert ours == pytest.approx(np.std(numbers, ddof=1), abs=1e-4)


def test_equal_numbers_have_0_and_one_number_none() -> None:
    assert standard_deviation(np.array([3.0, 0.9, 0.27]))[0] == 0
    assert math.isnan(standard_deviation(np.array([1.0, 0.3, 0.09]))[0])
    assert math.isnan(standard_deviation(np.array([0.0, 0.0, 0.0]))[0])


def test_many_totals_at_once() -> None:
    totals = np.stack([moments([[1, 2, 6]]), moments([[1, 1, 1]])])
    assert standard_deviation(totals).shape == (2, 1, 1)
    assert standard_deviation(totals).ravel() == pytest.approx([np.std([1, 2, 6], ddof=1), 0])


CLUSTERS = [[1.0, 2.0], [4.0, 2.0], [3.0, 3.0], [9.0, 1.0]]


@pytest.mark.parametrize(
    "clusters",
    [
        CLUSTERS[:2],  # too few clusters
        [[1.0], [1.0], [1.0], [1.0]],  # no variation
        [[1.0], [1.0], [1.0], [2.0]],  # none without one cluster
        [[1.0], [2.0], []],  # a cluster without numbers is none
        [[0.0, 1.0]] * 4,  # each cluster the same
    ],
)
def test_where_the_jackknife_has_no_interval(clusters: list[list[float]]) -> None:
    assert all(math.isnan(number) for number in log_jackknife(moments(clusters), 0.95))


def test_the_interval_follows_the_scale_and_the_level() -> None:
    low, high, se, df = log_jackknife(moments(CLUSTERS), 0.95)
    wide = log_jackknife(moments(CLUSTERS), 0.99)
    assert wide[0] < low < high < wide[1]
    tenfold = [[10 * x for x in cluster] for cluster in CLUSTERS]
    assert log_jackknife(moments(tenfold), 0.95) == pytest.approx((10 * low, 10 * high, se, df))
    again = log_jackknife(moments([*CLUSTERS, []]), 0.95)
    assert again == pytest.approx((low, high, se, df))
    assert 1 <= df <= len(CLUSTERS) - 1
