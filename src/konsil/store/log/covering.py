"""Rows that change in place, covered by the audit log.

Screens, visits, changes of fields, invitations; and calls.

An entry that covers such rows carries a digest of each one (`traces`: table -> key -> digest, empty
for a row that was removed); the last digest of a row counts. The row carries the number of that
entry, and none while it is not covered since its last change: until the screen is handed in, or
until the log is brought up to date (`cover_all`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from konsil.store.engine import engine, page_schema, schema
from konsil.store.engine.rows import CALLS
from konsil.store.log import audit, noting
from konsil.store.log.salts import Salts, all_salts

KIND = "traces"
"""The kind of an entry that covers rows and says nothing else."""
CALLS_KIND = "calls"
"""The kind of an entry that covers calls."""
TABLES: Mapping[str, tuple[sa.Table, str, str]] = {
    "screens": (page_schema.screens, "task", "rater"),
    "visits": (page_schema.visits, "id", "rater"),
    "draft_events": (page_schema.draft_events, "id", "rater"),
    "invitations": (page_schema.invitations, "token", "who"),
    "sites": (page_schema.sites, "id", "subject"),
    "passkeys": (page_schema.passkeys, "id", "who"),
    "identities": (page_schema.identities, "id", "who"),
}
"""Table -> the column by which the log names its rows, and the column of whose salt they are hashed
with."""
_OF_TASKS = ("screens", "visits", "draft_events")
_DIGITS = 32
Traces = dict[str, dict[str, str]]


_ABOUT = 3
"""Columns of `rows_of` before the cells that are covered."""


def digest(row: sa.Row[Any], salt: str) -> str:
    """What the log says of a row of `rows_of`."""
    return audit.content(audit.fingerprint(tuple(row[_ABOUT:]), salt))[:_DIGITS]


def rows_of(name: str) -> sa.Select[Any]:
    """The rows of a table: key, entry, owner, and the cells that are covered."""
    table, key, owner = TABLES[name]
    return sa.select(
        table.c[key], table.c.entry, table.c[owner], *(c for c in table.c if c.name != "entry")
    )


# Every page that is handed in asks these; they are put together once.
_OPEN = {name: rows_of(name).where(t.c.entry.is_(None)) for name, (t, *_) in TABLES.items()}
_OPEN_OF_TASK = {n: _OPEN[n].where(TABLES[n][0].c.task == sa.bindparam("of")) for n in _OF_TASKS}
_MARK = {name: sa.update(t).where(t.c.entry.is_(None)) for name, (t, *_) in TABLES.items()}
_MARK_OF_TASK = {n: _MARK[n].where(TABLES[n][0].c.task == sa.bindparam("of")) for n in _OF_TASKS}


def cover_task(connection: Connection, task: str, at: str) -> None:
    """Cover what the pages know of a task that is handed in, in the caller's transaction."""
    _cover(connection, _OPEN_OF_TASK, _MARK_OF_TASK, {"of": task}, at)


def _cover(
    connection: Connection,
    queries: Mapping[str, sa.Select[Any]],
    marks: Mapping[str, sa.Update],
    bound: Mapping[str, str],
    at: str,
) -> None:
    traces: Traces = {}
    salts = Salts(connection)
    for name, query in queries.items():
        if rows := connection.execute(query, bound).all():
            traces[name] = {row[0]: digest(row, salts.of(row[2])) for row in rows}
    if traces:
        entry = audit.append(connection, KIND, {"traces": traces, "salted": True}, at)
        for name in traces:
            connection.execute(marks[name].values(entry=entry), bound)


def cover_all(opened: Engine, at: str) -> None:
    """Bring the log up to date: cover every row that is not covered since its last change."""
    with engine.reading(opened) as connection:
        if not count_uncovered(connection):
            return
    with engine.writing(opened) as connection:
        cover_now(connection, at)


def cover_now(connection: Connection, at: str) -> None:
    """The same in the caller's transaction."""
    _cover(connection, _OPEN, _MARK, {}, at)
    # Calls of older versions have no entry: one covers them all.
    older = schema.calls.c.entry.is_(None)
    rows = connection.execute(sa.select(*(schema.calls.c[n] for n in CALLS.names)).where(older))
    total, n = 0, 0
    for row in rows.yield_per(1_000):
        total, n = total + audit.fingerprint(tuple(row)), n + 1
    if n:
        entry = audit.append(connection, CALLS_KIND, {"calls": n, **audit.covers(total)}, at)
        connection.execute(sa.update(schema.calls).where(older).values(entry=entry))


