"""The design of comparisons: counted by hand, by pair, side, stratum and rater."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from konsil.plan import meetings
from konsil.records import Answer, Item, Task

ITEMS = [
    Item("i", "?", strata={"field": "a"}),
    Item("j", "?", strata={"field": "b"}),
    Item("k", "?", strata={}),
]
ANSWERS = [Answer(f"{item.id}{s}", item.id, s) for item in ITEMS for s in "xyz"]
TASKS = [
    Task("1", "p 1", "r1", "f", "i", ("ix", "iy"), arm="text"),
    Task("2", "p 2", "r2", "f", "i", ("iy", "ix"), arm="text"),
    Task("3", "p 3", "r3", "f", "i", ("iy", "ix"), arm="citations"),
    Task("4", "p 3", "r3", "f", "j", ("jz", "jx"), arm="citations"),
    Task(
        "5", "p 3", "r3", "f", "j", ("jz", "jx"), arm="citations", purpose="repeat", repeat_of="4"
    ),
    Task("6", "judges 1", "j1", "f", "j", ("jx", "jz"), arm="text"),
    Task("7", "others 1", "o1", "f", "j", ("jx", "jy", "jz")),
]


def test_counted_by_hand() -> None:
    found = meetings(TASKS, ANSWERS, ITEMS)
    assert list(found) == ["judges", "p"]
    p = found["p"]
    assert p.comparisons == 4
    assert p.first == {("x", "y"): (1, 2), ("x", "z"): (0, 1)}
    assert p.strata == {
        "field": {"a": {("x", "y"): 3, ("x", "z"): 0}, "b": {("x", "y"): 0, ("x", "z"): 1}}
    }
    assert p.raters == {0: 1, 1: 1, 3: 1}  # nobody is given k
    assert p.repeated == 2  # the third sees another arm
    assert found["judges"].first == {("x", "z"): (1, 0)}
    assert meetings([], ANSWERS, ITEMS) == {}


@given(st.permutations(TASKS), st.permutations(ITEMS), st.permutations(ANSWERS))
def test_order_plays_no_part(tasks: list[Task], items: list[Item], answers: list[Answer]) -> None:
    assert meetings(tasks, answers, items) == meetings(TASKS, ANSWERS, ITEMS)


def test_names_are_no_strata() -> None:
    items = [Item(f"q{n}", "?", strata={"name": str(n), "same": "x"}) for n in range(60)]
    answers = [Answer(f"{i.id}{s}", i.id, s) for i in items for s in "xy"]
    tasks = [Task(i.id, "p 1", "r", "f", i.id, (f"{i.id}x", f"{i.id}y")) for i in items]
    assert meetings(tasks, answers, items)["p"].strata == {}
