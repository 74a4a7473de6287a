"""The new rows of a transaction, written under one entry of the audit log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import ConflictError
from konsil.progress import advance
from konsil.records import Rating
from konsil.store.engine import schema
from konsil.store.engine.bulk import raw_rows
from konsil.store.engine.rows import KINDS, Kind, Record, Row, name_of
from konsil.store.log import audit
from konsil.store.log.salts import EVENT_OWNER, Salts, owner_column, owner_of

_CHUNK = 5_000
_MANY = 1_000
"""Records from which on columns take less time."""


def key_of(kind: Kind, row: Row) -> Row:
    """The columns of a row by which it is known."""
    return tuple([row[i] for i in _positions(kind)])


# Found once per kind: a million rows are looked up by them.
_POSITIONS: dict[str, tuple[int, ...]] = {
    k.name: tuple(k.names.index(n) for n in k.key) for k in KINDS.values()
}


def _positions(kind: Kind) -> tuple[int, ...]:
    return _POSITIONS[kind.name]


def rows_by_key(connection: Connection, kind: Kind, firsts: Sequence[str]) -> dict[Row, Row]:
    """Find the stored rows whose first key column is among `firsts`, by identity."""
    cursor = connection.execute(raw_rows.by_first_key(kind), {"among": sorted(set(firsts))})
    rows = (tuple(row) for row in cursor)
    return {key_of(kind, row): row for row in rows}


class RecordWriter:
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
        # Of many new records none needs to be looked up among the others. Whom an event is about
        # is in one of several of its cells.
        is_many = empty and len(records) >= _MANY and owner_of(kind.name) is not EVENT_OWNER
        if is_many and _are_different(kind, records):
            self._add_different(kind, records)
            self.new[kind.name], self.unchanged[kind.name] = len(records), 0
            return
        new = n_completed = 0
        for chunk in _chunks(records):
            advance(f"{kind.name} stored", n_completed, len(records))
            new += self._chunk(kind, chunk, written)
            n_completed += len(chunk)
        advance(f"{kind.name} stored", n_completed, len(records))
        self.new[kind.name] = new
        self.unchanged[kind.name] = len(records) - new

    def _add_different(self, kind: Kind, records: Sequence[Record]) -> None:
        """Insert records that are all new and different, in columns."""
        from konsil.store.engine.bulk import column_insertion, column_rows, late_indices

        owner, extra = owner_column(owner_of(kind.name)), _extra(kind, self.entry)
        with late_indices.indices_afterwards(self.connection, kind.table):
            for start in range(0, len(records), column_rows.CHUNK):
                advance(f"{kind.name} stored", start, len(records))
                frame = column_rows.chunk(kind, records, start)
                owners = frame[owner].unique() if owner else ()
                salts = {name: self.salts.of(name) for name in owners}
                total = column_rows.total(kind, frame, owner, salts)
                if total is None:  # texts that have to be looked at one by one
                    self._chunk(kind, column_rows.records_of_chunk(records, start), {})
                    continue
                self.total += total
                if not self.more_conflicts:
                    column_insertion.insert(self.connection, kind, frame, extra)
        advance(f"{kind.name} stored", len(records), len(records))

    def _chunk(self, kind: Kind, records: Sequence[Record], written: dict[Row, Row] | None) -> int:
        rows = [kind.row(record) for record in records]
        first = _positions(kind)[0]
        stored_rows = (
            rows_by_key(self.connection, kind, [row[first] for row in rows])
            if written is None
            else written
        )
        fresh: list[Row] = []
        owner, salt = owner_of(kind.name), self.salts.of
        extra = _extra(kind, self.entry)
        for row, record in zip(rows, records, strict=True):
            key = key_of(kind, row)
            before = stored_rows.get(key)
            if before is None:
                # Within one call, too: a record that comes twice is new once.
                stored_rows[key] = row
                self.total += audit.fingerprint(row, salt(owner(row)))
                fresh.append((*row, *extra.values()))
            elif before != row:
                self._conflict(kind, before, row, record)
        # After a conflict nothing is written any more; further ones are only counted.
        if fresh and not self.more_conflicts:
            self._insert(kind, (*kind.names, *extra), fresh)
        return len(fresh)

    def _insert(self, kind: Kind, names: Sequence[str], rows: Sequence[Row]) -> None:
        # The driver gets the rows as they are: taking each apart by column names would take as long
        # as writing it.
        text, places = raw_rows.insertion(kind, tuple(names), self.connection.dialect)
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
        # Copied within the database: the old row stays as it was, with its entry.
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


def _extra(kind: Kind, entry: int) -> dict[str, int]:
    """The columns of a new row besides those of its record."""
    return {"entry": entry, "revision": 1} if kind.name == "ratings" else {"entry": entry}


def _are_different(kind: Kind, records: Sequence[Record]) -> bool:
    # Only many records are written in columns: other commands need not load Polars.
    from konsil.store.engine.bulk import column_rows

    return column_rows.are_different(kind, records)


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
