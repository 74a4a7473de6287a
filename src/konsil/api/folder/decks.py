"""Decks of flash cards as a study's items, and what was kept of it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from konsil.errors import SourceError, nearest
from konsil.prepare import Filtered, single_cloze
from konsil.records import Event, Note, Source
from konsil.sources.anki import read_anki
from konsil.study.data.incoming import Incoming

PREPARATION = "preparation"
"""The kind of the event that says what was read, kept and dropped on the way from a file to
items."""
READING = "reading"
"""The kind of the same for a log of Inspect: which of its samples have become answers or
ratings."""

_USED = ("file", "records", "columns", "fixed", "strata", "media", "hints")
_OWN_STRATA = ("deck", "tags", "type")


def deck_items(path: Path, source: Source) -> Incoming:
    """The notes of a deck with exactly one cloze deletion as items, with counts of all others."""
    where = path.name
    _refuse_unused(source, where)
    deck = read_anki(path)
    notes = deck.notes
    fields = _checked_names(source.columns.get("text", ()), notes, "columns", (), where)
    strata = _checked_names(source.strata, notes, "strata", _OWN_STRATA, where)
    sets = tuple(part.strip() for part in source.fixed.get("sets", "").split("|") if part.strip())
    filtered = single_cloze(
        notes,
        fields=fields,
        strata=strata or ("deck", "tags"),
        sets=sets,
        media=source.media,
        hints=source.hints,
    )
    if not filtered.items:
        raise SourceError(
            f"{where}: no note becomes an item:"
            f" {preparation_line(where, counts(filtered, deck.repeats))}"
        )
    return Incoming(where, items=filtered.items, preparation=counts(filtered, deck.repeats))


def counts(filtered: Filtered, repeats: int = 0) -> dict[str, object]:
    """The counts of a preparation: notes read, items kept, and notes dropped by reason.

    `repeats` are notes that the file holds once more, identical but for their deck.
    """
    dropped: dict[str, int] = {str(reason): n for reason, n in filtered.dropped.items()}
    if repeats:
        dropped[REPEAT] = repeats
    read = filtered.read + repeats
    return {"filter": "single cloze", "read": read, "kept": len(filtered.items), "dropped": dropped}


REPEAT = "repeat of a note"
"""Why a note is dropped that the file holds twice."""


_NOUNS = {"screens": "tasks"}
"""Stored name of a kind of records -> its noun in sentences, where they differ."""


def preparation_line(name: str, data: Mapping[str, object]) -> str:
    """One line on a preparation.

    >>> preparation_line("deck.apkg", {"read": 5, "kept": 2, "dropped": {"several deletions": 3}})
    'deck.apkg: 5 notes, 2 included as items, 3 excluded (several deletions 3)'
    """
    dropped = data.get("dropped")
    reasons = {str(r): int(n) for r, n in dropped.items()} if isinstance(dropped, dict) else {}
    # The database keeps no order.
    listing = ", ".join(
        f"{reason} {n:,}"
        for reason, n in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    kind = str(data.get("as", "items"))
    # A reply may have several ratings: their number is that of the records.
    of_kept = (
        "with ratings" if data.get("of") == "replies" else f"included as {_NOUNS.get(kind, kind)}"
    )
    return (
        f"{name}: {data.get('read', 0):,} {data.get('of', 'notes')}, {data.get('kept', 0):,}"
        f" {of_kept}, {sum(reasons.values()):,} excluded" + (f" ({listing})" if listing else "")
    )


def reconciled(data: Mapping[str, object]) -> tuple[str, ...]:
    """One line for each kind of row of a whole study's tables: read, included, excluded by reason.

    >>> reconciled({"tables": {"comparisons": {"read": 9, "kept": 7, "left out": {"no user": 2}}}})
    ('  comparisons: 9 read, 7 included, 2 excluded (no user 2)',)
    """
    tables = data.get("tables")
    lines = []
    for kind, tally in sorted(tables.items()) if isinstance(tables, Mapping) else ():
        if "read" not in tally:
            lines.append(f"  {kind}: {tally['kept']:,}")
            continue
        reasons = sorted(tally["left out"].items(), key=lambda pair: (-pair[1], pair[0]))
        listing = ", ".join(f"{reason} {n:,}" for reason, n in reasons)
        out = f", {sum(n for _, n in reasons):,} excluded ({listing})" if reasons else ""
        lines.append(f"  {kind}: {tally['read']:,} read, {tally['kept']:,} included{out}")
    return tuple(lines)


def preparation(files: Iterable[Incoming], at: str, events: Iterable[Event]) -> tuple[Event, ...]:
    """One event for each prepared file; none where the same was told before."""
    event_ids = {event.id for event in events if event.kind in (PREPARATION, READING)}
    new_events = []
    for file in files:
        if not file.preparation:
            continue
        content = json.dumps([file.name, file.preparation], sort_keys=True, ensure_ascii=False)
        kind = READING if "of" in file.preparation else PREPARATION
        name = f"{kind}-{hashlib.blake2b(content.encode(), digest_size=8).hexdigest()}"
        if name not in event_ids:
            new_events.append(Event(name, kind, file.name, at, file.preparation))
    return tuple(new_events)


def _refuse_unused(source: Source, where: str) -> None:
    for field in dataclasses.fields(source):
        if field.name in _USED:
            continue
        default = field.default_factory() if callable(field.default_factory) else field.default
        if getattr(source, field.name) != default:
            raise SourceError(f"{where}: {field.name} does not apply to an Anki deck; leave it out")
    for key, settings, allowed in (
        ("columns", source.columns, "text"),
        ("fixed", source.fixed, "sets"),
    ):
        for name in settings:
            if name != allowed:
                raise SourceError(
                    f"{where}: {key}: an Anki deck has no field {name!r} to set; expected"
                    f" {allowed!r}"
                )


def _checked_names(
    names: tuple[str, ...],
    notes: tuple[Note, ...],
    key: str,
    extra_names: tuple[str, ...],
    where: str,
) -> tuple[str, ...]:
    if set(names) <= set(extra_names):
        return names
    fields = {field for note in notes for field in note.fields}
    for name in names:
        if name not in fields and name not in extra_names:
            raise SourceError(
                f"{where}: {key}: no note has a field {name!r};"
                f" {nearest(name, {*fields, *extra_names})}"
            )
    return names
