"""The column of each field: a Source's mapping resolved against a table's header."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from konsil.errors import SourceError, nearest
from konsil.errors.message import message, placed
from konsil.errors.unknown_names import unknown_name
from konsil.records import Source
from konsil.sources.files.table import Table

JOIN = " / "
"""The separator between the columns that make one field."""

_LONGEST_ID = 200

# In texts blanks at the ends may be meant and a part may be missing; in identifiers and labels
# neither is.
_TEXTS = frozenset({"text", "reasoning", "reference", "note"})


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields that a table has, and where each comes from."""

    of: Mapping[str, tuple[str, ...]]
    """Field -> its columns."""
    fixed: Mapping[str, str]
    """Field -> its value in every row."""
    hashed: frozenset[str]
    """Fields that are digested."""
    values: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    """Field -> the file's value -> the record's."""

    def __contains__(self, field: str) -> bool:
        """Whether the table or the source says anything of this field."""
        return field in self.of or field in self.fixed

    def called(self, field: str) -> str:
        """The name of a field in errors: the columns from which it is read."""
        return JOIN.join(self.of.get(field, (field,)))

    def expression(self, field: str) -> pl.Expr:
        """The field's text, null where it is empty or absent."""
        text = self._text(field)
        if field in self.fixed or not self.values.get(field):
            return text
        return text.replace(dict(self.values[field])).alias(field)

    def _text(self, field: str) -> pl.Expr:
        if field in self.fixed:
            return pl.lit(self.fixed[field], dtype=pl.String).alias(field)
        columns = [_stripped(c, field) for c in self.of.get(field, ())]
        if not columns:
            return pl.lit(None, dtype=pl.String).alias(field)
        if len(columns) == 1:
            return columns[0].alias(field)
        if field not in _TEXTS:
            return pl.concat_str(columns, separator=JOIN).alias(field)
        joined = pl.concat_str(columns, separator=JOIN, ignore_nulls=True)
        return (
            pl.when(pl.any_horizontal(c.is_not_null() for c in columns)).then(joined).alias(field)
        )

    def digested(self, frame: pl.DataFrame, where: str) -> pl.DataFrame:
        """The frame with the hashed fields' texts replaced by their digests."""
        for field in self.hashed & set(frame.columns):
            texts = frame[field].drop_nulls().unique().sort().to_list()
            ids = [digest(field, text) for text in texts]
            if len(set(ids)) < len(texts):
                fact = message(
                    "two texts of {field!r} have the same checksum; provide identifiers instead",
                    message_id="columns.same_checksum",
                    field=field,
                )
                raise SourceError(placed(where, fact))
            frame = frame.with_columns(
                pl.col(field).replace_strict(texts, ids, default=None, return_dtype=pl.String)
            )
        return frame


def digest(field: str, text: str) -> str:
    """A short identifier of a long text, by BLAKE2b.

    It is the field's first letter and ten hexadecimal digits.

    >>> digest("item", "Which drug comes first?")
    'i595572e34d'
    """
    return field[0] + hashlib.blake2b(text.encode(), digest_size=5).hexdigest()


def resolve(
    table: Table,
    source: Source,
    fields: Sequence[str],
    hashed_from: Mapping[str, str] | None = None,
) -> Columns:
    """Find the columns of all fields.

    A field that the source does not name is read from the column of its name.

    A field that is mapped to no column at all is not read. `hashed_from` says of which other field
    a hashed one without a column is the digest.
    """
    header = table.frame.columns
    for key, mapping in (
        ("columns", source.columns),
        ("fixed", source.fixed),
        ("hashed", source.hashed),
        ("values", source.values),
    ):
        for field in mapping:
            if field not in fields and not (key == "fixed" and field in source.strata):
                raise SourceError(
                    f"{table.name}: {key}: {source.records} have no field {field!r};"
                    f" {nearest(field, fields)}"
                )
    both = sorted(set(source.columns) & set(source.fixed))
    if both:
        raise SourceError(
            f"{table.name}: {both[0]!r} is both a column and a fixed value; expected one of them"
        )
    columns_by_field = {
        field: tuple(column(table, name, f"columns.{field}") for name in names)
        for field, names in source.columns.items()
    }
    for field in fields:
        if field not in source.columns and field not in source.fixed:
            same = _same_name(field, header, table.name)
            if same is not None:
                columns_by_field[field] = (same,)
    columns_by_field = {field: names for field, names in columns_by_field.items() if names}
    for field in source.hashed:
        other = (hashed_from or {}).get(field, "")
        if field not in columns_by_field and other in columns_by_field:
            columns_by_field[field] = columns_by_field[other]
        if not any(f in columns_by_field for f in (field, f"{field}_a", f"{field}_b")):
            raise SourceError(
                f"{table.name}: hashed: there is no column for {field!r}; set columns.{field} to"
                " the column of its text"
            )
    hashed = frozenset(
        f
        for f in fields
        if f in source.hashed
        or f.removesuffix("_a") in source.hashed
        or f.removesuffix("_b") in source.hashed
    )
    return Columns(columns_by_field, dict(source.fixed), hashed, source.values)


def refuse_texts(columns: Columns, frame: pl.DataFrame, fields: Iterable[str], where: str) -> None:
    """Refuse identifiers that are full texts.

    The column has the field's name but other contents.
    """
    for field in fields:
        if field in columns.of and field not in columns.hashed:
            long = frame.select(
                pl.col(field).filter(pl.col(field).str.len_chars() > _LONGEST_ID).first()
            ).item()
            if long is not None:
                fact = message(
                    "{column!r} contains texts ({text!r}), not identifiers; set hashed ="
                    ' ["{field}"], or columns.{field} = [] not to read it',
                    message_id="columns.texts",
                    column=columns.called(field),
                    text=f"{long[:40]}...",
                    field=field,
                )
                raise SourceError(placed(where, fact))


def column(table: Table, name: str, key: str) -> str:
    """The table's column of this name, exactly or but for case.

    An error with the nearest name where there is none.
    """
    header = table.frame.columns
    same = _same_name(name.strip(), header, table.name)
    if same is None:
        fact = unknown_name("column", name, nearest(name, header))
        raise SourceError(placed(table.name, placed(key, fact)))
    return same


def require(columns: Columns, field: str, table: Table, source: Source) -> None:
    """Refuse a table that says nothing of a field that its records cannot do without."""
    if field not in columns:
        fact = message(
            "{records} need {field!r}: there is no column of that name;"
            ' set columns.{field} = "..." or fixed.{field} = "..."; the columns are {columns}',
            message_id="columns.needed",
            records=source.records,
            field=field,
            columns=", ".join(repr(c) for c in _abridged(table.frame.columns)),
        )
        raise SourceError(placed(table.name, fact))


def _abridged(names: Sequence[str]) -> Iterable[str]:
    return names if len(names) <= 20 else [*names[:19], "..."]


def _same_name(name: str, header: Sequence[str], where: str) -> str | None:
    if name in header:
        return name
    same = [h for h in header if h.casefold() == name.casefold()]
    if len(same) > 1:
        fact = message(
            "{name!r} could be any of the columns {columns}; name one",
            message_id="columns.ambiguous",
            name=name,
            columns=", ".join(map(repr, same)),
        )
        raise SourceError(placed(where, fact))
    return same[0] if same else None


def _stripped(name: str, field: str) -> pl.Expr:
    if field in _TEXTS:
        return pl.col(name)
    clean = pl.col(name).str.strip_chars()
    return pl.when(clean != "").then(clean)
