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

import json
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.store.engine import schema
from konsil.store.engine.bulk import chain, fingerprints
from konsil.store.engine.bulk.raw_rows import raw_rows
from konsil.store.engine.cells import dumps
from konsil.store.engine.rows import CALLS, KINDS
from konsil.store.log.salts import EVENT_OWNER, Owner, all_salts, owner_column, owner_of

ERASURE = "erasure"
"""The kind of an entry, and of an event, that says that a person's rows were erased."""
REPLACEMENT = "imports removed"
"""The kind of an entry that states that all imported records were removed, to be imported anew."""
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
LETTER = "letter"
"""The kind of an entry that states what became of a letter; data.who: to whom."""
START = "0" * 64
"""The hash before the first entry."""
_WITH_RESIDUES = frozenset({ERASURE, REPLACEMENT})
"""Kinds of entries that state what rows that are gone contributed to other entries' sums."""
_HEAD = "audit_head"
_MODULUS = 1 << 256
fingerprint = fingerprints.fingerprint
_CONTENT = '{"content":"'
_DIGITS = 64
_CONTENT_START = len(_CONTENT)
_CONTENT_END = _CONTENT_START + _DIGITS
_ENDINGS = 10_000


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


def content(total: int) -> str:
    """Write a sum of fingerprints as the log keeps it."""
    return f"{total % _MODULUS:064x}"


def covers(total: int) -> dict[str, object]:
    """The part of an entry's data that covers the rows that it wrote.

    It is the sum of their salted fingerprints.
    """
    return {"content": content(total), "salted": True}


_NOTHING = content(0)
_KIND = sa.select(schema.audit_log.c.kind).where(schema.audit_log.c.seq == sa.bindparam("of"))
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
    entry_hash = chain.entry_hash(seq, check_time(at), kind, text, previous)
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


def rewrite(connection: Connection, text_of: Callable[[int, str], str]) -> None:
    """Write every entry and the chain anew.

    `text_of` makes an entry's data of its number and its data.
    """
    table, previous, seq = schema.audit_log, START, 0
    change = sa.update(table).where(table.c.seq == sa.bindparam("of"))
    for row in connection.execute(sa.select(table).order_by(table.c.seq)).all():
        seq, text = row.seq, text_of(row.seq, row.data)
        entry_hash = chain.entry_hash(seq, row.at, row.kind, text, previous)
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
    before, previous = 0, START
    table = schema.audit_log.c
    query = sa.select(table.seq, table.at, table.kind, table.data, table.previous, table.hash)
    for rows in raw_rows(connection, query.order_by(table.seq)):
        columns = tuple(zip(*rows, strict=True))
        if not chain.is_continuation(columns, before, previous):
            yield from chain.breaks(rows, before, previous)
        before, previous = rows[-1][0], rows[-1][5]
        notes.note_all(columns[0], columns[2], columns[3])
    if before < count:
        yield f"audit log: it ends at entry {before}, but {count} were written; its tail is missing"
    elif before > count or previous != last:
        yield f"audit log: its last entry is not the one that was written last (entry {count})"
    yield from _rows(connection, notes)


