"""Who holds a slot after sign-ups, withdrawals and handing over, and after something was rated."""

from __future__ import annotations

import pytest

from konsil.errors import PlanError
from konsil.plan.draw.slot_holders import HAND_OVER, assign_slot_holders
from konsil.records import Event, Rating, Task

TASKS = (Task("t1", "p 1", "r1", "form", "i1"), Task("t2", "p 1", "r1", "form", "i2"))
LEFT = Event("w", "withdrawal", "r1", "2025-01-02T00:00:00Z", {"holders": {"t1": "r2", "t2": "r3"}})


def holders(events: list[Event], *rated: Rating, free: tuple[str, ...] = ()) -> list[str]:
    return [task.rater for task in assign_slot_holders(TASKS, events, rated, free)]


def test_what_is_handed_over_is_the_other_ones() -> None:
    assert holders([]) == ["r1", "r1"]
    assert holders([LEFT]) == ["r2", "r3"]


def test_a_rated_task_stays_with_whoever_rated_it() -> None:
    """Also where the same withdrawal, written before the rating was in, handed it to somebody
    else."""
    assert holders([LEFT], Rating("t1", "r1", "c", "i1", label="x")) == ["r1", "r3"]


def test_the_last_word_of_two_counts() -> None:
    again = Event("h", HAND_OVER, "p", "2025-01-03T00:00:00Z", {"holders": {"t1": "r4"}})
    for events in ([LEFT, again], [again, LEFT]):
        assert holders(events) == ["r4", "r3"], "by the clock, not by the order of the rows"


def test_slots_go_to_whoever_signs_up() -> None:
    assert holders([], free=("p 1",)) == ["", ""]
    came = Event("s", "sign-up", "r5", "2025-01-01T00:00:00Z", {"slot": "p 1"})
    assert holders([came], free=("p 1",)) == ["r5", "r5"]
    with pytest.raises(PlanError, match=r"there is no slot 'p 2'; did you mean 'p 1'\?"):
        holders([Event("s", "sign-up", "r5", "2025-01-01T00:00:00Z", {"slot": "p 2"})])
