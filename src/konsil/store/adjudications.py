"""Adjudications in the store: opening them, and labels after them beside those before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records import Event, Rating, Task
from konsil.store import audit, happenings, leaving, read, schema, write
from konsil.store.db import Store
from konsil.store.engine import reading, writing
from konsil.store.pilot import ratings_of
from konsil.store.write import Batch
from konsil.study import Study
from konsil.study.adjudication import DECIDED, OPENED, Adjudication, Disagreement, disagreements


def is_open(connection: Connection, task: str) -> bool:
    """Whether a task's labels are looked at together, so that those before stand."""
    return bool(happenings.of_subject(connection, task, (OPENED,)))


def waiting(store: Store, study: Study, rules: Adjudication) -> tuple[Disagreement, ...]:
    """Disagreements by the protocol's rule whose adjudication is not open yet."""
    with reading(store.engine) as connection:
        return _waiting(connection, study, rules)


def _waiting(connection: Connection, study: Study, rules: Adjudication) -> tuple[Disagreement, ...]:
    t = schema.tasks.c
    people = leaving.people_of(connection, study)
    members = {r.id for r in people.values() if r.panel == rules.panel and r.kind == "human"}
    main = sa.and_(t.purpose == "main", t.item.is_not(None), t.rater != "")
    tasks = [task for task in read.some(connection, "tasks", main) if task.rater in members]
    opened = {e.subject for e in happenings.of_kind(connection, OPENED)}
    found = disagreements(rules, study.instruments, tasks, ratings_of(connection, tasks))
    return tuple(d for d in found if all(task.id not in opened for task in d.tasks))


def open_all(store: Store, study: Study, rules: Adjudication, *, at: str, by: str) -> int:
    """Open the adjudication of every disagreement; count what is looked at together."""
    with writing(store.engine) as connection:
        audit.head(connection, lock=True)
        found = _waiting(connection, study, rules)
        events, tasks = [], []
        for one in found:
            for before, task in zip(one.tasks, one.opened(study.seed), strict=True):
                data = {"task": task.id, "fields": list(one.fields), "by": by}
                events.append(Event(f"{OPENED} {before.id}", OPENED, before.id, at, data))
                tasks.append(task)
        if tasks:
            write.append(connection, Batch(events=events, tasks=tasks), kind=OPENED, at=at)
    return len(found)


def tasks_of(connection: Connection, rater: str) -> tuple[Task, ...]:
    """A rater's tasks of adjudications."""
    t = schema.tasks.c
    return tuple(read.some(connection, "tasks", sa.and_(t.rater == rater, t.purpose == "adjudication")))


def beside(connection: Connection, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The tasks of everybody in adjudications about the same items, these included."""
    t = schema.tasks.c
    items = sorted({task.item for task in tasks if task.item is not None})
    return tuple(read.some(connection, "tasks", sa.and_(t.item.in_(items), t.purpose == "adjudication")))


def fields_of(connection: Connection, task: Task) -> tuple[str, ...]:
    """The questions of an adjudication's task on which raters differ."""
    for event in happenings.of_subject(connection, task.repeat_of or "", (OPENED,)):
        names = event.data.get("fields")
        return tuple(map(str, names)) if isinstance(names, list) else ()
    return ()


def labels(connection: Connection, tasks: Sequence[Task]) -> Mapping[str, Sequence[Rating]]:
    """Task -> its ratings; of the adjudications' tasks those after it, of the tasks that they review those before."""
    ids = [*tasks, *(Task(t.repeat_of, "", t.rater, t.instrument, t.item) for t in tasks if t.repeat_of)]
    return ratings_of(connection, ids)


def decide(connection: Connection, rating: Rating, *, at: str) -> None:
    """Keep a label after adjudication; one that stood there before goes to the history."""
    n = len(happenings.of_kind(connection, DECIDED, rating.task)) + 1
    write.revise(connection, [rating], at=at, event_id=f"{DECIDED} {rating.task} {n}", kind_of_event=DECIDED)


def counts(connection: Connection) -> tuple[int, int]:
    """How many tasks are in adjudications, and how many of them have labels after it."""
    t, r = schema.tasks.c, schema.ratings.c
    mine = sa.select(sa.func.count()).select_from(schema.tasks).where(t.purpose == "adjudication", t.rater != "")
    decided = mine.where(sa.select(r.task).where(r.task == t.id).exists())
    return int(connection.execute(mine).scalar_one()), int(connection.execute(decided).scalar_one())
