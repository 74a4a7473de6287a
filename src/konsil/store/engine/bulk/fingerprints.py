"""Hashes of rows, of one and of many at once.

The hash of a row is that of its owner's salt and its JSON text. For many rows SQLite writes most
of this text, which takes a third of the time; where a row's text might differ from the one that is
written here cell by cell, the row is written here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import operator
import re
import sqlite3
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine.bulk.raw_rows import raw_rows

_ascii = json.encoder.encode_basestring_ascii
_hash_row = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_sha256 = hashlib.sha256
_number = int.from_bytes
MOST_WHOLE = 1e14
"""Whole numbers up to here are written with the same digits by all."""
_DELETE = "\x7f"
_RARE = re.compile("[^ -~]")


def fingerprint(row: Sequence[Any], salt: str = "") -> int:
    """Hash one row of a record, and its owner's salt, to a number.

    A sum over rows does not depend on their order.
    """
    return _number(_sha256(f"{salt}{row_text(row)}".encode()).digest())


def row_text(row: Sequence[Any]) -> str:
    """The JSON of a row that its hash is made of."""
    # As _hash_row writes it; cell by cell it takes a third of the time.
    cells = [_ascii(c) if type(c) is str else "null" if c is None else _cell(c) for c in row]
    return f"[{','.join(cells)}]"


def _cell(cell: object) -> str:
    """The JSON of a cell that is no text; most of these are numbers."""
    if type(cell) is int or (type(cell) is float and math.isfinite(cell)):
        return repr(cell)
    return _hash_row(cell)


def texts_of_floats(cells: Sequence[float | None]) -> list[str]:
    """The JSON of finite numbers."""
    return ["null" if cell is None else repr(cell) for cell in cells]


@dataclass(frozen=True, slots=True)
class Owned:
    """A table whose rows are hashed with the salt of their owner in one of its columns."""

    table: sa.Table
    """The table."""
    names: tuple[str, ...]
    """The columns that are hashed."""
    owner: str = ""
    """The column of the owner; empty: the rows have none."""


def total_by_entry(
    connection: Connection, of: Owned, salts: Mapping[str, str], plain: Container[int] = ()
) -> dict[int, int]:
    """Entry -> the sum of the fingerprints of its rows.

    Rows of the entries in `plain` are hashed without a salt. Rows without an entry are left out.
    """
    if connection.dialect.name == "sqlite":
        # SQLite refuses bytes, which JSON lacks and only a damaged table has, and versions before
        # 3.38 may lack the function: cell by cell, the sum is the same.
        with contextlib.suppress(sa.exc.OperationalError, sqlite3.OperationalError):
            return _total(_written_by_sqlite(connection, of), salts, plain)
    return _total(_written_here(connection, of), salts, plain)


Texts = Iterator[tuple[Sequence[Any], Sequence[Any], Sequence[str]]]
"""Entries, owners and JSON texts of rows, in chunks."""


def _total(chunks: Texts, salts: Mapping[str, str], plain: Container[int]) -> dict[int, int]:
    totals: dict[int, int] = defaultdict(int)
    salt_of = _Salts(salts).__getitem__
    for entries, owners, texts in chunks:
        n_first = entries.count(entries[0])
        if any(owners):
            salted = map(operator.add, map(salt_of, owners), texts)
            texts = (
                list(salted)
                if not any(entry in plain for entry in {*entries})
                else [
                    text if entry in plain else with_salt
                    for entry, text, with_salt in zip(entries, texts, salted, strict=True)
                ]
            )
        digests = [_sha256(text).digest() for text in map(str.encode, texts)]
        numbers = map(_number, digests)
        if n_first == len(entries):
            totals[entries[0]] += sum(numbers)
        else:
            for entry, number in zip(entries, numbers, strict=True):
                totals[entry] += number
    return totals


class _Salts(dict[str, str]):
    """Owner -> salt; none for those who have none."""

    def __missing__(self, owner: str) -> str:
        return ""


def _owner(of: Owned) -> sa.ColumnElement[Any]:
    return of.table.c[of.owner] if of.owner else sa.null()


def _written_here(connection: Connection, of: Owned) -> Texts:
    columns = of.table.c
    query = sa.select(columns.entry, _owner(of), *(columns[name] for name in of.names))
    for rows in raw_rows(connection, query.where(columns.entry.is_not(None))):
        entries, owners = ([row[place] for row in rows] for place in (0, 1))
        yield entries, owners, [row_text(row[2:]) for row in rows]


def _written_by_sqlite(connection: Connection, of: Owned) -> Texts:
    """SQLite writes the JSON of neighbouring columns; numbers with a point are written here.

    Their last digits are the driver's and not SQLite's, but for whole numbers.
    """
    columns = of.table.c
    is_written_here = _has_fractions(connection, of)
    parts: list[sa.ColumnElement[Any]] = []
    are_numbers: list[bool] = []
    for is_number, names in groupby(
        of.names, lambda name: is_written_here and isinstance(columns[name].type, sa.Float)
    ):
        cells = [columns[name] for name in names]
        parts += cells if is_number else [sa.func.json_array(*cells)]
        are_numbers += [True] * len(cells) if is_number else [False]
    query = sa.select(columns.entry, _owner(of), *parts).where(columns.entry.is_not(None))
    for rows in raw_rows(connection, query):
        entries, owners, *cells_by_part = zip(*rows, strict=True)
        if len(parts) == 1:
            yield entries, owners, _array_texts(cells_by_part[0])
            continue
        texts = [
            _number_texts(cells) if is_number else [t[1:-1] for t in _array_texts(cells)]
            for cells, is_number in zip(cells_by_part, are_numbers, strict=True)
        ]
        yield entries, owners, [f"[{text}]" for text in map(",".join, zip(*texts, strict=True))]


def _has_fractions(connection: Connection, of: Owned) -> bool:
    """Whether a row has a number that SQLite might write with other digits than Python."""
    columns = [of.table.c[n] for n in of.names if isinstance(of.table.c[n].type, sa.Float)]
    # Compared as they are: other types than numbers, which only an edited table has, are unequal.
    are_whole = [
        sa.or_(
            column.is_(None),
            sa.and_(
                column == sa.cast(column, sa.BigInteger),
                column.between(-MOST_WHOLE, MOST_WHOLE),
            ),
        )
        for column in columns
    ]
    if not columns:
        return False
    query = sa.select(sa.literal(1)).where(sa.not_(sa.and_(*are_whole))).limit(1)
    return connection.execute(query).first() is not None


def _array_texts(arrays: Sequence[str]) -> Sequence[str]:
    """What SQLite wrote as it is hashed.

    SQLite escapes quotes, backslashes and control characters, but neither letters nor DEL.
    """
    all_texts = "".join(arrays)
    if all_texts.isascii() and _DELETE not in all_texts:
        return arrays
    return [escaped(text) for text in arrays]


def escaped(text: str) -> str:
    r"""The text with every character outside of printable ASCII as JSON escapes it.

    >>> escaped('"größe"')
    '"gr\\u00f6\\u00dfe"'
    """
    return _RARE.sub(lambda match: _ascii(match.group())[1:-1], text)


def _number_texts(cells: Sequence[Any]) -> list[str]:
    # Only an edited table has other numbers, or no numbers at all.
    if {*map(type, cells)} <= {float, type(None)}:
        texts = texts_of_floats(cells)
        if "inf" not in "".join(texts):
            return texts
    return ["null" if cell is None else row_text((cell,))[1:-1] for cell in cells]
