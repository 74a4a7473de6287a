"""Differences of groups: which procedure they get, and that interval and p are of one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from konsil.analysis.agreement import agreement_statistics
from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure, share
from konsil.analysis.model.interval_methods import name_of
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Resampling, Test
from konsil.errors import AnalysisError
from konsil.stats.engine.contract import Codes, Estimate

RESAMPLING = Resampling(999, 0.95)


def sample(labels: np.ndarray, first: int = 0) -> Sample:
    """Items named by their numbers from `first` on, one unit each."""
    n, raters = labels.shape
    names = tuple(f"i{number:03}" for number in range(first, first + n))
    codes = Codes(labels.astype(np.int8), np.arange(n), 2)
    return Sample(codes, tuple(f"r{r}" for r in range(raters)), names, names)


def event(n: int, *items: int) -> Measure:
    """The share of a label that one rater gave to these items alone."""
    return share(sample(np.isin(np.arange(n), items)[:, None]), [1])


def difference(a: Measure, b: Measure, test: Test = "interval") -> EstimateSummary:
    return contrast(a, b, key=1, resampling=RESAMPLING, cluster="item", test=test)


def test_one_event_each_on_the_same_item_is_no_evidence() -> None:
    same, other = (
        difference(event(30, 0), event(28, 0)).headline,
        difference(event(30, 0), event(28, 5)).headline,
    )
    for estimate in (same, other):
        assert estimate.low < -0.1
        assert estimate.high > 0.1
        assert estimate.p > 0.5
    assert "score" in same.method


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("first", [0, 40], ids=["the same items", "other items"])
def test_what_is_linear_in_a_share_has_the_limits_of_its_difference(
    n_labels: int, first: int
) -> None:
    """With q labels PABAK is (q a - 1) / (q - 1) of the share a: so are differences, their limits
    and their test."""
    draw = np.random.default_rng(2)
    labels = draw.integers(0, n_labels, (2, 40, 2))
    labels[0, :22, 1], labels[1, :10, 1] = labels[0, :22, 0], labels[1, :10, 0]

    def compared(statistic: str) -> Estimate:
        groups = (sample(labels[0]), sample(labels[1], first))
        codes = (replace(g, codes=replace(g.codes, n_labels=n_labels)) for g in groups)
        return difference(
            *(agreement_statistics.agreement(one, statistic, "nominal") for one in codes)
        ).headline

    plain, times = compared("percent_agreement"), n_labels / (n_labels - 1)
    assert 0 < plain.p < 1
    for statistic in ("pabak", "randolph_kappa", "brennan_prediger"):
        estimate = compared(statistic)
        limits = (estimate.value, estimate.low, estimate.high, estimate.se)
        assert limits == pytest.approx(
            [times * x for x in (plain.value, plain.low, plain.high, plain.se)]
        )
        assert estimate.p == plain.p
        assert estimate.low < estimate.value < estimate.high


def test_shares_without_any_event_have_an_interval() -> None:
    estimate = difference(event(31), event(31)).headline
    assert (estimate.low, estimate.high) == pytest.approx((-0.1103, 0.1103), abs=5e-4)
    assert estimate.p == 1


def test_shares_of_many_outcomes_a_cluster_take_their_effective_number() -> None:
    labels = np.zeros((30, 4), np.int8)
    labels[:2] = 1
    a, b = share(sample(labels), [1]), share(sample(np.zeros((30, 4), np.int8)), [1])
    estimate = difference(a, b).headline
    assert "square-and-add" in estimate.method
    # Two clusters of thirty, not eight outcomes of 120: Wilson's interval of 2 in 30 reaches from
    # 0.02 to 0.21.
    assert estimate.low < -0.03
    assert estimate.high == pytest.approx(0.21, abs=0.03)


def test_percent_agreement_of_two_raters_is_a_share() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat(rng.integers(0, 2, (40, 1)), 2, axis=1)
    a = agreement_statistics.agreement(sample(labels), "percent_agreement", "nominal")
    estimate = difference(a, a).headline
    assert (estimate.low, estimate.high) == pytest.approx((-0.0876, 0.0876), abs=5e-4)


@pytest.mark.parametrize("name", ["cohen_kappa", "krippendorff_alpha"])
def test_agreement_is_tested_by_swapping_the_groups(name: str) -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, (40, 1))
    labels = [np.where(rng.random((40, 2)) < error, 1 - truth, truth) for error in (0.05, 0.45)]
    a, b = (agreement_statistics.agreement(sample(x), name, "nominal") for x in labels)
    summary = difference(a, b)
    assert "permutation" in summary.headline.method
    assert summary.headline.p < 0.03
    assert summary.headline.low > 0
    assert difference(a, b, "flip").headline == summary.headline
    assert math.isnan(difference(a, b, "none").headline.p)


def test_groups_of_different_items_are_called_independent() -> None:
    rng = np.random.default_rng(3)
    a, b = (
        agreement_statistics.agreement(
            sample(rng.integers(0, 2, (n, 2)), first), "cohen_kappa", "nominal"
        )
        for n, first in ((20, 0), (30, 100))
    )
    estimate = difference(a, b).headline
    assert estimate.method.startswith("difference of independent groups")
    assert estimate.low < 0 < estimate.high
    shares = difference(event(20, 1), share(sample(np.zeros((9, 1), np.int8), 100), [1])).headline
    assert "independent" in shares.method


def test_groups_with_other_raters_have_the_linearised_interval() -> None:
    rng = np.random.default_rng(4)
    a, b = (
        agreement_statistics.agreement(
            sample(rng.integers(0, 2, (30, raters))), "fleiss_kappa", "nominal"
        )
        for raters in (2, 3)
    )
    b = replace(
        b,
        sums=np.column_stack([np.asarray(b.sums), np.zeros(30)]),
        finalise=lambda t: a.finalise(t[..., :-1]),
    )
    summary = difference(a, b)
    assert name_of(summary.headline.method) == "difference.linearised"
    assert any("30 clusters" in w for w in summary.warnings)
    with pytest.raises(AnalysisError, match="flip"):
        difference(a, b, "flip")


def test_numbers_of_one_array_of_sums_are_not_swapped() -> None:
    """Two numbers of the same sums: swapping equal rows would change nothing, and p would be 1."""
    rng = np.random.default_rng(5)
    sums = np.column_stack([rng.random((30, 2)), np.ones(30)])
    a = replace(
        event(30),
        sums=sums,
        finalise=lambda t: t[..., :1] / t[..., 2:],
        trials=None,
        hits=None,
        cell=None,
    )
    b = replace(a, finalise=lambda t: t[..., 1:2] / t[..., 2:] - 0.8)
    estimate = difference(a, b).headline
    assert name_of(estimate.method) == "difference.linearised"
    assert estimate.p < 0.001


@pytest.mark.parametrize("seed", range(3))
def test_interval_and_p_never_contradict_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for rare in (0.05, 0.4):
        for raters in (1, 2, 3):
            x, y = (rng.random((2, 30, raters)) < rare).astype(np.int8)
            summaries = [difference(share(sample(x), [1]), share(sample(y[:25]), [1]))]
            if raters > 1:
                for name in ("cohen_kappa", "krippendorff_alpha", "percent_agreement"):
                    a, b = (
                        agreement_statistics.agreement(sample(labels), name, "nominal")
                        for labels in (x, y[:25])
                    )
                    summaries.append(difference(a, b))
            for summary in summaries:
                e = summary.headline
                if math.isfinite(e.low):
                    assert (e.p <= 0.05) == (e.low > 0 or e.high < 0), e
                    assert e.high > e.low
                else:
                    assert e.reason
