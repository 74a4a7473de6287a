"""Imported ratings at the tasks of a plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from konsil.errors import SourceError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation, assign
from konsil.records import Answer, Item, Rater, Rating, Span, Task
from konsil.study.data.incoming import Incoming
from konsil.study.data.planned import on_plan

CORRECT = Criterion("correct", "?", Scale(("no", "yes")))
EASY = Criterion("easy", "?", Scale(("no", "yes")), scope="item")
FORMS = (Instrument("form", (CORRECT, EASY)), Instrument("other", (replace(CORRECT, id="harm"),)))
ITEMS = [Item(f"i{n}", "?") for n in range(6)]
ANSWERS = [Answer(f"{i.id}:{s}", i.id, s, "x") for i in ITEMS for s in "ab"]
RATERS = [Rater("p1", "people"), Rater("p2", "people"), Rater("p3", "people")]
PLAN = assign(
    [Allocation("people", "form", raters_per_item=2, repeats=1)],
    items=ITEMS,
    answers=ANSWERS,
    raters=RATERS,
    instruments=FORMS,
    seed=1,
)


def incoming(
    *rows: tuple[str, str, str, str], purpose: str = "main", task: str | None = None
) -> Incoming:
    """One file with rows of rater, item, system and criterion."""
    tasks: dict[str, Task] = {}
    ratings = []
    for rater, item, system, criterion in rows:
        answers = (f"{item}:{system}",) if system else ()
        own = task or f"t-{rater}-{item}-{system}-{purpose}"
        tasks.setdefault(own, Task(own, own, rater, "", item, answers, purpose=purpose))  # type: ignore[arg-type]
        ratings.append(Rating(own, rater, criterion, item, answers, label="yes"))
    return Incoming("file.csv", tasks=tuple(tasks.values()), ratings=tuple(ratings))


def of(rater: str, purpose: str = "main") -> list[Task]:
    return [t for t in PLAN if t.rater == rater and t.purpose == purpose]


def test_a_rating_finds_its_task():
    task = of("p2")[0]
    assert task.item is not None
    rows = [
        ("p2", task.item, "a", "correct"),
        ("p2", task.item, "b", "correct"),
        ("p2", task.item, "", "easy"),
    ]
    [placed] = on_plan([incoming(*rows)], PLAN, FORMS)
    assert placed.tasks == (task,)
    assert [r.task for r in placed.ratings] == [task.id] * 3
    [again] = on_plan([placed], PLAN, FORMS)
    assert again == placed


def test_repeats_and_tasks_that_are_named():
    [repeat] = of("p1", "repeat")
    assert repeat.item is not None
    row = ("p1", repeat.item, "a", "correct")
    [placed] = on_plan([incoming(row, purpose="repeat")], PLAN, FORMS)
    assert placed.tasks == (repeat,)
    [placed] = on_plan([incoming(row)], PLAN, FORMS)
    assert placed.tasks == (next(t for t in of("p1") if t.item == repeat.item),)
    [placed] = on_plan([incoming(row, task=repeat.id)], PLAN, FORMS)
    assert placed.tasks == (repeat,)


def test_what_is_not_planned_stays_as_it_is():
    one = incoming(("stranger", "i0", "a", "correct"))
    assert on_plan([one], PLAN, FORMS) == (one,)
    mine = incoming(("p1", "i0", "a", "correct"))
    assert on_plan([mine], (), FORMS) == (mine,)
    # Imported before the plan was drawn: the same file again changes nothing.
    assert on_plan([mine], [*PLAN, *mine.tasks], FORMS) == (mine,)
    items = Incoming("items.csv", items=ITEMS)
    assert on_plan([items], PLAN, FORMS) == (items,)


def test_what_no_task_asks_for_is_told_with_its_line():
    free = next(i.id for i in ITEMS if i.id not in {t.item for t in of("p1")})
    own = of("p1")[0].item or ""
    rows = [
        ("p1", own, "a", "correct"),
        ("p1", free, "a", "correct"),
        ("p1", own, "c", "correct"),
        ("p1", own, "a", "harm"),
    ]
    with pytest.raises(SourceError) as told:
        on_plan([incoming(*rows)], PLAN, FORMS)
    assert told.value.problems == (
        f"line 3: in the plan, rater 'p1' has no task on item '{free}'",
        (
            f"line 4: in the plan, rater 'p1' has no task on item '{own}' with the criterion 'correct' of"
            f" '{own}:c'"
        ),
        f"line 5: in the plan, rater 'p1' has no task on item '{own}' with the criterion 'harm' of '{own}:a'",
    )
    assert "file.csv: 3 problems; nothing was imported: line 3" in str(told.value)


def test_a_task_of_somebody_else():
    task = of("p1")[0]
    other = of("p2")[0]
    for rows, sentence in (
        (
            ("p2", task.item or "", "a", "correct"),
            f"line 2: task '{task.id}' belongs to 'p1', not to 'p2'",
        ),
        (("p1", "i99", "a", "correct"), f"is on item '{task.item}', not 'i99'"),
        (("p1", task.item or "", "c", "correct"), "does not contain 'correct' for "),
    ):
        with pytest.raises(SourceError, match="1 problem") as told:
            on_plan([incoming(rows, task=task.id)], PLAN, FORMS)
        assert sentence in str(told.value)
    with pytest.raises(SourceError, match="the plan has no task 'x'"):
        on_plan([incoming(("p2", other.item or "", "a", "correct"), task="x")], PLAN, FORMS)


def test_two_tasks_on_one_item_must_be_told_apart():
    lines = [
        Allocation("people", "form", phase="first"),
        Allocation("people", "form", phase="second"),
    ]
    plan = assign(lines, items=ITEMS, answers=ANSWERS, raters=RATERS, instruments=FORMS, seed=1)
    one = incoming(("p1", "i0", "a", "correct"))
    with pytest.raises(
        SourceError, match="rater 'p1' has 2 tasks on item 'i0'; name the task, phase or batch"
    ):
        on_plan([one], plan, FORMS)
    second = replace(one, tasks=[replace(t, phase="second") for t in one.tasks])
    [placed] = on_plan([second], plan, FORMS)
    assert [t.phase for t in placed.tasks] == ["second"]


def test_a_misspelt_criterion_is_told_once_with_its_neighbour():
    rows = [("p2", task.item, "a", "corect") for task in of("p2") if task.item is not None]
    with pytest.raises(
        SourceError,
        match=r"no criterion 'corect'; did you mean 'correct'\? \(and \d+ more like it\)$",
    ):
        on_plan([incoming(*rows)], PLAN, FORMS)


def test_a_sentence_that_has_a_task_of_its_own_finds_it():
    form = Instrument(
        "fine",
        (replace(CORRECT, scope="sentence"), replace(EASY, scope="answer")),
        unit="sentence",
        present="sentence",
    )
    spans = (Span(0, 3), Span(4, 9))
    plan = assign(
        [Allocation("people", "fine", show="each")],
        items=ITEMS,
        answers=[replace(a, sentences=spans) for a in ANSWERS],
        raters=RATERS,
        instruments=[form],
        seed=1,
    )
    [easy] = incoming(("p1", "i2", "a", "easy")).ratings
    file = incoming(*[("p1", "i2", "a", "correct")] * 2, ("p1", "i2", "a", "easy"))
    first, second, _ = file.ratings
    ratings = (replace(first, span=spans[1]), replace(second, span=spans[0]), easy)
    [placed] = on_plan([replace(file, ratings=ratings)], plan, [form])
    by_id = {t.id: t for t in plan}
    found = [by_id[r.task] for r in placed.ratings]
    assert [(t.answers, t.spans) for t in found] == [
        (("i2:a",), (spans[1],)),
        (("i2:a",), (spans[0],)),
        (("i2:a",), ()),
    ]
    with pytest.raises(SourceError, match="has no task on item 'i2'"):
        on_plan([replace(file, ratings=(replace(first, span=Span(1, 2)), *ratings))], plan, [form])
