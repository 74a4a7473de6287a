"""Risk against coverage, from records to rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.test_judging import results, study

from konsil.analysis import Analysis, contradictions
from konsil.analysis.frame import Data
from konsil.records import Rating

ASKED = Analysis("risk", "risk_coverage", "correct", "judges", against="people")


def with_confidence(data: Data, truth: dict[str, bool], *, knowing: str) -> Data:
    """One judge is sure where it is right; the others say the same everywhere; the last says nothing."""

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
    beside = [r for r in found.rows if r.kind == "companion" and r.group.get("rater") == "any order"]
    gaps = {r.group["rater"]: r for r in found.rows if r.kind == "difference"}
    assert list(estimates) == ["j1", "j2", "j3", "people, leave one out"]
    assert estimates["j1"].estimate.value < 0.5 * beside[0].estimate.value
    assert gaps["j1"].estimate.high < 0
    assert estimates["j2"].estimate.value == pytest.approx(beside[1].estimate.value)
    assert gaps["j2"].estimate.value == pytest.approx(0, abs=1e-12)
    assert np.isnan(estimates["j3"].estimate.value)
    assert estimates["j3"].estimate.reason == "no labels with a confidence"
    assert 0 < estimates["people, leave one out"].estimate.value < 0.3
    curves = {c.group["rater"]: c for c in found.curves}
    assert set(curves) == {"j1", "j2"}
    assert curves["j1"].coverage[-1] == curves["j2"].coverage[-1] == 1
    assert curves["j1"].risk[0] < curves["j1"].risk[-1]
    assert len(curves["j2"].risk) == 1


def test_it_needs_a_panel() -> None:
    assert list(contradictions(replace(ASKED, against=None))) == ["against: risk is disagreement with a panel; name it"]
