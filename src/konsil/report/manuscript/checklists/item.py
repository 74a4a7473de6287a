"""An item of a checklist: stated by the study, left to the authors, or not applicable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from konsil.report.manuscript.methods import to_be_written
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell

State = Literal["stated", "to be written", "not applicable"]
"""What a study can say of an item."""


@dataclass(frozen=True)
class Item:
    """One item: its number, its topic, paraphrased, and what the study says of it."""

    number: str
    """Its number in the guideline."""
    topic: str
    """What it asks for."""
    text: str = ""
    """What the study's records state; empty: nothing."""
    place: str = ""
    """The section with the whole of it."""
    rest: str = ""
    """What the records do not contain and authors must add to the text; empty: nothing."""
    reason: str = ""
    """Why the item does not apply; empty: it applies."""

    @property
    def state(self) -> State:
        """Which of the three states it is in."""
        if self.reason:
            return "not applicable"
        return "stated" if self.text else "to be written"

    def cells(self, material: Material) -> tuple[Cell, ...]:
        """Its row: number, topic, what the study states, and the section of it."""
        _ = material.language.gettext
        if self.state == "not applicable":
            content = _("Does not apply: %(reason)s") % {"reason": self.reason}
        else:
            content = " ".join(part for part in (self.text, self._rest(material)) if part)
        place = self.place if self.state == "stated" else ""
        return tuple(map(Cell, (self.number, self.topic, content, place)))

    def _rest(self, material: Material) -> str:
        if self.text and not self.rest:
            return ""
        return to_be_written(material, self.rest if self.text else "")


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
