"""Collections of Anki flash cards: packages old and new, bare collections, CrowdAnki's JSON."""

from konsil.sources.anki.deck import Deck, read_anki

__all__ = ["Deck", "read_anki"]
