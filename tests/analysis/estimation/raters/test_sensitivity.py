"""Raters as clusters, beside the jackknife's formula with SciPy's t."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from konsil.analysis.estimation.raters.sensitivity import leave_one_rater_out
from konsil.stats.engine.contract import Estimate


@pytest.mark.parametrize("n", [3, 4, 9])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_jackknife_has_one_degree_of_freedom_less_than_raters(n: int, level: float) -> None:
    values = np.random.default_rng(n).normal(0.6, 0.05, n)
    estimate = leave_one_rater_out(values.tolist(), Estimate(0.6, 0.5, 0.7, level=level))
    se = math.sqrt((n - 1) / n * sum((v - values.mean()) ** 2 for v in values))
    half = stats.t(df=n - 1).ppf((1 + level) / 2) * se
    assert estimate.se == pytest.approx(se)
    assert (estimate.low, estimate.high) == pytest.approx((0.6 - half, 0.6 + half))
    assert f"t with {n - 1} degrees of freedom" in estimate.method
    assert (estimate.value, estimate.n_clusters) == (0.6, n)


def test_the_limits_of_four_raters() -> None:
    estimate = leave_one_rater_out([0.55, 0.62, 0.6, 0.66], Estimate(0.6, 0.5, 0.7))
    assert (round(estimate.low, 3), round(estimate.high, 3)) == (0.382, 0.818)


def test_without_one_of_two_nobody_is_left() -> None:
    for values, why in (
        ([0.5, 0.6], "fewer than three raters"),
        ([0.5, 0.6, math.nan], "not estimable without one"),
    ):
        estimate = leave_one_rater_out(values, Estimate(0.6, 0.5, 0.7))
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)
        assert math.isnan(estimate.se)
        assert why in estimate.reason
