"""Adjudications in the store: opening them, and labels after them beside those before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records import Event, Rating, Task
from konsil.store.engine import read, schema
from konsil.store.engine.engine import reading, writing
from konsil.store.log import audit, study_events, write
from konsil.store.log.db import Store
from konsil.store.log.write import Batch
from konsil.store.tasks import withdrawal
from konsil.store.tasks.pilot import ratings_of
from konsil.study import Study
from konsil.study.definition.adjudication import (
    CLOSED,
    DECIDED,
    OPENED,
    Adjudication,
    Disagreement,
    disagreements,
)


@dataclass(frozen=True, slots=True)
class Screen:
    """What one rater looks at once more."""

    item: str
    """The item."""
    fields: tuple[str, ...]
    """The questions on which raters differ."""
    decided: bool
    """Whether the rater has kept or changed every label that is asked for."""


@dataclass(frozen=True, slots=True)
class Round:
    """What was opened until a round was closed."""

    number: int
    """From 1."""
    opened_at: str
    """When its first screen was opened."""
    screens: tuple[Screen, ...]
    """One for each rater of each disagreement."""
    closed_at: str = ""
    """When it was closed; empty: it is open."""
    by: str = ""
    """Who closed it, a pseudonym."""
    ratings: int = 0
    """Ratings that had been collected before it was closed, those of adjudications left out."""

    @property
    def n_decided(self) -> int:
        """How many screens have a decision on every question."""
        return sum(screen.decided for screen in self.screens)


def is_open(connection: Connection, task: str) -> bool:
    """Whether a task's labels are looked at together, so that those before stand."""
    return bool(study_events.of_subject(connection, task, (OPENED,)))


def waiting(store: Store, study: Study, rules: Adjudication) -> tuple[Disagreement, ...]:
    """Disagreements by the protocol's rule whose adjudication is not open yet."""
    with reading(store.engine) as connection:
        return _waiting(connection, study, rules)


def _waiting(connection: Connection, study: Study, rules: Adjudication) -> tuple[Disagreement, ...]:
    t = schema.tasks.c
    people = withdrawal.people_of(connection, study)
    members = {r.id for r in people.values() if r.panel == rules.panel and r.kind == "human"}
    main = sa.and_(t.purpose == "main", t.item.is_not(None), t.rater != "")
    tasks = [task for task in read.some(connection, "tasks", main) if task.rater in members]
    opened = {e.subject for e in study_events.of_kind(connection, OPENED)}
    candidates = disagreements(rules, study.instruments, tasks, ratings_of(connection, tasks))
    return tuple(d for d in candidates if all(task.id not in opened for task in d.tasks))


def open_all(store: Store, study: Study, rules: Adjudication, *, at: str, by: str) -> int:
    """Open the adjudication of every disagreement; count what is looked at together."""
    with writing(store.engine) as connection:
        # Whoever else opens disagreements waits here: none is opened twice.
        audit.head(connection, lock=True)
        waiting = _waiting(connection, study, rules)
        events, tasks = [], []
        for disagreement in waiting:
            for before, task in zip(
                disagreement.tasks, disagreement.opened(study.seed), strict=True
            ):
                data = {"task": task.id, "fields": list(disagreement.fields), "by": by}
                events.append(Event(f"{OPENED} {before.id}", OPENED, before.id, at, data))
                tasks.append(task)
        if tasks:
            write.append(connection, Batch(events=events, tasks=tasks), kind=OPENED, at=at)
    return len(waiting)


def tasks_of(connection: Connection, rater: str) -> tuple[Task, ...]:
    """A rater's tasks of adjudications."""
    t = schema.tasks.c
    return tuple(
        read.some(connection, "tasks", sa.and_(t.rater == rater, t.purpose == "adjudication"))
    )


