"""All rows of a database in another one: from PostgreSQL to a file of SQLite, and back."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import page_schema
from konsil.store.engine.schema import meta, metadata

_ROWS_AT_ONCE = 2_000


def copy_rows(source: Connection, target: Connection) -> dict[str, int]:
    """Copy every row of `source` to `target`; the number of rows by table.

    Both have this version's tables, and those of `target` are empty but for the schema's number.
    `source` is one view of its database, and `target` a transaction: a copy is one moment, and all
    of it or nothing.
    """
    target.execute(sa.delete(meta))
    counts = {}
    # Sorted, so that a row is there before others refer to it.
    for table in metadata.sorted_tables:
        rows = source.execution_options(yield_per=_ROWS_AT_ONCE).execute(sa.select(table))
        counts[table.name] = 0
        for part in rows.mappings().partitions():
            target.execute(sa.insert(table), [dict(row) for row in part])
            counts[table.name] += len(part)
    return counts


def is_unused(connection: Connection) -> bool:
    """Whether this database has no records of konsil.

    A restore that was killed leaves tables without rows.
    """
    return not has_records(connection)


def has_records(connection: Connection) -> bool:
    """Whether a table of konsil has a row, other than the number of the schema."""
    tables = set(sa.inspect(connection).get_table_names()) & page_schema.TABLES - {meta.name}
    rows = (sa.select(sa.literal(1)).select_from(sa.table(name)).limit(1) for name in tables)
    return any(connection.execute(query).first() is not None for query in rows)


def drop_tables(connection: Connection) -> None:
    """Drop every table of konsil in a database of PostgreSQL, with what its migrations made."""
    metadata.drop_all(connection)
    connection.exec_driver_sql("DROP TABLE IF EXISTS alembic_version")
    connection.exec_driver_sql("DROP FUNCTION IF EXISTS konsil_append_only()")
