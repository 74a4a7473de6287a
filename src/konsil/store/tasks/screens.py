"""Tasks as the rating pages show them.

Random public names, how far each is, how long it was looked at.

Every function works inside the caller's transaction, so that a page's step is one: the change, the
time, the ratings.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.prepare.questions.rewriting import REWRITING, accepted_text
from konsil.records import Answer, Item, Rating, Task
from konsil.store.engine import page_schema, schema
from konsil.store.engine.bulk import raw_rows
from konsil.store.engine.rows import KINDS, KindName

_EVENTS = KINDS["events"]
# Put together once: every page of a task asks.
_OF_ITEM = sa.select(*(schema.events.c[name] for name in _EVENTS.names)).where(
    schema.events.c.kind == REWRITING, schema.events.c.subject == sa.bindparam("item")
)


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
    is_completed: bool
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
    ends: str | None = None
    """The places, from 1, of the answers whose end was in sight, with spaces between; 0: none;
    None: not known."""


# Statements of every page, put together once: building them takes longer than the database does.
_S, _V, _T = page_schema.screens.c, page_schema.visits.c, schema.tasks.c
_OF: sa.BindParameter[Any] = sa.bindparam("of")
_STATE = [c for c in _S if c.name != "entry"]
_SCREEN = sa.select(*_STATE).where(_S.public == _OF)
_SCREEN_TO_CHANGE = _SCREEN.with_for_update()
_SCREEN_OF_TASK = sa.select(*_STATE).where(_S.task == _OF)
_CHANGE = sa.update(page_schema.screens).where(_S.task == _OF)
_PROGRESSED = sa.select(_S.task, _S.deferred, _S.submitted_at.is_not(None), _S.seconds).where(
    _S.rater == _OF
)
_PROGRESSED_SINCE = _PROGRESSED.where(
    sa.or_(_S.submitted_at.is_(None), _S.submitted_at >= sa.bindparam("since"))
)
_PROGRESS_MARK = sa.select(
    sa.func.count(),
    sa.func.count(_S.submitted_at),
    sa.func.sum(_S.deferred),
    sa.func.max(_S.submitted_at),
).where(_S.rater == _OF)
_HOLDER = sa.select(_T.rater, _T.entry).where(_T.id == _OF)
_BEFORE = (
    sa.select(_S.public)
    .where(_S.rater == _OF, _S.task != sa.bindparam("here"), _S.submitted_at.is_not(None))
    .order_by(_S.submitted_at.desc(), _S.task.desc())
    .limit(1)
)
_EARLIER = _BEFORE.where(
    sa.or_(
        _S.submitted_at < sa.bindparam("at"),
        sa.and_(_S.submitted_at == sa.bindparam("at"), _S.task < sa.bindparam("here")),
    )
)
_LAST_IMPORT = sa.select(sa.func.max(schema.imports.c.entry)).scalar_subquery()
_PLAN_MARK = sa.select(sa.func.count(), sa.func.max(_T.entry), _LAST_IMPORT).where(_T.rater == _OF)
_VISIT = sa.select(_V.task).where(_V.id == _OF)
_NEW_VISIT = sa.insert(page_schema.visits)
_LONGER_VISIT = sa.update(page_schema.visits).where(
    _V.id == _OF,
    _V.task == sa.bindparam("here"),
    sa.or_(_V.wall.is_(None), _V.wall <= sa.bindparam("most")),
)
# Of a task that changed hands, only the visits of whoever has it now.
_WHOSE = sa.select(_S.rater).where(_S.task == _OF).scalar_subquery()
_VISITS = (
    sa.select(_V.opened_at, _V.id, _V.wall, _V.active, _V.first_input, _V.ends)
    .where(_V.task == _OF, _V.rater == _WHOSE)
    .order_by(_V.opened_at, _V.id)
)


def planned(connection: Connection, rater: str) -> tuple[Queued, ...]:
    """All tasks of a rater in the plan's order.

    Done are those that have ratings, wherever they were given.
    """
    t = schema.tasks.c
    rated = sa.select(schema.ratings.c.task).where(schema.ratings.c.task == t.id).exists()
    query = (
        sa.select(
            t.id, t.phase, t.batch, t.position, t.purpose == "tiebreak", t.item.is_(None), rated
        )
        .where(t.rater == rater, t.purpose != "adjudication")
        .order_by(t.position, t.id)
    )
    return tuple(
        Queued(task, phase, batch, position, bool(tie), bool(survey), 0, bool(is_completed), None)
        for task, phase, batch, position, tie, survey, is_completed in connection.execute(query)
    )


def plan_mark(connection: Connection, rater: str) -> tuple[object, ...]:
    """Something that changes whenever `planned` may say something else.

    It changes with new tasks or an import.
    """
    return tuple(connection.execute(_PLAN_MARK, {"of": rater}).one())


def progressed(
    connection: Connection, rater: str, since: str | None = None
) -> dict[str, tuple[int, bool, float | None]]:
    """Task -> place among those put off, whether it was handed in, and its seconds.

    It has the tasks that were shown.

    With `since` only of those that are open, and those that were handed in then or later.
    """
    query, of = (
        (_PROGRESSED, {"of": rater})
        if since is None
        else (_PROGRESSED_SINCE, {"of": rater, "since": since})
    )
    return {
        task: (deferred, bool(is_completed), seconds)
        for task, deferred, is_completed, seconds in connection.execute(query, of)
    }


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that changes whenever `progressed` may say something else."""

    shown: int
    """Tasks that were shown."""
    submitted: int
    """Of these, those that were handed in."""
    deferred: int
    """The sum of the places among those put off."""
    last: str | None
    """When one was handed in last."""


