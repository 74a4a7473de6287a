"""Record <-> row: one description per kind of record, made from the record's own types.

A row is a tuple in the order of the record's fields. Structures are canonical JSON text; a span
that is None is the empty text in a row, because it is part of a rating's identity and a database
counts two NULLs as different.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import operator
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Table

from konsil.errors import StoreError
from konsil.records import Answer, Attempt, Call, Citation, Event, Item, Rater, Rating, Span, Task
from konsil.store.engine import schema

KindName = Literal["items", "answers", "raters", "tasks", "ratings", "attempts", "events"]
Record = Item | Answer | Rater | Task | Rating | Attempt | Event | Call
Row = tuple[Any, ...]


_EXPECTED = "a list or table in JSON"


class DamagedError(StoreError, ValueError):
    """A cell that is no JSON: of a database, a sentence.

    A reader of files names file and record instead.
    """

    def __init__(self, cell: str) -> None:
        super().__init__(
            f"the database is damaged: {cell} is stored where {_EXPECTED} was written; restore a"
            " backup"
        )
        self.of_a_file = f"expected {_EXPECTED}, got {cell}"
        """What a reader of files says."""


class _UnfitError(Exception):
    """A value that a database cannot keep.

    Becomes a StoreError that names the record and the field.
    """


@dataclass(frozen=True, slots=True)
class Field:
    """How one field is kept."""

    name: str
    """The field's name, and the column's."""
    type: str
    """What it is called in a data dictionary: text, number, whole number, list, table, span."""
    optional: bool
    """Whether it may be None."""
    to_cell: Callable[[Any], Any]
    """Value -> what a column holds: text, number or None."""
    from_cell: Callable[[Any], Any]
    """What a column holds -> value."""
    to_json: Callable[[Any], Any]
    """Value -> what JSON can say."""
    from_json: Callable[[Any], Any]
    """What JSON says -> value."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of record: its type, its table, its fields."""

    name: str
    """What a collection of them is called."""
    record: type[Any]
    """The record's type."""
    table: Table
    """Where they are kept."""
    key: tuple[str, ...]
    """The fields that make the identity."""
    fields: tuple[Field, ...]
    """The fields in the record's order."""

    @property
    def names(self) -> tuple[str, ...]:
        """The fields' names in their order."""
        return tuple(f.name for f in self.fields)

    def row(self, record: Record) -> Row:
        """Turn a record into its row; a StoreError says which field no database can keep."""
        try:
            row = self._row(record)
        except (_UnfitError, UnicodeEncodeError, TypeError, ValueError, AttributeError):
            raise StoreError(f"{name_of(record)}: {self._unfit(record)}") from None
        if isinstance(record, Rating) and (record.state == "rated") == (record.label is None):
            has = (
                "has no label" if record.label is None else f"has the label {_short(record.label)}"
            )
            raise StoreError(
                f"{name_of(record)}: is {record.state} and {has}; a rating has one, an abstention"
                " none"
            )
        return row

    def _row(self, record: Record) -> Row:
        values, checks, texts = _getters(self.name)
        # Most texts need one look at all of them together: neither a NUL nor anything that might be
        # half a character.
        if "\0" in (plain := "".join(texts(record))) or not plain.isascii():
            return tuple([f.to_cell(getattr(record, f.name)) for f in self.fields])
        return tuple(
            [
                v if check is None else check(v)
                for v, check in zip(values(record), checks, strict=True)
            ]
        )

    def _unfit(self, record: Record) -> str:
        for f in self.fields:
            value = getattr(record, f.name)
            try:
                f.to_cell(value)
            except _UnfitError as error:
                return f"{f.name} {error}"
            except UnicodeEncodeError:
                return f"{f.name} contains half a character (a lone surrogate), which is not text"
            except (TypeError, ValueError, AttributeError):
                return (
                    f"{f.name} is {_short(value)}, expected a"
                    f" {'tuple' if f.type == 'list' else f.type}"
                )
        return "cannot be stored"

    def structured(self) -> tuple[tuple[int, Callable[[Any], Any]], ...]:
        """Give the places in a row that are not yet their value.

        Each comes with the function that turns it into its value.
        """
        return tuple(
            (i, f.from_cell) for i, f in enumerate(self.fields) if f.from_cell is not _same
        )

    def read(self, row: Row) -> Any:  # noqa: ANN401 - the record's type is a value here
        """Turn a row back into its record."""
        return self.record(*[f.from_cell(cell) for f, cell in zip(self.fields, row, strict=True)])


@functools.cache
def _getters(
    name: str,
) -> tuple[Callable[[Any], Any], tuple[Callable[[Any], Any] | None, ...], Callable[[Any], Any]]:
    """For a kind: all values of a record, their conversions and its plain texts.

    A conversion makes a value its cell; None: it is a cell already.
    """
    kind = CALLS if name == CALLS.name else KINDS[typing.cast(KindName, name)]
    checks = tuple(None if f.to_cell is _text else f.to_cell for f in kind.fields)
    texts = (f.name for f in kind.fields if f.to_cell is _text)
    return operator.attrgetter(*kind.names), checks, operator.attrgetter(*texts)


def name_of(record: Record) -> str:
    """Name a record as messages do: "item 'i3'", "rating of 'R1' on item 'i3' (accuracy)"."""
    if isinstance(record, Call):
        return f"call of {record.who!r} for {record.subject!r}"
    if not isinstance(record, Rating):
        return f"{type(record).__name__.lower()} {record.id!r}"
    about = f" on item {record.item!r}" if record.item is not None else ""
    if record.answers:
        about += f"{',' if about else ' on'} answer {' and '.join(repr(a) for a in record.answers)}"
    if record.span is not None:
        about += f", characters {record.span.start} to {record.span.end}"
    return f"rating of {record.rater!r}{about} ({record.criterion})"


