"""The works that several workers share: offered once, taken under a lease, ended by their call.

A worker's lease is one row that its heartbeat renews; a work that it takes carries its name. Where
the lease has run out, the others free its works, and what its calls under way can have cost counts
as spent. All times are the database's, so that the clocks of the workers' machines do not matter.

Locks are taken in this order: head of the log, spending, workers, works. SQLite has one worker, so
that nothing is locked there.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records import Call
from konsil.store.calls.calls import Calls
from konsil.store.engine import engine, schema
from konsil.store.log import audit
from konsil.store.log.db import Store

LEASE = 60.0
"""Seconds after which the works of a worker that gives no sign of life go to others."""
_CHUNK = 5_000
OFFERING = zlib.crc32(b"konsil: one offer at a time")
"""The number of the lock in a database of PostgreSQL."""
_WORKS, _WORKERS, _SPENDING = schema.works, schema.workers, schema.spending
_EPOCH_IN_JULIAN_DAYS = 2440587.5


@dataclass(frozen=True, slots=True)
class Offer:
    """A work that is left, and where its job has it."""

    work: str
    """Its digest."""
    callee: str
    """The system or the judge."""
    job: int
    """The number of its job among those of the same system or judge."""
    place: int
    """The position of its subject in the job."""
    attempts: int = 0
    """Its attempts when it was planned."""


def database_time(connection: Connection) -> float:
    """Seconds since 1970 by the database's clock."""
    if connection.dialect.name == "postgresql":
        # clock_timestamp goes on within a transaction, which may have waited for a lock.
        clock: sa.ColumnElement[Any] = sa.extract("epoch", sa.func.clock_timestamp())
    else:
        clock = (sa.func.julianday("now") - _EPOCH_IN_JULIAN_DAYS) * 86_400.0
    return float(connection.execute(sa.select(clock)).scalar_one())


def locked_spending(connection: Connection) -> tuple[float, float]:
    """Lock the study's spending; give the price of all calls, and that of lost ones at most."""
    s = _SPENDING.c
    row = connection.execute(sa.select(s.spent, s.lost).with_for_update()).first()
    return (float(row.spent), float(row.lost)) if row is not None else (0.0, 0.0)