def progress_mark(connection: Connection, rater: str) -> Mark:
    """How far a rater is, in few numbers."""
    shown, submitted, deferred, last = connection.execute(_PROGRESS_MARK, {"of": rater}).one()
    return Mark(shown, submitted, int(deferred or 0), last)


def assigned_rater(connection: Connection, task_id: str) -> tuple[str, int] | None:
    """The rater of a task, and the entry of the log that wrote it last.

    While that entry is the same, so is the task.
    """
    row = connection.execute(_HOLDER, {"of": task_id}).first()
    return None if row is None else (row.rater, row.entry)


def named(connection: Connection, task: str, rater: str, at: str) -> State:
    """The state of a task; one that was never shown gets its random public name now."""
    state = screen_state(connection, task)
    if state is None:
        state = State(task, secrets.token_urlsafe(12), rater, at)
        row = {name: getattr(state, name) for name in State.__slots__}
        connection.execute(sa.insert(page_schema.screens).values(row))
    return state


def screen_state(connection: Connection, task: str) -> State | None:
    """The state of a task; None where it was never shown."""
    return _state(connection, _SCREEN_OF_TASK, task)


def public(connection: Connection, name: str, *, lock: bool = False) -> State | None:
    """The state of the task with this public name.

    With `lock`, other writers wait until the transaction ends.
    """
    return _state(connection, _SCREEN_TO_CHANGE if lock else _SCREEN, name)


def _state(connection: Connection, query: sa.Select[Any], of: str) -> State | None:
    row = connection.execute(query, {"of": of}).first()
    return None if row is None else State(**row._mapping)


def change(connection: Connection, state: State, values: Mapping[str, object]) -> None:
    """Change how far a task is."""
    connection.execute(_CHANGE, {"of": state.task, **values, "entry": None})


def put_off(connection: Connection, state: State) -> None:
    """Put a task after all those that its rater put off before."""
    s = page_schema.screens.c
    last = connection.execute(
        sa.select(sa.func.max(s.deferred)).where(s.rater == state.rater)
    ).scalar_one()
    change(connection, state, {"deferred": (last or 0) + 1})