def adjudication_tasks(connection: Connection, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The tasks of everybody in adjudications about the same items, these included."""
    t = schema.tasks.c
    items = sorted({task.item for task in tasks if task.item is not None})
    return tuple(
        read.some(connection, "tasks", sa.and_(t.item.in_(items), t.purpose == "adjudication"))
    )


def fields_of(connection: Connection, task: Task) -> tuple[str, ...]:
    """The questions of an adjudication's task on which raters differ."""
    for event in study_events.of_subject(connection, task.repeat_of or "", (OPENED,)):
        names = event.data.get("fields")
        return tuple(map(str, names)) if isinstance(names, list) else ()
    return ()


def labels(connection: Connection, tasks: Sequence[Task]) -> Mapping[str, Sequence[Rating]]:
    """Task -> its ratings.

    For tasks of the adjudications the ratings after it, for the tasks that they review those
    before.
    """
    ids = [
        *tasks,
        *(Task(t.repeat_of, "", t.rater, t.instrument, t.item) for t in tasks if t.repeat_of),
    ]
    return ratings_of(connection, ids)


def decide(connection: Connection, rating: Rating, *, at: str) -> None:
    """Keep a label after adjudication; one that stood there before goes to the history."""
    n = len(study_events.of_kind(connection, DECIDED, rating.task)) + 1
    write.revise(
        connection, [rating], at=at, event_id=f"{DECIDED} {rating.task} {n}", kind_of_event=DECIDED
    )


def is_closed(connection: Connection, task: str) -> bool:
    """Whether the round of an adjudication's task is closed, so that labels after it stand."""
    return bool(study_events.of_subject(connection, task, (CLOSED,)))


def closed_tasks(connection: Connection) -> frozenset[str]:
    """The tasks of all rounds that are closed."""
    return frozenset(event.subject for event in study_events.of_kind(connection, CLOSED))


def rounds(connection: Connection) -> tuple[Round, ...]:
    """Every round in order.

    The last one is open where something was opened since the one before was closed.
    """
    opened = {
        str(event.data.get("task")): event for event in study_events.of_kind(connection, OPENED)
    }
    closed = {event.subject: event for event in study_events.of_kind(connection, CLOSED)}
    tasks = {
        t.id: t for t in read.some(connection, "tasks", schema.tasks.c.purpose == "adjudication")
    }
    rated = ratings_of(connection, list(tasks.values()))
    of: dict[int, list[str]] = {}
    last = max((_round_number(event) for event in closed.values()), default=0)
    for name in sorted(
        opened.keys() & tasks.keys(), key=lambda n: (tasks[n].item or "", tasks[n].rater, n)
    ):
        of.setdefault(_round_number(closed[name]) if name in closed else last + 1, []).append(name)
    round_list = []
    for number, names in sorted(of.items()):
        screens = []
        for name in names:
            field_names = opened[name].data.get("fields")
            fields = tuple(map(str, field_names)) if isinstance(field_names, list) else ()
            screens.append(
                Screen(tasks[name].item or "", fields, len(rated.get(name, ())) >= len(fields))
            )
        end = closed.get(names[0])
        ending = {} if end is None else {"closed_at": end.at, "by": str(end.data.get("by", ""))}
        ratings = 0 if end is None else int(str(end.data.get("ratings", 0)))
        begin = min(opened[name].at for name in names)
        round_list.append(Round(number, begin, tuple(screens), **ending, ratings=ratings))
    return tuple(round_list)


def _round_number(event: Event) -> int:
    return int(str(event.data.get("round", 0)))


def close(store: Store, *, at: str, by: str) -> Round | None:
    """Close the round that is open: its labels stand, decided or not.

    None where no round is open.
    """
    with writing(store.engine) as connection:
        # Whoever decides waits for this, and the other way round: nothing is decided between the
        # count and the end.
        audit.head(connection, lock=True)
        now = next((round_ for round_ in rounds(connection) if not round_.closed_at), None)
        if now is None:
            return None
        t, r = schema.tasks.c, schema.ratings.c
        of_reviews = sa.select(t.id).where(t.purpose == "adjudication")
        before = (
            sa.select(sa.func.count()).select_from(schema.ratings).where(r.task.not_in(of_reviews))
        )
        data = {
            "round": now.number,
            "screens": len(now.screens),
            "decided": now.n_decided,
            "ratings": int(connection.execute(before).scalar_one()),
            "by": by,
        }
        ended = closed_tasks(connection)
        names = [str(e.data.get("task")) for e in study_events.of_kind(connection, OPENED)]
        events = [
            Event(f"{CLOSED} {name}", CLOSED, name, at, data) for name in names if name not in ended
        ]
        write.append(connection, Batch(events=events), kind=CLOSED, at=at)
        return next(round_ for round_ in rounds(connection) if round_.number == now.number)
