"""What is known of all workers of a study: who they are, what they lost, and whose turn it is."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from konsil.store.calls.leases import database_time
from konsil.store.engine import engine, schema
from konsil.store.log.db import Store

_SETTLING = zlib.crc32(b"konsil: records are made by one worker at a time")
"""The number of the lock in a database of PostgreSQL."""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker as `konsil status` lists it."""

    worker: str
    """Its name, drawn at random."""
    kind: str
    """What it collects."""
    began: float
    """When it started, in seconds since 1970 by the database's clock."""
    until: float
    """When its lease ends."""
    works: int
    """Works that it has."""
    under_way: int
    """Works whose call is under way."""
    is_expired: bool
    """Whether the lease has run out, so that its works go to others."""


def workers(store: Store) -> tuple[WorkerState, ...]:
    """All workers of a study, those that started first before the others."""
    w, c = schema.workers.c, schema.works.c
    query = (
        sa.select(
            w.worker, w.kind, w.began, w.until, sa.func.count(c.work), sa.func.count(c.reserved)
        )
        .select_from(schema.workers.outerjoin(schema.works, w.worker == c.worker))
        .group_by(w.worker, w.kind, w.began, w.until)
        .order_by(w.began, w.worker)
    )
    with engine.reading(store.engine) as connection:
        time = database_time(connection)
        return tuple(
            WorkerState(name, kind, began, until, n_taken, n_under_way, until < time)
            for name, kind, began, until, n_taken, n_under_way in connection.execute(query)
        )


def lost(store: Store) -> float:
    """US dollars that calls of killed workers, which are not stored, can have cost at most."""
    with engine.reading(store.engine) as connection:
        dollars = connection.execute(sa.select(schema.spending.c.lost)).scalar()
    return float(dollars or 0.0)


@contextmanager
def settling(store: Store) -> Iterator[None]:
    """Let one worker at a time make records of replies; the next one sees what is made already."""
    if store.engine.dialect.name != "postgresql":
        yield
        return
    with engine.translate_database_errors(store.engine.url), store.engine.connect() as opened:
        connection = opened.execution_options(isolation_level="AUTOCOMMIT")
        connection.execute(sa.select(sa.func.pg_advisory_lock(_SETTLING)))
        try:
            yield
        finally:
            # never back to the pool: the lock goes with the connection
            opened.invalidate()
