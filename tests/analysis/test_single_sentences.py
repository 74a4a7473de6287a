"""Sentences rated together or one at a time: the same numbers, but for the times."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, Results
from konsil.analysis.model.spec import Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale, fields
from konsil.plan import Allocation, assign
from konsil.records import Answer, Attempt, Item, Rater, Rating, Span

GRADE = Scale(("no", "partly", "yes"), level="ordinal")
TOGETHER = Instrument(
    "fine",
    (
        Criterion("right", "Is the marked sentence right?", GRADE, "sentence"),
        Criterion("sure", "How sure are you?", GRADE, "task"),
    ),
    unit="sentence",
)
ALONE = replace(TOGETHER, present="sentence")
ITEMS = [Item(f"q{n:02}", "?") for n in range(12)]
ANSWERS = [
    Answer(f"{i.id}:{s}", i.id, s, sentences=tuple(Span(9 * k, 9 * k + 8) for k in range(n)))
    for i in ITEMS
    for s, n in (("one", 2), ("two", 4))
]
RATERS = [Rater(r, "experts") for r in "abc"] + [Rater("j", "judges", "llm")]
PLAN = (
    Allocation("experts", "fine", show="each", repeats=6),
    Allocation("judges", "fine", show="each"),
)
ANALYSES = (
    Analysis("kappa", "randolph_kappa", "right", "experts"),
    Analysis("kappa of answers", "randolph_kappa", "right", "experts", spans="all"),
    flat_analysis("share", "share", "right", of=("yes",), by=("system",)),
    Analysis("again", "self_agreement", "right", "experts"),
    Analysis("again, answers", "self_agreement", "right", "experts", spans="all"),
    Analysis("again, any", "self_agreement", "right", "experts", spans="any"),
    Analysis("sure", "mean", "sure", "experts"),
)


def data(form: Instrument, lost: frozenset[tuple[str, int]] = frozenset()) -> Data:
    """What raters say does not depend on how sentences are presented; ten seconds a screen."""
    tasks = assign(PLAN, items=ITEMS, answers=ANSWERS, raters=RATERS, instruments=(form,), seed=4)
    ratings, attempts = [], []
    for task in tasks:
        for field in fields(form, task):
            span = task.spans[field.span] if field.span is not None else None
            answers = tuple(task.answers[a] for a in field.answers)
            name = (task.rater, task.purpose, task.answers, span, field.criterion.id)
            label = random.Random(repr(name)).choices(GRADE.labels, (1, 2, 5))[0]
            if (task.answers[0], span.start if span else -1) in lost and task.rater == "j":
                attempts.append(Attempt(f"a{len(attempts)}", task.id, "j", "not json"))
                continue
            ratings.append(
                Rating(
                    task.id,
                    task.rater,
                    field.criterion.id,
                    task.item,
                    answers,
                    span,
                    label=label,
                    seconds=10.0,
                )
            )
    return Data(ITEMS, ANSWERS, RATERS, list(tasks), ratings, attempts)


def results(form: Instrument, *analyses: Analysis, **more: frozenset[tuple[str, int]]) -> Results:
    settings = RunSettings(
        instruments=(form,),
        seed=1,
        resampling=Resampling(draws=60),
        exclusions=Exclusions(),
        planned=True,
    )
    return run(analyses, data(form, **more), settings)


def test_statistics_do_not_depend_on_the_presentation() -> None:
    whole, alone = (results(form, *ANALYSES) for form in (TOGETHER, ALONE))
    # As texts, since a p value that is not there equals none.
    assert list(map(repr, whole.rows)) == list(map(repr, alone.rows))
    assert {r.analysis for r in whole.rows} == {a.name for a in ANALYSES}
    assert whole.coverage == alone.coverage
    assert {c.missing for c in alone.coverage} == {0}


def test_repeated_answers_are_compared_by_hand() -> None:
    found = data(ALONE)
    repeats = {t.id for t in found.tasks if t.purpose == "repeat"}
    worst: dict[tuple[str, str], dict[bool, int]] = {}
    for rating in found.ratings:
        if rating.criterion == "right" and rating.rater != "j":
            looks = worst.setdefault((rating.rater, rating.answers[0]), {})
            place, is_repeat = GRADE.labels.index(rating.label or ""), rating.task in repeats
            looks[is_repeat] = min(place, looks.get(is_repeat, 9))
    twice = [looks for looks in worst.values() if len(looks) == 2]
    assert len(twice) == 3 * 6 * 2
    (row,) = [r for r in results(ALONE, ANALYSES[4]).rows if r.kind == "estimate"]
    assert row.estimate.value == pytest.approx(sum(x[True] == x[False] for x in twice) / len(twice))


def test_times_are_summed_over_the_sentences_of_an_answer() -> None:
    seconds = flat_analysis("time", "seconds", "right", by=("system",))
    for form, means in ((TOGETHER, (10, 10)), (ALONE, (20, 40))):
        rows = [r for r in results(form, seconds).rows if r.kind == "estimate"]
        assert [r.estimate.value for r in rows] == pytest.approx(means)


def test_what_a_judge_left_out_is_missing_for_its_sentence_alone() -> None:
    lost = frozenset({("q03:two", 9), ("q05:one", -1)})
    found = {c.criterion: c for c in results(ALONE, lost=lost).coverage if c.panel == "judges"}
    rows = [c for c in results(ALONE, lost=lost).coverage if c.panel == "judges"]
    assert {c.criterion for c in rows} == set(found) == {"right", "sure"}
    assert sum(c.unreadable for c in rows) == 2
    assert sum(c.missing or 0 for c in rows) == 0
    expected = dict.fromkeys(found, 0)
    for row in rows:
        expected[row.criterion] += row.expected or 0
    assert expected == {"right": 12 * 6, "sure": 12 * 2}
