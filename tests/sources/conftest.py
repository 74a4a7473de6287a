"""Anki's files, built here in their documented forms."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest
import zstandard

CLOZE, BASIC = 11, 22
DECK, BELOW = 1, 5
GUID, TYPE, VALUES, TAGS, HOME = range(5)

Row = tuple[str, int, Sequence[str], str, int]

NOTES: tuple[Row, ...] = (
    (
        "g3",
        CLOZE,
        ("Insulin senkt {{c1::den Blutzucker::was?}}.", "extra"),
        " inner::endo a ",
        BELOW,
    ),
    ("g1", BASIC, ("Vorne", "Hinten"), "", DECK),
    ("g2", CLOZE, ("{{c1::A}} und {{c2::B}}", ""), " b ", DECK),
)

_NOTES = "CREATE TABLE notes (id integer PRIMARY KEY, guid text, mid integer, tags text, flds text)"
_CARDS = (
    "CREATE TABLE cards (id integer PRIMARY KEY, nid integer, did integer, odid integer, ord"
    " integer)"
)


def message(*fields: tuple[int, int | bytes]) -> bytes:
    """A protocol buffer message."""

    def varint(value: int) -> bytes:
        out = bytearray()
        while value > 0x7F:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        return bytes([*out, value])

    made = b""
    for number, value in fields:
        made += (
            varint(number << 3) + varint(value)
            if isinstance(value, int)
            else (varint(number << 3 | 2) + varint(len(value)) + value)
        )
    return made


@dataclass
class Anki:
    """Makes collections and packages of some notes."""

    notes: Sequence[Row] = NOTES
    types: Mapping[int, tuple[str, int, Sequence[str], str]] = field(
        default_factory=lambda: {
            CLOZE: ("Cloze-0a1b2", 1, ("Text", "Back Extra"), "{{cloze:Text}}"),
            BASIC: ("Basic", 0, ("Front", "Back"), "{{Front}}"),
        }
    )
    decks: Mapping[int, str] = field(
        default_factory=lambda: {DECK: "Medizin", BELOW: "Medizin::Endo"}
    )

    def old(self, *statements: str, wal: bool = False) -> bytes:
        """A collection with its note types as JSON; statements change it afterwards."""
        models = {
            str(key): {
                "name": name,
                "type": kind,
                "flds": [{"name": f, "ord": n} for n, f in reversed(list(enumerate(fields)))],
                "tmpls": [{"name": "Card", "ord": 0, "qfmt": question}],
            }
            for key, (name, kind, fields, question) in self.types.items()
        }
        decks = {str(key): {"name": name} for key, name in self.decks.items()}
        return self._database(
            ["CREATE TABLE col (id integer, models text, decks text)"],
            [("INSERT INTO col VALUES (1, ?, ?)", [(json.dumps(models), json.dumps(decks))])],
            statements,
            wal=wal,
        )

    def new(self, *statements: str) -> bytes:
        """A collection with its note types as tables and messages."""
        tables = [
            "CREATE TABLE col (id integer, models text, decks text)",
            (
                "CREATE TABLE notetypes (id integer PRIMARY KEY, name text COLLATE unicase, config"
                " blob)"
            ),
            (
                "CREATE TABLE fields (ntid integer, ord integer, name text COLLATE unicase, config"
                " blob, PRIMARY KEY (ntid, ord)) WITHOUT ROWID"
            ),
            (
                "CREATE TABLE templates (ntid integer, ord integer, name text COLLATE unicase,"
                " config blob, PRIMARY KEY (ntid, ord)) WITHOUT ROWID"
            ),
            "CREATE TABLE decks (id integer PRIMARY KEY, name text COLLATE unicase)",
            "CREATE UNIQUE INDEX idx_decks_name ON decks (name)",
        ]
        rows: list[tuple[str, list[tuple[Any, ...]]]] = [
            ("INSERT INTO col VALUES (?, ?, ?)", [(1, "", "")]),
            (
                "INSERT INTO notetypes VALUES (?, ?, ?)",
                [
                    (k, name, message((1, kind), (3, b".card {}")))
                    for k, (name, kind, _, _) in self.types.items()
                ],
            ),
            (
                "INSERT INTO fields VALUES (?, ?, ?, ?)",
                [
                    (k, n, f, b"")
                    for k, (_, _, fields, _) in self.types.items()
                    for n, f in enumerate(fields)
                ],
            ),
            (
                "INSERT INTO templates VALUES (?, ?, ?, ?)",
                [
                    (k, 0, "Card", message((1, q.encode()), (8, 1 << 63)))
                    for k, (_, _, _, q) in self.types.items()
                ],
            ),
            (
                "INSERT INTO decks VALUES (?, ?)",
                [(k, v.replace("::", "\x1f")) for k, v in self.decks.items()],
            ),
        ]
        return self._database(tables, rows, statements)

    def _database(
        self,
        tables: Sequence[str],
        rows: Sequence[tuple[str, list[tuple[Any, ...]]]],
        statements: Sequence[str],
        *,
        wal: bool = False,
    ) -> bytes:
        with closing(sqlite3.connect(":memory:")) as database:
            database.create_collation("unicase", lambda a, b: (a > b) - (a < b))
            for table in (*tables, _NOTES, _CARDS):
                database.execute(table)
            for statement, values in rows:
                database.executemany(statement, values)
            for n, row in enumerate(self.notes, start=100):
                flds = "\x1f".join(row[VALUES])
                database.execute(
                    "INSERT INTO notes VALUES (?, ?, ?, ?, ?)",
                    (n, row[GUID], row[TYPE], row[TAGS], flds),
                )
                database.execute("INSERT INTO cards VALUES (?, ?, ?, 0, 1)", (2 * n, n, DECK))
                # The first card decides, and one in a filtered deck belongs to where it came from.
                database.execute(
                    "INSERT INTO cards VALUES (?, ?, 999, ?, 0)", (2 * n + 1, n, row[HOME])
                )
            for statement in statements:
                database.execute(statement)
            database.commit()
            image = bytearray(database.serialize())
        if wal:
            image[18:20] = b"\2\2"
        return bytes(image)

    def stub(self) -> bytes:
        """The collection that new packages show to old versions of Anki."""
        told = "Please update to the latest Anki version, then import the .colpkg/.apkg file again."
        return Anki(notes=[("stub", BASIC, (told, ""), "", DECK)]).old()

    def package(self, parts: Mapping[str, bytes] | None = None, **changed: bytes | None) -> bytes:
        """A zip archive of parts; without any, a package of the newest form."""
        parts = parts if parts is not None else self.newest()
        return zipped({**parts, **{k.replace("_", "."): v for k, v in changed.items()}})

    def newest(self) -> dict[str, bytes]:
        """The parts of a package of form 3."""
        media = message(
            (1, message((1, b"bild.png"), (2, 12))), (1, message((1, "tön.mp3".encode())))
        )
        return {
            "meta": message((1, 3)),
            "collection.anki21b": streamed(self.new()),
            "collection.anki2": self.stub(),
            "media": streamed(media),
        }

    def legacy(self) -> dict[str, bytes]:
        """The parts of a package of form 2."""
        return {
            "meta": message((1, 2)),
            "collection.anki21": self.old(),
            "collection.anki2": self.stub(),
            "media": json.dumps({"0": "bild.png", "1": "tön.mp3"}).encode(),
        }

    def crowdanki(self) -> dict[str, Any]:
        """The same notes as CrowdAnki writes them."""
        models = [
            {
                "crowdanki_uuid": f"u{key}",
                "name": name,
                "type": kind,
                "flds": [{"name": f} for f in fields],
                "tmpls": [{"qfmt": question}],
            }
            for key, (name, kind, fields, question) in self.types.items()
        ]

        def notes(home: int) -> list[dict[str, Any]]:
            return [
                {
                    "guid": r[GUID],
                    "note_model_uuid": f"u{r[TYPE]}",
                    "fields": list(r[VALUES]),
                    "tags": r[TAGS].split(),
                }
                for r in self.notes
                if r[HOME] == home
            ]

        child = {
            "__type__": "Deck",
            "name": "Endo",
            "children": [],
            "notes": notes(BELOW),
            "media_files": ["tön.mp3"],
        }
        return {
            "__type__": "Deck",
            "name": "Medizin",
            "children": [child],
            "note_models": models,
            "notes": notes(DECK),
            "media_files": ["bild.png"],
        }


def streamed(data: bytes) -> bytes:
    """A zstd frame that does not say its size, as Anki writes it."""
    made = zstandard.ZstdCompressor().compressobj()
    return made.compress(data) + made.flush()


def zipped(parts: Mapping[str, bytes | None]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            if content is not None:
                archive.writestr(name, content)
    return out.getvalue()


@pytest.fixture
def anki() -> type[Anki]:
    """Builds Anki's files."""
    return Anki
