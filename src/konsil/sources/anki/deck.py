"""Any file that holds an Anki deck as its notes, in one order whatever the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from konsil.errors import SourceError
from konsil.records import Note
from konsil.sources.anki.collection import SQLITE, read_collection
from konsil.sources.files.table import check_readable

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, slots=True)
class Deck:
    """The contents of a file of flash cards."""

    notes: tuple[Note, ...]
    """Its notes, by identifier, note type and fields."""
    media: tuple[str, ...] = ()
    """The names of the media files that come with it, sorted."""
    repeats: int = field(default=0, compare=False)
    """How often a note was there once more, identical but for its deck; some forms list a note in
    every deck."""


def read_anki(path: str | Path) -> Deck:
    """Read a package (.apkg, .colpkg), a bare collection (.anki2) or CrowdAnki's JSON.

    The content decides which.

    The same notes give the same result from each of them. Nothing is unpacked to the disk, and
    media are not read. 44,185 notes take about a second and 140 MB. Every fault is one SourceError
    in one sentence.
    """
    path = Path(path)
    check_readable(path)
    where = path.name
    with path.open("rb") as file:
        head = file.read(4)
    if head in _ZIP:
        from konsil.sources.anki.package import read_package

        # The archive is opened where it lies: its media may be gigabytes.
        notes, media = read_package(path)
        return _deck(notes, media)
    data = path.read_bytes()
    if data.startswith((SQLITE, _ZSTD)):
        from konsil.sources.anki.package import decompressed

        notes = read_collection(
            data if data.startswith(SQLITE) else decompressed(data, where), where
        )
        media = ()
    elif data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        from konsil.sources.anki.crowdanki import read_crowdanki

        notes, media = read_crowdanki(data, where)
    else:
        raise SourceError(
            f"{where}: is not an Anki package (.apkg), a collection or a deck.json of CrowdAnki"
        )
    return _deck(notes, media)


def _deck(notes: Sequence[Note], media: Iterable[str]) -> Deck:
    unique = ordered(notes)
    return Deck(unique, tuple(sorted(media)), len(notes) - len(unique))


def ordered(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Notes in an order that no file decides.

    A note that is there twice but for its deck is there once.
    """
    note_by_key: dict[tuple[str, str, tuple[tuple[str, str], ...], tuple[str, ...]], Note] = {}
    for note in notes:
        key = (note.id, note.type, tuple(note.fields.items()), note.tags)
        before = note_by_key.get(key)
        if before is None:
            note_by_key[key] = note
        elif note.deck < before.deck:
            note_by_key[key] = replace(before, deck=note.deck)
    # Identifiers first, then names and texts: all of them compare as texts.
    return tuple(note_by_key[key] for key in sorted(note_by_key))
