"""Records <-> Polars frames <-> CSV and Parquet files, without losing a bit.

In a frame every field of a record is a column; lists, tables and spans are JSON text; None is null.
In CSV an empty cell is null and a quoted empty cell is the empty text, and a text that a
spreadsheet would take for a formula gets an apostrophe in front, which reading takes away again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice
from pathlib import Path
from types import NoneType
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.analysis.table.columns import Columns, text_type
from konsil.errors import StoreError
from konsil.records.formulas import FORMULA, NUMBER
from konsil.store.engine import read
from konsil.store.engine.bulk import column_rows
from konsil.store.engine.bulk.raw_rows import raw_rows
from konsil.store.engine.cells import DamagedError, dumps
from konsil.store.engine.rows import Kind, Record

_CHUNK = 50_000
_PARTS = 100
"""Small frames that become one: each computation starts anew for every part of a frame."""
_FIRST = 100
"""Rows that are read to see which columns may have one value; smaller tables are read whole."""
_LONGEST_HEADER, _LONGEST_LINE = 1 << 16, 1 << 25
"""Bytes of a table's header and characters of a line of JSON that are read back."""
_TYPES = {"number": pl.Float64, "whole number": pl.Int64}
_GUARDED = r"^'+[=+\-@\t\r\n＝＋－＠]"


def columns(connection: Connection, kind: Kind) -> Columns[Any]:
    """Read the records of one kind as columns.

    It takes a fifth of the time of making them; the order is arbitrary until they are made.
    Columns with the same value in each row are read once.
    """
    schema = {f.name: _TYPES.get(f.type, text_type(f.name)) for f in kind.fields}
    constants = _constants(connection, kind)
    names = [name for name in kind.names if name not in constants]
    # An empty table has its columns, too.
    large = [pl.DataFrame(schema={name: schema[name] for name in names})]
    parts: list[pl.DataFrame] = []
    for rows in raw_rows(connection, sa.select(*(kind.table.c[n] for n in names))):
        cells = zip(names, zip(*rows, strict=True), strict=True)
        parts.append(pl.DataFrame([pl.Series(n, values, dtype=schema[n]) for n, values in cells]))
        if len(parts) == _PARTS:
            large.append(pl.concat(parts, rechunk=True))
            parts = []
    frame = pl.concat([*large, *parts]).with_columns(
        pl.lit(value, dtype=schema[name]).alias(name) for name, value in constants.items()
    )
    order = ("task", "criterion") if kind.name == "ratings" else kind.key
    return Columns(
        frame.select(kind.names),
        lambda frame: read.records_of(kind, frame.sort(order).iter_rows()),
    )


def columns_of(kind: Kind, records: Sequence[Record]) -> Columns[Any]:
    """The rows of these records, in their order, as columns.

    Texts that all rows share are categories, which take a quarter of the memory.
    """
    frame = column_rows.frame_of(kind, records)
    texts = frame.select(pl.col(pl.String))
    alike = [*compress(texts.columns, column_rows.are_constant(texts))]
    return Columns(
        frame.with_columns(pl.col(alike).cast(pl.Categorical)),
        lambda frame: read.records_of(kind, frame.iter_rows()),
    )


def _constants(connection: Connection, kind: Kind) -> dict[str, str | int | None]:
    """Column -> the value that all its rows have, of columns with such a value.

    The first rows show which columns may have one. Numbers with a point are left out, since 0.0 and
    -0.0 are equal.
    """
    cells = kind.table.c
    first = connection.execute(sa.select(*(cells[n] for n in kind.names)).limit(_FIRST)).all()
    if len(first) < _FIRST:
        return {}
    candidates = {
        field.name: values[0]
        for field, values in zip(kind.fields, zip(*first, strict=True), strict=True)
        if field.name not in kind.key
        and len({*values}) == 1
        and type(values[0]) in ((int,) if field.type == "whole number" else (str, NoneType))
    }
    tests = [
        sa.func.max(sa.case((cells[name].is_distinct_from(value), 1), else_=0))
        for name, value in candidates.items()
    ]
    if not tests:
        return {}
    differ = connection.execute(sa.select(*tests).select_from(kind.table)).one()
    return {
        name: value
        for (name, value), is_different in zip(candidates.items(), differ, strict=True)
        if not is_different
    }


def _schema(kind: Kind) -> dict[str, Any]:
    return {f.name: _TYPES.get(f.type, pl.String) for f in kind.fields}


def frames(kind: Kind, records: Iterable[Record]) -> Iterator[pl.DataFrame]:
    """Turn records into frames of at most fifty thousand rows.

    There is at least one, so that an empty table has its columns.
    """
    schema = _schema(kind)
    stream = iter(records)
    chunk = list(islice(stream, _CHUNK))
    # Even without records, so that the file has its header.
    yield _frame(kind, chunk, schema)
    while chunk := list(islice(stream, _CHUNK)):
        yield _frame(kind, chunk, schema)


