"""Anchoring an older log anew.

Entries that have plain hashes of rows get salted ones, in a chain that begins again.

Plain hashes of a person's rows could be undone by trying after these rows were erased. What is kept
of the old chain is its head, the number of its entries and whether it was whole, in the entry that
says that the log was anchored anew. Numbers, times, kinds and all else that the entries state stay
as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import schema
from konsil.store.engine.cells import dumps
from konsil.store.engine.unlocking import unlocked
from konsil.store.log import audit, covering
from konsil.store.log.salts import Salts

KIND = "log anchored anew"
"""Kind of the entry; data.before: the head of the chain before; data.entries; data.problems: what
was wrong with it."""
_MOST_PROBLEMS = 20
_CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Anchored:
    """A log that was anchored anew."""

    before: str
    """The head of the chain before."""
    at: str
    """When."""
    problems: tuple[str, ...]
    """What was wrong with that chain."""


def is_older(connection: Connection) -> bool:
    """Whether any entry has plain hashes of rows."""
    data = schema.audit_log.c.data
    hashed = sa.or_(data.contains('"content":'), data.contains('"traces":'))
    query = (
        sa.select(schema.audit_log.c.seq).where(hashed, ~data.contains('"salted":true')).limit(1)
    )
    return connection.execute(query).first() is not None


def anchored(connection: Connection) -> tuple[Anchored, ...]:
    """How often, and from which heads, this log was anchored anew."""
    log = schema.audit_log.c
    anchorings = []
    for at, text in connection.execute(
        sa.select(log.at, log.data).where(log.kind == KIND).order_by(log.seq)
    ):
        data = _object(text) or {}
        problems = data.get("problems")
        shown = tuple(map(str, problems)) if isinstance(problems, list) else ()
        anchorings.append(Anchored(str(data.get("before", "")), at, shown))
    return tuple(anchorings)


def anchor(connection: Connection, at: str, *, by: str = "") -> Anchored:
    """Write the chain anew in the caller's transaction, whatever was wrong with it.

    An entry of the log states this.
    """
    count, last = audit.head(connection, lock=True)
    problems = (*audit.problems(connection), *covering.problems(connection))[:_MOST_PROBLEMS]
    covering.cover_now(connection, at)
    salts = Salts(connection)
    _give_salts(connection, salts)
    totals, digests = audit.sums(connection, audit.TABLES), _digests(connection, salts)
    with unlocked(connection, "audit_log"):
        audit.rewrite(connection, lambda seq, text: _rewritten(seq, text, totals, digests))
    record = Anchored(f"{count}-{last}", at, problems)
    data = {"before": record.before, "entries": count, "problems": list(problems)} | (
        {"by": by} if by else {}
    )
    audit.append(connection, KIND, data, at)
    return record


def _give_salts(connection: Connection, salts: Salts) -> None:
    """See to it that whoever owns a row has a salt."""
    for table, names, owner in audit.TABLES:
        query = sa.select(*(table.c[n] for n in names)).execution_options(yield_per=_CHUNK)
        # Read to the end first, because the salts are written to the same database.
        for row in list({owner(tuple(row)) for row in connection.execute(query)}):
            salts.of(row)


def _digests(connection: Connection, salts: Salts) -> dict[tuple[int, str, str], str]:
    """Entry, table, key -> the digest of the row that this entry covers."""
    digests: dict[tuple[int, str, str], str] = {}
    for name in covering.TABLES:
        for row in connection.execute(covering.rows_of(name)).all():
            if row[1] is not None:
                digests[row[1], name, row[0]] = covering.digest(row, salts.of(row[2]))
    return digests


def _rewritten(
    seq: int, text: str, totals: Mapping[int, int], digests: Mapping[tuple[int, str, str], str]
) -> str:
    """What an entry says, with salted hashes of the rows as they are now.

    Digests of earlier states are left out.
    """
    data = _object(text)
    if data is None:
        return text
    if "content" in data:
        data |= audit.covers(totals.get(seq, 0))
    if "traces" in data:
        traces = {
            name: {
                key: digests.get((seq, name, key), "")
                for key, digest in rows.items()
                if not digest or (seq, name, key) in digests
            }
            for name, rows in covering.parsed(text).items()
        }
        data |= {"traces": {name: rows for name, rows in traces.items() if rows}, "salted": True}
    return dumps(data)


def _object(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
