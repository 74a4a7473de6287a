"""Sentences one at a time: a task for each sentence, then one for the other questions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby

import pytest

from konsil.errors import PlanError
from konsil.instrument import Criterion, Instrument, Scale, fields
from konsil.plan import Allocation, History, assign, washouts
from konsil.plan.draw.injections import Injections, plant
from konsil.records import Answer, Item, Rater, Rating, Span, Task

GRADE = Scale(("1", "2", "3"), level="ordinal")
COARSE = Instrument("coarse", (Criterion("right", "Is it right?", GRADE),))
TOGETHER = Instrument(
    "fine",
    (
        Criterion("right", "Is the marked sentence right?", GRADE, "sentence"),
        Criterion("whole", "How good is the answer?", GRADE),
        Criterion("sure", "How sure are you?", GRADE, "task"),
    ),
    unit="sentence",
)
ALONE = replace(TOGETHER, present="sentence")
EASE = Instrument("ease", (Criterion("ease", "How easy?", GRADE, "batch"),))
ITEMS = tuple(Item(f"i{n}", "?") for n in range(4))
ANSWERS = tuple(
    Answer(
        f"{i.id}-{s}", i.id, s, "text", sentences=tuple(Span(9 * k, 9 * k + 8) for k in range(n))
    )
    for i in ITEMS
    for s, n in (("x", 8), ("y", 3))
)
PANEL = (Rater("r1", "panel"), Rater("r2", "panel"))
PLAN = (
    Allocation("panel", "coarse", show="each", batches=4, phase="coarse"),
    Allocation("panel", "fine", show="each", batches=4, phase="fine", spans=6, like="coarse"),
    Allocation("panel", "ease", phase="fine"),
    Allocation(
        "panel",
        "fine",
        show="each",
        spans=6,
        phase="end",
        purpose="repeat",
        like="fine",
        per_rater=1,
    ),
)


def planned(form: Instrument, plan: tuple[Allocation, ...] = PLAN, **more: object) -> list[Task]:
    return list(
        assign(
            plan,
            items=ITEMS,
            answers=ANSWERS,
            raters=PANEL,
            instruments=(COARSE, form, EASE),
            seed=3,
            **more,  # type: ignore[arg-type]
        )
    )


def fine(tasks: list[Task], rater: str = "r1") -> list[Task]:
    mine = (t for t in tasks if t.rater == rater and t.instrument == "fine")
    return sorted(mine, key=lambda t: t.position)


def test_a_task_for_each_sentence_and_one_for_the_other_questions() -> None:
    whole, alone = planned(TOGETHER), planned(ALONE)
    for rater in ("r1", "r2"):
        looks = [
            list(look) for _, look in groupby(fine(alone, rater), lambda t: (t.purpose, t.answers))
        ]
        # The same answers in the same order and batches, and of each the same sentences in theirs.
        assert [
            (look[0].answers, look[0].batch, tuple(s for t in look for s in t.spans))
            for look in looks
        ] == [(t.answers, t.batch, t.spans) for t in fine(whole, rater)]
        for look in looks:
            assert [len(t.spans) for t in look] == [1] * (len(look) - 1) + [0]
            assert len({t.batch for t in look}) == 1
            assert {tuple(f.name for f in fields(ALONE, t)) for t in look[:-1]} == {("right.s1",)}
            assert [f.name for f in fields(ALONE, look[-1])] == ["whole.a1", "sure"]
    assert len({t.id for t in alone}) == len(alone)
    assert sorted(t.position for t in alone if t.rater == "r1") == list(
        range(sum(t.rater == "r1" for t in alone))
    )


def test_batches_count_answers_and_other_tasks_stay_as_they_were() -> None:
    whole, alone = planned(TOGETHER), planned(ALONE)
    for tasks in (whole, alone):
        batches = {(t.batch, t.answers) for t in fine(tasks) if t.purpose == "main"}
        assert Counter(batch for batch, _ in batches) == {"fine 1": 4, "fine 2": 4}

    def others(tasks: list[Task]) -> set[Task]:
        return {replace(t, position=0) for t in tasks if t.instrument != "fine"}

    assert others(whole) == others(alone)


def test_a_form_without_other_questions_has_no_task_without_a_sentence() -> None:
    form = replace(ALONE, criteria=ALONE.criteria[:1])
    assert {len(t.spans) for t in fine(planned(form))} == {1}


def test_a_repeat_names_the_task_of_the_same_sentence() -> None:
    tasks = planned(ALONE)
    by_id = {t.id: t for t in tasks}
    repeats = [t for t in tasks if t.purpose == "repeat"]
    assert len(repeats) == 2 * (6 + 1 + 3 + 1)
    for task in repeats:
        first = by_id[task.repeat_of or ""]
        assert (first.rater, first.answers, first.spans) == (task.rater, task.answers, task.spans)
    few = (*PLAN[:-1], replace(PLAN[-1], spans=2))
    assert all(t.repeat_of in by_id for t in planned(ALONE, few) if t.purpose == "repeat")
    with pytest.raises(PlanError, match=r"plan\[3\].spans: rater 'r1' is to repeat sentences"):
        planned(ALONE, (*PLAN[:-1], replace(PLAN[-1], spans=8)))
    again = (replace(PLAN[1], like="", repeats=1),)
    made = planned(ALONE, again)
    ids = {t.id: t for t in made}
    assert all(ids[t.repeat_of or ""].spans == t.spans for t in made if t.purpose == "repeat")


def test_the_washout_is_that_of_answers() -> None:
    whole, alone = washouts(planned(TOGETHER)), washouts(planned(ALONE))
    assert {k: (w.looks, w.batches) for k, w in alone.items()} == {
        k: (w.looks, w.batches) for k, w in whole.items()
    }
    for key in alone:
        assert alone[key].least >= whole[key].least
    tasks = fine(planned(ALONE))
    last = max(t.position for t in tasks if t.purpose == "main" and t.item == tasks[-1].item)
    first = min(t.position for t in tasks if t.purpose == "repeat")
    assert alone["panel", "repeats"].greatest >= first - last - 1


def test_ratings_of_single_sentences_call_for_a_tiebreak() -> None:
    third = Rater("r3", "third")
    plan = (
        Allocation("panel", "fine", show="each"),
        Allocation("third", "fine", show="each", when="disagreed", purpose="tiebreak"),
    )
    tasks = assign(
        plan,
        items=ITEMS,
        answers=ANSWERS,
        raters=(*PANEL, third),
        instruments=(ALONE,),
        seed=3,
    )
    two = [t for t in tasks if t.answers == ("i2-y",) and t.spans == (Span(9, 17),)]
    ratings = [
        Rating(t.id, t.rater, "right", t.item, t.answers, t.spans[0], label=label)
        for t, label in zip(two, ("1", "3"), strict=True)
    ]
    after = assign(
        plan,
        items=ITEMS,
        answers=ANSWERS,
        raters=(*PANEL, third),
        instruments=(ALONE,),
        seed=3,
        history=History(ratings=ratings),
    )
    new = [t for t in after if t not in tasks]
    assert {(t.rater, t.item, t.purpose) for t in new} == {("r3", "i2", "tiebreak")}
    assert len(new) == 8 + 1 + 3 + 1


def test_control_tasks_repeat_tasks_that_ask_the_criterion() -> None:
    tasks = planned(ALONE)
    controls = plant(tasks, Injections(0.5, "whole", "3"), (COARSE, ALONE, EASE), {"r1"}, 3)
    assert controls
    assert {t.spans for t in controls} == {()}
    assert all("whole.a1" in [f.name for f in fields(ALONE, t)] for t in controls)
