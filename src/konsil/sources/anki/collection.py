"""An Anki collection: an SQLite database, in the old or the new form.

The old form has its note types as JSON, the new one as tables and messages.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from konsil.errors import SourceError
from konsil.records import Note
from konsil.sources.anki import protobuf
from konsil.sources.anki.notetypes import NoteType, clozed_fields, original_names

SQLITE = b"SQLite format 3\0"
"""The first bytes of every such database."""
_FIELD_END = "\x1f"
_WAL, _ROLLBACK = 2, 1
_JOURNAL = slice(18, 20)
"""Where an SQLite file says how it is written; a database in memory has no write-ahead log."""
_DECK_LEVEL = "\x1f"
_KIND, _QUESTION, _CLOZE = 1, 1, 1
_STUB = "Please update to the latest Anki version"

Json = Mapping[str, Any]

_ALWAYS = 16 << 20
"""Characters that a collection's notes may have, however small its file."""
_OF_A_NOTE = 40
"""Bytes that the smallest note takes in a file."""
_STEPS, _AT_ONCE = 2_000, 10_000
"""A query of a collection may take so many times so many steps, and as many more as a hundredth of
its bytes."""


def read_collection(data: bytes, where: str) -> tuple[Note, ...]:
    """The notes of a collection, in its own order.

    The database is read in memory and none of its code is run.
    """
    if not data.startswith(SQLITE):
        raise SourceError(f"{where}: the collection is not an SQLite database; export it again")
    image = bytearray(data)
    if image[_JOURNAL] == bytes([_WAL, _WAL]):
        image[_JOURNAL] = bytes([_ROLLBACK, _ROLLBACK])
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(image)
            del image
            _bound(database, len(data))
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA query_only = ON")
            database.create_collation("unicase", _by_case)
            return _notes(database, where, len(data))
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise SourceError(
            f"{where}: not a readable Anki collection ({error}); export it again"
        ) from None
    except protobuf.WireError as error:
        raise SourceError(f"{where}: the collection's note types cannot be read: {error}") from None


def is_stub(notes: tuple[Note, ...]) -> bool:
    """Whether a collection is the notice that new packages show to old versions of Anki."""
    return len(notes) == 1 and any(value.startswith(_STUB) for value in notes[0].fields.values())


def _by_case(name: str, other_name: str) -> int:
    folded, other_folded = name.casefold(), other_name.casefold()
    return (folded > other_folded) - (folded < other_folded)


def _bound(database: sqlite3.Connection, size: int) -> None:
    """Limit the damage that a hostile schema can do.

    Bounded are the length of a value and the number of steps of a query.
    """
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(_ALWAYS, size))
    steps = _STEPS + size // 100
    n_calls = 0

    def is_too_many() -> bool:
        nonlocal n_calls
        n_calls += 1
        return n_calls > steps

    database.set_progress_handler(is_too_many, _AT_ONCE)


def _notes(database: sqlite3.Connection, where: str, size_of_file: int) -> tuple[Note, ...]:
    tables = _tables(database)
    max_size = _ALWAYS + size_of_file
    missing = sorted({"col", "notes", "cards"} - tables)
    if missing:
        raise SourceError(
            f"{where}: the database is not an Anki collection: it has no table {missing[0]!r}"
        )
    if "notetypes" in tables:
        types, decks = dict(_types(database)), dict(_decks(database))
    else:
        types, decks = _old_types(database, where), _old_decks(database, where)
    names = original_names(t.name for t in types.values())
    types = {
        number: NoteType(names[t.name], t.is_cloze, t.fields, t.clozed)
        for number, t in types.items()
    }
    home = _homes(database)
    notes = []
    size = 0
    for number, guid, kind, tags, fields in database.execute(
        "SELECT id, guid, mid, tags, flds FROM notes ORDER BY id"
    ):
        if not (isinstance(guid, str) and isinstance(tags, str) and isinstance(fields, str)):
            raise SourceError(
                f"{where}: note {number} of the collection contains bytes where text is expected"
            )
        size += len(fields) + _OF_A_NOTE
        if size > max_size:
            raise SourceError(
                f"{where}: the collection has more notes than its size allows; reading stopped"
            )
        if kind not in types:
            raise SourceError(
                f"{where}: note {guid!r} is of note type {kind}, which the collection does not have"
            )
        deck = decks.get(home.get(number, 0), "")
        notes.append(types[kind].note(guid, fields.split(_FIELD_END), tags.split(), deck, where))
    return tuple(notes)


