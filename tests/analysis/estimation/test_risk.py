"""Risk against coverage, from records to rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import stats
from tests.analysis.estimation.test_judging import results, study

from konsil.analysis import Analysis, contradictions
from konsil.analysis.estimation.differences import differences
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.model.spec import Resampling
from konsil.analysis.table.frame import Data
from konsil.records import Rating
from konsil.stats.engine.contract import Array, Finalise
from konsil.stats.judges.risk import risk_coverage

ASKED = Analysis("risk", "risk_coverage", "correct", "judges", against="people")


def with_confidence(data: Data, truth: dict[str, bool], *, knowing: str) -> Data:
    """One judge is sure where it is right; the others say the same everywhere; the last says
    nothing."""

    def sure(r: Rating) -> Rating:
        if r.criterion != "correct" or r.rater not in {knowing, "j2"}:
            return r
        right = r.label == ("yes" if truth[r.answers[0]] else "no")
        return replace(r, confidence=(0.9 if right else 0.4) if r.rater == knowing else 0.7)

    return replace(data, ratings=tuple(sure(r) for r in data.ratings))


def test_confidence_that_knows_lowers_the_area() -> None:
    data, known = study()
    found = results(with_confidence(data, known["truth"], knowing="j1"), ASKED)
    estimates = {r.group["rater"]: r for r in found.rows if r.kind == "estimate"}
    beside = [
        r for r in found.rows if r.kind == "companion" and r.group.get("rater") == "any_order"
    ]
    gaps = {r.group["rater"]: r for r in found.rows if r.kind == "difference"}
    assert list(estimates) == ["j1", "j2", "j3", "leave_one_out:people"]
    assert estimates["j1"].estimate.value < 0.5 * beside[0].estimate.value
    assert gaps["j1"].estimate.high < 0
    assert estimates["j2"].estimate.value == pytest.approx(beside[1].estimate.value)
    assert gaps["j2"].estimate.value == pytest.approx(0, abs=1e-12)
    assert np.isnan(estimates["j3"].estimate.value)
    assert estimates["j3"].estimate.reason == "no labels with a confidence"
    assert 0 < estimates["leave_one_out:people"].estimate.value < 0.3
    curves = {c.group["rater"]: c for c in found.curves}
    assert set(curves) == {"j1", "j2"}
    assert curves["j1"].coverage[-1] == curves["j2"].coverage[-1] == 1
    assert curves["j1"].risk[0] < curves["j1"].risk[-1]
    assert len(curves["j2"].risk) == 1


def test_the_gap_has_the_linearised_interval_at_the_effective_number_of_items() -> None:
    data, known = study()
    gaps = {
        r.group["rater"]: r.estimate
        for r in results(with_confidence(data, known["truth"], knowing="j1"), ASKED).rows
        if r.kind == "difference"
    }
    methods = results(with_confidence(data, known["truth"], knowing="j1"), ASKED).methods
    assert any(
        sentence.startswith("Differences of estimates based on rare events") for sentence in methods
    )
    assert not any("cannot be exchanged" in sentence for sentence in methods)
    estimate = gaps["j1"]
    df = float(estimate.method.split("t with ")[1].split()[0])
    assert 1 <= df < estimate.n_clusters - 1
    reach = stats.t.ppf(0.975, df) * estimate.se
    assert estimate.high - estimate.value == pytest.approx(reach, rel=0.02)
    assert estimate.p == pytest.approx(
        2 * stats.t.sf(abs(estimate.value) / estimate.se, df), rel=0.1
    )
    assert (estimate.p < 0.05) == (estimate.high < 0)
    # Confidence that is the same everywhere says nothing: no interval, rather than one of rounding
    # errors.
    assert np.isnan([gaps["j2"].low, gaps["j2"].se, gaps["j2"].p]).all()
    assert gaps["j2"].reason


def test_confidence_that_says_nothing_is_seldom_found_to_say_something() -> None:
    """100 items, of which 5 % are wrong: the bootstrap finds a gap in a quarter of such studies."""
    generator, rejected, sets = np.random.default_rng(2), 0, 200
    for _ in range(sets):
        wrong = (generator.random(100) < 0.05).astype(float)
        if not wrong.any():
            continue
        curve = risk_coverage(np.round(2 * generator.normal(size=100)) / 2, wrong, np.arange(100))
        names = tuple(f"i{n:03}" for n in range(100))
        gap = Measure(np.eye(100), partial(gap_of, curve), names, 100, 1, 100, is_rare=True)
        [summary] = differences([gap], key=1, resampling=Resampling(200), cluster="item")
        rejected += summary.headline.p <= 0.05
    assert rejected / sets < 0.07


def gap_of(curve: Finalise, totals: Array) -> Array:
    """Area less risk."""
    both = curve(totals)
    return both[..., :1] - both[..., 1:]


def test_it_needs_a_panel() -> None:
    assert list(contradictions(replace(ASKED, against=None))) == [
        "against: risk is disagreement with a panel; state the panel"
    ]
