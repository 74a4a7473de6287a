"""The removal of what was imported, to import it anew, while nothing else is recorded.

The entries of the earlier imports stay in the log with the checksums of their files. An entry of
its own states how many records were removed and what their rows contributed to each entry's sum,
as an erasure does, so that the log still covers all rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.errors.message import message
from konsil.store.engine import schema
from konsil.store.engine.rows import KINDS, KindName
from konsil.store.log import audit, noting

OF_IMPORTS = frozenset({"import", noting.PROTOCOL, audit.REPLACEMENT})
"""Kinds of entries after which imports can be replaced."""
_REMOVED: tuple[KindName, ...] = (
    "ratings",
    "tasks",
    "answers",
    "items",
    "raters",
    "attempts",
    "events",
)
"""Kinds of records in the order in which they are removed."""
_UNTOUCHED = frozenset(
    {
        *(schema.meta.name, schema.audit_log.name, schema.imports.name, schema.salts.name),
        *(KINDS[kind].table.name for kind in KINDS),
    }
)
"""Tables with rows although nothing but imports is recorded."""


def import_sources(connection: Connection) -> tuple[str, ...]:
    """What each import was of, in their order."""
    table = schema.imports
    query = sa.select(table.c.source).order_by(table.c.entry)
    return tuple(connection.execute(query).scalars())


def obstacles(connection: Connection) -> tuple[str, ...]:
    """What is recorded besides imports of files, by the names of the log and of tables."""
    table = schema.audit_log
    kinds = connection.execute(sa.select(table.c.kind).distinct().order_by(table.c.kind)).scalars()
    others = [kind for kind in kinds if kind not in OF_IMPORTS]
    # A plan and simulated records are written like an import, but of no file.
    entries = audit.entries(connection, "import")
    others += sorted({str(e.get("source", "")) for e in entries if not e.get("files")})
    others += [
        each.name
        for each in schema.metadata.sorted_tables
        if each.name not in _UNTOUCHED
        and connection.execute(sa.select(sa.literal(1)).select_from(each).limit(1)).first()
    ]
    return tuple(dict.fromkeys(others))


def remove_imports(connection: Connection, *, at: str) -> Mapping[str, int]:
    """Remove all imported records in the caller's transaction; how many of each kind.

    A StoreError is raised where anything else is recorded, or where the log does not cover the
    records as they are.
    """
    audit.next_entry(connection)  # others who write wait here
    recorded = obstacles(connection)
    if recorded:
        kinds = ", ".join(map(repr, recorded))
        raise StoreError(
            message(
                "import: {kinds} is recorded besides imports; only imports can be replaced: begin"
                " in a new folder",
                message_id="import.other_kind",
                kinds=kinds,
            )
            if len(recorded) == 1
            else message(
                "import: {kinds} are recorded besides imports; only imports can be replaced: begin"
                " in a new folder",
                message_id="import.other_kinds",
                kinds=kinds,
            )
        )
    problem = next(audit.problems(connection), None)
    if problem is not None:
        raise StoreError(f"import: nothing was replaced, as the verification failed: {problem}")
    residues = _sums_of_rows(connection)
    counts = {kind: connection.execute(sa.delete(KINDS[kind].table)).rowcount for kind in _REMOVED}
    removed: dict[str, int] = {kind: n for kind, n in counts.items() if n}
    if removed:
        data = {"removed": removed, "residues": residues}
        audit.append(connection, audit.REPLACEMENT, data, at)
    return removed


def _sums_of_rows(connection: Connection) -> dict[str, str]:
    """Entry -> the sum of its rows, as the verified log states it."""
    numbers = {
        entry
        for kind in _REMOVED
        for entry in connection.execute(sa.select(KINDS[kind].table.c.entry).distinct()).scalars()
    }
    log = schema.audit_log.c
    query = sa.select(log.seq, log.data).where(log.seq.in_(sorted(numbers))).order_by(log.seq)
    return {str(seq): json.loads(text)["content"] for seq, text in connection.execute(query)}
