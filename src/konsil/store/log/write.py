"""Records to rows: all or nothing, and the same thing twice is once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import ConflictError, StoreError
from konsil.records import Answer, Attempt, Event, Item, Rater, Rating, Task
from konsil.store.engine import schema, statements
from konsil.store.engine.rows import KINDS, Kind, KindName, Record, Row, dumps, name_of
from konsil.store.log import audit
from konsil.store.log.salts import Salts, owner_of

_CHUNK = 5_000


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
    notes: tuple[str, ...] = ()
    """What is worth a look in the files, one sentence each."""

    def total_new(self) -> int:
        """Count what was written."""
        return sum(self.new.values())

    def total_unchanged(self) -> int:
        """Count what was there already."""
        return sum(self.unchanged.values())


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
    writer = _Writer(connection, audit.next_entry(connection))
    erased = _of_erased(connection)
    for name, kind in KINDS.items():
        writer.add(kind, batch.of(name))
    writer.raise_conflicts()
    _refuse_erased(connection, erased)
    added = Added(writer.new, writer.unchanged)
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
    writer = _Writer(connection, audit.next_entry(connection))
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
            "revise: the event's identifier is empty; it makes a repeated report harmless"
        )
    kind, entry = KINDS["ratings"], audit.next_entry(connection)
    rows = {_key(kind, row): (row, rating) for row, rating in ((kind.row(r), r) for r in ratings)}
    if len(rows) < len(ratings):
        raise ConflictError("revise: the same rating is given twice")
    event = _revision_event([row for row, _ in rows.values()], at, event_id, kind_of_event, reason)
    if _reported(connection, event):
        return Added(unchanged={"ratings": len(ratings)})
    writer = _Writer(connection, entry)
    writer.add(KINDS["events"], [event])
    stored = _stored(connection, kind, [row[0] for row, _ in rows.values()])
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
    row = _stored(connection, kind, [event.id]).get((event.id,))
    if row is None:
        return False
    before: Event = kind.read(row)
    expected_data = {
        name: event.data.get(name) for name in before.data
    }  # older versions did not name the rater
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


def _key(kind: Kind, row: Row) -> Row:
    # The key's columns are found once per kind; ratings have theirs at 0, 2, 4 and 5.
    return tuple([row[i] for i in _positions(kind)])


_POSITIONS: dict[str, tuple[int, ...]] = {
    k.name: tuple(k.names.index(n) for n in k.key) for k in KINDS.values()
}


def _positions(kind: Kind) -> tuple[int, ...]:
    return _POSITIONS[kind.name]


def _stored(connection: Connection, kind: Kind, firsts: Sequence[str]) -> dict[Row, Row]:
    """Find the stored rows whose first key column is among `firsts`, by identity."""
    cursor = connection.execute(statements.by_first_key(kind), {"among": sorted(set(firsts))})
    rows = (tuple(row) for row in cursor)
    return {_key(kind, row): row for row in rows}


class _Writer:
    """Writes the new rows of a transaction under one audit entry and adds up what it wrote."""

    def __init__(self, connection: Connection, entry: int) -> None:
        self.connection = connection
        self.entry = entry
        self.total = 0
        self.salts = Salts(connection)
        self.new: dict[str, int] = {}
        self.unchanged: dict[str, int] = {}
        self.conflicts: list[str] = []
        self.more_conflicts = 0

    def add(self, kind: Kind, records: Sequence[Record]) -> None:
        """Insert the records that are not stored yet; note conflicts."""
        if not records:
            return
        # Of a table that was empty everything stored is what this call wrote: nothing needs to be
        # looked up.
        empty = self.connection.execute(sa.select(kind.table.c.entry).limit(1)).first() is None
        written: dict[Row, Row] | None = {} if empty else None
        new = sum(self._chunk(kind, chunk, written) for chunk in _chunks(records))
        self.new[kind.name] = new
        self.unchanged[kind.name] = len(records) - new

    def _chunk(self, kind: Kind, records: Sequence[Record], written: dict[Row, Row] | None) -> int:
        rows = [kind.row(record) for record in records]
        first = _positions(kind)[0]
        stored_rows = (
            _stored(self.connection, kind, [row[first] for row in rows])
            if written is None
            else written
        )
        fresh: list[Row] = []
        owner, salt = owner_of(kind.name), self.salts.of
        extra = (
            {"entry": self.entry, "revision": 1}
            if kind.name == "ratings"
            else {"entry": self.entry}
        )
        for row, record in zip(rows, records, strict=True):
            key = _key(kind, row)
            before = stored_rows.get(key)
            if before is None:
                stored_rows[key] = row
                self.total += audit.fingerprint(row, salt(owner(row)))
                fresh.append((*row, *extra.values()))
            elif before != row:
                self._conflict(kind, before, row, record)
        if fresh and not self.more_conflicts:
            self._insert(kind, (*kind.names, *extra), fresh)
        return len(fresh)

    def _insert(self, kind: Kind, names: Sequence[str], rows: Sequence[Row]) -> None:
        # The driver gets the rows as they are: taking each apart by column names would take as long
        # as writing it.
        text, places = statements.insertion(kind, tuple(names), self.connection.dialect)
        if places is not None:
            if places != tuple(range(len(names))):
                rows = [tuple([row[place] for place in places]) for row in rows]
            self.connection.exec_driver_sql(text, list(rows))
        else:
            self.connection.exec_driver_sql(
                text, [dict(zip(names, row, strict=True)) for row in rows]
            )

    def _conflict(self, kind: Kind, before: Row, row: Row, record: Record) -> None:
        self.more_conflicts += 1
        if not self.conflicts:
            self.conflicts.append(_conflict(kind, before, row, record))

    def raise_conflicts(self) -> None:
        """Raise the first conflict, and say how many more there are."""
        if self.conflicts:
            more = self.more_conflicts - 1
            rest = "" if not more else f" (and {more} more conflict{'s' if more > 1 else ''})"
            raise ConflictError(self.conflicts[0] + rest)

    def replace(self, kind: Kind, key: Row, row: Row, at: str, event_id: str) -> None:
        """Move the stored value of a rating to its history and put the new one in its place."""
        table, history = schema.ratings, schema.revisions
        has_key = sa.and_(*(table.c[n] == v for n, v in zip(kind.key, key, strict=True)))
        names = [c.name for c in table.columns]
        superseded = sa.select(
            *(table.c[n] for n in names), sa.literal(at), sa.literal(event_id)
        ).where(has_key)
        self.connection.execute(
            sa.insert(history).from_select([*names, "superseded_at", "superseded_by"], superseded)
        )
        values = {
            **dict(zip(kind.names, row, strict=True)),
            "entry": self.entry,
            "revision": table.c.revision + 1,
        }
        self.connection.execute(sa.update(table).where(has_key).values(values))
        self.total += audit.fingerprint(row, self.salts.of(owner_of(kind.name)(row)))


def _chunks(records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    for start in range(0, len(records), _CHUNK):
        yield records[start : start + _CHUNK]


def _conflict(kind: Kind, before: Row, row: Row, record: Record) -> str:
    """Name the record and the first field in which what is stored and what was given differ."""
    old: Any = kind.read(before)
    if isinstance(record, Rating):
        stored_label, new_label = (
            r.label if r.state == "rated" else "abstained" for r in (old, record)
        )
        if old.rater != record.rater:
            return (
                f"{name_of(record)}: its task {record.task!r} is stored as rated by {old.rater!r}"
            )
        if (old.state, old.label) != (record.state, record.label):
            return f"{name_of(record)}: stored {stored_label!r}, got {new_label!r}"
    name = next(n for n, was, now in zip(kind.names, before, row, strict=True) if was != now)
    return (
        f"{name_of(record)}: {name} stored {_cut(getattr(old, name))}, got"
        f" {_cut(getattr(record, name))}"
    )


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
