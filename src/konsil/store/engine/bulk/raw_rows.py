"""Statements on kinds of records, and rows as the driver gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect

from konsil.store.engine.rows import Kind

CHUNK = 500
"""Rows of SQLite at once: what is done with them meets them in the processor's cache, which takes a
quarter less time than with ten times as many."""
_STREAMED = 5_000
"""Rows that another database sends at once: each time the network is waited for."""


def raw_rows(connection: Connection, query: sa.Select[Any]) -> Iterator[Sequence[Any]]:
    """The rows of a query in chunks, as plain tuples where the driver has such.

    The query has no parameters but literal ones. SQLAlchemy's own rows take twice the time.
    """
    if connection.dialect.name != "sqlite":
        result = connection.execute(query.execution_options(yield_per=_STREAMED))
        yield from result.partitions()
        return
    text = query.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
    cursor: Any = connection.connection.cursor()
    try:
        cursor.execute(str(text))
        while rows := cursor.fetchmany(CHUNK):
            yield rows
    finally:
        cursor.close()


@lru_cache(maxsize=64)
def insertion(
    kind: Kind, names: tuple[str, ...], dialect: Dialect
) -> tuple[str, tuple[int, ...] | None]:
    """The statement that inserts rows of these columns.

    It comes with the places of its parameters where it goes by places.
    """
    compiled = sa.insert(kind.table).compile(dialect=dialect, column_keys=list(names))
    return str(compiled), (
        tuple(names.index(n) for n in compiled.positiontup or ()) if compiled.positional else None
    )


def by_first_key(kind: Kind) -> sa.Select[Any]:
    """The rows whose first key column is among the parameter `among`."""
    return having(kind, kind.key[0])


@cache
def having(kind: Kind, column: str) -> sa.Select[Any]:
    """The rows in which this column is among the parameter `among`."""
    chosen = kind.table.c[column].in_(sa.bindparam("among", expanding=True))
    return sa.select(*(kind.table.c[n] for n in kind.names)).where(chosen)
