"""CrowdAnki's JSON: a deck with its note types, its notes and the decks below it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from konsil.errors import SourceError
from konsil.records import Note
from konsil.sources.anki.notetypes import NoteType, clozed_fields, original_names
from konsil.sources.files.encoding import to_utf8
from konsil.sources.files.jsontable import check_weight

_CLOZE = 1

Json = Mapping[str, Any]


def read_crowdanki(data: bytes, where: str) -> tuple[tuple[Note, ...], tuple[str, ...]]:
    """The notes of a deck and of all decks below it, and the names of their media."""
    try:
        text = to_utf8(data, "utf-8", where).decode()
        check_weight(text, where)
        top = json.loads(text)
        json.dumps(top, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise SourceError(
            f"{where}: invalid Unicode (unpaired surrogate); save the file as UTF-8"
        ) from None
    except ValueError as error:
        raise SourceError(f"{where}: is not valid JSON: {error}") from None
    except RecursionError:
        raise SourceError(f"{where}: the JSON is nested too deeply") from None
    if not isinstance(top, dict) or "note_models" not in top or "notes" not in top:
        raise SourceError(f"{where}: is not a CrowdAnki deck, which has 'note_models' and 'notes'")
    decks = list(_decks(top, where))
    types = _types(decks, where)
    notes = tuple(
        _note(note, types, name, where)
        for name, deck in decks
        for note in _list(deck, "notes", where)
    )
    media = {str(name) for _, deck in decks for name in _media(deck, where)}
    return notes, tuple(media)


def _decks(top: Json, where: str) -> Iterator[tuple[str, Json]]:
    """A deck and all below it, each with its whole name."""
    ahead: list[tuple[str, Json]] = [("", top)]
    while ahead:
        above, deck = ahead.pop()
        deck_name = str(deck.get("name", ""))
        name = (
            deck_name
            if not above or deck_name.startswith(f"{above}::")
            else f"{above}::{deck_name}"
        )
        yield name, deck
        ahead += [(name, child) for child in reversed(_list(deck, "children", where))]


def _list(deck: Json, key: str, where: str) -> list[Json]:
    entries = deck.get(key) or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SourceError(
            f"{where}: deck {deck.get('name', '')!r}: {key!r} is not a list of tables"
        )
    return entries


def _media(deck: Json, where: str) -> list[object]:
    file_names = deck.get("media_files") or []
    if not isinstance(file_names, list):
        raise SourceError(f"{where}: deck {deck.get('name', '')!r}: 'media_files' is not a list")
    return file_names


def _types(decks: list[tuple[str, Json]], where: str) -> dict[str, NoteType]:
    models = [model for _, deck in decks for model in _list(deck, "note_models", where)]
    types: dict[str, NoteType] = {}
    for model in models:
        try:
            fields = tuple(str(f["name"]) for f in model["flds"])
            types[str(model["crowdanki_uuid"])] = NoteType(
                str(model["name"]),
                model.get("type", 0) == _CLOZE,
                fields,
                clozed_fields([str(t["qfmt"]) for t in model["tmpls"]], fields),
            )
        except (KeyError, TypeError):
            raise SourceError(
                f"{where}: note type {str(model.get('name', ''))!r} cannot be read"
            ) from None
    names = original_names(t.name for t in types.values())
    return {
        key: NoteType(names[t.name], t.is_cloze, t.fields, t.clozed) for key, t in types.items()
    }


def _note(note: Json, types: Mapping[str, NoteType], deck: str, where: str) -> Note:
    guid, values, tags = note.get("guid"), note.get("fields"), note.get("tags") or []
    if not isinstance(guid, str) or not isinstance(values, list) or not isinstance(tags, list):
        raise SourceError(f"{where}: deck {deck!r}: a note lacks its guid, its fields or its tags")
    kind = types.get(str(note.get("note_model_uuid")))
    if kind is None:
        raise SourceError(f"{where}: note {guid!r} is of a note type that the file does not have")
    if not all(isinstance(v, str) for v in (*values, *tags)):
        raise SourceError(
            f"{where}: note {guid!r} contains something other than text in a field or a tag"
        )
    return kind.note(guid, values, tags, deck, where)