def visit(connection: Connection, state: State, report: Visit, at: str) -> None:
    """Keep what a page says of its times; later words of the same page replace the earlier."""
    values = {
        "wall": report.wall,
        "active": report.active,
        "first_input": report.first_input,
        "ends": report.ends,
    }
    if report.wall is not None:
        # Words may arrive out of order, so the longest counts; times only grow. The visit of
        # another task is left as it is: whatever says so is no page of ours.
        longer = {"of": report.id, "here": state.task, "most": report.wall, **values, "entry": None}
        if connection.execute(_LONGER_VISIT, longer).rowcount:
            return
    stored = connection.execute(_VISIT, {"of": report.id}).scalar_one_or_none()
    if stored is None:
        row = {"id": report.id, "task": state.task, "rater": state.rater, "opened_at": at, **values}
        connection.execute(_NEW_VISIT, row)


def visits(connection: Connection, task: str) -> tuple[tuple[str, Visit], ...]:
    """Every opening of a task's page: when, and its times; in order."""
    rows = connection.execute(_VISITS, {"of": task})
    return tuple((at, Visit(*rest)) for at, *rest in rows)


def task(connection: Connection, task_id: str) -> Task | None:
    """The task of this id."""
    tasks: Sequence[Task] = _records(connection, "tasks", "id", task_id)
    return tasks[0] if tasks else None


def begun(connection: Connection, rater: str) -> tuple[tuple[State, str, str], ...]:
    """The screens that a rater handed in or began, the last first.

    Each has its phase and batch.
    """
    query = (
        sa.select(page_schema.screens, _T.phase, _T.batch)
        .select_from(page_schema.screens.join(schema.tasks, _T.id == _S.task))
        .where(
            _S.rater == rater, _T.rater == rater, sa.or_(_S.rev > 0, _S.submitted_at.is_not(None))
        )
        .order_by(_T.position.desc(), _S.task)
    )
    names = State.__slots__
    rows = connection.execute(query).mappings()
    return tuple(
        (State(**{name: row[name] for name in names}), row["phase"], row["batch"]) for row in rows
    )


def tasks_of_item(connection: Connection, item: str) -> tuple[Task, ...]:
    """All tasks about an item."""
    return tuple(_records(connection, "tasks", "item", item))


def last_position(connection: Connection, rater: str) -> int:
    """The last place in a rater's order of work; -1 where there is none."""
    t = schema.tasks.c
    last = connection.execute(
        sa.select(sa.func.max(t.position)).where(t.rater == rater)
    ).scalar_one()
    return -1 if last is None else int(last)


def item(connection: Connection, item_id: str | None) -> Item | None:
    """The item of this id, in the words that were accepted for it; None for a survey."""
    items: Sequence[Item] = _records(connection, "items", "id", item_id) if item_id else ()
    return _reworded(connection, items[0]) if items else None


def _reworded(connection: Connection, item: Item) -> Item:
    """An item with the text that was accepted for it."""
    rows = connection.execute(_OF_ITEM, {"item": item.id})
    return accepted_text(item, [_EVENTS.read(tuple(row)) for row in rows])


def answers(connection: Connection, ids: Sequence[str]) -> dict[str, Answer]:
    """The answers of these ids, by id."""
    records: Sequence[Answer] = _records(connection, "answers", "id", *ids) if ids else ()
    return {a.id: a for a in records}


def ratings_of_task(connection: Connection, task_id: str) -> tuple[Rating, ...]:
    """The ratings of a task as they stand."""
    return tuple(_records(connection, "ratings", "task", task_id))


def ratings_of_item(connection: Connection, item_id: str) -> tuple[Rating, ...]:
    """The ratings about an item as they stand, whoever gave them."""
    return tuple(_records(connection, "ratings", "item", item_id))


def _records(connection: Connection, name: KindName, column: str, *among: str) -> list[Any]:
    rows = connection.execute(raw_rows.having(KINDS[name], column), {"among": among})
    return [KINDS[name].read(tuple(row)) for row in rows]


def submitted_before(connection: Connection, state: State) -> str:
    """The public name of the task that this rater handed in last before this one.

    Empty where there is none.
    """
    params = {"of": state.rater, "here": state.task}
    if state.submitted_at is None:
        return connection.execute(_BEFORE, params).scalar_one_or_none() or ""
    return (
        connection.execute(_EARLIER, {**params, "at": state.submitted_at}).scalar_one_or_none()
        or ""
    )
