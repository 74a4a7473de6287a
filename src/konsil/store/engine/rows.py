"""Record <-> row: one description per kind of record, made from the record's own types.

A row is a tuple in the order of the record's fields. Structures are canonical JSON text; a span
that is None is the empty text in a row, because it is part of a rating's identity and a database
counts two NULLs as different.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Table

from konsil.errors import StoreError, quoted
from konsil.records import Answer, Attempt, Call, Citation, Event, Item, Rater, Rating, Span, Task
from konsil.store.engine import schema
from konsil.store.engine.cells import (
    UnfitError,
    choice_cell,
    citation_value,
    count_cell,
    json_cell,
    json_value,
    mapping_value,
    number_cell,
    span_value,
    strings_cell,
    strings_list,
    strings_value,
    text_cell,
)

KindName = Literal["items", "answers", "raters", "tasks", "ratings", "attempts", "events"]
Record = Item | Answer | Rater | Task | Rating | Attempt | Event | Call
Row = tuple[Any, ...]


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
        except (UnfitError, UnicodeEncodeError, TypeError, ValueError, AttributeError):
            raise StoreError(f"{name_of(record)}: {self._unfit(record)}") from None
        if isinstance(record, Rating) and (record.state == "rated") == (record.label is None):
            has = (
                "has no label"
                if record.label is None
                else f"has the label {quoted(record.label, 60)}"
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
            except UnfitError as error:
                return f"{f.name} {error}"
            except UnicodeEncodeError:
                return f"{f.name} contains invalid Unicode (an unpaired surrogate)"
            except (TypeError, ValueError, AttributeError):
                return (
                    f"{f.name} is {quoted(value, 60)}, expected a"
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
    checks = tuple(None if f.to_cell is text_cell else f.to_cell for f in kind.fields)
    texts = (f.name for f in kind.fields if f.to_cell is text_cell)
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


def _same(value: Any) -> Any:  # noqa: ANN401 - the identity has every type
    return value


def _optional(write: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else write(value)


def _structure(
    name: str, pack: Callable[[Any], Any], unpack: Callable[[Any], Any], kind: str
) -> Field:
    return Field(name, kind, False, json_cell(pack), json_value(unpack), pack, unpack)


def _field(name: str, hint: Any) -> Field:  # noqa: ANN401 - type hints are values here
    if hint is str:
        return Field(name, "text", False, text_cell, _same, text_cell, _same)
    if hint is float:
        return Field(name, "number", False, number_cell, _same, number_cell, _same)
    if hint is int:
        return Field(name, "whole number", False, count_cell, _same, count_cell, _same)
    if typing.get_origin(hint) is Literal:
        check = choice_cell(typing.get_args(hint))
        return Field(name, "text", False, check, _same, check, _same)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kind = next(a for a in typing.get_args(hint) if a is not type(None))
        if kind is Span:
            to_text, from_text = json_cell(span_value), json_value(lambda v: Span(*v))
            return Field(
                name,
                "span",
                True,
                lambda v: "" if v is None else to_text(v),
                lambda c: from_text(c) if c else None,
                span_value,
                lambda v: None if v is None else Span(*v),
            )
        write, word = (number_cell, "number") if kind is float else (text_cell, "text")
        return Field(name, word, True, _optional(write), _same, _optional(write), _same)
    if typing.get_origin(hint) is tuple:
        kind = typing.get_args(hint)[0]
        if kind is Span:
            return _structure(
                name,
                lambda v: [span_value(s) for s in v],
                lambda v: tuple(Span(*s) for s in v),
                "list",
            )
        if kind is Citation:
            pack, unpack = (
                (lambda v: [citation_value(c) for c in v]),
                (lambda v: tuple(Citation(**c) for c in v)),
            )
            return _structure(name, pack, unpack, "list")
        return Field(name, "list", False, strings_cell, strings_value, strings_list, tuple)
    return _structure(name, mapping_value, _same, "table")


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