def dumps(value: object) -> str:
    """Write canonical JSON: sorted keys, no spaces, no NaN."""
    return _encode(value)


# Made once: json.dumps with options makes an encoder for every value.
_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(value: str) -> str:
    if "\0" in value:  # PostgreSQL cannot keep it; what one database keeps the other must keep too
        raise _UnfitError("contains a NUL character")
    if not value.isascii():
        value.encode()
    return value


def _number(value: float) -> float:
    if type(value) is bool or not math.isfinite(value):
        raise _UnfitError(f"is {value}, expected a finite number; None says that it is not known")
    return float(value) + 0.0  # SQLite forgets the sign of minus zero


def _count(value: int) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise TypeError
    return value


def _choice(choices: tuple[str, ...]) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value not in choices:
            raise _UnfitError(
                f"is {value!r}, expected one of {', '.join(repr(c) for c in choices)}"
            )
        return value

    return check


def _json_text(pack: Callable[[Any], Any]) -> Callable[[Any], str]:
    def write(value: object) -> str:
        text = dumps(pack(value)) if value != () else "[]"
        if not text.isascii():
            text.encode()
        return text

    return write


def _json_value(unpack: Callable[[Any], Any]) -> Callable[[str], Any]:
    def read(cell: str) -> Any:  # noqa: ANN401 - JSON has every type
        # Most lists and tables are empty: of a hundred thousand answers few have citations or
        # sentences.
        if cell == "[]":
            return unpack([])
        try:
            return unpack({} if cell == "{}" else json.loads(cell))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise DamagedError(_short(cell)) from None

    return read


def _strings(value: tuple[str, ...]) -> list[str]:
    if type(value) is not tuple or not all(isinstance(v, str) for v in value):
        raise TypeError
    return list(value)


@functools.lru_cache(maxsize=1 << 16)
def _strings_text(value: tuple[str, ...]) -> str:
    return _json_text(_strings)(value)


@functools.lru_cache(maxsize=1 << 16)
def _strings_value(cell: str) -> tuple[str, ...]:
    # Ratings of one answer share one tuple: a million ratings of ten thousand answers stay small.
    try:
        return tuple(json.loads(cell))
    except (ValueError, TypeError, RecursionError):
        raise DamagedError(_short(cell)) from None


def _span(value: Span | None) -> list[int] | None:
    return None if value is None else [_count(value.start), _count(value.end)]


def _citation(value: Citation) -> dict[str, str]:
    return {"title": value.title, "url": value.url}


def _mapping(value: Mapping[str, object]) -> dict[str, object]:
    if not all(isinstance(k, str) for k in value):
        raise TypeError
    return dict(value)


def _same(value: Any) -> Any:  # noqa: ANN401 - the identity has every type
    return value


def _optional(write: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else write(value)


def _structure(
    name: str, pack: Callable[[Any], Any], unpack: Callable[[Any], Any], kind: str
) -> Field:
    return Field(name, kind, False, _json_text(pack), _json_value(unpack), pack, unpack)


def _field(name: str, hint: Any) -> Field:  # noqa: ANN401 - type hints are values here
    if hint is str:
        return Field(name, "text", False, _text, _same, _text, _same)
    if hint is float:
        return Field(name, "number", False, _number, _same, _number, _same)
    if hint is int:
        return Field(name, "whole number", False, _count, _same, _count, _same)
    if typing.get_origin(hint) is Literal:
        check = _choice(typing.get_args(hint))
        return Field(name, "text", False, check, _same, check, _same)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kind = next(a for a in typing.get_args(hint) if a is not type(None))
        if kind is Span:
            to_text, from_text = _json_text(_span), _json_value(lambda v: Span(*v))
            return Field(
                name,
                "span",
                True,
                lambda v: "" if v is None else to_text(v),
                lambda c: from_text(c) if c else None,
                _span,
                lambda v: None if v is None else Span(*v),
            )
        write, word = (_number, "number") if kind is float else (_text, "text")
        return Field(name, word, True, _optional(write), _same, _optional(write), _same)
    if typing.get_origin(hint) is tuple:
        kind = typing.get_args(hint)[0]
        if kind is Span:
            return _structure(
                name, lambda v: [_span(s) for s in v], lambda v: tuple(Span(*s) for s in v), "list"
            )
        if kind is Citation:
            pack, unpack = (
                (lambda v: [_citation(c) for c in v]),
                (lambda v: tuple(Citation(**c) for c in v)),
            )
            return _structure(name, pack, unpack, "list")
        return Field(name, "list", False, _strings_text, _strings_value, _strings, tuple)
    return _structure(name, _mapping, _same, "table")


def _kind(name: str, record: type[Any], table: Table, key: tuple[str, ...] = ("id",)) -> Kind:
    hints = typing.get_type_hints(record)
    return Kind(
        name,
        record,
        table,
        key,
        tuple(_field(f.name, hints[f.name]) for f in dataclasses.fields(record)),
    )


KINDS: Mapping[KindName, Kind] = {
    typing.cast(KindName, kind.name): kind
    for kind in (
        _kind("items", Item, schema.items),
        _kind("answers", Answer, schema.answers),
        _kind("raters", Rater, schema.raters),
        _kind("tasks", Task, schema.tasks),
        _kind("ratings", Rating, schema.ratings, schema.RATING_KEY),
        _kind("attempts", Attempt, schema.attempts),
        _kind("events", Event, schema.events),
    )
}
"""Every kind of record, in the order in which they are written."""

CALLS = _kind("calls", Call, schema.calls, ("work", "attempt"))
"""Calls are kept like records, but outside the audited ones: they are what answers and ratings are
made from."""
