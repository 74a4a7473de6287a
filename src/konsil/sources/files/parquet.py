"""Parquet files, every column as text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from konsil.errors import SourceError
from konsil.errors.message import message
from konsil.sources.files.apart import read_apart, unpacked_limit
from konsil.sources.files.cells import as_text
from konsil.sources.files.header import named

CELLS = 100_000_000
"""Cells a table may have."""


def check_parquet(path: Path, where: str) -> int:
    """Refuse what is no Parquet file; give the bytes that it may unpack to."""
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            raise SourceError(
                message(
                    "{where}: this is not a Parquet file", message_id="file.no_parquet", where=where
                )
            )
    return unpacked_limit(path.stat().st_size)


def read_parquet(data: bytes, where: str) -> tuple[pl.DataFrame, Sequence[int]]:
    """All cells as text, and the number of each row, from 1."""
    with parquet_faults(where):
        frame = _read_all(data, where)
        texts = [column_text(column, where) for column in frame.get_columns()]
        size = int(sum(column.estimated_size() for column in texts))
    _check_size(size, len(data), where)
    if not frame.height:
        raise SourceError(
            message(
                "{where}: the file has columns but no row",
                message_id="file.columns_without_rows",
                where=where,
            )
        )
    return named(pl.DataFrame(texts), frame.columns, where), range(1, frame.height + 1)


def read_columns(data: bytes, where: str) -> pl.DataFrame:
    """The columns as they are typed, for files that konsil itself wrote."""
    with parquet_faults(where):
        frame = _read_all(data, where)
        size = int(frame.estimated_size())
    _check_size(size, len(data), where)
    return frame


def columns_apart(path: Path) -> pl.DataFrame:
    """The same, read by a child process: an export comes from anywhere."""
    return read_apart("columns", path, "", path.name, check_parquet(path, path.name))[0]


def _read_all(data: bytes, where: str) -> pl.DataFrame:
    frame = pl.read_parquet(io.BytesIO(data))
    if frame.height * frame.width > CELLS:
        raise SourceError(
            message(
                "{where}: the table has more than the {cells:,} cells that it may have",
                message_id="file.parquet_cells",
                where=where,
                cells=CELLS,
            )
        )
    return frame


@contextmanager
def parquet_faults(where: str) -> Iterator[None]:
    """Faults of reading a Parquet file as a SourceError each."""
    try:
        yield
    except MemoryError:
        raise SourceError(
            message(
                "{where}: reading the Parquet file takes more memory than it may",
                message_id="file.parquet_memory",
                where=where,
            )
        ) from None
    except (pl.exceptions.PolarsError, OSError, ValueError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SourceError(
            message(
                "{where}: the Parquet file is damaged: {reason}",
                message_id="file.parquet_damaged",
                where=where,
                reason=reason,
            )
        ) from None


def _check_size(size: int, packed: int, where: str) -> None:
    if size > unpacked_limit(packed):
        raise SourceError(
            message(
                "{where}: {packed:,} bytes unpack to {size:,}, more than the {most:,}"
                " allowed; save the table as CSV",
                message_id="file.parquet_size",
                where=where,
                packed=packed,
                size=size,
                most=unpacked_limit(packed),
            )
        )


def column_text(column: pl.Series, where: str) -> pl.Series:
    """The cells of a typed column as text; binary data are refused."""
    kind = column.dtype
    if (
        isinstance(kind, pl.String | pl.Categorical | pl.Enum)
        or kind.is_integer()
        or kind == pl.Boolean
    ):
        text = column.cast(pl.String)
        return text.set(text == "", None)
    if kind == pl.Binary or kind == pl.Object:
        raise SourceError(
            message(
                "{where}: column {column!r} contains binary data; expected texts or numbers",
                message_id="file.binary",
                where=where,
                column=column.name,
            )
        )
    values: list[object] = column.to_list()
    if kind == pl.Float32:
        # Through the shortest text, since 0.1 kept in 32 bits is not the 0.1 of 64 bits.
        values = [None if t is None else float(t) for t in column.cast(pl.String).to_list()]
    return pl.Series(column.name, [as_text(v) for v in values], dtype=pl.String)
