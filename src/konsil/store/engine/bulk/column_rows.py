"""Rows that come as columns: hashed without a tuple for each record."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import NoneType
from typing import Any, cast

import polars as pl

from konsil.analysis.table.columns import Columns
from konsil.plan.model.task_columns import TaskColumns
from konsil.store.engine.bulk.fingerprints import (
    MOST_WHOLE,
    escaped,
    row_text,
    texts_of_floats,
)
from konsil.store.engine.cells import UnfitError, strings_cell, strings_cells, text_cell
from konsil.store.engine.rows import Field, Kind, Record

CHUNK = 20_000
_PLAIN = bytes({*range(0x20, 0x7F)} - {*b'"\\'})
"""Characters that JSON writes as they are."""


def are_different(kind: Kind, records: Sequence[Record]) -> bool:
    """Whether each is a record of its own; False, too, where two keys happen to look alike."""
    if isinstance(records, Columns):
        keys = records.frame.select(pl.struct(kind.key).hash()).to_series()
        return keys.n_unique() == len(keys)
    return len({*map(operator.attrgetter(*kind.key), records)}) == len(records)


def chunk(kind: Kind, records: Sequence[Record], start: int) -> pl.DataFrame:
    """The rows of the next records; a StoreError says which field no database can keep."""
    if isinstance(records, Columns):
        part = records.frame[start : start + CHUNK]
        return part.with_columns(pl.col(pl.Categorical).cast(pl.String))
    return frame_of(kind, records[start : start + CHUNK])


def records_of_chunk(records: Sequence[Record], start: int) -> Sequence[Record]:
    """The same records as such."""
    if isinstance(records, Columns):
        return tuple(records.with_frame(records.frame[start : start + CHUNK]))
    return records[start : start + CHUNK]


def frame_of(kind: Kind, records: Sequence[Record]) -> pl.DataFrame:
    """The rows of records as columns; a StoreError says which field no database can keep."""
    columns = _columns(kind, records)
    if columns is not None:
        return pl.DataFrame(columns)
    schema = {field.name: _type(field) for field in kind.fields}
    return pl.DataFrame([kind.row(record) for record in records], schema, orient="row")


def _columns(kind: Kind, records: Sequence[Record]) -> list[pl.Series] | None:
    """The cells of each field; None where records have to be looked at one by one.

    These are ratings, whose state and label belong together, and what no database can keep.
    """
    if kind.name == "ratings" or not records:
        return None
    try:
        return [_column(field, _values(records, field.name)) for field in kind.fields]
    except (UnfitError, UnicodeEncodeError, TypeError, ValueError, AttributeError):
        return None


def _values(records: Sequence[Record], name: str) -> Sequence[Any]:
    if isinstance(records, TaskColumns):
        return records.column(name)
    return [*map(operator.attrgetter(name), records)]


def _column(field: Field, values: Sequence[Any]) -> pl.Series:
    # Equal values of other types may have different cells, such as 0.0 and -0.0, or 1 and True.
    first = values[0]
    if isinstance(first, str | None) and values.count(first) == len(values):
        cell = field.to_cell(first)
        return pl.repeat(cell, len(values), dtype=_type(field), eager=True).alias(field.name)
    return pl.Series(field.name, _cells(field, values), _type(field))


def _cells(field: Field, values: Sequence[Any]) -> Sequence[Any]:
    """The cells of one field, as `to_cell` makes each of them."""
    types = {*map(type, values)}
    if types == {str} and field.to_cell is text_cell:
        text_cell("".join(values))
        return values
    if types <= {str, NoneType} and field.type == "text":
        cell_by_value = {value: field.to_cell(value) for value in {*values}}
        return [cell_by_value[value] for value in values]
    if types == {tuple} and not any(values):
        return ["[]"] * len(values)
    if types == {tuple} and field.to_cell is strings_cell:
        return strings_cells(values)
    return [*map(field.to_cell, values)]


def _type(field: Field) -> type[pl.DataType]:
    return _TYPES.get(field.type, pl.String)


_TYPES: Mapping[str, type[pl.DataType]] = {"number": pl.Float64, "whole number": pl.Int64}


def total(kind: Kind, frame: pl.DataFrame, owner: str, salts: Mapping[str, str]) -> int | None:
    """The sum of the fingerprints of rows, with the salts of those in the column `owner`.

    None where a row has a text that no database keeps, or quotes and backslashes in a plain text:
    such rows are hashed one by one.
    """
    parts: list[pl.Expr | str] = []
    n_quotes = n_backslashes = 0
    first = frame.row(0)
    for field, series, cell, is_alike in zip(
        kind.fields, frame.iter_columns(), first, are_constant(frame), strict=True
    ):
        parts.append("," if parts else "[")
        if is_alike:
            if isinstance(cell, str) and "\0" in cell:
                return None
            text = row_text((cell,))[1:-1]
            n_quotes += text.count('"') * len(series)
            n_backslashes += text.count("\\") * len(series)
            parts.append(text)
        elif series.dtype == pl.Float64:
            parts.append(pl.lit(_numbers(series)))
        elif series.dtype == pl.Int64:
            parts.append(pl.col(series.name).cast(pl.String).fill_null("null"))
        else:
            n_quotes += 2 * (len(series) - series.null_count())
            text_of_cell = pl.col(series.name)
            if field.type != "text":  # JSON, in which the hashed text escapes both
                backslashes, quotes = (_count(series, character) for character in ("\\", '"'))
                n_quotes, n_backslashes = (
                    n_quotes + quotes,
                    n_backslashes + 2 * backslashes + quotes,
                )
                text_of_cell = _escaped(text_of_cell, backslashes, quotes)
            parts += _quoted(text_of_cell, has_null=series.null_count() > 0)
    parts.append("]")
    if owner:
        # Salts have neither quotes nor backslashes.
        parts.insert(0, pl.lit(frame[owner].replace_strict(salts, return_dtype=pl.String)))
    text_of_row = pl.concat_str(merged_parts(parts))
    texts = frame.select(text_of_row.cast(pl.Binary)).to_series().to_list()
    others = _other_characters(b"".join(texts))
    if others.count(b'"') != n_quotes or others.count(b"\\") != n_backslashes:
        return None
    if len(others) != n_quotes + n_backslashes:
        if b"\0" in others:
            return None
        texts = [escaped(text.decode()).encode() for text in texts]
    sha256 = hashlib.sha256
    digests = [sha256(text).digest() for text in texts]
    return sum(map(int.from_bytes, digests))


def _other_characters(text: bytes) -> bytes:
    """All quotes and backslashes, and what JSON may escape."""
    return text.translate(None, _PLAIN)


def are_constant(frame: pl.DataFrame) -> tuple[bool, ...]:
    """Whether each column has the same value in all rows."""
    return frame.select(pl.all().eq_missing(pl.all().first()).all()).row(0)


def _numbers(series: pl.Series) -> pl.Series:
    """The JSON of finite numbers."""
    integers = series.cast(pl.Int64, strict=False)
    if (integers.cast(pl.Float64).eq_missing(series) & (integers.abs() <= MOST_WHOLE)).all():
        return (integers.cast(pl.String) + ".0").fill_null("null")
    return pl.Series(series.name, texts_of_floats(series.to_list()), pl.String)


def _count(series: pl.Series, character: str) -> int:
    return int(series.str.count_matches(character, literal=True).sum())


def _escaped(text: pl.Expr, backslashes: int, quotes: int) -> pl.Expr:
    if backslashes:
        text = text.str.replace_all("\\", "\\\\", literal=True)
    return text.str.replace_all('"', '\\"', literal=True) if quotes else text


def _quoted(text: pl.Expr, *, has_null: bool) -> Sequence[pl.Expr | str]:
    """The parts of a text in quotes, or null."""
    if not has_null:
        return ('"', text, '"')
    return (pl.concat_str(pl.lit('"'), text, pl.lit('"')).fill_null("null"),)


def merged_parts(parts: Sequence[pl.Expr | str]) -> list[pl.Expr]:
    """The parts of a row's text, neighbouring literal texts as one."""
    merged: list[pl.Expr] = []
    for is_text, group in groupby(parts, lambda part: isinstance(part, str)):
        if is_text:
            merged.append(pl.lit("".join(map(str, group))))
        else:
            merged += cast("Iterator[pl.Expr]", group)
    return merged