def _tables(database: sqlite3.Connection) -> set[str]:
    """Only plain tables: a view or a virtual table would run code from the file."""
    rows = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    return {
        name
        for name, sql in rows
        if isinstance(sql, str) and not sql.upper().startswith("CREATE VIRTUAL")
    }


def _homes(database: sqlite3.Connection) -> Mapping[int, int]:
    """Note -> the deck of its first card.

    A card in a filtered deck belongs to the deck it came from.
    """
    query = (
        "SELECT nid, CASE WHEN odid != 0 THEN odid ELSE did END, MIN(ord) FROM cards GROUP BY nid"
    )
    return {note: deck for note, deck, _ in database.execute(query)}


def _types(database: sqlite3.Connection) -> Iterator[tuple[int, NoteType]]:
    fields: dict[int, list[str]] = {}
    for kind, _, name in database.execute("SELECT ntid, ord, name FROM fields ORDER BY ntid, ord"):
        fields.setdefault(kind, []).append(str(name))
    templates: dict[int, list[str]] = {}
    for kind, config in database.execute("SELECT ntid, config FROM templates ORDER BY ntid, ord"):
        templates.setdefault(kind, []).append(protobuf.text(_bytes(config), _QUESTION))
    for kind, name, config in database.execute(
        "SELECT id, name, config FROM notetypes ORDER BY id"
    ):
        field_names = tuple(fields.get(kind, ()))
        is_cloze = protobuf.number(_bytes(config), _KIND) == _CLOZE
        yield (
            kind,
            NoteType(
                str(name),
                is_cloze,
                field_names,
                clozed_fields(templates.get(kind, ()), field_names),
            ),
        )


def _bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise protobuf.WireError("a configuration is not stored as bytes")
    return value


def _decks(database: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    for number, name in database.execute("SELECT id, name FROM decks"):
        yield number, str(name).replace(_DECK_LEVEL, "::")


def _old_types(database: sqlite3.Connection, where: str) -> dict[int, NoteType]:
    types = {}
    for key, model in _json(database, "models", where).items():
        try:
            fields = tuple(str(f["name"]) for f in _in_order(model["flds"]))
            questions = [str(t["qfmt"]) for t in _in_order(model["tmpls"])]
            types[int(key)] = NoteType(
                str(model["name"]),
                model.get("type", 0) == _CLOZE,
                fields,
                clozed_fields(questions, fields),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise SourceError(
                f"{where}: note type {key!r} of the collection cannot be read"
            ) from None
    return types


def _in_order(parts: list[Json]) -> list[Json]:
    return sorted(parts, key=lambda part: part.get("ord") or 0)


def _old_decks(database: sqlite3.Connection, where: str) -> dict[int, str]:
    deck_names = {}
    for key, deck in _json(database, "decks", where).items():
        try:
            deck_names[int(key)] = str(deck["name"])
        except (KeyError, TypeError, ValueError):
            raise SourceError(f"{where}: deck {key!r} of the collection cannot be read") from None
    return deck_names


def _json(database: sqlite3.Connection, column: str, where: str) -> Json:
    # The column's name is one of two words of ours.
    row = database.execute(f"SELECT {column} FROM col").fetchone()  # noqa: S608
    try:
        value = json.loads(row[0]) if row and row[0] else None
    except (ValueError, TypeError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise SourceError(f"{where}: the collection's {column} cannot be read")
    return value
