"""Group sequential bounds and inference, against other computations of the same numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from konsil.stats.designs.sequential import (
    LARGEST_BOUND,
    bounds,
    inference,
    stages,
)
from konsil.stats.designs.spending import spent

FAMILIES = ("obrien_fleming", "pocock", "power")


def reached(design, drift, k, z):
    """Probability of crossing the upper bound before analysis k, or of Z_k >= z there.

    By integration of the multivariate normal density.
    """
    t = design.fractions
    total = 0.0
    for last in range(k + 1):
        times = t[: last + 1]
        corr = np.sqrt(np.minimum.outer(times, times) / np.maximum.outer(times, times))
        low = np.append(-design.critical[:last], z if last == k else design.critical[last])
        high = np.append(design.critical[:last], 40.0)
        mean = drift * np.sqrt(times)
        total += stats.multivariate_normal(mean, corr, seed=1).cdf(high, lower_limit=low)
    return total


def fractions():
    steps = st.lists(st.integers(2, 30), min_size=1, max_size=5)
    return steps.map(lambda parts: np.cumsum(parts) / sum(parts))


@pytest.mark.parametrize("family", FAMILIES)
def test_crossing_probabilities_equal_the_multivariate_normal(family):
    design = bounds([0.3, 0.55, 1.0], spending=family)
    for drift in (0.0, 1.7):
        before = 0.0
        for k, stage in enumerate(stages(design, drift)):
            cumulative = reached(design, drift, k, design.critical[k])
            assert stage.upper == pytest.approx(cumulative - before, abs=2e-5)
            before = cumulative


@pytest.mark.parametrize(("family", "limit"), [("obrien_fleming", 0.05205), ("pocock", 0.05874)])
def test_the_level_for_any_correlation_of_two_analyses(family, limit):
    """It is alpha at the correlation that the share of ratings stands for, sqrt(.5), higher with a
    smaller one, and never above the sum of the nominal p values."""
    design = bounds([0.5, 1.0], spending=family)
    first, last = design.critical

    def level(correlation):
        z, weights = np.polynomial.legendre.leggauss(200)
        z, scale = z * first, math.sqrt(1 - correlation**2)
        inside = stats.norm.cdf((last - correlation * z) / scale)
        inside -= stats.norm.cdf((-last - correlation * z) / scale)
        return 1 - float(first * weights @ (stats.norm.pdf(z) * inside))

    levels = [level(r) for r in (0.0, 0.3, math.sqrt(0.5), 0.95)]
    assert levels[2] == pytest.approx(0.05, abs=1e-8)
    assert levels == sorted(levels, reverse=True)
    assert design.nominal.sum() == pytest.approx(limit, abs=2e-5)
    assert levels[0] < design.nominal.sum()
    # Simulated in docs/coverage.md: small clusters first have the squared correlation 0.09.
    assert level(0.3) == pytest.approx(
        {"obrien_fleming": 0.0518, "pocock": 0.0567}[family], abs=5e-4
    )


def test_tails_and_interval_ends_equal_the_multivariate_normal():
    design = bounds([0.4, 0.7])
    result = inference(design, 2.2)
    assert result.p == pytest.approx(2 * reached(design, 0.0, 1, 2.2), abs=3e-5)
    assert reached(design, result.low, 1, 2.2) == pytest.approx(0.025, abs=3e-5)
    assert reached(design, result.high, 1, 2.2) == pytest.approx(0.975, abs=3e-5)
    assert reached(design, result.estimate, 1, 2.2) == pytest.approx(0.5, abs=3e-5)


@settings(max_examples=25, deadline=None)
@given(fractions(), st.sampled_from(FAMILIES), st.sampled_from([0.01, 0.05, 0.2]))
def test_bounds_spend_exactly_alpha(t, family, alpha):
    design = bounds(t, spending=family, alpha=alpha)
    used = np.cumsum([stage.upper + stage.lower for stage in stages(design)])
    assert used == pytest.approx(design.spent, abs=1e-8)
    assert design.spent[-1] == pytest.approx(alpha)
    assert (np.diff(design.spent) > 0).all()


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(FAMILIES),
    st.sampled_from([0.01, 0.05, 0.2]),
    st.lists(st.floats(0, 1), min_size=2, max_size=6),
)
def test_spending_rises_from_none_to_alpha(family, alpha, times):
    values = spent([0.0, *sorted(times), 1.0, 1.3], spending=family, alpha=alpha)
    assert values[0] == 0
    assert (np.diff(values) >= 0).all()
    assert values[-2:] == pytest.approx(alpha)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(FAMILIES), st.floats(-4, 4), st.sampled_from([0.9, 0.95]))
def test_a_single_analysis_is_the_fixed_test(family, z, level):
    design = bounds([1.0], spending=family)
    half = stats.norm.ppf((1 + level) / 2)
    assert design.critical == pytest.approx([stats.norm.ppf(0.975)])
    expected = (2 * stats.norm.sf(abs(z)), z, z - half, z + half)
    assert inference(design, z, level=level) == pytest.approx(expected, abs=1e-7)


def test_p_is_alpha_at_the_last_bound_and_the_interval_then_ends_at_zero():
    design = bounds([0.25, 0.5, 1.0], spending="pocock")
    result = inference(design, design.critical[-1])
    assert result.p == pytest.approx(0.05, abs=1e-9)
    assert result.low == pytest.approx(0.0, abs=1e-6)
    assert 0 < result.estimate < design.critical[-1]


def test_inference_is_symmetric():
    design = bounds([0.5, 1.0])
    positive, negative = inference(design, 1.3), inference(design, -1.3)
    assert negative.p == pytest.approx(positive.p)
    assert (negative.low, negative.high) == pytest.approx((-positive.high, -positive.low))
    assert negative.estimate == pytest.approx(-positive.estimate)


def test_bounds_depend_on_the_analyses_made_so_far_alone():
    early, late = bounds([0.3, 0.6]), bounds([0.3, 0.6, 1.0])
    assert early.critical == pytest.approx(late.critical[:2], abs=1e-9)


def test_a_last_analysis_may_spend_all_that_remains():
    design = bounds([0.4, 0.8], spending_times=[0.4, 1.0])
    assert design.spent == pytest.approx([spent([0.4])[0], 0.05])


def test_binding_futility_lowers_the_last_bound_and_keeps_alpha():
    free = bounds([0.5, 1.0], futility=[0.8])
    binding = bounds([0.5, 1.0], futility=[0.8], binding=True)
    assert free.critical == pytest.approx(bounds([0.5, 1.0]).critical)
    assert binding.critical[1] < free.critical[1]
    first, last = stages(binding)
    assert 2 * (first.upper + last.upper) == pytest.approx(0.05, abs=1e-8)
    assert inference(binding, binding.critical[1]).p == pytest.approx(0.05, abs=1e-8)


def test_a_simulated_trial_keeps_its_level():
    design = bounds([0.3, 0.6, 1.0], spending="pocock")
    noise = np.random.default_rng(1).normal(size=(200_000, 3))
    steps = np.sqrt(np.diff(design.fractions, prepend=0))
    z = np.cumsum(noise * steps, axis=1) / np.sqrt(design.fractions)
    rejected = (np.abs(z) >= design.critical).any(axis=1).mean()
    assert rejected == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 200_000))


def test_an_analysis_that_may_spend_nothing_is_never_crossed():
    assert bounds([0.01, 1.0]).critical[0] == LARGEST_BOUND


def test_undefined_is_nan():
    assert all(math.isnan(value) for value in inference(bounds([0.5, 1.0]), math.nan))


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (([],), {}),
        (([0.5, 0.5],), {}),
        (([0.0, 1.0],), {}),
        (([0.5, 1.0],), {"alpha": 0}),
        (([0.5, 1.0],), {"spending": "none"}),
        (([0.5, 1.0],), {"spending": "power", "rho": 0}),
        (([0.5, 1.0],), {"futility": [3.0]}),
        (([0.5, 1.0],), {"futility": [-1.0]}),
        (([0.5, 1.0],), {"spending_times": [1.0]}),
    ],
)
def test_refusals(arguments, options):
    with pytest.raises(ValueError, match="expected"):
        bounds(*arguments, **options)


def test_further_refusals():
    with pytest.raises(ValueError, match="level"):
        inference(bounds([1.0]), 1.0, level=1.0)
    with pytest.raises(ValueError, match="fractions"):
        spent([-0.1])
