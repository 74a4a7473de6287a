"""A schedule in phases as a rater meets it: coarse, fine, fine on the first items, coarse; repeats
of early ones."""

from __future__ import annotations

from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation, assign
from konsil.records import Answer, Item, Rater, Span
from konsil.store import Batch, Store
from konsil.study import Study
from konsil.web.rating.rating_service import Desk

GRADE = Scale(("1", "2", "3"), level="ordinal")
COARSE = Instrument("coarse", (Criterion("whole", "How good is it?", GRADE),))
FINE = Instrument(
    "fine", (Criterion("part", "How good is it?", GRADE, "sentence"),), unit="sentence"
)
EASE = Instrument("ease", (Criterion("ease", "How easy was it?", GRADE, "batch"),))
ITEMS = tuple(Item(f"{s}{k}", f"{s} {k}", sets=(s,)) for s in ("first", "second") for k in range(3))
TEXT = "One. Two. Three. Four. Five. Six. Seven. Eight."
SPANS = tuple(Span(a, a + len(w)) for w in TEXT.split() for a in [TEXT.index(w)])
ANSWERS = tuple(Answer(f"{i.id}-{s}", i.id, s, TEXT, sentences=SPANS) for i in ITEMS for s in "xy")
PLAN = (
    Allocation("group", "coarse", "first", show="each", batches=2, phase="coarse 1"),
    Allocation("group", "fine", "second", show="each", batches=2, phase="fine 1", spans=6),
    Allocation("group", "fine", show="each", batches=2, phase="fine 2", spans=6, like="coarse 1"),
    Allocation("group", "coarse", show="each", batches=2, phase="coarse 2", like="fine 1"),
    Allocation(
        "group", "coarse", show="each", phase="end", purpose="repeat", like="coarse 1", per_rater=1
    ),
    Allocation("group", "ease", phase="coarse 1"),
)
STUDY = Study(
    "Phases",
    5,
    instruments=(COARSE, FINE, EASE),
    raters=(Rater("r1", "group"), Rater("r2", "group")),
    plan=PLAN,
)
ORDER = ["coarse 1"] * 9 + ["fine 1"] * 6 + ["fine 2"] * 6 + ["coarse 2"] * 6 + ["end"] * 2


@pytest.mark.slow
def test_phases_come_in_the_protocols_order_with_batches_questions_and_repeats(
    opened: Store, clock: Any
) -> None:
    tasks = assign(
        PLAN,
        items=ITEMS,
        answers=ANSWERS,
        raters=STUDY.raters,
        instruments=STUDY.instruments,
        seed=5,
    )
    opened.add(
        Batch(items=ITEMS, answers=ANSWERS, raters=STUDY.raters, tasks=tasks),
        source="test",
        at=clock.stamp(),
    )
    desk = Desk(STUDY, opened, clock.stamp)
    by_id = {t.id: t for t in tasks}
    sampled: dict[str, set[tuple[Span, ...]]] = {}
    for who in ("r1", "r2"):
        line = [by_id[q.task] for q in desk.line(who)]
        assert [t.phase for t in line] == ORDER
        # After the two screens of each coarse batch comes its question.
        assert [t.item is None for t in line[:9]] == [False, False, True] * 3
        assert [t.batch for t in line[:9]] == [f"coarse 1 {n}" for n in (1, 2, 3) for _ in range(3)]
        done = []
        while (public := desk.next_task(who)) is not None:
            sheet = desk.open(who, public)
            assert sheet is not None
            form = {a.name: "2" for group in sheet.everything for a in group.questions}
            assert len(form) in (1, 6)
            found = desk.submit(who, public, form, 0)
            assert found is not None
            assert found.is_stored
            done.append(sheet)
        assert len(done) == len(ORDER)
        for task in line:
            if task.spans:
                sampled.setdefault(task.answers[0], set()).add(task.spans)
        again = [t for t in line if t.phase == "end"]
        assert {by_id[t.repeat_of or ""].batch for t in again} == {"coarse 1 1"}
        assert {t.item for t in again} == {t.item for t in line[:2]}
    assert len(sampled) == 12
    assert all(len(spans) == 1 for spans in sampled.values()), (
        "one sample per answer, shared by raters and phases"
    )
    repeats = {t.id for t in tasks if t.purpose == "repeat"}
    assert sum(r.task in repeats for r in opened.ratings()) == 4