class _Noted:
    """What the entries say of the rows that they wrote.

    An edited entry may hold anything, and says nothing.
    """

    def __init__(self) -> None:
        self.sums: dict[int, str] = {}
        """Entry -> the sum of its rows' fingerprints."""
        self.plain: set[int] = set()
        """Entries whose sum is of fingerprints without salt."""
        self.residues: dict[int, int] = defaultdict(int)
        """Entry -> what rows that were erased contributed."""
        self._salted: dict[str, bool] = {}
        """What follows a sum in an entry -> whether the sum is of salted fingerprints."""

    def note_all(self, seqs: Sequence[int], kinds: Sequence[Any], texts: Sequence[Any]) -> None:
        """Note what entries say: their numbers, kinds and data."""
        if _WITH_RESIDUES.isdisjoint(kinds) and self._are_alike(texts):
            digests = [text[_CONTENT_START:_CONTENT_END] for text in texts]
            self.sums.update(zip(seqs, digests, strict=True))
            return
        sums, plain, salted_by_ending = self.sums, self.plain, self._salted
        # Keys are sorted, so that most entries begin with their sum and many end alike.
        for seq, kind, text in zip(seqs, kinds, texts, strict=True):
            is_salted = salted_by_ending.get(text[_CONTENT_END:])
            is_plain_entry = kind not in _WITH_RESIDUES and text.startswith(_CONTENT)
            if is_salted is not None and is_plain_entry:
                digest = text[_CONTENT_START:_CONTENT_END]
                if digest.isalnum():
                    sums[seq] = digest
                    if not is_salted:
                        plain.add(seq)
                    continue
            self._parse(seq, kind, text)

    def _are_alike(self, texts: Sequence[Any]) -> bool:
        """Whether all begin with their sum, which is salted, and have known endings."""
        is_salted = self._salted.get
        digests = "".join([text[_CONTENT_START:_CONTENT_END] for text in texts])
        return (
            all(map(is_salted, {text[_CONTENT_END:] for text in texts}))
            and {text[:_CONTENT_START] for text in texts} == {_CONTENT}
            # nothing that ends a text of JSON or is escaped in it
            and '"' not in digests
            and "\\" not in digests
        )

    def _parse(self, seq: int, kind: str, text: str) -> None:
        try:
            data = json.loads(text)
        # An entry that cannot be read has another hash, which is reported already.
        except (ValueError, RecursionError):
            return
        if not isinstance(data, dict):
            return
        residues = data.get("residues") if kind in _WITH_RESIDUES else None
        if isinstance(noted := data.get("content"), str):
            self.sums[seq] = noted
            is_salted = data.get("salted") is True
            if not is_salted:
                self.plain.add(seq)
            if text.startswith(f'{_CONTENT}{noted}"') and len(noted) == _DIGITS:
                if len(self._salted) >= _ENDINGS:
                    self._salted.clear()
                self._salted[text[_CONTENT_END:]] = is_salted
        if isinstance(residues, dict):
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
    connection: Connection, tables: Iterable[Covered], plain: Container[int] = ()
) -> dict[int, int]:
    """Entry -> the sum of the fingerprints of its rows as they are now.

    Salted, except in the entries of `plain`.
    """
    totals: dict[int, int] = defaultdict(int)
    salts = all_salts(connection)
    for table, names, owner in tables:
        if owner is EVENT_OWNER:
            _add_events(totals, connection, salts, plain)
            continue
        rows = fingerprints.Owned(table, names, owner_column(owner))
        for entry, total in fingerprints.total_by_entry(connection, rows, salts, plain).items():
            totals[entry] += total
    return totals


def _add_events(
    totals: dict[int, int],
    connection: Connection,
    salts: Mapping[str, str],
    plain: Container[int],
) -> None:
    """Whom an event is about stands in one of several of its cells."""
    kind = KINDS["events"]
    query = sa.select(schema.events.c.entry, *(schema.events.c[n] for n in kind.names))
    for rows in raw_rows(connection, query):
        for row in rows:
            if (entry := row[0]) is not None:
                cells = tuple(row[1:])
                salt = "" if entry in plain else salts.get(EVENT_OWNER(cells), "")
                totals[entry] += fingerprint(cells, salt)


def _rows(connection: Connection, notes: _Noted) -> Iterator[str]:
    totals = sums(connection, TABLES, notes.plain)
    for seq, residue in notes.residues.items():
        if seq in notes.sums:
            totals[seq] += residue
    contents = {seq: content(total) for seq, total in totals.items()}
    of_rows = contents.get
    for seq in [n for n, noted in notes.sums.items() if noted != of_rows(n, _NOTHING)]:
        kind = connection.execute(_KIND, {"of": seq}).scalar_one()
        yield f"records: what entry {seq} ({kind}) wrote was changed afterwards, outside konsil"
    for seq in sorted(contents.keys() - notes.sums.keys()):
        yield f"records: some refer to entry {seq}, which recorded none"
