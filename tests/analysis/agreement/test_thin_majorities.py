"""Raters and judges against the majority of the others, where some of a panel's raters rated few
units."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy

from konsil.analysis.agreement.consensus import against_panel, ceilings_of_panel
from konsil.analysis.agreement.judge_vs_panel import _mean_of
from konsil.analysis.estimation.estimate import estimate
from konsil.analysis.estimation.raters.leave_one_out import each_rest, leave_one_out_measure
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Analysis, AsPublished, Resampling
from konsil.stats.agreement.consensus import ceiling_tables
from konsil.stats.agreement.thin_pairs import slots_of, thin_majorities
from konsil.stats.engine.contract import Codes, Estimate
from konsil.stats.inference import posterior
from konsil.stats.inference.posterior import of_defined_tables

DRAWS = Resampling(500)


def labels_of(n: int = 50, rated: int = 5, raters: int = 4, seed: int = 1) -> np.ndarray:
    """Raters who give the truth in four units of five; the last rates the first units alone, and
    always the truth."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 2, (n, 1))
    labels = np.where(generator.random((n, raters)) < 0.2, 1 - truth, truth)
    labels[:, -1] = truth[:, 0]
    labels[:rated] = truth[:rated]
    labels[rated:, -1] = -1
    return labels


def sample_of(labels: np.ndarray) -> Sample:
    raters, units = (tuple(f"{n:03}" for n in range(size)) for size in labels.shape[::-1])
    return Sample(Codes(labels, np.arange(len(labels)), 2), raters, units, units)


def analysis(statistic: str) -> Analysis:
    return Analysis("a", statistic, "good", "judges", against="people")


@pytest.mark.parametrize("statistic", ["percent_agreement", "pabak", "cohen_kappa", "gwet_ac1"])
def test_a_rater_who_agrees_in_all_of_five_units_widens_the_interval_of_the_ceiling(
    statistic: str,
) -> None:
    measure = leave_one_out_measure(sample_of(labels_of()), analysis(statistic), "nominal")
    told = estimate(measure, key=1, resampling=DRAWS, cluster="unit")
    assert "and every rater" in told.headline.method
    assert "clusters that raters share with the others' majority" in told.headline.method
    assert not told.companions
    # Its part of the variance is at least that of five units with a prior of one cluster.
    assert told.headline.se > (0.025 if statistic == "percent_agreement" else 0.05)
    published = estimate(measure, key=1, resampling=AsPublished(500), cluster="unit")
    assert "bootstrap" in published.headline.method
    whole = leave_one_out_measure(
        sample_of(np.abs(labels_of(rated=50))), analysis(statistic), "nominal"
    )
    assert whole.thin is None


def test_each_rater_alone_is_no_mean() -> None:
    assert all(
        m.thin is None
        for m in each_rest(sample_of(labels_of()), analysis("percent_agreement"), "nominal")
    )


@pytest.mark.parametrize("statistic", ["percent_agreement", "cohen_kappa"])
def test_the_judge_and_the_ceiling_beside_it_follow(statistic: str) -> None:
    labels = labels_of(raters=5)[:, [0, 1, 2, 4, 3]]
    panel, judge = sample_of(labels[:, :4]), sample_of(labels[:, 4:])
    asked = analysis(statistic)
    [(_, of_judge, ceiling, minus)] = against_panel(panel, judge, asked, "valid", "nominal")
    [alone] = ceilings_of_panel([ceiling], panel, judge, asked, "nominal")
    for measure in (of_judge, ceiling, alone):
        told = estimate(measure, key=1, resampling=DRAWS, cluster="unit").headline
        assert "and every rater" in told.method
        assert told.low < told.value < told.high
    by_itself = estimate(
        leave_one_out_measure(panel, asked, "nominal"), key=1, resampling=DRAWS, cluster="unit"
    ).headline
    beside = estimate(alone, key=1, resampling=DRAWS, cluster="unit").headline
    assert (beside.low, beside.high) == (by_itself.low, by_itself.high)
    assert minus.thin is None
    [(_, published, _, _)] = against_panel(panel, judge, asked, "paper", "nominal")
    assert published.thin is None


def test_a_ceiling_on_part_of_the_units_stays_what_it_is() -> None:
    labels = labels_of(raters=5)[:, [0, 1, 2, 4, 3]]
    labels[::2, 4] = -1
    panel, judge = sample_of(labels[:, :4]), sample_of(labels[:, 4:])
    asked = analysis("cohen_kappa")
    [(_, _, ceiling, _)] = against_panel(panel, judge, asked, "valid", "nominal")
    [same] = ceilings_of_panel([ceiling], panel, judge, asked, "nominal")
    assert same is ceiling


def test_a_judge_of_few_units_counts_in_the_mean_of_judges_as_much_as_one_of_all() -> None:
    labels = np.abs(labels_of(rated=50, raters=6))
    labels[5:, 5] = -1
    panel, judges_alone, asked = (
        sample_of(labels[:, :4]),
        sample_of(labels[:, 4:]),
        analysis("percent_agreement"),
    )
    made = against_panel(panel, judges_alone, asked, "valid", "nominal", is_mean=True)
    _, judges, _, _ = _mean_of(made)
    assert judges.thin is not None
    assert judges.thin.least == 5
    each = against_panel(panel, judges_alone, asked, "valid", "nominal")
    assert [m.thin for _, m, _, _ in each] == [None, None]


def test_with_too_little_shared_there_is_no_interval_but_the_reason() -> None:
    labels = np.full((4, 12), -1)
    for unit in range(4):
        labels[unit, [3 * unit, 3 * unit + 1, 3 * unit + 2]] = unit % 2
    told = estimate(
        leave_one_out_measure(sample_of(labels), analysis("percent_agreement"), "nominal"),
        key=1,
        resampling=DRAWS,
        cluster="unit",
    )
    assert math.isnan(told.headline.low)
    assert (
        told.headline.reason
        == "no CI: raters share too few unit clusters with the others' majority (effectively 1.0"
        " each; at least 2 are needed)"
    )


def test_longer_scales_have_the_same_interval_unless_their_tables_are_too_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labels = np.where(labels_of() < 0, -1, labels_of() * 6)
    sample = sample_of(labels)
    sample = replace(sample, codes=replace(sample.codes, n_labels=12))

    def ceiling() -> Estimate:
        measure = leave_one_out_measure(sample, analysis("cohen_kappa"), "nominal")
        return estimate(measure, key=1, resampling=DRAWS, cluster="unit").headline

    assert ceiling().low < ceiling().value < ceiling().high
    monkeypatch.setattr(posterior, "WIDEST", 1000)
    assert math.isnan(ceiling().low)
    assert ceiling().reason.startswith(
        "no CI: a rater shares only 5 unit clusters with the others'"
    )


def test_slots_and_defined_tables_are_the_same_of_sparse_sums() -> None:
    codes = Codes(labels_of(raters=5), np.arange(50), 2)
    sums = np.asarray(ceiling_tables(4)(codes))
    sparse = scipy.sparse.csr_matrix(sums)
    assert np.array_equal(slots_of(sparse, 4) @ np.eye(8), slots_of(sums, 4))
    assert np.array_equal(of_defined_tables(sparse, 4), of_defined_tables(sums, 4))
    assert thin_majorities(slots_of(sparse, 4)) == thin_majorities(slots_of(sums, 4))