def _frame(kind: Kind, chunk: Sequence[Record], schema: Mapping[str, Any]) -> pl.DataFrame:
    rows = [kind.row(record) for record in chunk]
    data = {
        # No span is the empty text in a row, where it is part of the identity; here it is null like
        # every None.
        f.name: [(row[i] or None) if f.type == "span" else row[i] for row in rows]
        for i, f in enumerate(kind.fields)
    }
    return pl.DataFrame(data, schema=schema)


def records(kind: Kind, frame: pl.DataFrame, where: str) -> Iterator[Any]:
    """Turn a frame back into records; a StoreError names the row and the column that cannot be."""
    missing = [name for name in kind.names if name not in frame.columns]
    if missing:
        raise StoreError(f"{where}: the column {missing[0]!r} is missing")
    for number, row in enumerate(frame.select(kind.names).iter_rows(), start=2):
        try:
            yield kind.read(
                tuple(
                    [
                        _cell(f.type, f.optional, cell)
                        for f, cell in zip(kind.fields, row, strict=True)
                    ]
                )
            )
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            reason = error.of_a_file if isinstance(error, DamagedError) else error
            raise StoreError(f"{where}: record {number - 1} cannot be read: {reason}") from None


def _cell(kind: str, optional: bool, cell: Any) -> Any:  # noqa: ANN401 - a cell has every type
    if kind == "span":
        return cell or ""
    if cell is None and not optional:
        # What a spreadsheet saved again: it does not tell an empty text from none.
        return {"text": "", "list": "[]", "table": "{}"}[kind]
    if isinstance(cell, str) and kind in ("number", "whole number"):
        return float(cell) if kind == "number" else int(cell)
    return cell


def write_csv(path: Path, parts: Iterable[pl.DataFrame]) -> int:
    """Write frames under one another as one CSV file and count the rows."""
    rows = 0
    with path.open("wb") as file:
        for number, part in enumerate(parts):
            pl.DataFrame([_csv_column(part[c]) for c in part.columns]).write_csv(
                file, include_header=number == 0
            )
            rows += part.height
    return rows


def _csv_column(series: pl.Series) -> pl.Series:
    if series.dtype.is_float():
        # Python's shortest text that reads back as the same number.
        return pl.Series(
            series.name, [None if v is None else repr(v) for v in series], dtype=pl.String
        )
    if series.dtype != pl.String:
        return series.cast(pl.String)
    risky = series.str.contains(FORMULA) & ~series.str.contains(NUMBER)
    return series.zip_with(~risky.fill_null(False), "'" + series)


def read_csv(path: Path) -> pl.DataFrame:
    """Read a CSV file that `write_csv` wrote; every column is text."""
    with path.open("rb") as file:
        if len(file.readline(_LONGEST_HEADER + 1)) > _LONGEST_HEADER:
            raise StoreError(f"{path.name}: has a header of more than {_LONGEST_HEADER:,} bytes")
    frame = pl.read_csv(path, infer_schema=False)
    return frame.with_columns(
        pl.when(pl.col(c).str.contains(_GUARDED))
        .then(pl.col(c).str.slice(1))
        .otherwise(pl.col(c))
        .alias(c)
        for c in frame.columns
    )


def write_parquet(path: Path, parts: Iterable[pl.DataFrame]) -> int:
    """Write frames under one another as one Parquet file and count the rows."""
    frame = pl.concat(list(parts), rechunk=False)
    frame.write_parquet(path, compression="zstd")
    return frame.height


def write_jsonl(path: Path, kind: Kind, stream: Iterable[Record]) -> int:
    """Write records as one JSON object a line and count them."""
    rows = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in stream:
            kind.row(record)  # the door: what the database refuses, a file does not get either
            file.write(
                dumps({f.name: f.to_json(getattr(record, f.name)) for f in kind.fields}) + "\n"
            )
            rows += 1
    return rows


def read_jsonl(path: Path, kind: Kind) -> Iterator[Any]:
    """Read what `write_jsonl` wrote; a StoreError names the line that cannot be read."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE + 1), ""), start=1):
            if len(line) > _LONGEST_LINE:
                raise StoreError(
                    f"{path.name}: line {number} has more than {_LONGEST_LINE:,} characters"
                )
            try:
                data = json.loads(line)
                yield kind.record(*[f.from_json(data[f.name]) for f in kind.fields])
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
                raise StoreError(f"{path.name}: line {number} cannot be read: {error}") from None
