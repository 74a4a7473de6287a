"""Tasks as the rating pages show them: random public names, how far each is, how long it was looked at.

Every function works inside the caller's transaction, so that a page's step is one: the change, the time, the ratings.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records import Answer, Item, Rating, Task
from konsil.store import page_schema, schema
from konsil.store.rows import KINDS, Kind


@dataclass(frozen=True, slots=True)
class State:
    """A task that was shown, and how far it is."""

    task: str
    """The task's id, which no page shows."""
    public: str
    """Its random name in addresses and pages."""
    rater: str
    """Whose it is."""
    opened_at: str
    """When it was shown first."""
    deferred: int = 0
    """0, or the place among those put off: the larger, the later."""
    rev: int = 0
    """The number of changes of its fields."""
    submitted_at: str | None = None
    """When it was handed in last; None: not yet."""
    seconds: float | None = None
    """Seconds until it was handed in first, as its ratings carry them."""


@dataclass(frozen=True, slots=True)
class Queued:
    """What decides on a task's turn."""

    task: str
    """The task's id."""
    phase: str
    """Its phase."""
    batch: str
    """Its batch."""
    position: int
    """Its place in the plan."""
    tiebreak: bool
    """Whether it is a tie-break, which the plan could not place."""
    survey: bool
    """Whether it asks about a batch, a phase or the rater, and not about an item."""
    deferred: int
    """0, or its place among those put off."""
    done: bool
    """Whether it was handed in, or rated elsewhere."""
    seconds: float | None
    """Seconds it took; None where not known."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One opening of a task's page."""

    id: str
    """Random; the page carries it."""
    wall: float | None = None
    """Seconds from opening to the last word from the page."""
    active: float | None = None
    """Of these, the seconds in which the page was visible and somebody was at it."""
    first_input: float | None = None
    """Seconds until the first input."""


def planned(connection: Connection, rater: str) -> tuple[Queued, ...]:
    """All tasks of a rater in the plan's order; done are those that have ratings, wherever they were given."""
    t = schema.tasks.c
    rated = sa.select(schema.ratings.c.task).where(schema.ratings.c.task == t.id).exists()
    query = (
        sa.select(t.id, t.phase, t.batch, t.position, t.purpose == "tiebreak", t.item.is_(None), rated)
        .where(t.rater == rater)
        .order_by(t.position, t.id)
    )
    return tuple(
        Queued(task, phase, batch, position, bool(tie), bool(survey), 0, bool(done), None)
        for task, phase, batch, position, tie, survey, done in connection.execute(query)
    )


def plan_mark(connection: Connection, rater: str) -> tuple[object, ...]:
    """Something that changes whenever `planned` may say something else: tasks came, or an import."""
    t = schema.tasks.c
    n, last = connection.execute(sa.select(sa.func.count(), sa.func.max(t.entry)).where(t.rater == rater)).one()
    return (n, last, connection.execute(sa.select(sa.func.max(schema.imports.c.entry))).scalar_one())


def progressed(connection: Connection, rater: str) -> dict[str, tuple[int, bool, float | None]]:
    """Task -> place among those put off, whether it was handed in, and its seconds; of the tasks that were shown."""
    s = page_schema.screens.c
    query = sa.select(s.task, s.deferred, s.submitted_at.is_not(None), s.seconds).where(s.rater == rater)
    rows = connection.execute(query)
    return {task: (deferred, bool(done), seconds) for task, deferred, done, seconds in rows}


def named(connection: Connection, task: str, rater: str, at: str) -> State:
    """The state of a task; one that was never shown gets its random public name now."""
    found = _state(connection, page_schema.screens.c.task == task)
    if found is None:
        found = State(task, secrets.token_urlsafe(12), rater, at)
        row = {name: getattr(found, name) for name in State.__slots__}
        connection.execute(sa.insert(page_schema.screens).values(row))
    return found


def shown(connection: Connection, task: str) -> State | None:
    """The state of a task; None where it was never shown."""
    return _state(connection, page_schema.screens.c.task == task)


def public(connection: Connection, name: str, *, lock: bool = False) -> State | None:
    """The state of the task with this public name; with `lock`, other writers wait until the transaction ends."""
    return _state(connection, page_schema.screens.c.public == name, lock=lock)


def _state(connection: Connection, where: sa.ColumnElement[bool], *, lock: bool = False) -> State | None:
    query = sa.select(page_schema.screens).where(where)
    row = connection.execute(query.with_for_update() if lock else query).first()
    return None if row is None else State(**row._mapping)


def change(connection: Connection, state: State, values: Mapping[str, object]) -> None:
    """Change how far a task is."""
    connection.execute(sa.update(page_schema.screens).where(page_schema.screens.c.task == state.task).values(**values))


