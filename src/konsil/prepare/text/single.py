"""The single-cloze filter: notes with exactly one deletion become items.

All other notes are counted with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from konsil.prepare.text.cloze import Deletion, Part, deletions, parse
from konsil.prepare.text.plain import MEDIA, has_media, plain
from konsil.records import Item, Note

Reason = Literal[
    "not a cloze note",
    "no deletion",
    "broken deletion",
    "several deletions",
    "empty deletion",
    "media needed",
    "nothing beside the gap",
    "identifier not unique",
]
"""Why a note becomes no item; of several the first counts."""

GAP = "____"
"""What stands in an item's text for what was deleted."""

_BROKEN = re.compile(r"\{\{c[0-9]+::")


@dataclass(frozen=True, slots=True)
class Filtered:
    """What became of a collection's notes."""

    items: tuple[Item, ...]
    """The items, in the order of their notes."""
    read: int
    """How many notes there were."""
    dropped: Mapping[Reason, int]
    """Reason -> how many notes it kept out; the most frequent first."""


def single_cloze(
    notes: Sequence[Note],
    *,
    fields: Sequence[str] = (),
    strata: Sequence[str] = ("deck", "tags"),
    sets: tuple[str, ...] = (),
    media: Literal["drop", "mark"] = "drop",
    hints: bool = True,
) -> Filtered:
    """Keep the notes with exactly one cloze deletion.

    The item is the text with one gap; its reference is the deleted text.

    44,185 notes of 300 characters take 3.5 seconds.

    Args:
        notes: the notes of a collection.
        fields: where deletions are looked for; none: in the fields that the note type makes cloze
            cards from.
        strata: what becomes the items' strata: deck, tags (with blanks between them), type, or a
            field's text.
        sets: the named subsets that the items belong to.
        media: what becomes of a text with an image or a sound: the note is dropped, or the place is
            marked. A medium in the deletion itself always drops the note.
        hints: whether the deletion's hint follows the gap in parentheses; it is never part of the
            reference.
    """
    reasons: Counter[Reason] = Counter()
    used = Counter(note.id for note in notes)
    items = []
    for note in notes:
        outcome = _item(note, fields, media, hints)
        if isinstance(outcome, str):
            reasons[outcome] += 1
        elif used[note.id] > 1:
            reasons["identifier not unique"] += 1
        else:
            text, reference, aliases = outcome
            items.append(
                Item(
                    note.id,
                    text,
                    reference,
                    aliases,
                    sets=sets,
                    strata={s: stratum(note, s) for s in strata},
                )
            )
    return Filtered(tuple(items), len(notes), dict(reasons.most_common()))


def stratum(note: Note, name: str) -> str:
    """A note's deck, tags, type or field as the value of a stratum.

    >>> stratum(Note("a", "Cloze", True, {"Text": "<b>x</b>"}, tags=("eye", "exam")), "tags")
    'exam eye'
    """
    if name == "tags":
        return " ".join(sorted(note.tags))
    if name in ("deck", "type"):
        return note.deck if name == "deck" else note.type
    return plain(note.fields.get(name, ""))


def _item(
    note: Note, fields: Sequence[str], media: Literal["drop", "mark"], hints: bool
) -> tuple[str, str, tuple[str, ...]] | Reason:
    if not note.is_cloze:
        return "not a cloze note"
    parsed = [parse(note.fields.get(f, "")) for f in fields or note.clozed or note.fields]
    candidates = [
        (cloze, parts) for parts in parsed for cloze in deletions(parts) if any(cloze.numbers)
    ]
    if any(_BROKEN.search(text) for parts in parsed for text in _texts(parts)):
        return "broken deletion"
    if len(candidates) != 1:
        return "several deletions" if candidates else "no deletion"
    [(deletion, parts)] = candidates
    return _single(parts, deletion, media, hints)


def _single(
    parts: Sequence[Part], deletion: Deletion, media: Literal["drop", "mark"], hints: bool
) -> tuple[str, str, tuple[str, ...]] | Reason:
    deleted = deletion.text()
    around = "".join(_with_gap(parts, deletion, ""))
    is_shown = has_media(around)
    if has_media(deleted) or (media == "drop" and is_shown):
        return "media needed"
    reference = plain(deleted)
    if not reference:
        return "empty deletion"
    hint = plain(deletion.hint or "") if hints else ""
    text = plain("".join(_with_gap(parts, deletion, f"{GAP} ({deletion.hint})" if hint else GAP)))
    # Only a text as short as its gap can be nothing but a gap, a list's mark or a marked medium.
    if (
        not hint
        and (is_shown or len(text) < 2 * len(GAP))
        and not plain(around, media=dict.fromkeys(MEDIA, ""))
    ):
        return "nothing beside the gap"
    on_the_line = plain(deleted, indices=False) if "<su" in deleted.lower() else reference
    return text, reference, () if on_the_line == reference else (on_the_line,)


def _with_gap(parts: Sequence[Part], removed: Deletion, gap: str) -> Iterable[str]:
    """The text with something in the place of one deletion.

    Others, which make no card, are shown.
    """
    for part in parts:
        if isinstance(part, str):
            yield part
        elif part is removed:
            yield gap
        else:
            yield from _with_gap(part.parts, removed, gap)


def _texts(parts: Sequence[Part]) -> Iterable[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        else:
            yield from _texts(part.parts)
