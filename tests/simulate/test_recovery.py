"""The estimates find the parameters again, in one study and, in the slow test, over many."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict

import numpy as np
import pytest
from scipy.special import ndtr
from simulated_studies import analysis, answers_of, items_of, study_of

from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.plan import Allocation
from konsil.simulate import PanelTruth, SystemTruth, Truth, draw, recovery

TRUTH = Truth(
    systems={"a": SystemTruth(0.85), "b": SystemTruth(0.6)},
    panels={
        "physicians": PanelTruth(accuracy=0.9, severity=0.2, abstention=0.05, abstention_slope=0.8),
        "judges": PanelTruth(accuracy=0.85, leniency=0.4, self_preference=0.3),
    },
)
ANALYSES = (
    analysis("share", of=("Correct",), consensus="majority", by=("system",), compare="system"),
    analysis("share", raters="judges", of=("Correct",), by=("rater", "system")),
    analysis("percent_agreement", by=("system",)),
    analysis("cohen_kappa"),
    analysis("cohen_kappa", against="rest"),
    analysis("cohen_kappa", raters="judges", against="physicians", by=("rater",)),
    analysis("pabak"),
    analysis("gwet_ac1"),
    analysis("krippendorff_alpha", "difficulty"),
    analysis("mean", "difficulty"),
    analysis("abstention"),
    analysis("icc1", "difficulty"),
)


def results_of(study, simulated, items, answers):
    return run(
        study.analyses,
        Data(items, answers, study.raters, simulated.tasks, simulated.ratings),
        RunSettings(
            instruments=study.instruments,
            seed=study.seed,
            resampling=study.resampling,
            exclusions=study.exclusions,
            planned=True,
        ),
    )


def recovered(study, truth, n, draw_seed, **more):
    items = items_of(n)
    answers = answers_of(items)
    simulated = draw(study, items, answers, truth, draw_seed)
    return recovery(study, truth, results_of(study, simulated, items, answers), **more)


@pytest.mark.slow
def test_a_large_study_finds_every_truth():
    study = study_of(analyses=ANALYSES)
    rows = recovered(study, TRUTH, 3000, 4, seed=4)
    assert {r.analysis for r in rows} == {a.name for a in ANALYSES if a.statistic != "icc1"}
    for row in rows:
        half = (row.high - row.low) / 2
        assert abs(row.estimate - row.truth) < 2.5 * half + 4 * row.truth_error, row
        assert row.truth_error < 0.006
        assert row.covered == (row.low <= row.truth <= row.high)


def test_truths_that_have_a_formula():
    study = study_of(analyses=ANALYSES, judges=0, plan=(Allocation("physicians", "form"),))
    study = dataclasses.replace(
        study,
        analyses=(
            analysis("share", of=("Correct",), by=("system",), compare="system"),
            analysis("percent_agreement"),
            analysis("abstention"),
        ),
    )
    panel = PanelTruth(
        accuracy=0.9, severity=0.3, leniency=0.2, shared=0.0, item_rater=0.0, abstention=0.1
    )
    truth = Truth(systems=TRUTH.systems, panels={"physicians": panel})
    rows = recovered(study, truth, 30, 1)
    # Raters from the panel's model: severity adds to the variance of the impression.
    d, scale = 1.2815515655, math.hypot(1, 0.3)
    right, wrong = ndtr((d + 0.2) / scale), ndtr((-d + 0.2) / scale)
    expected = {
        "a": 0.85 * right + 0.15 * wrong,
        "b": 0.6 * right + 0.4 * wrong,
        "a minus b": 0.25 * (right - wrong),
    }
    for row in rows[:3]:
        assert abs(row.truth - expected[row.parameter.split(": ")[1]]) < 5 * row.truth_error + 1e-3
    assert rows[-1].truth == pytest.approx(0.1, abs=5 * rows[-1].truth_error + 1e-4)


@pytest.mark.slow
def test_self_agreement_and_pairs_of_raters():
    study = study_of(
        plan=(Allocation("physicians", "form", raters_per_item=2, repeats=50),),
        analyses=(
            analysis("self_agreement"),
            analysis("percent_agreement"),
            analysis("share", of=("Correct",), consensus="majority"),
        ),
    )
    rows = recovered(study, TRUTH, 1500, 2, seed=2)
    assert len(rows) == 3
    for row in rows:
        assert abs(row.estimate - row.truth) < 1.3 * (row.high - row.low), row
    assert rows[0].truth > rows[1].truth  # a rater agrees more with herself than with another


def test_a_majority_of_varying_size_has_no_single_truth():
    plan = (
        Allocation("physicians", "form"),
        Allocation("physicians", "form", raters_per_item=2, phase="more"),
    )
    study = study_of(
        plan=plan,
        analyses=(
            analysis("share", of=("Correct",), consensus="majority"),
            dataclasses.replace(analysis("share", of=("Correct",)), name="ratings"),
            dataclasses.replace(analysis("cohen_kappa", against="rest"), name="rest"),
        ),
    )
    other = study_of(analyses=study.analyses)
    items = items_of(40)
    answers = answers_of(items)
    results = results_of(other, draw(other, items, answers, TRUTH, 1), items, answers)
    rows = recovery(study, TRUTH, results)
    assert [row.analysis for row in rows] == ["ratings"], "which needs no majority"


@pytest.mark.long
@pytest.mark.slow
def test_intervals_cover_over_many_small_studies():
    """200 studies of 120 items: 95 % intervals of every analysis cover 92-98 % (VALIDITY's bar),
    within chance."""
    items = items_of(120)
    answers = answers_of(items)
    study = study_of(analyses=ANALYSES[:-1], draws=600)
    truth = dataclasses.replace(
        TRUTH, panels={p: dataclasses.replace(t, severity=0.0) for p, t in TRUTH.panels.items()}
    )
    hits = defaultdict(list)
    first = None
    for seed in range(200):
        results = results_of(study, draw(study, items, answers, truth, seed), items, answers)
        # Without severity all raters of a panel are alike, so the truth is the same for every seed.
        first = first or {r.parameter: r.truth for r in recovery(study, truth, results)}
        estimates = [r for r in results.rows if r.kind != "companion"]
        for row, true in zip(estimates, first.values(), strict=True):
            hits[row.analysis].append(row.estimate.low <= true <= row.estimate.high)
    shares = {name: float(np.mean(h)) for name, h in hits.items()}
    for name, share in shares.items():
        # Two standard errors of 200 studies around the bar of 92-98 %.
        assert 0.905 <= share <= 0.995, (name, share)
    assert 0.93 <= np.mean(list(shares.values())) <= 0.97


def test_weighted_kappa_of_an_ordinal_scale_is_of_steps_whatever_its_numbers():
    study = study_of(analyses=(analysis("cohen_kappa_quadratic", "difficulty"),))
    (form,) = study.instruments
    criteria = tuple(
        (
            dataclasses.replace(c, scale=dataclasses.replace(c.scale, values=(0.0, 1.0, 50.0)))
            if c.id == "difficulty"
            else c
        )
        for c in form.criteria
    )
    uneven = dataclasses.replace(study, instruments=(dataclasses.replace(form, criteria=criteria),))
    (even,), (found,) = (recovered(s, TRUTH, 60, 4, seed=4) for s in (study, uneven))
    assert (found.truth, found.estimate) == (even.truth, even.estimate)


def test_what_the_model_does_not_give_is_left_out():
    study = study_of(analyses=(analysis("cohen_kappa", "difficulty", weights="linear"),))
    assert recovered(study, TRUTH, 30, 4, seed=4) == ()
