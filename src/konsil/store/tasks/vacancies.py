"""Slots that nobody has since somebody withdrew, and who takes one over.

Tie-breaks that came up for nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError, nearest
from konsil.plan.changes.handover import Progress, reassign_tasks
from konsil.plan.draw.slot_holders import HAND_OVER, assign_slot_holders
from konsil.plan.model.places import SIGN_UP, panel_of_slot, slots_of
from konsil.records import Event, Rater, Task
from konsil.store.engine import read, schema
from konsil.store.engine.engine import writing
from konsil.store.log import study_events
from konsil.store.log.db import Store
from konsil.store.tasks import open_slots, progress, task_reassignment, withdrawal
from konsil.study import Study

LONGEST = 60
"""Characters of the identifier of who takes over."""


@dataclass(frozen=True, slots=True)
class Vacancy:
    """A slot of the plan that is nobody's."""

    slot: str
    """The slot."""
    panel: str
    """Its panel."""
    screens: int
    """Screens that wait in it. Tie-breaks are left out: how many there are is an outcome."""
    breaks_ties: bool
    """Whether tie-breaks fall to it, which then wait as well."""


def vacancies(connection: Connection, study: Study) -> tuple[Vacancy, ...]:
    """The slots of people that have nobody and something to do, in the plan's order.

    Places that people sign up for are not among them: they are free, and the next one who fits
    takes them.
    """
    panels = {a.panel for a in study.plan if a.when == "disagreed"}
    t = schema.tasks.c
    lapsed = sa.select(t.slot, sa.func.count()).where(
        t.rater == "", t.purpose.not_in(progress.UNCOUNTED), t.item.is_not(None)
    )
    counts: dict[str, int] = {
        slot: int(n) for slot, n in connection.execute(lapsed.group_by(t.slot))
    }
    candidates = (
        Vacancy(r.id, r.panel, counts.get(r.id, 0), r.panel in panels)
        for r in _empty(connection, study)
    )
    return tuple(v for v in candidates if v.screens or v.breaks_ties)


def _empty(connection: Connection, study: Study) -> list[Rater]:
    """The stand-ins of the named people's slots that nobody holds."""
    moves = [
        *study_events.of_kind(connection, study_events.WITHDRAWAL),
        *study_events.of_kind(connection, SIGN_UP),
    ]
    pairs = list(zip(slots_of(study.raters), study.raters, strict=True))
    slot_ids = {slot.id for slot, _ in pairs}
    # A place that people sign up for is a slot too; whoever holds it is no matter here.
    ours = [
        e
        for e in moves
        if e.kind == study_events.WITHDRAWAL or str(e.data.get("slot", "")) in slot_ids
    ]
    slot_tasks = assign_slot_holders(
        [Task(slot.id, slot.id, rater.id, "", None) for slot, rater in pairs], _slots_only(ours), ()
    )
    return [
        slot
        for (slot, _), task in zip(pairs, slot_tasks, strict=True)
        if slot.kind == "human" and not task.rater
    ]


def _slots_only(events: Sequence[Event]) -> list[Event]:
    """The events without what they say of single tasks: only who holds which slot is asked."""
    return [
        Event(e.id, e.kind, e.subject, e.at, {k: v for k, v in e.data.items() if k == "slot"})
        for e in events
    ]


def succeed(store: Store, study: Study, slot: str, rater: str, *, at: str, by: str = "") -> int:
    """Name who takes over a slot that nobody has, with all that waits in it; count the tasks."""
    successor = rater.strip()
    with writing(store.engine) as connection:
        open_slots.lock_open_slots(connection)
        empty = {r.id: r for r in _empty(connection, study)}
        if slot not in empty:
            raise StoreError(f"slot: {slot!r} is not a vacant slot; {nearest(slot, empty)}")
        if not successor or len(successor) > LONGEST or not successor.isprintable():
            raise StoreError(
                f"rater: expected a pseudonym of 1 to {LONGEST} characters, got {rater!r}"
            )
        if "@" in successor:
            raise StoreError(
                f"rater: {successor!r} is an e-mail address; identifiers appear in all tables"
                " and in the log: use a pseudonym"
            )
        raters_by_id = {r.id: r for r in (*read.each(connection, "raters"), *study.raters)}
        if successor in raters_by_id and (
            raters_by_id[successor].panel != empty[slot].panel
            or successor not in withdrawal.withdrawn_raters(connection)
        ):
            # Somebody who works already has seen items that a tie-break is about.
            raise StoreError(
                f"rater: {successor!r} is in the study already; expected a new rater, or one"
                " who has withdrawn"
            )
        # Only what the plan goes by is taken for true of somebody new.
        matched = {a.match for a in study.plan if a.panel == empty[slot].panel}
        strata = {name: value for name, value in empty[slot].strata.items() if name in matched}
        return open_slots.take(
            connection, Rater(successor, empty[slot].panel, strata=strata), slot, at, by=by
        )


def share(connection: Connection, study: Study, arisen: Sequence[Task], *, at: str) -> None:
    """Give tie-breaks that came up for nobody to the others of their panel, evenly.

    Where no member is left, they wait.
    """
    waiting = [t for t in arisen if not t.rater]
    if not waiting:
        return
    withdrawn, people = (
        withdrawal.withdrawn_raters(connection),
        withdrawal.people_of(connection, study),
    )
    for panel in dict.fromkeys(panel_of_slot(t.slot) for t in waiting):
        members = [
            r
            for r in people.values()
            if r.panel == panel and r.kind == "human" and r.id not in withdrawn
        ]
        panel_tasks = [t for t in waiting if panel_of_slot(t.slot) == panel]
        theirs = read.some(connection, "tasks", schema.tasks.c.rater.in_([r.id for r in members]))
        handover = reassign_tasks(
            "",
            [*panel_tasks, *theirs],
            plan=study.plan,
            raters=[Rater("", panel), *members],
            items={},
            progress=Progress(rated=()),
            seed=study.seed,
        )
        holders = {task: holder for task, holder in handover.holders.items() if holder}
        if holders:
            event = Event(f"{HAND_OVER} {min(holders)}", HAND_OVER, panel, at, {"holders": holders})
            task_reassignment.hand_over(connection, event, holders)
