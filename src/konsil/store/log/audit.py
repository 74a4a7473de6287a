"""The audit log: append-only, hash-chained, and covering the rows that each entry wrote.

Entry n carries SHA-256 over its own content and entry n-1's hash, so that an edited, missing or
moved entry breaks the chain; the count and the last hash are kept apart in meta, so that a cut tail
is seen too. An entry that wrote records carries their fingerprint (the sum of the rows' hashes), so
that a rating changed behind konsil's back is seen as well. Rows about a person are hashed with the
person's salt (`salts`); an entry about an erasure has, by entry, what the rows that are gone
contributed to its sum, a number that means nothing once the salt is gone too. Entries without
`salted` are of older versions: their sums are of plain hashes. The chain has no secret: it finds
accidents and careless edits. Against someone who can rewrite the whole database, publish the last
hash (`head`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.store.engine import schema
from konsil.store.engine.cells import dumps
from konsil.store.engine.rows import CALLS, KINDS, Row
from konsil.store.log.salts import Owner, all_salts, owner_of

ERASURE = "erasure"
"""The kind of an entry, and of an event, that says that a person's rows were erased."""
INVITATION = "invitation"
"""The kind of an entry that says that a link was made; data.who: for whom; data.by: who made it."""
REVOCATION = "invitations revoked"
"""The kind of an entry that says that somebody's links were revoked; data as above."""
SITES = "sites"
"""The kind of an entry that states the sites of a person or a link."""
PASSKEY = "passkey"
"""The kind of an entry that states that a person registered or used a passkey."""
IDENTITY = "identity"
"""The kind of an entry that states whose an account of a sign-in service is."""
START = "0" * 64
"""The hash before the first entry."""
_HEAD = "audit_head"
_MODULUS = 1 << 256
_ascii = json.encoder.encode_basestring_ascii
_hash_row = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def check_time(at: str) -> str:
    """Accept a time in ISO 8601 and UTC, such as 2025-03-01T12:00:00Z.

    Anything else is a StoreError.
    """
    try:
        moment = datetime.fromisoformat(at)
    except (ValueError, TypeError):
        raise StoreError(
            f"at: {at!r} is not a time in ISO 8601, such as 2025-03-01T12:00:00Z"
        ) from None
    if moment.utcoffset() != timedelta(0):
        raise StoreError(f"at: {at!r} is not in UTC; expected a time such as 2025-03-01T12:00:00Z")
    return at


def fingerprint(row: Row, salt: str = "") -> int:
    """Hash one row of a record, and its owner's salt, to a number.

    A sum over rows does not depend on their order.
    """
    # The JSON of the row, as _hash_row writes it; cell by cell it takes a third of the time.
    cells = [_ascii(c) if type(c) is str else "null" if c is None else _cell(c) for c in row]
    return int.from_bytes(hashlib.sha256(f"{salt}[{','.join(cells)}]".encode()).digest(), "big")


def _cell(cell: object) -> str:
    """The JSON of a cell that is no text; most of these are numbers."""
    if type(cell) is int or (type(cell) is float and math.isfinite(cell)):
        return repr(cell)
    return _hash_row(cell)


def content(total: int) -> str:
    """Write a sum of fingerprints as the log keeps it."""
    return f"{total % _MODULUS:064x}"


def covers(total: int) -> dict[str, object]:
    """The part of an entry's data that covers the rows that it wrote.

    It is the sum of their salted fingerprints.
    """
    return {"content": content(total), "salted": True}


# Every page that is handed in appends an entry, so its statements are put together once.
_READ_HEAD = sa.select(schema.meta.c.value).where(schema.meta.c.key == _HEAD)
_LOCKED_HEAD = _READ_HEAD.with_for_update()
_ENTRY = sa.insert(schema.audit_log)
_MOVE_HEAD = sa.update(schema.meta).where(schema.meta.c.key == _HEAD)


