"""Statements on kinds of records, put together once.

Building one takes longer than the database takes to run it.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from konsil.store.engine.rows import Kind


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
