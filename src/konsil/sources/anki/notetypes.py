"""Note types: which fields a note has, and from which of them cloze cards are made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from konsil.errors import SourceError
from konsil.records import Note

_REPLACEMENT = re.compile(r"\{\{([^{}]*)\}\}")
_RENAMED = re.compile(r"-[0-9a-f]{5}$")


@dataclass(frozen=True, slots=True)
class NoteType:
    """The common properties of notes of one kind."""

    name: str
    """Its name."""
    is_cloze: bool
    """Whether its cards are made from cloze deletions."""
    fields: tuple[str, ...]
    """The fields' names in their order."""
    clozed: tuple[str, ...] = ()
    """The fields that its templates show with deletions."""

    def note(
        self, guid: str, values: Sequence[str], tags: Iterable[str], deck: str, where: str
    ) -> Note:
        """A note of this type; one without an identifier or with other fields is a SourceError."""
        if not guid:
            raise SourceError(f"{where}: a note has no identifier")
        if len(values) != len(self.fields):
            raise SourceError(
                f"{where}: note {guid!r} has {len(values)} fields; its note type {self.name!r} has"
                f" {len(self.fields)}"
            )
        named = dict(zip(self.fields, values, strict=True))
        return Note(
            guid, self.name, self.is_cloze, named, self.clozed, tuple(sorted(set(tags))), deck
        )


def clozed_fields(templates: Iterable[str], fields: Sequence[str]) -> tuple[str, ...]:
    """The fields that question templates show with deletions, in the fields' order.

    >>> clozed_fields(["{{cloze:Text}} {{Title}} {{type:cloze:More}}"], ["Title", "Text", "More"])
    ('Text', 'More')
    """
    shown = set()
    for template in templates:
        for inside in _REPLACEMENT.findall(template):
            *filters, name = (part.strip() for part in inside.split(":"))
            if "cloze" in filters or "cloze-only" in filters:
                shown.add(name)
    return tuple(f for f in fields if f in shown)


def original_names(names: Iterable[str]) -> Mapping[str, str]:
    """Name in a collection -> the name its author gave it.

    Anki renames a note type that meets another one of its name, by '-' and five hexadecimal digits.
    They are taken off, unless two types of one collection would then have one name.

    >>> original_names(["Cloze-d0c86", "Basic", "Basic-b4bc6"])
    {'Cloze-d0c86': 'Cloze', 'Basic': 'Basic', 'Basic-b4bc6': 'Basic-b4bc6'}
    """
    listed = list(names)
    plain = [_RENAMED.sub("", name) or name for name in listed]
    return {
        name: short if plain.count(short) == 1 else name
        for name, short in zip(listed, plain, strict=True)
    }
