"""Columns into a table: few values for each row in SQLite, a stream of text in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine.bulk.column_rows import are_constant
from konsil.store.engine.bulk.fingerprints import texts_of_floats
from konsil.store.engine.rows import Kind

_LONGEST_LITERAL = 200
"""Characters of a text that is written into a statement."""
_PLACEHOLDERS = ("%(", "__[")
"""What SQLAlchemy takes for the place of a parameter, also within a text of a statement."""
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))
"""What PostgreSQL's text format writes otherwise; the backslash comes first."""


def insert(
    connection: Connection, kind: Kind, frame: pl.DataFrame, extra: Mapping[str, int]
) -> None:
    """Insert rows, with the same values of further columns in each."""
    rows = frame.select(kind.names).with_columns(
        pl.lit(value).alias(name) for name, value in extra.items()
    )
    if connection.dialect.name == "postgresql":
        _copy(connection, kind.table, rows)
    else:
        _insert_varying(connection, kind.table, rows)


def _insert_varying(connection: Connection, table: sa.Table, rows: pl.DataFrame) -> None:
    """Insert rows of which only the values that differ are given one by one.

    Handing SQLite a value takes as long as storing it, and half of a rating's are the same in all.
    """
    first = zip(rows.columns, rows.row(0), are_constant(rows), strict=True)
    literals = {
        name: text
        for name, value, is_alike in first
        if is_alike and (text := _literal(value)) is not None
    }
    # A statement with neither rows nor parameters would insert one row.
    varying = [name for name in rows.columns if name not in literals] or rows.columns[:1]
    values: dict[str, sa.ColumnElement[Any]] = {
        name: sa.bindparam(name) if name in varying else sa.literal_column(literals[name])
        for name in rows.columns
    }
    # Inline: a key that stands in the statement would otherwise be returned for every row.
    statement = sa.insert(table).inline().values(values).compile(dialect=connection.dialect)
    columns = [rows.get_column(name).to_list() for name in statement.positiontup or ()]
    # By the driver's own cursor, which takes the rows one by one: they are never a list.
    # Several rows in a statement would need the key of a table that others refer to.
    cursor: Any = connection.connection.cursor()
    try:
        cursor.executemany(str(statement), zip(*columns, strict=True))
    finally:
        cursor.close()


def _literal(value: object) -> str | None:
    """The value in a statement; None for what is better given as a parameter."""
    if value is None:
        return "NULL"
    if type(value) is int:
        return str(value)
    if (
        isinstance(value, str)
        and value.isprintable()
        and len(value) <= _LONGEST_LITERAL
        and not any(mark in value for mark in _PLACEHOLDERS)
    ):
        return "'" + value.replace("'", "''") + "'"
    return None


def _copy(connection: Connection, table: sa.Table, rows: pl.DataFrame) -> None:
    """Stream rows to PostgreSQL within the transaction of the connection."""
    quote = connection.dialect.identifier_preparer.quote
    names = ", ".join(quote(name) for name in rows.columns)
    statement = f"COPY {quote(table.name)} ({names}) FROM STDIN (FORMAT text, ENCODING 'UTF8')"
    text = pl.DataFrame([_copied(series) for series in rows.iter_columns()]).write_csv(
        include_header=False, separator="\t", quote_style="never"
    )
    driver: Any = connection.connection.driver_connection
    errors: Any = connection.dialect.loaded_dbapi
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            copy.write(text.encode())
    except errors.Error as error:  # as SQLAlchemy raises those of its own statements
        raise sa.exc.DBAPIError(statement, None, error, hide_parameters=True) from error


def _copied(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Float64:
        series = pl.Series(series.name, texts_of_floats(series.to_list()), pl.String)
        return series.replace("null", "\\N")
    texts = series.cast(pl.String)
    for character, escape in _ESCAPES:
        texts = texts.str.replace_all(character, escape, literal=True)
    return texts.fill_null("\\N")
