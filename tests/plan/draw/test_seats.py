"""Who holds a slot after sign-ups, withdrawals and handing over, and after something was rated."""

from __future__ import annotations

import pytest

from konsil.errors import PlanError
from konsil.plan.draw.slot_holders import HAND_OVER, assign_slot_holders
from konsil.plan.model.places import SIGN_UP, signed_up
from konsil.records import Event, Rater, Rating, Task

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


def test_who_signed_up_has_the_panel_and_strata_of_the_slot() -> None:
    places = [
        Rater("p 1", "p", strata={"specialty": "surgery"}),
        Rater("p 2", "p", strata={"specialty": "cardiology"}),
    ]

    def event(kind: str, who: str, day: int, slot: str) -> Event:
        return Event(f"{kind} {who}", kind, who, f"2025-01-0{day}T00:00:00Z", {"slot": slot})

    events = [
        event(SIGN_UP, "ada", 2, "p 2"),
        event(SIGN_UP, "bo", 1, "p 1"),
        # Other events name slots as well, and slots of an earlier plan are none of this one.
        event("withdrawal", "cy", 3, "p 1"),
        event(SIGN_UP, "di", 4, "q 1"),
    ]
    assert signed_up(events, places) == (
        Rater("bo", "p", strata={"specialty": "surgery"}),
        Rater("ada", "p", strata={"specialty": "cardiology"}),
    )
