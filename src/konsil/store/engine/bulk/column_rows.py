"""Rows that come as columns: hashed without a tuple for each record."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Mapping, Sequence

import polars as pl

from konsil.analysis.table.columns import Columns
from konsil.store.engine.bulk.fingerprints import escaped, texts_of_floats
from konsil.store.engine.rows import Kind, Record

CHUNK = 20_000


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
    schema = {field.name: _TYPES.get(field.type, pl.String) for field in kind.fields}
    return pl.DataFrame([kind.row(record) for record in records], schema, orient="row")


_TYPES: Mapping[str, type[pl.DataType]] = {"number": pl.Float64, "whole number": pl.Int64}


def total(kind: Kind, frame: pl.DataFrame, owner: str, salts: Mapping[str, str]) -> int | None:
    """The sum of the fingerprints of rows, with the salts of those in the column `owner`.

    None where a row has a text that no database keeps, or quotes and backslashes in a plain text:
    such rows are hashed one by one.
    """
    parts, n_quotes, n_backslashes = [], 0, 0
    for field, series in zip(kind.fields, frame.iter_columns(), strict=True):
        if series.dtype == pl.Float64:
            parts.append(pl.Series(series.name, texts_of_floats(series.to_list()), pl.String))
        elif series.dtype == pl.Int64:
            parts.append(series.cast(pl.String))
        else:
            n_quotes += 2 * (len(series) - series.null_count())
            if field.type != "text":  # JSON, in which the hashed text escapes both
                backslashes, quotes = (_count(series, character) for character in ("\\", '"'))
                n_quotes, n_backslashes = (
                    n_quotes + quotes,
                    n_backslashes + 2 * backslashes + quotes,
                )
                series = series.str.replace_all("\\", "\\\\", literal=True)
                series = series.str.replace_all('"', '\\"', literal=True)
            parts.append(_quoted(series))
    rows = pl.DataFrame(parts)
    text = pl.concat_str(pl.lit("["), pl.concat_str(pl.all(), separator=","), pl.lit("]"))
    texts = rows.select(text).to_series().to_list()
    everything = "".join(texts)
    if everything.count('"') != n_quotes or everything.count("\\") != n_backslashes:
        return None
    if not (everything.isascii() and everything.isprintable()):
        if "\0" in everything:
            return None
        texts = [escaped(text) for text in texts]
    del everything
    if owner:
        prefixes = frame[owner].replace_strict(salts, return_dtype=pl.String).to_list()
        texts = [prefix + text for prefix, text in zip(prefixes, texts, strict=True)]
    sha256 = hashlib.sha256
    digests = [sha256(text).digest() for text in map(str.encode, texts)]
    return sum(map(int.from_bytes, digests))


def _count(series: pl.Series, character: str) -> int:
    return int(series.str.count_matches(character, literal=True).sum())


def _quoted(series: pl.Series) -> pl.Series:
    name = series.name
    quoted = pl.concat_str(pl.lit('"'), pl.col(name), pl.lit('"')).fill_null("null")
    return series.to_frame().select(quoted.alias(name)).to_series()
