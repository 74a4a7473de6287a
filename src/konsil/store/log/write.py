"""Records to rows: all or nothing, and the same thing twice is once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import ConflictError, StoreError
from konsil.records import Answer, Attempt, Event, Item, Rater, Rating, Task
from konsil.store.engine import schema
from konsil.store.engine.cells import dumps
from konsil.store.engine.rows import KINDS, KindName, Row, name_of
from konsil.store.log import audit
from konsil.store.log.record_writer import RecordWriter, key_of, rows_by_key
from konsil.store.log.salts import owner_of


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that are written together or not at all."""

    items: Sequence[Item] = ()
    """Items."""
    answers: Sequence[Answer] = ()
    """Answers."""
    raters: Sequence[Rater] = ()
    """Raters."""
    tasks: Sequence[Task] = ()
    """Tasks."""
    ratings: Sequence[Rating] = ()
    """Ratings."""
    attempts: Sequence[Attempt] = ()
    """Attempts."""
    events: Sequence[Event] = ()
    """Events."""

    def of(self, name: KindName) -> Sequence[Any]:
        """Give the records of one kind."""
        records: Sequence[Any] = getattr(self, name)
        return records

    def __len__(self) -> int:
        return sum(len(self.of(name)) for name in KINDS)


@dataclass(frozen=True, slots=True)
class Added:
    """The result of an addition.

    How many records of each kind were new and how many were there already.
    """

    new: Mapping[str, int] = field(default_factory=dict)
    """Kind -> records written."""
    unchanged: Mapping[str, int] = field(default_factory=dict)
    """Kind -> records that were stored already, word for word."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """Kind -> records of earlier imports that were removed first."""
    notes: tuple[str, ...] = ()
    """What is worth a look in the files, one sentence each."""

    def total_new(self) -> int:
        """Count what was written."""
        return sum(self.new.values())


def add(
    connection: Connection,
    batch: Batch,
    *,
    source: str,
    digest: str,
    at: str,
    files: Mapping[str, str] | None = None,
    by: str = "",
) -> Added:
    """Write what is new inside the caller's transaction and note it in the log; conflicts raise.

    A file that is imported again word for word leaves no trace, not even an entry in the log.
    `files`: the digest of each file's bytes, for the log; `by`: who did it, where no event has
    that.
    """
    audit.check_time(at)
    writer = RecordWriter(connection, audit.next_entry(connection))
    # Counted before and after: what is new about a person whose data were erased is refused.
    erased = _of_erased(connection)
    for name, kind in KINDS.items():
        writer.add(kind, batch.of(name))
    writer.raise_conflicts()
    _refuse_erased(connection, erased)
    added = Added(writer.new, writer.unchanged)
    # The same file again: nothing happened that the log would have to say.
    if added.total_new() == 0 and _imported(connection, source, digest):
        return added
    data: dict[str, object] = {
        "source": source,
        "digest": digest,
        "new": added.new,
        "unchanged": added.unchanged,
    }
    data |= ({"files": dict(files)} if files else {}) | ({"by": by} if by else {})
    entry = audit.append(connection, "import", {**data, **audit.covers(writer.total)}, at)
    connection.execute(
        sa.insert(schema.imports).values(
            entry=entry,
            source=source,
            digest=digest,
            at=at,
            new=dumps(added.new),
            unchanged=dumps(added.unchanged),
        )
    )
    return added


def _of_erased(connection: Connection) -> dict[str, int]:
    """Rater whose data were erased -> ratings that are stored nevertheless.

    The protocol keeps these ratings.
    """
    e, r = schema.events.c, schema.ratings.c
    erased = connection.execute(sa.select(e.subject).where(e.kind == audit.ERASURE)).scalars().all()
    if not erased:
        return {}
    counts = sa.select(r.rater, sa.func.count()).where(r.rater.in_(erased)).group_by(r.rater)
    return dict.fromkeys(erased, 0) | {rater: int(n) for rater, n in connection.execute(counts)}


def _refuse_erased(connection: Connection, before: Mapping[str, int]) -> None:
    """What was erased does not come back with a file or an export that still has it."""
    now = _of_erased(connection) if before else {}
    for rater, n in before.items():
        if now[rater] != n:
            raise StoreError(
                f"rater: the data of {rater!r} were erased and cannot be imported again; leave"
                " them out"
            )


def append(connection: Connection, batch: Batch, *, kind: str, at: str, by: str = "") -> Added:
    """Write what is new inside the caller's transaction under an entry of this kind.

    Conflicts raise.

    For what happens one by one. What is there already leaves no trace. `by`: who did it, where no
    event has that.
    """
    writer = RecordWriter(connection, audit.next_entry(connection))
    for name, records in KINDS.items():
        writer.add(records, batch.of(name))
    writer.raise_conflicts()
    added = Added(writer.new, writer.unchanged)
    if added.total_new():
        data = {"new": added.new, **audit.covers(writer.total)} | ({"by": by} if by else {})
        audit.append(connection, kind, data, at)
    return added


def revise(
    connection: Connection,
    ratings: Sequence[Rating],
    *,
    at: str,
    event_id: str,
    kind_of_event: str = "revision",
    reason: str = "",
) -> Added:
    """Replace the current values inside the caller's transaction.

    What they said before is kept as history.

    A rating that is not stored yet is written. The event makes it harmless to report the same
    revision twice; it has the reason, where one is given.
    """
    audit.check_time(at)
    if not event_id:
        raise StoreError(
            "revise: the event's identifier is empty; it is needed to recognise repeated reports"
        )
    kind, entry = KINDS["ratings"], audit.next_entry(connection)
    rows = {key_of(kind, row): (row, rating) for row, rating in ((kind.row(r), r) for r in ratings)}
    if len(rows) < len(ratings):
        raise ConflictError("revise: the same rating is given twice")
    event = _revision_event([row for row, _ in rows.values()], at, event_id, kind_of_event, reason)
    if _reported(connection, event):
        return Added(unchanged={"ratings": len(ratings)})
    writer = RecordWriter(connection, entry)
    writer.add(KINDS["events"], [event])
    stored = rows_by_key(connection, kind, [row[0] for row, _ in rows.values()])
    changed, fresh = [], []
    for key, (row, rating) in rows.items():
        if key not in stored:
            fresh.append(rating)
        elif stored[key] != row:
            before = kind.read(stored[key])
            if (before.rater, before.item) != (rating.rater, rating.item):
                raise ConflictError(
                    f"{name_of(rating)}: its task {rating.task!r} belongs to {before.rater!r}, item"
                    f" {before.item!r}"
                )
            changed.append((key, row))
    writer.add(kind, fresh)
    for key, row in changed:
        writer.replace(kind, key, row, at, event_id)
    audit.append(
        connection,
        kind_of_event,
        {"event": event_id, "ratings": len(changed) + len(fresh), **audit.covers(writer.total)},
        at,
    )
    return Added(
        new={"ratings": len(changed) + len(fresh)},
        unchanged={"ratings": len(rows) - len(changed) - len(fresh)},
    )


def _revision_event(rows: Sequence[Row], at: str, event_id: str, kind: str, reason: str) -> Event:
    """Make the event.

    The digest of the values tells a repeated report from another one under the same name.
    """
    tasks = sorted({row[0] for row in rows})
    values = hashlib.sha256(dumps(sorted(map(dumps, rows))).encode()).hexdigest()
    # Named, so that what the log has of the event, the digest of the values included, has the
    # rater's salt.
    raters = sorted({owner_of("ratings")(row) for row in rows})
    data: dict[str, object] = {"criteria": sorted({r[2] for r in rows}), "sha256": values}
    if len(raters) == 1:
        data["rater"] = raters[0]
    if reason:
        data["reason"] = reason
    return Event(event_id, kind, ", ".join(tasks), at, data)


def _reported(connection: Connection, event: Event) -> bool:
    kind = KINDS["events"]
    row = rows_by_key(connection, kind, [event.id]).get((event.id,))
    if row is None:
        return False
    before: Event = kind.read(row)
    # Older versions did not name the rater.
    expected_data = {name: event.data.get(name) for name in before.data}
    if (before.kind, before.data) != (event.kind, expected_data):
        raise ConflictError(
            f"event {event.id!r}: stored already as another {before.kind}; a new event needs a"
            " new id"
        )
    return True


def _imported(connection: Connection, source: str, digest: str) -> bool:
    table = schema.imports
    query = (
        sa.select(table.c.entry).where(table.c.source == source, table.c.digest == digest).limit(1)
    )
    return connection.execute(query).first() is not None
