"""Tasks as columns are the same tasks, and are made only where they are asked for."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from konsil.plan import balance
from konsil.plan.model.task_columns import TaskColumns
from konsil.records import Span, Task

TASKS = st.lists(
    st.builds(
        Task,
        st.sampled_from("abcd"),
        st.sampled_from(["p 1", "p 2"]),
        st.sampled_from(["r1", "r2", "r3"]),
        st.just("form"),
        st.sampled_from([None, "i1", "i2"]),
        st.sampled_from([(), ("x",), ("x", "y"), ("y", "x")]),
        st.sampled_from([(), (Span(0, 3),)]),
        position=st.integers(0, 9),
        purpose=st.sampled_from(["main", "repeat"]),
        repeat_of=st.none() | st.sampled_from("ab"),
    ),
    max_size=8,
)


@given(TASKS, TASKS, st.data())
def test_columns_are_the_same_tasks(tasks: list[Task], others: list[Task], data: st.DataObject):
    columns = TaskColumns.of(iter(tasks))
    assert [*columns] == tasks and len(columns) == len(tasks)
    assert [columns[n] for n in range(len(tasks))] == tasks
    assert [*columns[1:3]] == tasks[1:3]
    assert columns == TaskColumns.of(tasks) and TaskColumns.of(columns) is columns
    assert (columns == TaskColumns.of(others)) is (tasks == others)
    assert columns == tasks and columns == tuple(tasks) and columns != [*tasks, "task"]
    assert [*columns.followed_by(others)] == [*tasks, *others]
    chosen = data.draw(st.lists(st.booleans(), min_size=len(tasks), max_size=len(tasks)))
    assert [*columns.where(chosen)] == [t for t, c in zip(tasks, chosen, strict=True) if c]
    raters = [str(n) for n in range(len(tasks))]
    in_other_hands = columns.with_raters(raters)
    assert in_other_hands.column("rater") == raters
    assert in_other_hands.column("id") == columns.column("id")


@given(st.permutations(range(12)))
def test_the_balance_does_not_depend_on_the_order_of_tasks(order: list[int]) -> None:
    """Tasks that were handed over, and control tasks, stand apart from their rater's others."""
    chance = random.Random(1)
    tasks = [
        Task(
            f"t{n}", f"p {n % 2 + 1}", f"r{n % 2}", "form", f"i{n % 5}", ("x", "y")[:: n % 3 or -1]
        )
        for n in range(12)
    ]
    chance.shuffle(tasks)
    assert balance(tasks[n] for n in order) == balance(tasks)
    assert balance(tasks).screens == {"r0": 6, "r1": 6}