def traces_of_invitations(connection: Connection, where: sa.ColumnElement[bool]) -> Traces:
    """The traces of these invitations for the next entry of this transaction.

    The invitations are marked as covered by it.
    """
    return traces_of("invitations", connection, where)


def traces_of(name: str, connection: Connection, where: sa.ColumnElement[bool]) -> Traces:
    """The same of the rows of any table that is covered row by row."""
    entry, salts = audit.next_entry(connection), Salts(connection)
    connection.execute(sa.update(TABLES[name][0]).where(where).values(entry=entry))
    rows = connection.execute(rows_of(name).where(where)).all()
    return {name: {row[0]: digest(row, salts.of(row[2])) for row in rows}}


def count_uncovered(connection: Connection) -> int:
    """Count the rows that changed since an entry covered them, or that none has covered yet."""
    tables = (*(table for table, *_ in TABLES.values()), schema.calls)
    counts = [
        sa.select(sa.func.count()).select_from(t).where(t.c.entry.is_(None)).scalar_subquery()
        for t in tables
    ]
    return sum(connection.execute(sa.select(*counts)).one())


def problems(connection: Connection) -> Iterator[str]:
    """Say which rows are not as the log has them, one sentence a table.

    Nothing when all is well.
    """
    last: dict[str, dict[str, tuple[str, bool]]] = {name: {} for name in TABLES}
    for text in connection.execute(
        sa.select(schema.audit_log.c.data)
        .where(schema.audit_log.c.data.contains('"traces":'))
        .order_by(schema.audit_log.c.seq)
        .execution_options(yield_per=1_000)
    ).scalars():
        salted = '"salted":true' in text
        for name, digests in parsed(text).items():
            last.get(name, {}).update((key, (digest_, salted)) for key, digest_ in digests.items())
    salts = all_salts(connection)
    for name in TABLES:
        expected, changed = last[name], 0
        for row in connection.execute(rows_of(name).execution_options(yield_per=5_000)):
            # What is left in the end is no longer in its table.
            noted, salted = expected.pop(row[0], ("", False))
            changed += row[1] is not None and noted != digest(
                row, salts.get(row[2], "") if salted else ""
            )
        removed = sum(bool(noted) for noted, _ in expected.values())
        if changed:
            yield f"{name}: {_count(changed)} changed after the log covered them, outside konsil"
        if removed:
            yield f"{name}: {_count(removed)} removed after the log covered them, outside konsil"
    yield from _notes(connection)


def _count(n: int) -> str:
    return "1 row was" if n == 1 else f"{n:,} rows were"


def parsed(text: str) -> Traces:
    """What an entry says of rows; nothing where it says nothing of any."""
    try:
        traces = json.loads(text)["traces"]
        return {
            str(name): {str(k): str(d) for k, d in digests.items()}
            for name, digests in traces.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}  # an edited entry may hold anything; that it was edited is told of the chain


def _notes(connection: Connection) -> Iterator[str]:
    """The list of imports and the protocol's digest are in the log as well.

    Both must say the same.
    """
    t, log = schema.imports.c, schema.audit_log.c
    query = sa.select(t.entry, t.source, t.digest, t.at, log.at, log.data).join_from(
        schema.imports, schema.audit_log, t.entry == log.seq
    )
    for entry, source, digest, at, logged_at, text in connection.execute(query):
        data = _object(text)
        if (source, digest, at) != (data.get("source"), data.get("digest"), logged_at):
            yield (
                f"imports: the row of entry {entry} differs from the log; it was changed"
                " outside konsil"
            )
    listed = sa.select(t.entry).where(t.entry == log.seq).exists()
    n_removed = connection.execute(
        sa.select(sa.func.count()).where(log.kind == "import", ~listed)
    ).scalar_one()
    if n_removed:
        yield f"imports: {_count(n_removed)} removed after the log covered them, outside konsil"
    loose = sa.select(sa.func.count()).where(~sa.select(log.seq).where(log.seq == t.entry).exists())
    if added := connection.execute(loose.select_from(schema.imports)).scalar_one():
        rows = "1 row has" if added == 1 else f"{added:,} rows have"
        yield f"imports: {rows} no entry of the log; added outside konsil"
    protocols = audit.entries(connection, noting.PROTOCOL)
    if protocols and noting.study_digest(connection) != protocols[-1].get("now"):
        yield (
            "meta: the checksum of the protocol differs from the log; it was changed outside konsil"
        )


def _object(text: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
