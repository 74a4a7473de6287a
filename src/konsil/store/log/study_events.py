"""Events: what happened, in the caller's transaction, covered by the audit log."""

from __future__ import annotations

import json
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records import Event, Task
from konsil.store.engine import schema
from konsil.store.engine.rows import KINDS
from konsil.store.log import salts, write
from konsil.store.log.write import Added, Batch

BATCH_CLOSED = "batch closed"
"""Subject: the batch; data.phase: its phase; data.rater: whose, or nobody's in particular:
everybody's."""
BATCH_REOPENED = "batch reopened"
"""Subject and data as above; data.reason: why."""
PROBLEM = "problem"
"""Subject: the task; data.rater: who reports it; data.text: what is wrong."""
WITHDRAWAL = salts.WITHDRAWAL
"""Subject: the rater."""
KIT_MADE = "kit made"
"""Subject: the kit; data.rater: whose it is, who did not make it."""
SETTLED = "problem settled"
"""Subject: the id of the event that reported the problem; data.note: what was done."""


def append_event(connection: Connection, event: Event) -> bool:
    """Write an event; say whether it is new. The same one again changes nothing."""
    added = write.append(connection, Batch(events=(event,)), kind=event.kind, at=event.at)
    return added.total_new() > 0


def insert_follow_up_tasks(
    connection: Connection, tasks: Sequence[Task], *, reason: str, at: str
) -> Added:
    """Write tasks that follow from what happened, such as tie-breaks."""
    return write.append(connection, Batch(tasks=tasks), kind=reason, at=at)


def of_kind(connection: Connection, kind: str, subject: str | None = None) -> tuple[Event, ...]:
    """All events of a kind, or those on one subject, in the order of time."""
    e, events = schema.events.c, KINDS["events"]
    query = sa.select(*(e[n] for n in events.names)).where(e.kind == kind).order_by(e.at, e.id)
    rows = connection.execute(query if subject is None else query.where(e.subject == subject))
    return tuple(events.read(tuple(row)) for row in rows)


def of_subject(connection: Connection, subject: str, kinds: Sequence[str]) -> tuple[Event, ...]:
    """All events of these kinds on one subject, in the order of time."""
    e, events = schema.events.c, KINDS["events"]
    query = sa.select(*(e[n] for n in events.names)).where(e.kind.in_(kinds), e.subject == subject)
    return tuple(
        events.read(tuple(row)) for row in connection.execute(query.order_by(e.at, e.entry, e.id))
    )


def is_closed(connection: Connection, task: Task) -> bool:
    """Whether the batch of a task is closed for its rater, so that its ratings stand."""
    closed = closed_batches(connection, task.batch)
    return (task.phase, task.batch, "") in closed or (task.phase, task.batch, task.rater) in closed


# In the order in which they were written; two within a second have the same time. Put together
# once: every save asks.
_CLOSED = (
    sa.select(schema.events.c.kind, schema.events.c.subject, schema.events.c.data)
    .where(schema.events.c.kind.in_((BATCH_CLOSED, BATCH_REOPENED)))
    .order_by(schema.events.c.at, schema.events.c.entry)
)
_CLOSED_BATCH = _CLOSED.where(schema.events.c.subject == sa.bindparam("batch"))


def closed_batches(
    connection: Connection, batch: str | None = None
) -> frozenset[tuple[str, str, str]]:
    """Phase, batch and rater (empty: everybody) of what is closed and was not reopened since.

    They are those of one batch, or all.
    """
    closed: set[tuple[str, str, str]] = set()
    rows = (
        connection.execute(_CLOSED)
        if batch is None
        else connection.execute(_CLOSED_BATCH, {"batch": batch})
    )
    for kind, subject, data in rows:
        details = json.loads(data)
        key = (str(details.get("phase", "")), subject, str(details.get("rater", "")))
        if kind == BATCH_CLOSED:
            closed.add(key)
        else:
            closed.discard(key)
    return frozenset(closed)


def counted(connection: Connection, kind: str) -> int:
    """How many events of a kind there are."""
    query = (
        sa.select(sa.func.count()).select_from(schema.events).where(schema.events.c.kind == kind)
    )
    return int(connection.execute(query).scalar_one())
