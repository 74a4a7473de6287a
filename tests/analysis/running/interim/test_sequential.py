"""Comparative looks and the adjusted estimate of one test."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy import stats

from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import SequentialRules
from konsil.analysis.running.interim.sequential import (
    adjusted_estimate,
    check_bounds,
    look_result,
    primary_row,
    statistic_and_scale,
)
from konsil.errors import AnalysisError
from konsil.stats.engine.contract import Estimate

RULES = SequentialRules()


def normal(value: float, se: float) -> Estimate:
    half = se * stats.norm.ppf(0.975)
    p = 2 * stats.norm.sf(abs(value / se))
    return Estimate(value, value - half, value + half, 0.95, se, p)


def difference(estimate: Estimate) -> Row:
    return Row("primary", "share", "correct", "people", estimate, kind="difference")


@pytest.mark.parametrize("value", [0.4, -0.2, 0.01, 0.0])
def test_z_and_its_scale_are_those_of_a_normal_estimate(value: float) -> None:
    z, se = statistic_and_scale(normal(value, 0.1))
    assert z == pytest.approx(value / 0.1)
    assert se == pytest.approx(0.1)


def test_undefined_estimates_have_no_z() -> None:
    assert all(map(math.isnan, statistic_and_scale(Estimate(math.nan))))
    assert all(map(math.isnan, statistic_and_scale(Estimate(0.0, 0.0, 0.0, p=1.0))))


def test_decisions_of_a_look() -> None:
    crossed = look_result(RULES, [0.5], [0.5], normal(0.31, 0.1))
    assert crossed.critical == pytest.approx(2.9626, abs=1e-4)
    assert (crossed.decision, crossed.z) == ("stop for efficacy", pytest.approx(3.1))
    assert look_result(RULES, [0.5], [0.5], normal(0.2, 0.1)).decision == "continue"
    assert look_result(RULES, [0.5], [0.5], normal(-0.02, 0.1)).decision == "stop for futility"
    assert look_result(RULES, [0.5], [0.0], normal(-0.02, 0.1)).decision == "continue"


def test_without_looks_the_adjusted_estimate_is_the_analysis_itself() -> None:
    estimate = normal(0.25, 0.1)
    adjusted = adjusted_estimate(RULES, [1.0], [], difference(estimate), spends_all=True)
    assert (adjusted.value, adjusted.low, adjusted.high, adjusted.p) == pytest.approx(
        (estimate.value, estimate.low, estimate.high, estimate.p), abs=1e-7
    )


def test_the_estimate_after_an_early_stop_is_nearer_to_zero() -> None:
    """A look at .5, and a stop at the next one: hand computed from its two stages."""
    estimate = normal(0.3, 0.1)
    adjusted = adjusted_estimate(RULES, [0.5, 0.75], [0.0], difference(estimate), spends_all=False)
    assert adjusted.spent[-1] < 0.05
    assert 0 < adjusted.low < adjusted.value < estimate.value
    first = stats.norm.sf(adjusted.critical[0])
    pair = stats.multivariate_normal(
        [0, 0], [[1, (0.5 / 0.75) ** 0.5]] * 1 + [[(0.5 / 0.75) ** 0.5, 1]]
    )
    c = adjusted.critical[0]
    second = pair.cdf([c, 40], lower_limit=[-c, 3.0])
    assert adjusted.p == pytest.approx(2 * (first + second), abs=1e-5)


def test_a_last_analysis_that_is_not_complete_spends_all_that_remains() -> None:
    row = difference(normal(0.2, 0.1))
    assert adjusted_estimate(RULES, [0.5, 0.9], [0], row, spends_all=True).spent[
        -1
    ] == pytest.approx(0.05)


def test_an_interval_ends_at_the_possible_values() -> None:
    """Of a difference of proportions, which is at most 1."""
    row = difference(normal(0.9, 0.25))
    free = adjusted_estimate(RULES, [0.5, 1.0], [0.0], row, spends_all=True)
    cut = adjusted_estimate(RULES, [0.5, 1.0], [0.0], row, spends_all=True, possible=(-1.0, 1.0))
    assert free.high > 1
    assert (cut.low, cut.high, cut.is_truncated) == (free.low, 1.0, True)
    assert (cut.value, cut.p, free.is_truncated) == (free.value, free.p, False)


def test_bounds_that_cannot_be_are_refused() -> None:
    check_bounds(RULES, [0.3, 0.6], [0.0, 0.5])
    with pytest.raises(ValueError, match="futility"):
        check_bounds(RULES, [0.3], [5.0])


def test_the_primary_row_is_the_one_test() -> None:
    row = difference(normal(0.2, 0.1))
    side = replace(row, kind="estimate")
    assert primary_row([side, row], "primary") is row
    assert primary_row([side], "primary") is side
    with pytest.raises(AnalysisError, match="2 tests"):
        primary_row([row, row], "primary")
    with pytest.raises(AnalysisError, match="0 tests"):
        primary_row([row], "other")
    untested = replace(row, estimate=replace(row.estimate, p=math.nan, reason="one cluster"))
    with pytest.raises(AnalysisError, match="one cluster"):
        primary_row([untested], "primary")
