"""Middles of durations against the plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.stats.shares.durations import geometric_mean, median_of_cells


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40))
@settings(deadline=None)
def test_the_median_of_counted_values_is_the_median(seconds: list[int]):
    values, counts = np.unique(seconds, return_counts=True)
    assert median_of_cells(counts.astype(float), values.astype(float))[0] == np.median(seconds)
    both = median_of_cells(np.stack([counts, 3 * counts]).astype(float), values.astype(float))
    np.testing.assert_array_equal(both, np.full((2, 1), np.median(seconds)))


def test_the_geometric_mean_is_that_of_the_ratios():
    seconds = np.array([10.0, 90.0, 300.0])
    totals = np.array([np.log(seconds).sum(), 3.0])
    assert geometric_mean(totals)[0] == pytest.approx((10 * 90 * 300) ** (1 / 3))


def test_nothing_has_no_middle():
    assert np.isnan(geometric_mean(np.zeros(2))[0])
    assert np.isnan(median_of_cells(np.zeros(3), np.arange(3.0))[0])
