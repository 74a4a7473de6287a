"""Changing rows that are only ever appended.

This is for an erasure and for a log that is anchored anew, and for nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.engine import Connection


@contextmanager
def unlocked(connection: Connection, *tables: str) -> Iterator[None]:
    """Let rows of these tables be changed inside the caller's transaction.

    Its end, either one, locks them again.
    """
    if connection.dialect.name == "postgresql":
        for table in tables:
            connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        # No `finally`: after an error the transaction is rolled back, and this with it.
        yield
        for table in tables:
            connection.exec_driver_sql(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        return
    triggers = connection.execute(
        sa.text(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN :tables"
        ).bindparams(sa.bindparam("tables", tables, expanding=True))
    ).all()
    for name, _ in triggers:
        connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
    # As above: after an error the rollback brings the triggers back.
    yield
    for _, statement in triggers:
        connection.exec_driver_sql(statement)
