"""The audit of judges: approval of failures, its bounds, and strictness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.analyses import flat_analysis, restated
from tests.clexeval_tables import CRITERIA, LEVELS, RUBRIC, answers, items, rated, results

from konsil.analysis import Results, contradictions
from konsil.analysis.table.frame import Data
from konsil.records import Rater, Task

JUDGES = {
    "specialist": (138, 138),
    "llama": (126, 142),
    "distilled": (80, 141),
    "generalist": (68, 142),
}
"""Judge -> failures approved and failures judged, of 142."""
HAR = flat_analysis(
    "a",
    "approval",
    "diagnostic_precision",
    "judges",
    against="experts",
    criteria=CRITERIA[1:],
    levels=(),
    failure_by="mean",
)


def audit() -> Data:
    """142 of 2,800 (answer, criterion) are failures; each judge approves of as many of them as the
    paper counts."""
    rng = np.random.default_rng(4)
    its = items()
    its_answers = answers(its)
    units = [(a.id, c) for a in its_answers for c in CRITERIA]
    failed = set(rng.choice(len(units), 142, replace=False).tolist())
    raters = (
        Rater("e1", "experts"),
        Rater("e2", "experts"),
        *(Rater(j, "judges", "llm", j) for j in JUDGES),
    )
    ratings = []
    seen = dict.fromkeys(JUDGES, 0)
    for n, (about, criterion) in enumerate(units):
        for expert, label in (
            (("e1", "0.5"), ("e2", "0")) if n in failed else (("e1", "1"), ("e2", "0.75"))
        ):
            ratings.append(rated(expert, criterion, about, label))
        for judge, (approved, readable) in JUDGES.items():
            if n in failed:
                seen[judge] += 1
                if seen[judge] > readable:
                    continue
                ratings.append(
                    rated(judge, criterion, about, "0.5" if seen[judge] <= approved else "0.25")
                )
            else:
                ratings.append(
                    rated(judge, criterion, about, "1" if judge == "llama" or n % 3 else "0.25")
                )
    tasks = tuple(
        Task(f"{j}-{a.id}", f"{j}-{a.id}", j, RUBRIC.id, a.item, (a.id,))
        for j in JUDGES
        for a in its_answers
    )
    return Data(its, its_answers, raters, tasks, tuple(ratings))


DATA = audit()


def rows(found: Results, name: str = "a") -> dict[str, object]:
    return {r.group["rater"]: r for r in found.rows if r.kind == "estimate" and r.analysis == name}


def test_the_papers_counts() -> None:
    found = results(DATA, HAR)
    estimates = {r.group["rater"]: r for r in found.rows if r.kind == "estimate"}
    for judge, (approved, judged) in JUDGES.items():
        row = estimates[judge]
        assert row.estimate.value == pytest.approx(approved / judged)
        assert row.estimate.n_ratings == judged
        assert row.estimate.n_clusters <= 40  # cases, and not 142 failures
        assert "Out of 142 failures." in row.warnings
    assert estimates["specialist"].estimate.method.startswith("Clopper-Pearson")
    assert estimates["specialist"].estimate.low < 0.95
    assert "4 of 142 failures have no valid judge rating." in estimates["specialist"].warnings


def test_missing_judgements_have_a_worst_and_a_best_case() -> None:
    bounds = {b.group["rater"]: b for b in results(DATA, HAR).bounds}
    assert set(bounds) == {"specialist", "distilled"}
    assert (bounds["specialist"].low, bounds["specialist"].high) == pytest.approx((138 / 142, 1))
    assert (bounds["distilled"].low, bounds["distilled"].high) == pytest.approx(
        (80 / 142, 81 / 142)
    )
    assert bounds["specialist"].n_missing == 4


def test_by_criterion_and_by_level_the_failures_add_up() -> None:
    found = results(DATA, replace(HAR, by=("criterion",)), replace(HAR, name="b", by=("level",)))
    for name, column, values in (("a", "criterion", CRITERIA), ("b", "level", LEVELS)):
        mine = [
            r
            for r in found.rows
            if r.analysis == name and r.kind == "estimate" and r.group["rater"] == "llama"
        ]
        assert {r.group[column] for r in mine} == set(values)
        assert sum(r.estimate.n_ratings for r in mine) == 142
        assert sum(r.estimate.value * r.estimate.n_ratings for r in mine) == pytest.approx(126)


def test_judges_are_compared_on_the_same_failures() -> None:
    found = results(DATA, replace(HAR, compare="rater"))
    gaps = {
        (r.group["rater"], r.versus["rater"]): r.estimate
        for r in found.rows
        if r.kind == "difference"
    }
    assert len(gaps) == 6
    assert gaps["generalist", "llama"].value == pytest.approx(68 / 142 - 126 / 142)
    assert gaps["generalist", "llama"].high < 0


@pytest.mark.slow
def test_a_failure_is_one_of_every_expert_unless_their_mean_is_asked_for() -> None:
    """Each failure of the data has an expert who gives 0.5, which the audit itself takes for a
    pass; means are 0.25."""
    every = results(DATA, restated(HAR, failure_by="every"))
    assert all(np.isnan(r.estimate.value) for r in every.rows)
    assert any(
        "that every expert who rated them scores 0.25 or less; a judge" in m for m in every.methods
    )
    looser = results(DATA, restated(HAR, failure_by="every", failure=0.5))
    assert {
        r.group["rater"]: r.estimate.n_ratings for r in looser.rows if r.kind == "estimate"
    } == {judge: judged for judge, (_, judged) in JUDGES.items()}
    assert any(
        "with a mean expert score of 0.25 or less (single experts may" in m
        for m in results(DATA, HAR).methods
    )
    asked = restated(HAR, statistic="accuracy", against=None, criteria=())
    assert (
        "failure_by: belongs to the statistics 'approval' and 'strictness', not to 'accuracy'"
        in set(contradictions(asked))
    )


def test_the_failure_set_follows_its_threshold() -> None:
    none = results(DATA, restated(HAR, failure=0.2))
    assert [r.estimate.reason for r in none.rows] == ["no ratings selected"]
    lenient = results(DATA, restated(HAR, approve=0.25))
    assert {r.estimate.value for r in lenient.rows if r.kind == "estimate"} == {1.0}


def test_strictness_is_told_as_area_and_curve() -> None:
    found = results(DATA, replace(HAR, statistic="strictness"))
    area = {r.group["rater"]: r.estimate.value for r in found.rows if r.kind == "estimate"}
    curves = {t.group["rater"]: t for t in found.trade_offs}
    assert set(area) == set(curves) == set(JUDGES)
    for judge, curve in curves.items():
        assert curve.approved[0] == 1
        assert curve.rejected[0] == 0
        assert curve.approved[-1] == 0
        assert curve.rejected[-1] == 1
        at = curve.values.index(0.5)
        approved, judged = JUDGES[judge]
        assert curve.approved[at] == pytest.approx(approved / judged)
        assert np.trapezoid(curve.approved, curve.rejected) == pytest.approx(1 - area[judge])
    assert area["llama"] == 1  # lenient, and yet it puts every success above every failure
    assert area["specialist"] < 0.7


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"against": None}, "against: 'approval' compares judges with a panel of experts"),
        ({"against": "rest"}, "against: 'approval' compares judges with a panel of experts"),
        ({"cluster": "rater"}, "cluster: 'approval' resamples cases"),
        ({"criteria": ("diagnostic_precision",)}, "criteria: a criterion is named twice"),
        ({"compare": "system"}, "compare: 'system' is not one of"),
    ],
)
def test_settings_that_do_not_fit(change: dict[str, object], told: str) -> None:
    assert [p for p in contradictions(restated(HAR, **change)) if p.startswith(told)]  # type: ignore[arg-type]
