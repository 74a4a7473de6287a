"""What the methods paragraph says of cases, and which p values share the family's adjustment."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.analyses import flat_analysis, restated
from tests.clexeval_tables import LEVELS, published, results

from konsil.analysis import Analysis
from konsil.analysis.agreement.consensus_methods import consensus_methods
from konsil.analysis.cases.case_methods import case_methods

ISS = flat_analysis(
    "a", "information_sensitivity", "diagnostic_precision", "experts", levels=LEVELS
)


def test_thresholds_are_told_once_or_with_their_analyses() -> None:
    one = "An answer was counted as correct if the panel's mean score was 0.75 or more."
    assert case_methods([ISS, replace(ISS, name="b")]) == [one]
    assert case_methods([ISS, restated(ISS, name="b", correct=0.5)]) == [
        "In b, an answer was counted as correct if the panel's mean score was 0.5 or more.",
        "In a, an answer was counted as correct if the panel's mean score was 0.75 or more.",
    ]
    assert case_methods([replace(ISS, statistic="reasoning_gap")]) == []
    assert case_methods([Analysis("m", "mean", "x", "experts")]) == []


def test_the_paragraph_has_them_and_names_cases_as_clusters() -> None:
    told = " ".join(
        results(published(), ISS, replace(ISS, name="c", statistic="crossover")).methods
    )
    assert "An answer was counted as correct if" in told
    assert "A rank reversal is reported only if" in told
    assert "resamples of clusters (case; " in told


def test_an_audit_of_judges_is_no_agreement_with_a_majority() -> None:
    approved = Analysis("a", "approval", "diagnostic_precision", "experts", against="judges")
    methods = " ".join(results(published(), replace(ISS, name="i")).methods)
    assert "majorit" not in methods
    methods = " ".join(
        consensus_methods([approved, replace(approved, statistic="strictness", mode="paper")])
    )
    assert methods == ""
    kappa = Analysis("k", "cohen_kappa", "correct", "judges", against="experts")
    assert "held-out rater" in consensus_methods([kappa])[-1]
    assert "majority of the whole panel" in consensus_methods([replace(kappa, mode="paper")])[-1]
    shared = flat_analysis("s", "share", "correct", "experts", of=("yes",), consensus="majority")
    assert (
        consensus_methods([shared])[0].startswith("A majority is more than half")
        and len(consensus_methods([shared])) == 1
    )


def test_tukey_is_adjusted_by_itself() -> None:
    tukey = restated(ISS, name="t", statistic="tukey", levels=("narrative", "3"))
    rows = results(published(), replace(ISS, compare="system"), tukey).rows
    of = {
        name: [r for r in rows if r.kind == "difference" and r.analysis == name]
        for name in ("a", "t")
    }
    assert all(math.isnan(r.p_adjusted) and math.isfinite(r.estimate.p) for r in of["t"])
    assert [r.p_adjusted for r in of["a"]] == [r.estimate.p for r in of["a"]]
