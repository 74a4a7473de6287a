"""The audit log as a table to read: when, what, who, about whom or what, why."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import schema
from konsil.store.engine.cells import dumps
from konsil.store.engine.rows import KINDS
from konsil.store.log import audit, study_events

_CHUNK = 1_000
_WHO = ("by", "who", "rater")
_ABOUT = frozenset({audit.INVITATION, audit.REVOCATION, audit.SITES, audit.IDENTITY, audit.LETTER})
"""Kinds of entries whose `who` is the person that they are about, and not the one who acted."""
_FOR_RATER = frozenset(
    {study_events.BATCH_CLOSED, study_events.BATCH_REOPENED, study_events.KIT_MADE}
)
"""Kinds of events whose `rater` is the person that they are about, and not the one who acted."""
_HIDDEN = ("content", "salted", "challenge", "residues", "traces", "forms", "by", "who", "reason")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the audit log."""

    seq: int
    """Its number, from 1."""
    at: str
    """When, ISO 8601 in UTC."""
    kind: str
    """What happened."""
    who: str
    """Who did it; empty where no person did."""
    subject: str
    """The task, rater or batch that it is about; empty where it is about several, or none."""
    records: str
    """What it wrote: '3 ratings, 1 event'."""
    why: str
    """The reason that was given."""
    details: str
    """What else it states, as a JSON object."""
    hash: str
    """Its hash, which covers all entries before it."""


def read_entries(
    connection: Connection, *, kind: str = "", last: int | None = None
) -> Iterator[Entry]:
    """Read the entries in their order: all, those of one kind, or the last ones."""
    table = schema.audit_log
    query = sa.select(table).order_by(table.c.seq)
    if kind:
        query = query.where(table.c.kind == kind)
    if last is not None:
        numbers = sa.select(table.c.seq).where(*([table.c.kind == kind] if kind else []))
        query = query.where(table.c.seq.in_(numbers.order_by(table.c.seq.desc()).limit(last)))
    for rows in connection.execute(query.execution_options(yield_per=_CHUNK)).partitions(_CHUNK):
        numbers_here = (rows[0].seq, rows[-1].seq)
        events = _events(connection, *numbers_here)
        counts = _counts(connection, *numbers_here)
        for row in rows:
            yield _entry(row, events.get(row.seq, {}), counts.get(row.seq, {}))


# A row has no type.
def _entry(
    row: Any,  # noqa: ANN401
    event: Mapping[str, Any],
    counts: Mapping[str, int],
) -> Entry:
    try:
        data = json.loads(row.data)
    except (ValueError, RecursionError):
        data = {}
    data = data if isinstance(data, dict) else {}
    facts = {**event, **data}
    about = str(event.get("subject", ""))
    if row.kind in _ABOUT:
        about = str(facts.pop("who", ""))
    if row.kind in _FOR_RATER:
        about = ", ".join(filter(None, (about, str(facts.pop("rater", "")))))
    new = data.get("new")
    if isinstance(new, dict):
        counts = {name: n for name in KINDS if isinstance(n := new.get(name), int) and n}
    records = ", ".join(
        f"{n:,} {name if n != 1 else name.removesuffix('s')}" for name, n in counts.items()
    )
    return Entry(
        row.seq,
        row.at,
        row.kind,
        next((str(facts[name]) for name in _WHO if facts.get(name)), ""),
        about,
        records,
        str(facts.get("reason") or ""),
        dumps({name: value for name, value in data.items() if name not in _HIDDEN}),
        row.hash,
    )


def _events(connection: Connection, first: int, last: int) -> dict[int, dict[str, Any]]:
    """Entry -> the contents of the events that it wrote.

    They are person and reason where these agree, and the subject of a single event.
    """
    e = schema.events.c
    query = sa.select(e.entry, e.subject, e.data).where(e.entry.between(first, last))
    facts_by_entry: dict[int, dict[str, Any]] = {}
    for entry, subject, text in connection.execute(query):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = {}
        data = data if isinstance(data, dict) else {}
        facts = {name: data[name] for name in (*_WHO, "reason") if isinstance(data.get(name), str)}
        facts_by_entry[entry] = (
            _shared(facts_by_entry[entry], facts)
            if entry in facts_by_entry
            else {"subject": subject, **facts}
        )
    return facts_by_entry


def _shared(facts: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What two events of an entry state, without that in which they differ.

    What only one states is of both.
    """
    return {
        name: value
        for name, value in {**other, **facts}.items()
        if name != "subject" and facts.get(name, value) == other.get(name, value)
    }


def _counts(connection: Connection, first: int, last: int) -> dict[int, dict[str, int]]:
    """Entry -> how many ratings it wrote, superseded ones included."""
    n_by_entry: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for name, table in (("ratings", schema.ratings), ("ratings", schema.revisions)):
        query = sa.select(table.c.entry, sa.func.count()).where(table.c.entry.between(first, last))
        for entry, n in connection.execute(query.group_by(table.c.entry)):
            n_by_entry[entry][name] += n
    return n_by_entry
