"""Events: what happened, in the caller's transaction, covered by the audit log."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records import Event, Task
from konsil.store import schema, write
from konsil.store.rows import KINDS
from konsil.store.write import Added, Batch

BATCH_CLOSED = "batch closed"
"""Subject: the batch; data.phase: its phase; data.rater: whose, or nobody's in particular: everybody's."""
PROBLEM = "problem"
"""Subject: the task; data.rater: who reports it; data.text: what is wrong."""
WITHDRAWAL = "withdrawal"
"""Subject: the rater."""
CONSENT = "consent"
"""Subject: the rater; data.version: the digest of the text agreed to; data.agreed: yes or no."""


def happened(connection: Connection, event: Event) -> bool:
    """Write an event; say whether it is new. The same one again changes nothing."""
    added = write.append(connection, Batch(events=(event,)), kind=event.kind, at=event.at)
    return added.total_new() > 0


def tasks_arise(connection: Connection, tasks: Sequence[Task], *, why: str, at: str) -> Added:
    """Write tasks that follow from what happened, such as tie-breaks."""
    return write.append(connection, Batch(tasks=tasks), kind=why, at=at)


def of_kind(connection: Connection, kind: str, subject: str | None = None) -> tuple[Event, ...]:
    """All events of a kind, or those on one subject, in the order of time."""
    e, events = schema.events.c, KINDS["events"]
    query = sa.select(*(e[n] for n in events.names)).where(e.kind == kind).order_by(e.at, e.id)
    rows = connection.execute(query if subject is None else query.where(e.subject == subject))
    return tuple(events.read(tuple(row)) for row in rows)


def is_closed(connection: Connection, task: Task) -> bool:
    """Whether the batch of a task is closed for its rater, so that its ratings stand."""
    return any(
        event.data.get("phase", "") == task.phase and event.data.get("rater", "") in ("", task.rater)
        for event in of_kind(connection, BATCH_CLOSED, task.batch)
    )


def counted(connection: Connection, kind: str) -> int:
    """How many events of a kind there are."""
    query = sa.select(sa.func.count()).select_from(schema.events).where(schema.events.c.kind == kind)
    return int(connection.execute(query).scalar_one())
