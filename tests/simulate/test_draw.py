"""Drawn ratings: seeded, stable, and with the signs that their parameters promise."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
from simulated_studies import FORM, answers_of, items_of, study_of

from konsil.instrument import Criterion, Instrument, Scale, digest, read_label
from konsil.plan import Allocation
from konsil.records import Rater
from konsil.simulate import CriterionTruth, PanelTruth, SystemTruth, Truth, draw

GOOD = Truth(
    systems={"a": SystemTruth(0.8), "b": SystemTruth(0.6)},
    panels={
        "physicians": PanelTruth(accuracy=0.9, severity=0.2, abstention=0.1, abstention_slope=1.0)
    },
)


def drawn(truth=GOOD, n=400, seed=1, study=None):
    items = items_of(n)
    return draw(study or study_of(), items, answers_of(items), truth, seed)


def share(simulated, label="Correct", panel="p", answers=None, criterion="correctness"):
    labels = [
        r.label
        for r in simulated.ratings
        if r.criterion == criterion
        and r.rater.startswith(panel)
        and r.state == "rated"
        and (answers is None or answers(r.answers[0]))
    ]
    return labels.count(label) / len(labels)


def test_the_same_seed_gives_the_same_and_another_another():
    assert drawn(n=20) == drawn(n=20)
    assert drawn(n=20).ratings != drawn(n=20, seed=2).ratings
    assert drawn(n=20).tasks == drawn(n=20, seed=2).tasks  # the plan follows the study's seed


def test_the_order_of_records_does_not_matter():
    items = items_of(12)
    answers = answers_of(items)
    assert draw(study_of(), items[::-1], answers[::-1], GOOD, 1) == draw(
        study_of(), items, answers, GOOD, 1
    )


def by_subject(simulated):
    return {(r.task, r.criterion, r.answers, r.span): r for r in simulated.ratings}


def test_another_allocation_criterion_or_rater_changes_no_rating():
    items = items_of(30)
    answers = answers_of(items)
    base = by_subject(draw(study_of(), items, answers, GOOD, 1))
    more = Allocation("judges", "form", phase="second look")
    longer = study_of(plan=(Allocation("physicians", "form"), more, Allocation("judges", "form")))
    assert base.items() <= by_subject(draw(longer, items, answers, GOOD, 1)).items()
    bigger = draw(study_of(physicians=6), items, answers, GOOD, 1)
    assert base.items() <= by_subject(bigger).items()
    extra = Instrument(
        "form", (*FORM.criteria, Criterion("sure", "Sure?", Scale(("no", "yes")), scope="task"))
    )
    labels = {k: (r.state, r.label) for k, r in base.items()}
    wider = by_subject(draw(study_of(instruments=(extra,)), items, answers, GOOD, 1))
    assert labels.items() <= {k: (r.state, r.label) for k, r in wider.items()}.items()


def test_every_task_has_a_rating_for_each_criterion_and_answer():
    simulated = drawn(n=10)
    counts = Counter(r.task for r in simulated.ratings)
    assert set(counts) == {t.id for t in simulated.tasks} and set(counts.values()) == {3}
    assert {r.instrument for r in simulated.ratings} == {digest(FORM)}
    seconds = {}
    for r in simulated.ratings:
        seconds.setdefault(r.task, set()).add(r.seconds)
    assert all(len(s) == 1 and min(s) > 0 for s in seconds.values())


@pytest.mark.slow
def test_quality_and_accuracy_are_what_they_say():
    truth = Truth(
        systems={"a": SystemTruth(0.8), "b": SystemTruth(0.6)},
        panels={"physicians": PanelTruth(0.9)},
    )
    simulated = drawn(
        truth, n=4000, study=study_of(judges=0, plan=(Allocation("physicians", "form"),))
    )
    right = simulated.truth_values.right
    for system, quality in (("a", 0.8), ("b", 0.6)):
        assert abs(np.mean([v for k, v in right.items() if k.endswith(system)]) - quality) < 0.025
    assert abs(share(simulated, answers=lambda a: right[a]) - 0.9) < 0.01
    assert abs(share(simulated, "Incorrect", answers=lambda a: not right[a]) - 0.9) < 0.015
    assert abs(np.mean(list(simulated.truth_values.difficulty.values()))) < 0.06


@pytest.mark.slow
def test_abstention_rises_with_difficulty():
    simulated = drawn(n=1500)
    difficulty = simulated.truth_values.difficulty
    told = [
        r for r in simulated.ratings if r.criterion == "correctness" and r.rater.startswith("p")
    ]
    hard, easy = (
        np.mean([r.state == "abstained" for r in told if wanted(difficulty[r.item])])
        for wanted in (lambda d: d > 0.5, lambda d: d < -0.5)
    )
    assert hard > easy + 0.08
    assert not any(r.state == "abstained" for r in simulated.ratings if r.rater.startswith("j"))
    assert not any(r.state == "abstained" for r in simulated.ratings if r.criterion == "difficulty")


@pytest.mark.slow
def test_leniency_raises_approvals_and_self_preference_one_family():
    plain, lenient = (
        drawn(Truth(panels={"judges": PanelTruth(0.85, leniency=x)}), n=800) for x in (0.0, 0.6)
    )
    assert share(lenient, panel="j") > share(plain, panel="j") + 0.05
    own = drawn(Truth(panels={"judges": PanelTruth(0.85, self_preference=0.8)}), n=800)
    assert share(own, panel="j0", answers=lambda a: a.endswith("a")) > share(
        plain, panel="j0", answers=lambda a: a.endswith("a")
    )
    assert share(own, panel="j0", answers=lambda a: a.endswith("b")) == share(
        plain, panel="j0", answers=lambda a: a.endswith("b")
    )


@pytest.mark.slow
def test_severity_spreads_the_raters():
    def spread(severity):
        one = drawn(
            Truth(panels={"physicians": PanelTruth(0.85, severity=severity)}),
            study=study_of(physicians=12),
        )
        return np.std([share(one, panel=f"p{k}") for k in range(12)])

    assert spread(0.6) > 2 * spread(0.0)


def test_difficulty_is_perceived():
    simulated = drawn(n=600)
    difficulty = simulated.truth_values.difficulty
    codes = {"Easy": 0, "Medium": 1, "Hard": 2}
    told = [
        (difficulty[r.item], codes[r.label])
        for r in simulated.ratings
        if r.criterion == "difficulty"
    ]
    assert 0.6 < np.corrcoef(np.array(told).T)[0, 1] < 0.9


def test_named_wrong_answers_are_rated_wrong():
    items = items_of(60)
    wrong = tuple(f"i{k}:a" for k in range(15))
    truth = Truth(panels={"physicians": PanelTruth(0.95)}, wrong_answers=wrong)
    simulated = draw(study_of(), items, answers_of(items), truth, 1)
    assert {a for a, ok in simulated.truth_values.right.items() if not ok} == set(wrong)
    assert share(simulated, "Incorrect", answers=lambda a: a in wrong) > 0.85
    hard = simulated.truth_values.difficulty
    assert np.mean([hard[f"i{k}"] for k in range(15)]) > np.mean(
        [hard[f"i{k}"] for k in range(15, 60)]
    )


def test_the_best_label_may_stand_first():
    turned = Instrument("form", (Criterion("correctness", "?", Scale(("Correct", "Incorrect"))),))
    truth = Truth(systems={"a": SystemTruth(0.9), "b": SystemTruth(0.9)})
    told = Truth(systems=truth.systems, criteria={"correctness": CriterionTruth(best="Correct")})
    assert share(drawn(told, study=study_of(instruments=(turned,)))) > 0.7
    assert share(drawn(truth, study=study_of(instruments=(turned,)))) < 0.3


RICH = Instrument(
    "rich",
    (
        Criterion("quality", "How good?", Scale(("1", "2", "3", "4", "5"), level="ordinal")),
        Criterion(
            "probability", "How likely?", Scale(kind="number", level="interval", low=0, high=100)
        ),
        Criterion("remark", "Remarks?", Scale(kind="text")),
        Criterion(
            "sure",
            "How sure?",
            Scale(("not", "quite", "very"), level="ordinal", abstain="no idea"),
            "task",
        ),
    ),
)
PAIR = Instrument(
    "pair",
    (
        Criterion(
            "better",
            "Which?",
            Scale(("A much", "A", "equal", "B", "B much"), level="ordinal"),
            "pair",
        ),
    ),
    unit="pair",
)
FINE = Instrument(
    "fine", (Criterion("right", "Right?", Scale(("no", "yes")), "sentence"),), unit="sentence"
)
EASE = Instrument("ease", (Criterion("ease", "Easy?", Scale(("no", "yes")), "batch"),))
PLAN = (
    Allocation("physicians", "rich", show="each", batches=10, repeats=2),
    Allocation("physicians", "pair", show="pair", phase="pairs"),
    Allocation("physicians", "fine", show="each", spans=3, phase="fine"),
    Allocation("physicians", "ease"),
)


@pytest.fixture(scope="module")
def rich():
    items = items_of(200)
    study = study_of(instruments=(RICH, PAIR, FINE, EASE), plan=PLAN, judges=0)
    truth = Truth(systems={"a": SystemTruth(0.9, strength=0.5), "b": SystemTruth(0.4)})
    return draw(study, items, answers_of(items, sentences=6), truth, 3)


def test_every_kind_of_criterion_gets_labels_of_its_scale(rich):
    criteria = {c.id: c for i in (RICH, PAIR, FINE, EASE) for c in i.criteria}
    seen = {}
    for r in rich.ratings:
        if r.state == "rated":
            assert read_label(criteria[r.criterion], r.label) == ("rated", r.label)
            seen.setdefault(r.criterion, set()).add(r.label)
    assert {k: len(v) for k, v in seen.items() if k != "probability"} == {
        "quality": 5,
        "sure": 3,
        "better": 5,
        "right": 2,
        "ease": 2,
    }
    assert len(seen["probability"]) > 50
    assert all(r.span is not None for r in rich.ratings if r.criterion == "right")
    assert all(r.item is None for r in rich.ratings if r.criterion == "ease")


def test_pairs_prefer_the_better_system_wherever_it_stands(rich):
    wins = Counter()
    for r in rich.ratings:
        if r.criterion == "better" and r.label != "equal":
            first, second = (a[-1] for a in r.answers)
            wins[first if r.label.startswith("A") else second, first] += 1
    for first in "ab":
        assert wins["a", first] > 1.5 * wins["b", first]


def test_a_repeat_agrees_more_than_chance_and_less_than_always(rich):
    by_task = {(r.task, r.criterion): r.label for r in rich.ratings}
    again = [t for t in rich.tasks if t.repeat_of is not None]
    assert len(again) == 4 * 2 * 2
    numbers = [(by_task[t.id, "probability"], by_task[t.repeat_of, "probability"]) for t in again]
    assert any(a != b for a, b in numbers)
    assert np.corrcoef(np.array(numbers, dtype=float).T)[0, 1] > 0.3


def test_tie_breaks_are_planned_and_rated():
    plan = (
        Allocation("physicians", "form", raters_per_item=2),
        Allocation("judges", "form", raters_per_item=1, when="disagreed"),
    )
    study = study_of(plan=plan, judges=0)
    study = dataclasses.replace(study, raters=(*study.raters, Rater("x", "judges")))
    simulated = drawn(study=study, n=200)
    extra = [t for t in simulated.tasks if t.purpose == "tiebreak"]
    labels = {}
    for r in simulated.ratings:
        if r.criterion == "correctness" and r.state == "rated" and r.rater.startswith("p"):
            labels.setdefault(r.answers[0], set()).add(r.label)
    assert {t.item for t in extra} == {
        a.split(":")[0] for a, given in labels.items() if len(given) == 2
    }
    assert extra and {t.id for t in extra} <= {r.task for r in simulated.ratings}
