"""An item of a checklist: how far the study answers it, or why it does not apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from konsil.report.manuscript.methods import to_be_written
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell

State = Literal["answered", "partly answered", "for the authors", "not applicable"]
"""How far a study's records answer an item."""

Part = tuple[str, str]
"""One thing that an item asks for: what the study's records state of it, and what the authors
must write where they state nothing."""


@dataclass(frozen=True)
class Item:
    """One item: its number, its topic, paraphrased, and what the study states of it.

    It is answered where the records state every part of it, and partly answered where they state
    some.
    """

    number: str
    """Its number in the guideline."""
    topic: str
    """What it asks for."""
    text: str = ""
    """What the study's records state of its first part; empty: nothing."""
    place: str = ""
    """The section with the whole of it."""
    rest: str = ""
    """A part that no records contain, for the authors; empty: none."""
    parts: tuple[Part, ...] = ()
    """Further parts."""
    reason: str = ""
    """Why the item does not apply; empty: it applies."""

    @property
    def stated(self) -> tuple[str, ...]:
        """What the records state."""
        return tuple(text for text in (self.text, *(text for text, _topic in self.parts)) if text)

    @property
    def open(self) -> tuple[str, ...]:
        """The parts that the authors must write where the records state others."""
        return tuple(
            topic
            for topic in (*(topic for text, topic in self.parts if not text), self.rest)
            if topic
        )

    @property
    def state(self) -> State:
        """How far the records answer it."""
        if self.reason:
            return "not applicable"
        if not self.stated:
            return "for the authors"
        return "partly answered" if self.open else "answered"

    def cells(self, material: Material) -> tuple[Cell, ...]:
        """Its row: number, topic, state, what the study states, and the section of it."""
        _ = material.language.gettext
        states = {
            "answered": _("answered"),
            "partly answered": _("partly"),
            "for the authors": _("authors"),
            "not applicable": "–",
        }
        if self.state == "not applicable":
            content = _("Does not apply: %(reason)s") % {"reason": self.reason}
        elif self.state == "for the authors":
            content = to_be_written(material)
        else:
            content = " ".join(
                (*self.stated, *(to_be_written(material, topic) for topic in self.open))
            )
        place = self.place if self.stated else ""
        return tuple(map(Cell, (self.number, self.topic, states[self.state], content, place)))


@dataclass(frozen=True)
class Filled:
    """A checklist filled in for one study."""

    heading: str
    """The heading of its part of the supplement."""
    short: str
    """What it is called in a few letters."""
    source: str
    """Whose items these are, in a sentence without its full stop."""
    reference: str
    """The key of the publication."""
    caption: str
    """The caption of its table."""
    items: tuple[Item, ...]
    """Its items in the guideline's order."""
    note: str = ""
    """What readers must know of the numbering; empty: nothing."""
