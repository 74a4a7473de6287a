"""Pilot tasks with their ratings; in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records import Rating, Task
from konsil.store.engine import read, schema


def tasks_of(connection: Connection, rater: str) -> tuple[Task, ...]:
    """A rater's pilot tasks about items, in the order of work."""
    t = schema.tasks.c
    of_rater = sa.and_(t.rater == rater, t.purpose == "pilot", t.item.is_not(None))
    return tuple(
        sorted(read.some(connection, "tasks", of_rater), key=lambda task: (task.position, task.id))
    )


def pilot_tasks(connection: Connection, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The pilot tasks of everybody on the same items and instruments, these included.

    Places that are free are not.
    """
    t = schema.tasks.c
    items = sorted({task.item for task in tasks if task.item is not None})
    instruments = sorted({task.instrument for task in tasks})
    same = sa.and_(
        t.item.in_(items), t.instrument.in_(instruments), t.purpose == "pilot", t.rater != ""
    )
    return tuple(read.some(connection, "tasks", same))


def ratings_of(connection: Connection, tasks: Sequence[Task]) -> dict[str, list[Rating]]:
    """Task -> its ratings as they stand; tasks without ratings are left out."""
    ratings_by_task: dict[str, list[Rating]] = {}
    ids = [task.id for task in tasks]
    # In parts, because databases limit the parameters of a statement.
    for start in range(0, len(ids), 500):
        for rating in read.some(
            connection, "ratings", schema.ratings.c.task.in_(ids[start : start + 500])
        ):
            ratings_by_task.setdefault(rating.task, []).append(rating)
    return ratings_by_task


def all_tasks(connection: Connection) -> tuple[Task, ...]:
    """The pilot tasks about items of everybody, those of free places left out."""
    t = schema.tasks.c
    return tuple(
        read.some(
            connection, "tasks", sa.and_(t.purpose == "pilot", t.item.is_not(None), t.rater != "")
        )
    )