class Leases:
    """The works of one study as one worker takes, holds and ends them."""

    def __init__(self, store: Store, kind: str, *, seconds: float = LEASE) -> None:
        self.store, self.kind, self.seconds = store, kind, seconds
        self.worker = ""
        """Its name; none before `register`."""
        self._calls = Calls(store)

    def register(self) -> None:
        """Begin a lease under a name drawn at random, and bring the spending up to date."""
        self.worker = secrets.token_hex(3)
        c = schema.calls.c
        with engine.writing(self.store.engine, alone=False) as connection:
            self._begin_spending(connection)
            locked_spending(connection)
            # Calls that were imported, or made before there were workers, count as well.
            total = sa.select(sa.func.coalesce(sa.func.sum(c.cost), 0.0)).scalar_subquery()
            connection.execute(sa.update(_SPENDING).values(spent=total))
            time = database_time(connection)
            connection.execute(
                sa.insert(_WORKERS).values(
                    worker=self.worker, kind=self.kind, began=time, until=time + self.seconds
                )
            )

    @staticmethod
    def _begin_spending(connection: Connection) -> None:
        row = {"id": 1, "spent": 0.0, "lost": 0.0}
        if connection.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert

            connection.execute(insert(_SPENDING).values(row).on_conflict_do_nothing())
        elif connection.execute(sa.select(_SPENDING.c.id)).first() is None:
            connection.execute(sa.insert(_SPENDING).values(row))

    def renew(self) -> bool:
        """Extend the lease.

        False where it had run out and the works went to others: the lease begins anew, without
        works.
        """
        with engine.noting(self.store.engine) as connection:
            until = database_time(connection) + self.seconds
            updated = connection.execute(
                sa.update(_WORKERS).where(_WORKERS.c.worker == self.worker).values(until=until)
            )
            is_held = updated.rowcount > 0
        if not is_held:
            self.register()
        return is_held

    def reap(self) -> int:
        """Free the works of workers whose lease has run out; give the number of such workers.

        What their calls under way can have cost counts as spent.
        """
        w = _WORKERS.c
        with engine.reading(self.store.engine) as connection:
            time = database_time(connection)
            expired = sa.select(w.worker).where(w.until < time).limit(1)
            if connection.execute(expired).first() is None:
                return 0
        with engine.writing(self.store.engine, alone=False) as connection:
            locked_spending(connection)
            # Those that extended their lease meanwhile are looked at again under the lock.
            query = (
                sa.select(w.worker).where(w.until < database_time(connection)).order_by(w.worker)
            )
            names = connection.execute(query.with_for_update()).scalars().all()
            self._free(connection, names)
            return len(names)

    def release_all(self) -> None:
        """End the lease: all works that it holds go back at once.

        A call still under way was interrupted: it counts with what it can have cost.
        """
        with engine.writing(self.store.engine, alone=False) as connection:
            locked_spending(connection)
            self._free(connection, [self.worker])

    def clear(self) -> None:
        """Remove the works and workers of this kind; only for a run that is alone on the study.

        What calls of killed workers can have cost counts as spent.
        """
        w = _WORKERS.c
        with engine.writing(self.store.engine, alone=False) as connection:
            self._begin_spending(connection)
            locked_spending(connection)
            query = sa.select(w.worker).where(w.kind == self.kind).order_by(w.worker)
            self._free(connection, connection.execute(query).scalars().all())
            connection.execute(sa.delete(_WORKS).where(_WORKS.c.kind == self.kind))

    @staticmethod
    def _free(connection: Connection, workers: Sequence[str]) -> None:
        if not workers:
            return
        is_theirs = _WORKS.c.worker.in_(workers)
        lost = connection.execute(
            sa.select(sa.func.coalesce(sa.func.sum(_WORKS.c.reserved), 0.0)).where(is_theirs)
        ).scalar_one()
        if lost:
            connection.execute(sa.update(_SPENDING).values(lost=_SPENDING.c.lost + lost))
        connection.execute(
            sa.update(_WORKS).where(is_theirs).values(worker=None, endpoint=None, reserved=None)
        )
        connection.execute(sa.delete(_WORKERS).where(_WORKERS.c.worker.in_(workers)))

    def offer(self, offers: Iterable[Offer]) -> int:
        """Add the works that are left and that no worker has offered yet; count them."""
        n_new = 0
        c = _WORKS.c
        with engine.writing(self.store.engine, alone=False) as connection:
            if connection.dialect.name == "postgresql":
                # Two that offer the same works at once would wait for one another.
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(OFFERING)))
            self._clear_if_alone(connection)
            query = sa.select(c.work, c.attempts).where(c.kind == self.kind)
            stored = {bytes.fromhex(work): n for work, n in connection.execute(query)}
            for chunk in _chunks(offers):
                fresh = [o for o in chunk if bytes.fromhex(o.work) not in stored]
                repeated = [
                    o for o in chunk if o.attempts > stored.get(bytes.fromhex(o.work), o.attempts)
                ]
                if fresh:
                    rows = [
                        {
                            "work": o.work,
                            "kind": self.kind,
                            "who": o.callee,
                            "job": o.job,
                            "place": o.place,
                            "attempts": o.attempts,
                        }
                        for o in fresh
                    ]
                    connection.execute(sa.insert(_WORKS), rows)
                for o in repeated:
                    connection.execute(
                        sa.update(_WORKS).where(c.work == o.work).values(attempts=o.attempts)
                    )
                n_new += len(fresh)
        return n_new

    def _clear_if_alone(self, connection: Connection) -> None:
        """Remove what earlier workers left: nobody else takes it, and the protocol may be new."""
        w = _WORKERS.c
        others = sa.select(w.worker).where(w.kind == self.kind, w.worker != self.worker).limit(1)
        if connection.execute(others).first() is None:
            connection.execute(sa.delete(_WORKS).where(_WORKS.c.kind == self.kind))

    def take(self, callees: Collection[str], n: int, *, but: Collection[str] = ()) -> list[Offer]:
        """Take at most n free works of these systems or judges, in order.

        `but` names works that are never taken. Works that ended after they were planned, as another
        worker ended them meanwhile, are removed instead.
        """
        c, k = _WORKS.c, schema.calls.c
        query = (
            sa.select(c.work, c.who, c.job, c.place, c.attempts)
            .where(c.kind == self.kind, c.who.in_(sorted(callees)), c.worker.is_(None))
            .order_by(c.who, c.job, c.place)
            .limit(n)
            .with_for_update(skip_locked=True)
        )
        if but:
            query = query.where(c.work.not_in(sorted(but)))
        offers: list[Offer] = []
        with engine.noting(self.store.engine) as connection:
            while len(offers) < n:
                rows = [Offer(*row) for row in connection.execute(query)]
                if not rows:
                    break
                names = [o.work for o in rows]
                ends = sa.select(k.work, sa.func.max(k.attempt)).where(
                    k.work.in_(names), k.ended == 1
                )
                last = {row[0]: row[1] for row in connection.execute(ends.group_by(k.work))}
                ended = [o.work for o in rows if last.get(o.work, 0) > o.attempts]
                if ended:
                    connection.execute(sa.delete(_WORKS).where(c.work.in_(ended)))
                remaining = [o for o in rows if o.work not in set(ended)][: n - len(offers)]
                connection.execute(
                    sa.update(_WORKS)
                    .where(c.work.in_([o.work for o in remaining]))
                    .values(worker=self.worker)
                )
                offers += remaining
                if not ended:
                    break
        return offers

    def release(self, works: Collection[str]) -> None:
        """Give works back that were not ended."""
        c = _WORKS.c
        with engine.noting(self.store.engine) as connection:
            connection.execute(
                sa.update(_WORKS)
                .where(c.work.in_(sorted(works)), c.worker == self.worker)
                .values(worker=None, endpoint=None, reserved=None)
            )

    def remaining(self, callees: Collection[str], *, but: Collection[str] = ()) -> tuple[int, int]:
        """Count the works that are left, and those of them that this worker does not hold.

        The second number leaves out the works named by `but`.
        """
        c = _WORKS.c
        is_other = sa.or_(c.worker.is_(None), c.worker != self.worker)
        if but:
            is_other = sa.and_(is_other, c.work.not_in(sorted(but)))
        others = sa.func.coalesce(sa.func.sum(sa.case((is_other, 1), else_=0)), 0)
        query = sa.select(sa.func.count(), others).where(
            c.kind == self.kind, c.who.in_(sorted(callees))
        )
        with engine.reading(self.store.engine) as connection:
            n, n_others = connection.execute(query).one()
        return int(n), int(n_others)

    def append(self, calls: Sequence[Call]) -> None:
        """Store calls durably, and end their works or let go of what was reserved for them.

        The first stored end of a work counts. A reply that comes after it, from a worker whose
        lease had run out, is stored as an attempt that ended nothing; it was paid for.
        """
        c, k = _WORKS.c, schema.calls.c
        with engine.writing(self.store.engine) as connection:
            # Under the head of the log one worker stores at a time, so that no two number a work's
            # attempts alike.
            audit.next_entry(connection)
            names = sorted({call.work for call in calls})
            open_works = set(
                connection.execute(sa.select(c.work).where(c.work.in_(names))).scalars()
            )
            query = sa.select(k.work, sa.func.max(k.attempt)).where(k.work.in_(names))
            last = {row[0]: row[1] for row in connection.execute(query.group_by(k.work))}
            numbered, ended = [], []
            for call in calls:
                attempt = last[call.work] = last.get(call.work, 0) + 1
                is_end = bool(call.ended) and call.work in open_works
                numbered.append(replace(call, attempt=attempt, ended=int(is_end)))
                if is_end:
                    open_works.discard(call.work)
                    ended.append(call.work)
            self._calls.append_in(connection, numbered)
            # This locks the spending, before the works.
            cost = sum(call.cost or 0.0 for call in calls)
            connection.execute(sa.update(_SPENDING).values(spent=_SPENDING.c.spent + cost))
            if ended:
                connection.execute(sa.delete(_WORKS).where(c.work.in_(ended)))
            going_on = sorted(set(names) - set(ended))
            if going_on:
                connection.execute(
                    sa.update(_WORKS)
                    .where(c.work.in_(going_on), c.worker == self.worker)
                    .values(endpoint=None, reserved=None)
                )


def _chunks(offers: Iterable[Offer]) -> Iterator[list[Offer]]:
    chunk: list[Offer] = []
    for offer in offers:
        chunk.append(offer)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
