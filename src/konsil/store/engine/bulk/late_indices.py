"""An empty SQLite table is filled without its indices, which are made of all rows at the end.

SQLite sorts the rows of an index in a third of the time that they take one by one. All of it
belongs to the transaction. SQLite makes the index of a primary key only together with its table,
but on disk it is like any other unique index: the description of the table in `sqlite_master`
therefore lacks the key while the table is filled, and is afterwards as before.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

_CACHE = 3 << 15
"""Kilobytes of SQLite's cache where keys come in no order. Otherwise its own 2,000 are faster: rows
are sorted in parts that the processor's cache holds."""
_KEY = re.compile(r",\s*PRIMARY KEY \(([^()]+)\)")
_TABLE = "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?"
_INDEX = "UPDATE sqlite_master SET name = ?, sql = ? WHERE type = 'index' AND name = ?"
Edit = tuple[str, tuple[str | None, ...]]
"""A statement that edits a description, and its values."""
_RELOADS = (3, 35)
"""The first version of SQLite in which the description is edited."""


@contextmanager
def indices_afterwards(connection: Connection, table: sa.Table) -> Iterator[None]:
    """Fill an empty table without its indices, which are made of all rows at the end.

    Where the description of tables may not be edited, the index of the primary key is filled with
    each row. An error leaves the transaction to be rolled back.
    """
    with _key_as_index(connection, table):
        statements = _statements_of_indices(connection, table)
        for name in statements:
            connection.exec_driver_sql(f'DROP INDEX "{name}"')
        yield
        for statement in statements.values():
            connection.exec_driver_sql(statement)


def _statements_of_indices(connection: Connection, table: sa.Table) -> Mapping[str, str]:
    """The name of each index of a table in SQLite, and the statement that makes it."""
    if connection.dialect.name != "sqlite":
        return {}
    statement = (
        "SELECT name, sql FROM sqlite_master"
        " WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ? ORDER BY rowid"
    )
    rows = connection.exec_driver_sql(statement, (table.name,))
    return dict(iter(rows))


@dataclass(frozen=True, slots=True)
class _PrimaryKey:
    """The primary key of a table in SQLite."""

    table: str
    """The table."""
    statement: str
    """The statement that makes the table."""
    without: str
    """The same without the key."""
    columns: str
    """The key's columns."""

    @property
    def index(self) -> str:
        """The name that SQLite gives to the key's index."""
        return f"sqlite_autoindex_{self.table}_1"

    @property
    def unique_index(self) -> str:
        """The name of the same index as one that can be dropped."""
        return f"{self.table}_by_primary_key"

    def as_unique_index(self) -> Sequence[Edit]:
        """Describe the key's index as one that can be dropped, and the table without the key."""
        index = f'CREATE UNIQUE INDEX "{self.unique_index}" ON "{self.table}" ({self.columns})'
        return (
            (_TABLE, (self.without, self.table)),
            (_INDEX, (self.unique_index, index, self.index)),
        )

    def as_key(self) -> Sequence[Edit]:
        """Describe both as they were."""
        return (
            (_TABLE, (self.statement, self.table)),
            (_INDEX, (self.index, None, self.unique_index)),
        )


def _primary_key(connection: Connection, table: sa.Table) -> _PrimaryKey | None:
    """The key of a table that has one with an index of its own, and no other constraint like it."""
    if connection.dialect.name != "sqlite" or sqlite3.sqlite_version_info < _RELOADS:
        return None
    query = "SELECT name, sql FROM sqlite_master WHERE tbl_name = ? AND type IN ('table', 'index')"
    rows = connection.exec_driver_sql(query, (table.name,))
    statements: dict[str, str | None] = dict(iter(rows))
    statement = statements.get(table.name) or ""
    without, n_keys = _KEY.subn("", statement)
    if n_keys != 1 or re.search(r"\b(PRIMARY|UNIQUE|WITHOUT)\b", without):
        return None
    key = _PrimaryKey(table.name, statement, without, _KEY.findall(statement)[0])
    return key if statements.get(key.index, "") is None else None


@contextmanager
def _key_as_index(connection: Connection, table: sa.Table) -> Iterator[None]:
    """Describe the index of a table's primary key as one that can be dropped and made anew."""
    key = _primary_key(connection, table)
    is_edited = key is not None and _edit_descriptions(connection, key.as_unique_index())
    if not is_edited and connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA cache_size = -{_CACHE}")
    yield
    if key is not None and is_edited:
        _edit_descriptions(connection, key.as_key())


def _edit_descriptions(connection: Connection, edits: Sequence[Edit]) -> bool:
    """Edit the descriptions of tables and read them anew; False where that is not permitted."""
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    try:
        if not connection.exec_driver_sql("PRAGMA writable_schema").scalar():
            return False
        for statement, values in edits:
            connection.exec_driver_sql(statement, values)
        return True
    finally:
        connection.exec_driver_sql("PRAGMA writable_schema = RESET")
