"""Rows to records, streamed in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records import Rating
from konsil.store.engine.rows import KINDS, Kind, KindName, Row

_CHUNK = 10_000
# Long or unique texts are not worth remembering; identifiers and labels occur thousands of times.
_UNIQUE = frozenset(
    {"text", "reference", "reasoning", "note", "raw", "at", "confidence", "seconds", "position"}
)


def each(connection: Connection, name: KindName) -> Iterator[Any]:
    """Stream the records of one kind in the order of their identity.

    Memory holds a few thousand rows at a time.
    """
    kind = KINDS[name]
    return (
        _each_rating(connection, kind) if name == "ratings" else _each(connection, kind, kind.key)
    )


def some(connection: Connection, name: KindName, where: sa.ColumnElement[bool]) -> Iterator[Any]:
    """Stream those records of one kind that meet a condition, in the order of their identity."""
    return _each(connection, KINDS[name], KINDS[name].key, where)


def records_of(kind: Kind, rows: Iterable[Row]) -> Iterator[Any]:
    """Make records of rows that come by task and criterion.

    Rows that are no ratings come by their identity.
    """
    return _in_place(_records(kind, rows)) if kind.name == "ratings" else _records(kind, rows)


def count(connection: Connection, name: KindName) -> int:
    """Count the records of one kind."""
    return int(
        connection.execute(sa.select(sa.func.count()).select_from(KINDS[name].table)).scalar_one()
    )


def has_answer_text(connection: Connection) -> bool:
    """Whether any answer has a text."""
    text = KINDS["answers"].table.c.text
    return connection.execute(sa.select(text).where(text != "").limit(1)).first() is not None


def _each(
    connection: Connection,
    kind: Kind,
    order: tuple[str, ...],
    where: sa.ColumnElement[bool] | None = None,
) -> Iterator[Any]:
    columns = kind.table.c
    query = sa.select(*(columns[n] for n in kind.names)).order_by(*(columns[n] for n in order))
    query = query if where is None else query.where(where)
    # Asked when the first record is: who never reads on leaves no cursor open at the server.
    with connection.execute(query.execution_options(yield_per=_CHUNK)) as result:
        yield from _records(kind, chain.from_iterable(result.partitions()))


def _records(kind: Kind, rows: Iterable[Row | sa.Row[Any]]) -> Iterator[Any]:
    # One string object per identifier instead of one per row: a million ratings fit in a few
    # hundred megabytes.
    memo: dict[str, str] = {}
    shared = [i for i, name in enumerate(kind.names) if name not in _UNIQUE]
    structured, record = kind.structured(), kind.record
    for row in rows:
        cells = list(row)
        for i in shared:
            cell = cells[i]
            if cell is not None:
                cells[i] = memo.setdefault(cell, cell)
        for i, from_cell in structured:
            cells[i] = from_cell(cells[i])
        yield record(*cells)


def _each_rating(connection: Connection, kind: Kind) -> Iterator[Rating]:
    # The database orders by task and criterion; JSON text does not sort as tuples do, so the rest
    # is sorted here.
    return _in_place(_each(connection, kind, ("task", "criterion")))


def _in_place(ratings: Iterable[Rating]) -> Iterator[Rating]:
    for _, group in groupby(ratings, key=lambda r: (r.task, r.criterion)):
        yield from sorted(group, key=_order_key)


def _order_key(rating: Rating) -> tuple[object, ...]:
    span = (rating.span.start, rating.span.end) if rating.span is not None else (-1, -1)
    return (rating.answers, rating.span is not None, span)