def head(connection: Connection, *, lock: bool = False) -> tuple[int, str]:
    """Read the log's count and last hash.

    With `lock`, keep other writers out until the transaction ends.
    """
    value = connection.execute(_LOCKED_HEAD if lock else _READ_HEAD).scalar_one_or_none()
    if value is None:
        raise StoreError("the head of the audit log is missing from the database; restore a backup")
    try:
        count, last = json.loads(value)
        return int(count), str(last)
    except (ValueError, TypeError, RecursionError, OverflowError):
        raise StoreError(
            "the head of the audit log cannot be read; it was edited or damaged: restore a backup"
        ) from None


def entries_since(connection: Connection, digest: str) -> int | None:
    """Count the entries after the one with this hash; None where no entry has it."""
    table = schema.audit_log
    last = connection.execute(sa.select(sa.func.max(table.c.seq))).scalar_one() or 0
    if digest == START:
        return int(last)
    seq = connection.execute(
        sa.select(table.c.seq).where(table.c.hash == digest)
    ).scalar_one_or_none()
    return None if seq is None else int(last) - int(seq)


def append(connection: Connection, kind: str, data: Mapping[str, object], at: str) -> int:
    """Append an entry inside the caller's transaction and give its number."""
    count, previous = head(connection, lock=True)
    seq = count + 1
    try:
        text = dumps(dict(data))
        f"{kind}{text}".encode()
    except (TypeError, ValueError):  # a file's name, for one, may be no text at all
        raise StoreError(
            f"audit log: the entry {kind!r} is not text, numbers, lists and tables"
        ) from None
    entry_hash = _hash(seq, check_time(at), kind, text, previous)
    row = {
        "seq": seq,
        "at": at,
        "kind": kind,
        "data": text,
        "previous": previous,
        "hash": entry_hash,
    }
    connection.execute(_ENTRY, row)
    connection.execute(_MOVE_HEAD, {"value": dumps([seq, entry_hash])})
    return seq


def entries(connection: Connection, kind: str) -> tuple[dict[str, Any], ...]:
    """What the entries of one kind say, in their order.

    An entry that was edited may hold anything and says nothing.
    """
    table = schema.audit_log
    query = sa.select(table.c.data).where(table.c.kind == kind).order_by(table.c.seq)
    parsed = []
    for (text,) in connection.execute(query):
        try:
            data = json.loads(text)
        # A damaged entry is reported by `problems`.
        except ValueError:
            continue
        if isinstance(data, dict):
            parsed.append(data)
    return tuple(parsed)


def next_entry(connection: Connection) -> int:
    """Give the number that the next entry of this transaction will have."""
    return head(connection, lock=True)[0] + 1


def _hash(seq: int, at: str, kind: str, data: str, previous: str) -> str:
    return hashlib.sha256(_hash_row([seq, at, kind, data, previous]).encode()).hexdigest()


def rewrite(connection: Connection, text_of: Callable[[int, str], str]) -> None:
    """Write every entry and the chain anew.

    `text_of` makes an entry's data of its number and its data.
    """
    table, previous, seq = schema.audit_log, START, 0
    change = sa.update(table).where(table.c.seq == sa.bindparam("of"))
    for row in connection.execute(sa.select(table).order_by(table.c.seq)).all():
        seq, text = row.seq, text_of(row.seq, row.data)
        entry_hash = _hash(seq, row.at, row.kind, text, previous)
        connection.execute(
            change, {"of": seq, "data": text, "previous": previous, "hash": entry_hash}
        )
        previous = entry_hash
    connection.execute(_MOVE_HEAD, {"value": dumps([seq, previous])})


