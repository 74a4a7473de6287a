"""Whole answers against sentences: two designs and two groups of raters as one analysis, surveys by design."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from konsil.analysis import Analysis, Exclusions, Resampling, Results, Row
from konsil.analysis.frame import Data
from konsil.analysis.run import run
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Span, Task

POINTS = ("Disagree", "Partially disagree", "Neutral", "Partially agree", "Agree")
AGREES = Scale(POINTS, level="ordinal")
SEVEN = Scale(kind="number", low=1, high=7)
COARSE = Instrument("coarse", (Criterion("correctness", "?", AGREES), Criterion("confidence", "?", AGREES)))
FINE = Instrument(
    "fine",
    (Criterion("correctness", "?", AGREES, scope="sentence"), Criterion("confidence", "?", AGREES)),
    unit="sentence",
)
EASE = Instrument("after-batch", (Criterion("ease", "?", AGREES, scope="batch"),))
LOAD = Instrument("workload", (Criterion("effort", "?", SEVEN, scope="phase"),))
FORMS = (COARSE, FINE, EASE, LOAD)
THREE = {"Partially disagree": "Disagree", "Partially agree": "Agree"}
WRONG = {"Disagree": "no", "Partially disagree": "no", "Neutral": "yes", "Partially agree": "yes", "Agree": "yes"}
GROUPS = {"group-1": ("a", "b", "c"), "group-2": ("d", "e", "f")}
TOGETHER = {"experts": ("group-1", "group-2")}
SYSTEMS = ("physician", "model")


def world(seed: int = 2, n_items: int = 20, noise: float = 0.25) -> Data:
    """Two groups of three rate the answers of their own questions coarse and fine; surveys after every batch."""
    chance = random.Random(seed)
    items = [Item(f"q{n:02}", "?") for n in range(n_items)]
    answers = [
        Answer(f"{i.id}:{s}", i.id, s, "word " * chance.randint(20, 120), sentences=tuple(
            Span(9 * k, 9 * k + 8) for k in range(chance.randint(3, 6))
        ))
        for i in items for s in SYSTEMS
    ]  # fmt: skip
    raters = [Rater(r, panel) for panel, names in GROUPS.items() for r in names]
    tasks: list[Task] = []
    ratings: list[Rating] = []

    def label(true: int) -> str:
        return POINTS[min(4, max(0, true + (chance.choice((-2, -1, 1, 2)) if chance.random() < noise else 0)))]

    def rate(task: Task, criterion: str, word: str, seconds: float | None = None, span: Span | None = None) -> None:
        about = task.answers if task.item else ()
        ratings.append(
            Rating(task.id, task.rater, criterion, task.item, about, span, label=word, seconds=seconds)
        )  # fmt: skip

    for n, item in enumerate(items):
        for answer in (a for a in answers if a.item == item.id):
            whole = chance.randint(1, 4)
            each = {s: min(4, max(0, whole + chance.choice((-1, 0, 0, 1)))) for s in answer.sentences}
            for rater in GROUPS["group-1" if n < n_items // 2 else "group-2"]:
                for design in ("coarse", "fine"):
                    spans = answer.sentences if design == "fine" else ()
                    name = f"{design}/{rater}/{answer.id}"
                    task = Task(
                        name, name, rater, design, item.id, (answer.id,), spans, phase=f"{design}-1",
                        batch=f"{design}-{n % 2}",
                    )  # fmt: skip
                    tasks.append(task)
                    seconds = chance.lognormvariate(5 if design == "coarse" else 5.6, 0.4)
                    for span in spans or (None,):
                        rate(task, "correctness", label(whole if span is None else each[span]), seconds, span)
                    rate(task, "confidence", label(3), seconds)
    for rater in raters:
        for design in ("coarse", "fine"):
            for batch in range(2):
                name = f"ease/{rater.id}/{design}/{batch}"
                ease = Task(name, name, rater.id, "after-batch", None, phase=f"{design}-1", batch=f"{design}-{batch}")
                tasks.append(ease)
                rate(ease, "ease", POINTS[chance.randint(1, 4) if design == "coarse" else chance.randint(0, 2)])
            name = f"load/{rater.id}/{design}"
            load = Task(name, name, rater.id, "workload", None, phase=f"{design}-1")
            tasks.append(load)
            rate(load, "effort", str(chance.randint(1, 4) + (2 if design == "fine" else 0)))
    return Data(items, answers, raters, tasks, ratings)


DATA = world()


def results(*analyses: Analysis, data: Data = DATA, draws: int = 200) -> Results:
    return run(
        analyses, data, instruments=FORMS, seed=5, resampling=Resampling(draws), exclusions=Exclusions(),
        together=TOGETHER,
    )  # fmt: skip


def rows(analysis: Analysis, data: Data = DATA, kind: str = "estimate") -> list[Row]:
    return [r for r in results(analysis, data=data).rows if r.kind == kind]


def by_design(analysis: Analysis, data: Data = DATA) -> dict[str, float]:
    column = analysis.by[0]
    return {r.group[column]: r.estimate.value for r in rows(analysis, data)}


def labels(data: Data, design: str, criterion: str = "correctness") -> dict[tuple[str, Span | None], dict[str, str]]:
    """(answer, span) -> rater -> label, by loops over the ratings."""
    found: dict[tuple[str, Span | None], dict[str, str]] = {}
    for r in data.ratings:
        if r.criterion == criterion and r.task.startswith(f"{design}/"):
            found.setdefault((r.answers[0], r.span), {})[r.rater] = str(r.label)
    return found


def randolph(units: Sequence[dict[str, str]], k: int) -> float:
    pairs = [np.mean([a == b for a, b in itertools.combinations(u.values(), 2)]) for u in units]
    return float((np.mean(pairs) - 1 / k) / (1 - 1 / k))


AGREEMENT = Analysis(
    "three points", "randolph_kappa", "correctness", "experts", by=("instrument",), compare="instrument",
    collapse=THREE, labels=("Disagree", "Neutral", "Agree"),
)  # fmt: skip


def test_agreement_by_design_over_both_groups_is_that_of_loops():
    found = by_design(AGREEMENT)
    for design in ("coarse", "fine"):
        units = [{r: THREE.get(x, x) for r, x in u.items()} for u in labels(DATA, design).values()]
        assert found[design] == pytest.approx(randolph(units, 3))


def test_the_difference_of_designs_is_paired_on_the_items_though_their_units_differ():
    (difference,) = rows(AGREEMENT, kind="difference")
    found = by_design(AGREEMENT)
    assert difference.estimate.value == pytest.approx(found["coarse"] - found["fine"])
    assert difference.estimate.n_clusters == 20
    assert difference.estimate.low < difference.estimate.value < difference.estimate.high
    # The same ratings under both designs differ by nothing, in no resample.
    same = replace(
        DATA,
        ratings=[r for r in DATA.ratings if r.task.startswith("coarse/")]
        + [replace(r, task="fine" + r.task[6:]) for r in DATA.ratings if r.task.startswith("coarse/")],
    )
    (nothing,) = rows(AGREEMENT, same, "difference")
    assert (nothing.estimate.value, nothing.estimate.low, nothing.estimate.high) == (0, 0, 0)


def test_an_answer_is_wrong_if_any_sentence_is_and_the_same_rule_holds_for_whole_answers():
    binary = replace(AGREEMENT, name="binary", collapse=WRONG, labels=("no", "yes"), spans="all")
    found = by_design(binary)
    for design in ("coarse", "fine"):
        answers: dict[str, dict[str, str]] = {}
        for (answer, _), given in labels(DATA, design).items():
            for rater, label in given.items():
                own = answers.setdefault(answer, {})
                own[rater] = "no" if WRONG[label] == "no" or own.get(rater) == "no" else "yes"
        assert found[design] == pytest.approx(randolph(list(answers.values()), 2))


def test_a_panel_of_panels_is_the_sum_of_its_panels():
    share = Analysis("s", "share", "correctness", "experts", of=("Agree",), where={"instrument": ("coarse",)})
    parts = [rows(replace(share, raters=name))[0].estimate for name in GROUPS]
    whole = rows(share)[0].estimate
    assert whole.n_ratings == sum(p.n_ratings for p in parts)
    assert whole.value == pytest.approx(sum(p.value * p.n_ratings for p in parts) / whole.n_ratings)


@pytest.mark.parametrize(("criterion", "n"), [("ease", 24), ("effort", 12)])
def test_surveys_are_compared_by_design_rater_by_rater(criterion: str, n: int):
    survey = Analysis(criterion, "mean", criterion, "experts", by=("design",), compare="design", test="flip")
    numbers = {label: float(k) for k, label in enumerate(POINTS)}
    of: dict[tuple[str, str], list[float]] = {}
    for r in DATA.ratings:
        if r.criterion == criterion:
            design = next(d for d in ("coarse", "fine") if f"/{d}" in r.task)
            of.setdefault((design, r.rater), []).append(
                numbers[str(r.label)] if criterion == "ease" else float(r.label or "nan")
            )
    found = by_design(survey)
    for design in ("coarse", "fine"):
        mine = [x for (d, _), xs in of.items() if d == design for x in xs]
        assert found[design] == pytest.approx(np.mean(mine))
        assert len(mine) == n // 2
    (difference,) = rows(survey, kind="difference")
    assert difference.estimate.n_clusters == 6
    # All 64 ways of exchanging the designs within raters.
    d = [np.mean(of["coarse", r]) - np.mean(of["fine", r]) for r in "abcdef"]
    signs = np.array(list(itertools.product((1, -1), repeat=6)))
    exact = np.mean(np.abs(signs @ d) >= abs(sum(d)) - 1e-9)
    assert difference.estimate.p == pytest.approx(exact)
