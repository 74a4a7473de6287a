"""A judge minus the panel's ceiling: the exchange of judge and raters, its interval and its
level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from konsil.analysis.agreement.consensus import against_panel
from konsil.analysis.agreement.judge_vs_panel import MOST_TURNS, judge_gaps, turns, turns_needed
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Analysis, Resampling, Test
from konsil.stats.engine.contract import Codes


def sample(labels: np.ndarray, prefix: str) -> Sample:
    n, raters = labels.shape
    names = tuple(f"i{number:03}" for number in range(n))
    return Sample(
        Codes(labels.astype(np.int8), np.arange(n), 2),
        tuple(f"{prefix}{r}" for r in range(raters)),
        names,
        names,
    )


def gap(
    labels: np.ndarray,
    n_panel: int,
    statistic: str = "percent_agreement",
    test: Test = "interval",
    key: int = 1,
    draws: int = 999,
) -> list[EstimateSummary]:
    analysis = Analysis("gap", statistic, "c", "judges", against="panel", by=("rater",), test=test)
    panel, judges = sample(labels[:, :n_panel], "p"), sample(labels[:, n_panel:], "j")
    groups = against_panel(panel, judges, analysis, "valid", "nominal")
    return judge_gaps(
        panel,
        judges,
        [f[3] for f in groups],
        analysis,
        "nominal",
        key=key,
        resampling=Resampling(draws, 0.95),
        cluster="item",
    )


def draw(rng: np.random.Generator, n: int, raters: int, *, shift: float = 0.0) -> np.ndarray:
    """Exchangeable raters of whom 5 % of the labels are missing; the last leans to one label by
    `shift`."""
    latent = rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, raters))
    latent[:, -1] += shift
    labels = (latent > -0.5).astype(np.int8)
    labels[rng.random(labels.shape) < 0.05] = -1
    return labels


@pytest.mark.parametrize("statistic", ["percent_agreement", "cohen_kappa"])
def test_a_judge_far_off_is_told_and_interval_and_p_agree(statistic: str) -> None:
    rng = np.random.default_rng(1)
    labels = draw(rng, 60, 6)
    labels[:, -1] = rng.integers(0, 2, 60)
    (far,) = gap(labels, 5, statistic)
    assert far.headline.p < 0.02
    assert far.headline.high < 0
    assert "permutation of the judge" in far.headline.method
    for seed in range(20):
        (some,) = gap(draw(np.random.default_rng(seed), 20, 6, shift=-0.8), 5, statistic, key=seed)
        assert (some.headline.p <= 0.05) == (some.headline.low > 0 or some.headline.high < 0)


def test_a_judge_who_copies_a_rater_of_three_alike_has_no_gap_and_no_interval() -> None:
    labels = np.repeat(np.random.default_rng(2).integers(0, 2, (30, 1)), 4, axis=1)
    (same,) = gap(labels, 3)
    assert same.headline.value == 0
    assert same.headline.p == 1
    assert math.isnan(same.headline.low)
    assert same.headline.reason


def test_several_judges_are_each_tested_by_themselves() -> None:
    labels = draw(np.random.default_rng(3), 40, 7)
    both, first = gap(labels, 5), gap(labels[:, :6], 5)
    assert len(both) == 2
    single, same = (h.headline for h in (both[0], first[0]))
    assert (single.value, single.low, single.high, single.p) == pytest.approx(
        (same.value, same.low, same.high, same.p), rel=1e-9
    )
    assert both[1].headline.value != both[0].headline.value


def test_judges_with_gaps_of_their_own_are_each_tested_by_themselves() -> None:
    labels = draw(np.random.default_rng(5), 40, 7)
    labels[:, :6] = np.abs(labels[:, :6])
    labels[::3, 6] = -1
    both, second = gap(labels, 5), gap(np.delete(labels, 5, axis=1), 5)
    assert both[1].headline.value == pytest.approx(second[0].headline.value)
    assert all(math.isfinite(told.headline.low) for told in both)


def test_turns_leave_it_as_it_is_who_labelled_a_unit_and_each_comes_equally_often() -> None:
    labels = draw(np.random.default_rng(6), 50, 5)
    made = list(turns(labels, turns_needed(np.unique((labels >= 0).sum(axis=1)).tolist())))
    assert (made[0] == labels).all()
    for some in made:
        assert ((some >= 0) == (labels >= 0)).all()
        assert (np.sort(some) == np.sort(labels)).all()
    numbered = np.where(labels >= 0, np.arange(5), -1)
    where = np.stack(list(turns(numbered, len(made))))
    for unit in range(50):
        of_first = where[:, unit, np.flatnonzero(labels[unit] >= 0)[0]]
        assert len(set(np.bincount(of_first[of_first >= 0]).tolist()) - {0}) == 1
    complete = np.abs(labels)
    turned = list(turns(complete, turns_needed([5])))
    assert all((some == np.roll(complete, n, axis=1)).all() for n, some in enumerate(turned))
    assert turns_needed([7, 11]) == MOST_TURNS


def test_a_rater_of_few_units_leaves_the_difference_an_interval_of_use() -> None:
    """With whole columns exchanged, gaps and all, the limits were beyond -1 and 1."""
    generator = np.random.default_rng(7)
    labels = np.abs(draw(generator, 50, 5))
    for rater in (2, 3):
        labels[generator.permutation(50)[10:], rater] = -1
    (told,) = gap(labels, 4)
    assert -0.5 < told.headline.low <= told.headline.value <= told.headline.high < 0.5
    assert told.headline.p > 0.05


def test_without_a_test_there_is_no_p() -> None:
    (summary,) = gap(draw(np.random.default_rng(4), 30, 6), 5, test="none")
    assert math.isnan(summary.headline.p)
    assert math.isfinite(summary.headline.low)


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["percent_agreement", "cohen_kappa"])
def test_the_same_where_two_raters_of_the_panel_rate_a_fifth_of_the_units(statistic: str) -> None:
    rng = np.random.default_rng(8)
    sets, estimates = 600, []
    for key in range(sets):
        labels = np.abs(draw(rng, 50, 5))
        for rater in (2, 3):
            labels[rng.permutation(50)[10:], rater] = -1
        estimates.append(gap(labels, 4, statistic, key=key, draws=499)[0].headline)
    rejected = sum(e.p <= 0.05 for e in estimates)
    assert stats.binomtest(rejected, sets).proportion_ci().low <= 0.06
    assert np.median([e.high - e.low for e in estimates]) < (
        0.6 if statistic == "percent_agreement" else 1.2
    )


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["percent_agreement", "cohen_kappa"])
@pytest.mark.parametrize(("n_panel", "n"), [(3, 15), (5, 15), (5, 40), (9, 20)])
def test_a_judge_of_the_panel_s_own_kind_is_told_apart_in_one_set_of_twenty(
    statistic: str, n_panel: int, n: int
) -> None:
    rng = np.random.default_rng(n)
    sets = 600
    estimates = [
        gap(draw(rng, n, n_panel + 1), n_panel, statistic, key=s, draws=499)[0].headline
        for s in range(sets)
    ]
    rejected = sum(e.p <= 0.05 for e in estimates)
    assert stats.binomtest(rejected, sets).proportion_ci().low <= 0.06
