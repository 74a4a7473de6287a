"""Who holds a slot of the plan: the protocol's rater, until events say otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from konsil.errors import PlanError, nearest
from konsil.plan.model.task_columns import TaskColumns
from konsil.records import Event, Rating, Task

HAND_OVER = "hand-over"
"""The kind of event by which tasks of a panel (its subject) that came up for nobody go to others
(data.holders)."""


def assign_slot_holders(
    tasks: Iterable[Task],
    events: Iterable[Event],
    ratings: Iterable[Rating],
    free: Collection[str] = (),
) -> TaskColumns:
    """Tasks with the raters that hold their slots after sign-ups and withdrawals.

    `free` are slots that nobody holds at first. `withdrawal` (subject: the rater) empties the
    rater's slots, `sign-up` (subject: the rater, data.slot: the slot) fills one. A withdrawal or a
    `hand-over` may say who takes over which task (data.holders: task -> rater, or empty: nobody);
    such a task is the new rater's own and no longer goes with the slot. A task that was rated stays
    with whoever rated it. Names, blinded orders and arms belong to the slot, so a change of hands
    moves nothing.
    """
    columns = TaskColumns.of(tasks)
    slots = columns.column("slot")
    named = dict(zip(slots, columns.column("rater"), strict=True))
    holders = {slot: "" if slot in free else rater for slot, rater in named.items()}
    handed: dict[str, str] = {}
    moved = bool(free)
    # In time: a slot that was vacated may have been taken again.
    for event in sorted(events, key=lambda e: e.at):
        if event.kind in ("withdrawal", HAND_OVER):
            if event.kind == "withdrawal":
                holders = {
                    slot: "" if rater == event.subject else rater for slot, rater in holders.items()
                }
            task_holders = event.data.get("holders")
            if isinstance(task_holders, Mapping):
                handed |= {str(task): str(rater) for task, rater in task_holders.items()}
            moved = True
        elif event.kind == "sign-up" and "slot" in event.data:
            slot = str(event.data["slot"])
            if slot not in holders:
                raise PlanError(
                    f"event {event.id!r}: there is no slot {slot!r}; {nearest(slot, holders)}"
                )
            holders[slot] = event.subject
            moved = True
    if not moved:
        return columns
    # Whoever rated a task keeps it, whatever happened to the slot afterwards.
    rated = {r.task: r.rater for r in ratings}
    raters = zip(columns.column("id"), slots, strict=True)
    return columns.with_raters(
        [rated.get(t) or handed.get(t) or holders[slot] for t, slot in raters]
    )
