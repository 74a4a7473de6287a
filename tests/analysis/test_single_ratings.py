"""Beside a difference of majorities stand the single ratings behind them, for raters like these."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.analyses import flat_analysis, restated

from konsil.analysis import Analysis, Exclusions, Inference, Resampling, Row
from konsil.analysis.estimation.targets import BY_SINGLE_RATINGS, ONLY_THESE
from konsil.analysis.model.interval_methods import leads
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.report.material.translate import message_of
from konsil.stats.inference.multiplicity import holm

FORM = Instrument("f", (Criterion("correct", "?", Scale(("no", "yes"), values=(0.0, 1.0))),))
SYSTEMS = ("a", "b", "c")
LIKE_THESE = Inference("like these")
SHARE = flat_analysis(
    "m",
    "share",
    "correct",
    "p",
    of=("yes",),
    consensus="majority",
    tiebreak="t",
    by=("system",),
    compare="system",
)


def ratings(n_items: int = 60, raters: int = 6) -> Data:
    """Two raters an item, whose ties one further person breaks, always with a yes."""
    generator = np.random.default_rng(3)
    items = [Item(f"q{n:02}", "?") for n in range(n_items)]
    answers = [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in SYSTEMS]
    people = [Rater(f"r{n}", "p") for n in range(raters)] + [Rater("chair", "t")]
    tasks, records = [], []

    def rate(rater: str, answer: Answer, label: str, purpose: str) -> None:
        task = f"{rater}/{answer.id}"
        tasks.append(Task(task, task, rater, "f", answer.item, (answer.id,), purpose=purpose))  # type: ignore[arg-type]
        records.append(Rating(task, rater, "correct", answer.item, (answer.id,), label=label))

    for n, answer in enumerate(answers):
        first = n // 3 % raters
        pair = (first, (first + 1 + n // (3 * raters) % (raters - 1)) % raters)
        labels = ["yes" if generator.random() < 0.85 - 0.25 * (n % 3) else "no" for _ in pair]
        for rater, label in zip(pair, labels, strict=True):
            rate(f"r{rater}", answer, label, "main")
        if len(set(labels)) > 1:
            rate("chair", answer, "yes", "tiebreak")
    return Data(items, answers, people, tasks, records)


def rows(data: Data, asked: Analysis = SHARE, inference: Inference = LIKE_THESE) -> list[Row]:
    settings = RunSettings(
        instruments=(FORM,),
        seed=1,
        resampling=Resampling(100),
        exclusions=Exclusions(),
        inference=inference,
    )
    return list(run([asked], data, settings).rows)


def single(of: list[Row]) -> list[Row]:
    return [r for r in of if leads(r.estimate.method, "single_ratings")]


def mean_of_units(data: Data, system: str) -> float:
    """The mean over a system's answers of the share of yes in the panel's own ratings."""
    labels: dict[str, list[bool]] = {}
    for r in data.ratings:
        if r.rater != "chair" and r.answers[0].endswith(system):
            labels.setdefault(r.answers[0], []).append(r.label == "yes")
    return float(np.mean([np.mean(each) for each in labels.values()]))


@pytest.mark.parametrize("statistic", ["share", "mean"])
def test_the_single_ratings_count_ties_half_and_leave_out_who_breaks_them(statistic: str) -> None:
    data = ratings()
    asked = SHARE if statistic == "share" else restated(SHARE, statistic="mean", of=())
    every = rows(data, asked)
    beside = single(every)
    assert len(beside) == 3
    for row in beside:
        expected = mean_of_units(data, row.group["system"]) - mean_of_units(
            data, row.versus["system"]
        )
        assert row.estimate.value == pytest.approx(expected)
        assert (row.kind, row.estimate.raters, row.n_raters) == ("companion", "like these", 6)
        assert row.estimate.low < row.estimate.value < row.estimate.high
    differences = [r for r in every if r.kind == "difference"]
    assert all(r.estimate.raters == "these" for r in differences)
    assert all(BY_SINGLE_RATINGS in map(message_of, r.warnings) for r in differences)
    # Whoever breaks ties moves the majorities: that is what the single ratings leave out.
    assert [round(r.estimate.value, 6) for r in beside] != [
        round(r.estimate.value, 6) for r in differences
    ]


def test_their_p_values_are_adjusted_within_the_same_family() -> None:
    beside = single(rows(ratings()))
    adjusted = holm([r.estimate.p for r in beside])
    assert [r.p_adjusted for r in beside] == pytest.approx(adjusted)
    exploratory = single(rows(ratings(), restated(SHARE, prespecified=False)))
    assert len(exploratory) == 3 and all(math.isnan(r.p_adjusted) for r in exploratory)


@pytest.mark.parametrize(
    ("change", "inference", "raters"),
    [({}, Inference("these"), 6), ({}, LIKE_THESE, 2), ({"mode": "paper"}, LIKE_THESE, 6)],
)
def test_there_are_none_for_these_raters_for_two_and_as_published(
    change: dict[str, str], inference: Inference, raters: int
) -> None:
    every = rows(ratings(raters=raters), restated(SHARE, **change), inference)  # type: ignore[arg-type]
    assert not single(every)
    notes = {message_of(w) for r in every if r.kind == "difference" for w in r.warnings}
    assert (ONLY_THESE in notes) == (raters == 2)


def test_the_majorities_have_the_numbers_that_they_have_for_these_raters() -> None:
    like, these = (
        [r.estimate for r in rows(ratings(), inference=i) if r.kind != "companion"]
        for i in (LIKE_THESE, Inference("these"))
    )
    numbers = [[(e.value, e.low, e.high, e.p) for e in each] for each in (like, these)]
    np.testing.assert_array_equal(*numbers)
