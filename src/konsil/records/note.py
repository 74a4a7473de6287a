"""A note of a flash-card collection: named fields of HTML, from which cards are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """One note of a collection of flash cards."""

    id: str
    """The identifier that stays with it from collection to collection (Anki's guid)."""
    type: str
    """The name of its note type."""
    is_cloze: bool
    """Whether its cards are made from cloze deletions."""
    fields: Mapping[str, str]
    """Field -> HTML, in the note type's order."""
    clozed: tuple[str, ...] = ()
    """The fields whose cloze deletions make cards; empty where the note type names none."""
    tags: tuple[str, ...] = ()
    """Its tags, sorted; '::' separates levels."""
    deck: str = ""
    """The deck of its first card; '::' separates levels."""
