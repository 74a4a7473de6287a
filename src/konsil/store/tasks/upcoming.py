"""What people will be shown next, so that it can be made ready; in the caller's transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records import Task
from konsil.store.engine import page_schema, read, schema


def upcoming(connection: Connection, but: Collection[str]) -> tuple[str, ...]:
    """Ids of the tasks about items that were not handed in.

    The first tasks of all raters come before the second of any.

    `but` are raters who see no pages: judges and programs.
    """
    t, s = schema.tasks.c, page_schema.screens.c
    query = (
        sa.select(t.id)
        .select_from(schema.tasks.outerjoin(page_schema.screens, s.task == t.id))
        .where(
            t.item.is_not(None),
            s.submitted_at.is_(None),
            t.rater.not_in(sorted(but)),
            t.purpose != "adjudication",
        )
        .order_by(t.position, t.id)
    )
    return tuple(connection.execute(query).scalars())


def tasks(connection: Connection, ids: Sequence[str]) -> tuple[Task, ...]:
    """The tasks of these ids, in their order."""
    tasks_by_id = {
        task.id: task for task in read.some(connection, "tasks", schema.tasks.c.id.in_(ids))
    }
    return tuple(tasks_by_id[name] for name in ids if name in tasks_by_id)