def problems(connection: Connection) -> Iterator[str]:
    """Say what is wrong with the log and with the rows it covers, one sentence each.

    Nothing when all is well.
    """
    notes = _Noted()
    count, last = head(connection)
    seq, previous = 0, START
    table = schema.audit_log
    for row in connection.execute(
        sa.select(table).order_by(table.c.seq).execution_options(yield_per=5_000)
    ):
        if row.seq != seq + 1:
            missing = (
                f"entry {seq + 1} is"
                if row.seq == seq + 2
                else f"entries {seq + 1} to {row.seq - 1} are"
            )
            yield f"audit log: {missing} missing"
        elif row.previous != previous:
            yield (
                f"audit log: entry {row.seq} ({row.kind}) does not follow entry {seq}; it was moved"
                " or replaced"
            )
        if row.hash != _hash(row.seq, row.at, row.kind, row.data, row.previous):
            yield f"audit log: entry {row.seq} ({row.kind}) was edited"
        seq, previous = row.seq, row.hash
        notes.note(row.seq, row.kind, row.data)
    if seq < count:
        yield f"audit log: it ends at entry {seq}, but {count} were written; its tail is missing"
    elif seq > count or previous != last:
        yield f"audit log: its last entry is not the one that was written last (entry {count})"
    yield from _rows(connection, notes)


class _Noted:
    """What the entries say of the rows that they wrote.

    An edited entry may hold anything, and says nothing.
    """

    def __init__(self) -> None:
        self.sums: dict[int, tuple[str, str]] = {}
        """Entry -> its kind, and the sum of its rows' fingerprints."""
        self.salted: set[int] = set()
        """Entries whose sum is of salted fingerprints."""
        self.residues: dict[int, int] = defaultdict(int)
        """Entry -> what rows that were erased contributed."""

    def note(self, seq: int, kind: str, text: str) -> None:
        try:
            data = json.loads(text)
        # An entry that cannot be read has another hash, which is reported already.
        except (ValueError, RecursionError):
            return
        if not isinstance(data, dict):
            return
        if isinstance(noted := data.get("content"), str):
            self.sums[seq] = (kind, noted)
            if data.get("salted") is True:
                self.salted.add(seq)
        residues = data.get("residues")
        if kind == ERASURE and isinstance(residues, dict):
            for entry, residue in residues.items():
                try:
                    self.residues[int(entry)] += int(residue, 16)
                except (ValueError, TypeError):
                    continue


Covered = tuple[sa.Table, tuple[str, ...], Owner]
TABLES: tuple[Covered, ...] = (
    *((kind.table, kind.names, owner_of(kind.name)) for kind in KINDS.values()),
    (schema.revisions, KINDS["ratings"].names, owner_of("ratings")),
    (schema.task_revisions, KINDS["tasks"].names, owner_of("tasks")),
    (schema.calls, CALLS.names, owner_of("calls")),
)
"""Tables whose rows are in an entry's sum, the columns that are, and whose salt a row has."""


def sums(
    connection: Connection, tables: Iterable[Covered], salted: Container[int] | None = None
) -> dict[int, int]:
    """Entry -> the sum of the fingerprints of its rows as they are now.

    Salted in these entries, or in all.
    """
    totals: dict[int, int] = defaultdict(int)
    salts = all_salts(connection)
    for table, names, owner in tables:
        query = sa.select(table.c.entry, *(table.c[n] for n in names)).execution_options(
            yield_per=5_000
        )
        for row in connection.execute(query):
            if (entry := row[0]) is not None:
                cells = tuple(row[1:])
                salt = salts.get(owner(cells), "") if salted is None or entry in salted else ""
                totals[entry] += fingerprint(cells, salt)
    return totals


def _rows(connection: Connection, notes: _Noted) -> Iterator[str]:
    totals = sums(connection, TABLES, notes.salted)
    for seq, residue in notes.residues.items():
        if seq in notes.sums:
            totals[seq] += residue
    for seq, (kind, noted) in notes.sums.items():
        if content(totals.pop(seq, 0)) != noted:
            yield f"records: what entry {seq} ({kind}) wrote was changed afterwards, outside konsil"
    for seq in sorted(totals):
        yield f"records: some refer to entry {seq}, which recorded none"