def put_off(connection: Connection, state: State) -> None:
    """Put a task after all those that its rater put off before."""
    s = page_schema.screens.c
    last = connection.execute(sa.select(sa.func.max(s.deferred)).where(s.rater == state.rater)).scalar_one()
    change(connection, state, {"deferred": (last or 0) + 1})


def visit(connection: Connection, state: State, told: Visit, at: str) -> None:
    """Keep what a page says of its times; later words of the same page replace the earlier."""
    v = page_schema.visits
    values = {"wall": told.wall, "active": told.active, "first_input": told.first_input}
    here = sa.and_(v.c.id == told.id, v.c.task == state.task)
    if connection.execute(sa.select(v.c.id).where(here)).first() is None:
        if connection.execute(sa.select(v.c.id).where(v.c.id == told.id)).first() is not None:
            return  # the visit of another task: whatever says so is no page of ours
        row = {"id": told.id, "task": state.task, "rater": state.rater, "opened_at": at, **values}
        connection.execute(sa.insert(v).values(row))
    elif told.wall is not None:
        # Words may arrive out of order, so the longest counts; times only grow.
        longer = sa.or_(v.c.wall.is_(None), v.c.wall <= told.wall)
        connection.execute(sa.update(v).where(here, longer).values(**values))


def visits(connection: Connection, task: str) -> tuple[tuple[str, Visit], ...]:
    """Every opening of a task's page: when, and its times; in order."""
    v = page_schema.visits.c
    # Of a task that changed hands, only those of whoever has it now.
    whose = sa.select(page_schema.screens.c.rater).where(page_schema.screens.c.task == task).scalar_subquery()
    query = sa.select(v.opened_at, v.id, v.wall, v.active, v.first_input).where(v.task == task, v.rater == whose)
    rows = connection.execute(query.order_by(v.opened_at, v.id))
    return tuple((at, Visit(*rest)) for at, *rest in rows)


def task(connection: Connection, task_id: str) -> Task | None:
    """The task of this id."""
    found: Sequence[Task] = _records(connection, KINDS["tasks"], schema.tasks.c.id == task_id)
    return found[0] if found else None


def tasks_of_item(connection: Connection, item: str) -> tuple[Task, ...]:
    """All tasks about an item."""
    return tuple(_records(connection, KINDS["tasks"], schema.tasks.c.item == item))


def last_position(connection: Connection, rater: str) -> int:
    """The last place in a rater's order of work; -1 where there is none."""
    t = schema.tasks.c
    last = connection.execute(sa.select(sa.func.max(t.position)).where(t.rater == rater)).scalar_one()
    return -1 if last is None else int(last)


def item(connection: Connection, item_id: str | None) -> Item | None:
    """The item of this id; None for a survey."""
    found: Sequence[Item] = _records(connection, KINDS["items"], schema.items.c.id == item_id) if item_id else ()
    return found[0] if found else None


def answers(connection: Connection, ids: Sequence[str]) -> dict[str, Answer]:
    """The answers of these ids, by id."""
    found: Sequence[Answer] = _records(connection, KINDS["answers"], schema.answers.c.id.in_(ids)) if ids else ()
    return {a.id: a for a in found}


def ratings_of_task(connection: Connection, task_id: str) -> tuple[Rating, ...]:
    """The ratings of a task as they stand."""
    return tuple(_records(connection, KINDS["ratings"], schema.ratings.c.task == task_id))


def ratings_of_item(connection: Connection, item_id: str) -> tuple[Rating, ...]:
    """The ratings about an item as they stand, whoever gave them."""
    return tuple(_records(connection, KINDS["ratings"], schema.ratings.c.item == item_id))


def _records(connection: Connection, kind: Kind, where: sa.ColumnElement[bool]) -> list[Any]:
    query = sa.select(*(kind.table.c[n] for n in kind.names)).where(where)
    return [kind.read(tuple(row)) for row in connection.execute(query)]


def submitted_before(connection: Connection, state: State) -> str:
    """The public name of the task that this rater handed in last before this one; empty where there is none."""
    s = page_schema.screens.c
    query = sa.select(s.public).where(s.rater == state.rater, s.task != state.task, s.submitted_at.is_not(None))
    if state.submitted_at is not None:
        query = query.where(
            sa.or_(
                s.submitted_at < state.submitted_at,
                sa.and_(s.submitted_at == state.submitted_at, s.task < state.task),
            )
        )
    return connection.execute(query.order_by(s.submitted_at.desc(), s.task.desc()).limit(1)).scalar_one_or_none() or ""
