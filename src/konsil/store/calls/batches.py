"""Batches of a vendor's batch interface: stored before they are sent, until their results are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import sqlalchemy as sa

from konsil.records import Call, CallKind
from konsil.store.engine import engine, schema
from konsil.store.engine.rows import CALLS
from konsil.store.log.db import Store

BatchState = Literal["intended", "under way", "ended", "expired", "cancelled", "failed", "dropped"]
"""`intended`: stored, and perhaps sent; `dropped`: never sent. The states after `under way` are
ends."""
OPEN: tuple[BatchState, ...] = ("intended", "under way")
"""States of batches whose results are not stored yet."""
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One batch: where it was sent, and how far it is."""

    id: str
    """Our own random id, by which a batch is recognised in the vendor's list."""
    kind: CallKind
    """What is made of its replies."""
    who: str
    """The system or the judge that is called."""
    endpoint: str
    """The endpoint's name in the protocol."""
    model: str
    """What the endpoint calls the model."""
    requests: int
    """How many requests it has."""
    reserved: float
    """US dollars that it can cost at most."""
    created_at: str
    """When the intention was stored."""
    state: BatchState = "intended"
    """How far it is."""
    vendor_id: str = ""
    """The vendor's id; empty: not known yet."""
    rejected: str = ""
    """Ids of the vendor that turned out to be of other batches, with spaces between them."""
    submitted_at: str = ""
    """When the vendor's id was stored."""
    expires_at: str = ""
    """When the vendor stops working on it."""
    ended_at: str = ""
    """When its last result was stored."""
    note: str = ""
    """Why it failed."""


@dataclass(frozen=True, slots=True)
class BatchWork:
    """One request of a batch."""

    work: str
    """The digest of what is to be done."""
    attempt: int
    """The number that the call will have within its work."""
    subject: str
    """The item or the task."""


_NAMES = tuple(f.name for f in fields(BatchRecord))


class Batches:
    """The batches of one study's store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def insert(self, record: BatchRecord, works: Sequence[BatchWork]) -> None:
        """Store a batch with its requests; when this returns they survive a power cut."""
        with engine.writing(self.store.engine) as connection:
            connection.execute(
                sa.insert(schema.call_batches).values({n: getattr(record, n) for n in _NAMES})
            )
            connection.execute(
                sa.insert(schema.call_batch_works),
                [
                    {
                        "batch": record.id,
                        "place": place,
                        "work": work.work,
                        "attempt": work.attempt,
                        "subject": work.subject,
                    }
                    for place, work in enumerate(works)
                ],
            )

    def update(self, batch: str, **values: str) -> BatchRecord:
        """Store how far a batch is, and read it."""
        b = schema.call_batches
        with engine.writing(self.store.engine) as connection:
            connection.execute(sa.update(b).where(b.c.id == batch).values(**values))
        return next(self._records(b.c.id == batch))

    def unfinished(self, kind: CallKind | None = None) -> tuple[BatchRecord, ...]:
        """Read the batches whose results are not stored yet, the oldest first."""
        b = schema.call_batches.c
        of_kind = b.kind == kind if kind is not None else sa.true()
        return tuple(self._records(b.state.in_(OPEN), of_kind))

    def works(self, batch: str) -> list[BatchWork]:
        """Read the requests of a batch in their order."""
        w = schema.call_batch_works.c
        query = sa.select(w.work, w.attempt, w.subject).where(w.batch == batch).order_by(w.place)
        with engine.reading(self.store.engine) as connection:
            return [BatchWork(*row) for row in connection.execute(query)]

    def under_way(self, kind: CallKind) -> set[bytes]:
        """Read the works that are in batches without stored results."""
        b, w = schema.call_batches.c, schema.call_batch_works.c
        query = (
            sa.select(w.work)
            .join(schema.call_batches, b.id == w.batch)
            .where(b.state.in_(OPEN), b.kind == kind)
        )
        with engine.reading(self.store.engine) as connection:
            return {bytes.fromhex(work) for (work,) in connection.execute(query)}

    def reserved(self) -> float:
        """Sum the US dollars that the batches under way can cost."""
        b = schema.call_batches.c
        query = sa.select(sa.func.coalesce(sa.func.sum(b.reserved), 0.0)).where(b.state.in_(OPEN))
        with engine.reading(self.store.engine) as connection:
            return float(connection.execute(query).scalar_one())

    def vendor_ids(self) -> set[str]:
        """Read the vendors' ids of all batches."""
        query = sa.select(schema.call_batches.c.vendor_id)
        with engine.reading(self.store.engine) as connection:
            return {vendor_id for (vendor_id,) in connection.execute(query) if vendor_id}

    def stored(self, batch: str) -> dict[tuple[str, int], bool]:
        """Read which requests of a batch have a call already.

        Work and attempt -> whether no other request follows in this run: the work has ended, or
        the request expired.
        """
        c, w = schema.calls.c, schema.call_batch_works.c
        query = (
            sa.select(c.work, c.attempt, c.ended, c.outcome)
            .join(schema.call_batch_works, sa.and_(w.work == c.work, w.attempt == c.attempt))
            .where(w.batch == batch)
        )
        with engine.reading(self.store.engine) as connection:
            return {
                (work, attempt): bool(ended) or outcome == "expired"
                for work, attempt, ended, outcome in connection.execute(query)
            }

    def earlier(self, works: Collection[str]) -> dict[str, list[Call]]:
        """Read the calls that batches made for works, after the last one that ended its work."""
        by_work: dict[str, list[Call]] = {}
        ordered = sorted(works)
        for start in range(0, len(ordered), _CHUNK):
            for call in self._calls(ordered[start : start + _CHUNK]):
                if call.ended:
                    by_work.pop(call.work, None)
                else:
                    by_work.setdefault(call.work, []).append(call)
        return by_work

    def _calls(self, works: Sequence[str]) -> Iterator[Call]:
        c, w = schema.calls.c, schema.call_batch_works.c
        of_batch = sa.select(w.work).where(w.work == c.work, w.attempt == c.attempt).exists()
        query = (
            sa.select(*(c[n] for n in CALLS.names))
            .where(c.work.in_(works), of_batch)
            .order_by(c.work, c.attempt)
        )
        with engine.reading(self.store.engine) as connection:
            for row in connection.execute(query):
                yield CALLS.read(tuple(row))

    def _records(self, *where: sa.ColumnElement[bool]) -> Iterator[BatchRecord]:
        b = schema.call_batches.c
        query = sa.select(*(b[n] for n in _NAMES)).where(*where).order_by(b.created_at, b.id)
        with engine.reading(self.store.engine) as connection:
            rows: list[Any] = list(connection.execute(query))
        for row in rows:
            yield BatchRecord(**dict(zip(_NAMES, row, strict=True)))
