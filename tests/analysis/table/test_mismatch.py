"""Failed answers: what their reasoning names, how well they read, and the detector's own
accuracy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analyses import flat_analysis, restated
from tests.clexeval_tables import HITS, LEVELS, RIGHT, answer, pair_of, published, rated, results

from konsil.analysis import Analysis, Results, contradictions
from konsil.analysis.model.terms import ALL_SYSTEMS
from konsil.analysis.table.frame import Data
from konsil.records import Rater

ROM = Analysis("a", "mismatch", "diagnostic_precision", "experts", against="detector")


def values(found: Results, *columns: str) -> dict[tuple[str, ...], float]:
    return {
        tuple(r.group[c] for c in columns): r.estimate.value
        for r in found.rows
        if r.kind == "estimate"
    }


def test_the_papers_mismatch_overall_and_by_level() -> None:
    found = results(published(), ROM, replace(ROM, name="b", by=("level",)))
    whole = Results(tuple(r for r in found.rows if r.analysis == "a"), ())
    assert values(whole, "system") == pytest.approx(
        {("generalist",): 59 / 86, ("specialist",): 44 / 100}
    )
    by_level = values(
        Results(tuple(r for r in found.rows if r.analysis == "b"), ()), "system", "level"
    )
    assert by_level == pytest.approx(
        {
            (system, level): hits[n] / (40 - RIGHT[system][:, n].sum())
            for system, hits in HITS.items()
            for n, level in enumerate(LEVELS)
        }
    )
    narrative = next(
        r for r in found.rows if r.group == {"system": "generalist", "level": "narrative"}
    )
    assert narrative.estimate.value == 1  # two of two: no evidence of one
    assert narrative.estimate.low < 0.2
    assert narrative.estimate.method.startswith("Clopper-Pearson")
    assert "Out of 2 incorrect answers." in narrative.warnings


def test_both_systems_together_are_one_number() -> None:
    [row] = [
        r
        for r in results(published(), ROM).rows
        if r.kind == "companion" and r.group == {"system": ALL_SYSTEMS}
    ]
    assert row.estimate.value == pytest.approx((59 + 44) / 186)


def test_failures_of_one_case_are_one_cluster() -> None:
    [row] = [
        r
        for r in results(published(), ROM).rows
        if r.kind == "estimate" and r.group["system"] == "specialist"
    ]
    assert row.estimate.n_ratings == 100
    assert row.estimate.n_clusters < 40  # cases with a failure


def by_hand(data: Data, wrong: int) -> Data:
    """A person labels the generalist's narratives, and the program differs on some of them."""
    more = []
    for n in range(40):
        about = answer("generalist", n, 0)
        said = next(
            r.label
            for r in data.ratings
            if r.answers == (about,) and r.criterion == "reasoning_names"
        )
        label = said if n >= wrong else {"yes": "no", "no": "yes"}[str(said)]
        more.append(rated("h", "reasoning_names", about, label))
    return replace(
        data, raters=(*data.raters, Rater("h", "checkers")), ratings=(*data.ratings, *more)
    )


def test_the_detectors_accuracy_stands_beside() -> None:
    found = results(by_hand(published(), 6), ROM)
    rows = {
        r.group["version"]: r for r in found.rows if r.kind == "companion" and "version" in r.group
    }
    reasoning = rows["detector:reasoning_names"].estimate
    assert reasoning.value == pytest.approx(34 / 40)
    assert reasoning.n_clusters == 40
    answers = rows["detector:answer_names"].estimate
    assert answers.reason.startswith("no sample was labelled by hand")


def test_labels_that_are_missing_are_told() -> None:
    data = published()
    gone = {answer("specialist", n, 4) for n in range(20)}
    less = replace(
        data,
        ratings=tuple(r for r in data.ratings if r.rater != "words" or r.answers[0] not in gone),
    )
    found = results(less, ROM)
    [row] = [r for r in found.rows if r.kind == "estimate" and r.group["system"] == "specialist"]
    left_out = int(20 - RIGHT["specialist"][:20, 4].sum())
    assert row.estimate.n_ratings == 100 - left_out
    assert f"{left_out} incorrect answers have no such label and were excluded." in row.warnings


def test_hallucination_is_the_labels_share() -> None:
    asked = restated(
        ROM, statistic="hallucination", criteria=("reasoning_names",), against="detector"
    )
    assert values(results(published(), asked), "system") == pytest.approx(
        {("generalist",): 59 / 86, ("specialist",): 44 / 100}
    )


def test_the_illusion_gap_is_read_answer_by_answer() -> None:
    data = published()
    more = []
    for system in RIGHT:
        for n in range(40):
            for level in range(5):
                if (n, level) == (0, 0):
                    continue  # an answer without the second score says nothing
                about = answer(system, n, level)
                more += [rated(e, "communication", about, "1") for e in pair_of(n)]
    asked = flat_analysis(
        "a",
        "illusion_gap",
        "diagnostic_precision",
        "experts",
        criteria=("communication",),
        compare="system",
    )
    found = results(replace(data, ratings=(*data.ratings, *more)), asked)
    wrong = {s: 200 - r.sum() - (1 - r[0, 0]) for s, r in RIGHT.items()}
    assert values(found, "system") == pytest.approx(
        {(s,): 0.75 * n / 199 for s, n in wrong.items()}
    )
    [gap] = [r for r in found.rows if r.kind == "difference"]
    assert gap.estimate.value == pytest.approx(
        0.75 * (wrong["generalist"] - wrong["specialist"]) / 199
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"against": None}, "against: a mismatch needs the panel"),
        ({"against": "experts"}, "against: 'experts' is the panel itself"),
        ({"criteria": ("reasoning_names",)}, "criteria: expected 2"),
        ({"statistic": "hallucination"}, "criteria: expected 1"),
        ({"statistic": "illusion_gap", "against": None}, "criteria: expected 1"),
        ({"levels": LEVELS}, "levels: belongs to statistics such as"),
        (
            {"failure": 0.8},
            "failure: belongs to the statistics 'approval' and 'strictness', not to 'mismatch'",
        ),
    ],
)
def test_settings_that_do_not_fit(change: dict[str, object], told: str) -> None:
    assert [p for p in contradictions(restated(ROM, **change)) if p.startswith(told)]  # type: ignore[arg-type]
