"""Places that are added after the plan was drawn.

An event with its tasks, and nothing that was drawn moves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.engine import Connection

from konsil.errors import AddedTasksError, PlanError, StoreError, nearest
from konsil.plan import History, assign
from konsil.plan.model.places import ADDED, Places, added_places, panel_of_slot, placeholder_raters
from konsil.records import Answer, Event, Item, Task
from konsil.store.engine.engine import reading, writing
from konsil.store.log import audit, study_events, write
from konsil.store.log.db import Store
from konsil.store.log.study_events import counted
from konsil.store.log.write import Batch
from konsil.store.tasks import open_slots as slots
from konsil.study import Study
from konsil.study.interim.added_tasks import added_tasks_problem, task_limit
from konsil.study.interim.looks import LOOK_TAKEN
from konsil.study.sections.enrolment import places_problems

MOST = 500
"""Places that are added at a time."""
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Addition:
    """Places to be added, or that were."""

    places: Places
    """Which."""
    reason: str
    """Why, in words for the log."""
    by: str = ""
    """Who adds them: a role's pseudonym, or the rater who is given one at sign-up."""
    slots: tuple[str, ...] = field(default=())
    """Their names, once they are there."""
    tasks: int = 0
    """Tasks that came with them, those of judges included."""


def places_of(connection: Connection, study: Study) -> tuple[Places, ...]:
    """The protocol's places, then those that were added."""
    return (*study.places, *added_places(study_events.of_kind(connection, ADDED)))


def add_places(store: Store, study: Study, addition: Addition, *, at: str) -> Addition:
    """Add places and draw their tasks.

    A StoreError or PlanError where that cannot be, and nothing is written then.

    The plan is drawn without and with them, and must be the same for everybody else, byte for byte.
    """
    _check(study, addition)
    for _ in range(_TRIES):
        # Drawn outside the lock, under which nobody could rate.
        with store.view() as view:
            items, answers, events = [
                list(view.each(kind)) for kind in ("items", "answers", "events")
            ]
            planned = next(iter(view.each("tasks")), None)
        if planned is None:
            raise StoreError("places: no tasks are planned yet; run 'konsil plan' first")
        number = sum(e.kind == ADDED for e in events)
        n_looks = sum(e.kind == LOOK_TAKEN for e in events)
        event = _event(addition, number + 1, at)
        fresh = _fresh(study, items, answers, events, event)
        _refuse_added(store, study, (*events, event), fresh)
        with writing(store.engine) as connection:
            audit.head(connection, lock=True)
            # Places that others added meanwhile come first, and so does a look.
            if counted(connection, ADDED) != number or counted(connection, LOOK_TAKEN) != n_looks:
                continue
            write.append(connection, Batch(events=(event,), tasks=fresh), kind=ADDED, at=at)
        slots = tuple(
            dict.fromkeys(t.slot for t in fresh if panel_of_slot(t.slot) == addition.places.panel)
        )
        return dataclasses.replace(addition, slots=slots, tasks=len(fresh))
    raise StoreError("places: another process is adding rater slots; try again")


def _check(study: Study, addition: Addition) -> None:
    places, panels = addition.places, {p.panel: None for p in study.places}
    if places.panel not in panels:
        raise StoreError(
            f"panel: {places.panel!r} has no rater slots for sign-up;"
            f" {nearest(places.panel, panels)}"
        )
    if not 1 <= places.number <= MOST:
        raise StoreError(f"number: expected 1 to {MOST} rater slots, got {places.number}")
    if not addition.reason.strip():
        raise StoreError("reason: is empty; expected the reason for adding rater slots")
    for problem in places_problems([places], study.enrolment, "places"):
        raise StoreError(problem)


def _event(addition: Addition, number: int, at: str) -> Event:
    places = addition.places
    data: dict[str, object] = {
        "number": places.number,
        "strata": dict(places.strata),
        "reason": addition.reason.strip(),
    }
    return Event(
        f"{ADDED} {number:04}",
        ADDED,
        places.panel,
        at,
        data | ({"by": addition.by} if addition.by else {}),
    )


def _fresh(
    study: Study,
    items: Iterable[Item],
    answers: Iterable[Answer],
    events: Iterable[Event],
    event: Event,
) -> tuple[Task, ...]:
    """The tasks that come with an addition.

    A PlanError where something drawn would move, or nothing comes.
    """
    design = {
        "items": tuple(items),
        "answers": tuple(answers),
        "raters": study.raters,
        "instruments": study.instruments,
        "seed": study.seed,
        "places": study.places,
    }
    before, after = (
        tuple(assign(study.plan, **design, history=History(events=known)))  # type: ignore[arg-type]
        for known in (tuple(events), (*events, event))
    )
    now = {t.id: t for t in after}
    moved = next((t for t in before if now.get(t.id) != t), None)
    if moved is not None:
        raise PlanError(
            "places: additional rater slots would change the order or the tasks of"
            f" {moved.slot!r}; rater slots cannot be added if another panel with its own"
            " raters_per_item or per_rater rates the remaining items"
        )
    planned_ids = {t.id for t in before}
    fresh = tuple(t for t in after if t.id not in planned_ids)
    if not any(t.item is not None and panel_of_slot(t.slot) == event.subject for t in fresh):
        strata = ", ".join(f"{k} {v!r}" for k, v in added_places([event])[0].strata.items())
        raise PlanError(
            f"places: there are no items for {event.subject!r}{f' with {strata}' if strata else ''}"
        )
    return fresh


def _refuse_added(
    store: Store, study: Study, events: Sequence[Event], fresh: Sequence[Task]
) -> None:
    """Refuse a larger sample after a comparative interim look."""
    limit = task_limit(study, events)
    if limit is None:
        return
    with store.view() as view:
        stored, raters = view.each("tasks"), tuple(view.each("raters"))
        problem = added_tasks_problem(
            study, limit, events, stored=stored, added=fresh, raters=raters
        )
    if problem is not None:
        raise AddedTasksError(f"places: {problem}")


@dataclass(frozen=True, slots=True)
class Group:
    """Places of one panel and profile."""

    panel: str
    """The panel."""
    strata: Mapping[str, str]
    """What a profile must say."""
    places: int
    """How many there are."""
    added: int
    """How many of them were added after the plan."""
    free: int
    """How many nobody has."""


def groups(study: Study, store: Store) -> tuple[Group, ...]:
    """The places by panel and profile, with how many are free, in the protocol's order."""
    with reading(store.engine) as connection:
        all_places, free = places_of(connection, study), slots.free_slots(connection)
    first = {r.id for r in placeholder_raters(study.places, study.raters)}
    ids_by_profile: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for stand_in in placeholder_raters(all_places, study.raters):
        ids_by_profile.setdefault(
            (stand_in.panel, tuple(sorted(stand_in.strata.items()))), []
        ).append(stand_in.id)
    return tuple(
        Group(
            panel,
            dict(strata),
            len(ids),
            sum(i not in first for i in ids),
            sum(i in free for i in ids),
        )
        for (panel, strata), ids in ids_by_profile.items()
    )
