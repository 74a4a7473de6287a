"""Parquet files, every column as text."""

from __future__ import annotations

import io
from collections.abc import Sequence

import polars as pl

from konsil.errors import SourceError
from konsil.sources.cells import as_text
from konsil.sources.header import named


def read_parquet(data: bytes, where: str) -> tuple[pl.DataFrame, Sequence[int]]:
    """All cells as text, and the number of each row, from 1."""
    if not data.startswith(b"PAR1"):
        raise SourceError(f"{where}: this is not a Parquet file")
    try:
        frame = pl.read_parquet(io.BytesIO(data))
        texts = [_text(column, where) for column in frame.get_columns()]
    except (pl.exceptions.PolarsError, OSError, ValueError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SourceError(f"{where}: the Parquet file is damaged: {reason}") from None
    if not frame.height:
        raise SourceError(f"{where}: the file has columns and no row")
    return named(pl.DataFrame(texts), frame.columns, where), range(1, frame.height + 1)


def _text(column: pl.Series, where: str) -> pl.Series:
    kind = column.dtype
    if isinstance(kind, pl.String | pl.Categorical | pl.Enum) or kind.is_integer() or kind == pl.Boolean:
        text = column.cast(pl.String)
        return text.set(text == "", None)
    if kind == pl.Binary or kind == pl.Object:
        raise SourceError(f"{where}: column {column.name!r} holds binary data; expected texts or numbers")
    values: list[object] = column.to_list()
    if kind == pl.Float32:
        # Through the shortest text, since 0.1 kept in 32 bits is not the 0.1 of 64 bits.
        values = [None if t is None else float(t) for t in column.cast(pl.String).to_list()]
    return pl.Series(column.name, [as_text(v) for v in values], dtype=pl.String)
