"""Everything that the database holds about one person, for that person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError, nearest
from konsil.store.engine import page_schema, schema
from konsil.store.engine.engine import reading
from konsil.store.log.db import Store

_BY_RATER = (
    schema.people,
    schema.letters,
    schema.tasks,
    schema.task_revisions,
    schema.ratings,
    schema.revisions,
    schema.attempts,
    page_schema.screens,
    page_schema.visits,
    page_schema.draft_events,
)
_BY_WHO = (
    page_schema.invitations,
    page_schema.visitors,
    page_schema.identities,
    page_schema.passkeys,
)
_SECRET = frozenset({"cookie", "csrf", "token", "public"})
"""Columns that open a page; they are no data about anybody."""
Rows = dict[str, list[dict[str, Any]]]


def own_data(store: Store, person: str) -> Rows:
    """Table -> the rows about a rater or a member of the staff; tables without any are left out.

    Events and entries of the log are found by their subject and wherever their data name the
    person.
    """
    with reading(store.engine) as connection:
        rows_by_table: Rows = {
            "raters": _rows(connection, schema.raters, schema.raters.c.id == person)
        }
        for table in _BY_RATER:
            rows_by_table[table.name] = _rows(connection, table, table.c.rater == person)
        for table in _BY_WHO:
            rows_by_table[table.name] = _rows(connection, table, table.c.who == person)
        tied = page_schema.sites.c.subject == person
        rows_by_table["sites"] = _rows(connection, page_schema.sites, tied)
        rows_by_table["staff"] = _rows(connection, schema.staff, schema.staff.c.who == person)
        tasks = sa.select(schema.tasks.c.id).where(schema.tasks.c.rater == person)
        rows_by_table["drafts"] = _rows(
            connection, page_schema.drafts, page_schema.drafts.c.task.in_(tasks)
        )
        e = schema.events
        rows_by_table["events"] = [
            row
            for row in _rows(connection, e, sa.true())
            if row["subject"] == person or names(row["data"], person)
        ]
        log = schema.audit_log
        rows_by_table["audit_log"] = [
            row for row in _rows(connection, log, sa.true()) if names(row["data"], person)
        ]
        if not any(rows_by_table.values()):
            rater_ids = connection.execute(sa.select(schema.raters.c.id)).scalars().all()
            raise StoreError(
                f"person: the database contains no data about {person!r};"
                f" {nearest(person, rater_ids)}"
            )
    return {name: rows for name, rows in rows_by_table.items() if rows}


def _rows(
    connection: Connection, table: sa.Table, where: sa.ColumnElement[bool]
) -> list[dict[str, Any]]:
    columns = [c for c in table.c if c.name not in _SECRET]
    query = sa.select(*columns).where(where).order_by(*table.primary_key.columns)
    return [dict(row._mapping) for row in connection.execute(query)]


def names(text: str, person: str) -> bool:
    """Whether data in JSON name the person, as a whole value or key.

    >>> names('{"by": "R1"}', "R1"), names('{"by": "R12"}', "R1")
    (True, False)
    """
    try:
        return person in set(_texts(json.loads(text)))
    except (ValueError, RecursionError):
        return False


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
