"""Handing over: everything is accounted for, evenly, and nobody gets the same item twice."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation, History, assign
from konsil.plan.changes.handover import Progress, reassign_tasks
from konsil.records import Answer, Event, Item, Rater, Rating, Task

FORM = Instrument("form", (Criterion("correct", "?", Scale(("no", "yes"))),))


def drawn(plan: list[Allocation], raters: list[Rater], n: int, **more: object) -> tuple[Task, ...]:
    items = [Item(f"i{k}", "?", strata={"specialty": "ab"[k % 2]}) for k in range(n)]
    answers = [Answer(f"i{k}{s}", f"i{k}", s) for k in range(n) for s in "xy"]
    return assign(
        plan, items=items, answers=answers, raters=raters, instruments=[FORM], seed=3, **more
    )  # type: ignore[arg-type]


@settings(max_examples=40)
@given(
    st.integers(3, 7),
    st.integers(1, 3),
    st.integers(1, 40),
    st.sets(st.integers(0, 200)),
    st.integers(0, 6),
)
def test_all_tasks_are_accounted_for(n: int, k: int, items: int, done: set[int], who: int) -> None:
    raters = [Rater(f"r{i}", "p") for i in range(n)]
    plan = [Allocation("p", "form", raters_per_item=min(k, n))]
    tasks = drawn(plan, raters, items)
    rated = {t.id for i, t in enumerate(tasks) if i in done}
    leaver = raters[who % n].id
    found = reassign_tasks(
        leaver, tasks, plan=plan, raters=raters, items={}, progress=Progress(rated=rated), seed=3
    )
    mine = [t for t in tasks if t.rater == leaver]
    assert set(found.holders) == {t.id for t in mine if t.id not in rated}
    assert found.stay == sum(t.id in rated for t in mine)
    assert sum(found.n_taken_over.values()) + found.lapsed == len(found.holders)
    after = [(found.holders.get(t.id, t.rater), t.item) for t in tasks]
    taken = [pair for pair in after if pair[0]]
    assert len(set(taken)) == len(taken), "nobody has an item twice"
    assert leaver not in found.holders.values()
    if min(k, n) < n:
        assert found.lapsed == 0
    if min(k, n) == 1:
        loads = Counter(t.rater for t in tasks if t.rater != leaver)
        after_loads = Counter(r for r, _ in taken if r != leaver)
        most = max(loads[r.id] for r in raters if r.id != leaver)
        assert max(after_loads.values(), default=0) <= max(
            most, min(after_loads[r.id] for r in raters if r.id != leaver) + 1
        )
    assert found == reassign_tasks(
        leaver,
        tasks[::-1],
        plan=plan,
        raters=raters,
        items={},
        progress=Progress(rated=rated),
        seed=3,
    )


def test_the_plan_says_the_same_from_the_event() -> None:
    raters = [Rater(f"r{i}", "p") for i in range(4)]
    plan = [Allocation("p", "form", raters_per_item=2)]
    tasks = drawn(plan, raters, 12)
    done = next(t for t in tasks if t.rater == "r0")
    found = reassign_tasks(
        "r0", tasks, plan=plan, raters=raters, items={}, progress=Progress(rated={done.id}), seed=3
    )
    left = Event("w", "withdrawal", "r0", "2026-01-01T00:00:00Z", {"holders": dict(found.holders)})
    rating = Rating(done.id, "r0", "correct", done.item, done.answers, label="yes")
    again = drawn(plan, raters, 12, history=History([rating], [left]))
    assert [t.rater for t in again] == [found.holders.get(t.id, t.rater) for t in tasks]


def test_stratum_room_and_closed_batches_are_minded() -> None:
    raters = [Rater(f"r{i}", "p", strata={"specialty": "ab"[i % 2]}) for i in range(4)]
    plan = [Allocation("p", "form", raters_per_item=1, match="specialty")]
    tasks = drawn(plan, raters, 8)
    items = {f"i{k}": Item(f"i{k}", "?", strata={"specialty": "ab"[k % 2]}) for k in range(8)}
    found = reassign_tasks(
        "r0", tasks, plan=plan, raters=raters, items=items, progress=Progress(rated=()), seed=3
    )
    assert set(found.holders.values()) == {"r2"}, "the only other of her specialty"
    assert (
        reassign_tasks(
            "r0",
            tasks,
            plan=plan,
            raters=raters,
            items=items,
            progress=Progress(rated=(), withdrawn={"r2"}),
        ).lapsed
        == 2
    )
    everybody = reassign_tasks(
        "r0",
        tasks,
        plan=plan,
        raters=raters,
        items=items,
        progress=Progress(rated=(), closed={("", "", "")}),
    )
    assert everybody.lapsed == 2
    hers = reassign_tasks(
        "r0",
        tasks,
        plan=plan,
        raters=raters,
        items=items,
        progress=Progress(rated=(), closed={("", "", "r2")}),
    )
    assert hers.lapsed == 2


def test_repeats_go_with_the_first_time_or_lapse() -> None:
    first, again = (
        Task("t", "p 1", "r0", "form", "i"),
        Task("u", "p 1", "r0", "form", "i", purpose="repeat", repeat_of="t"),
    )
    raters = [Rater("r0", "p"), Rater("r1", "p")]
    both = reassign_tasks(
        "r0", [first, again], plan=[], raters=raters, items={}, progress=Progress(rated=())
    )
    assert both.holders == {"t": "r1", "u": "r1"}
    assert reassign_tasks(
        "r0", [first, again], plan=[], raters=raters, items={}, progress=Progress(rated={"t"})
    ).holders == {"u": ""}
    survey = Task("s", "p 1", "r0", "end", None)
    assert reassign_tasks(
        "r0", [survey], plan=[], raters=raters, items={}, progress=Progress(rated=())
    ).holders == {"s": ""}


@pytest.mark.parametrize("seed", range(40))
def test_how_many_tie_breaks_somebody_has_moves_nothing_else(seed: int) -> None:
    """How often raters disagreed is an outcome: it must not be seen in who takes over what."""
    chance = random.Random(seed)
    raters = [Rater(f"r{k}", "p") for k in range(chance.randint(3, 6))]
    n = chance.randint(4, 9)
    tasks = [Task(f"main{k}", "p 1", "r0", "form", f"i{k}") for k in range(n)]
    tasks += [
        Task(f"other{k}", "p 1", f"r{1 + k % (len(raters) - 1)}", "form", f"i{k % n}")
        for k in range(5)
    ]
    ties = [Task(f"tie{k}", "p 1", "r0", "form", f"i{k}", purpose="tiebreak") for k in range(n)]
    shares = []
    for more in (0, 1, n // 2, n):
        handover = reassign_tasks(
            "r0",
            [*tasks, *ties[:more]],
            plan=[],
            raters=raters,
            items={},
            progress=Progress(rated=()),
            seed=seed,
        )
        shares.append(
            {task: who for task, who in handover.holders.items() if task.startswith("main")}
        )
        assert set(handover.holders) - set(shares[-1]) == {tie.id for tie in ties[:more]}, (
            "tie-breaks are handed over too"
        )
    assert all(share == shares[0] for share in shares)
