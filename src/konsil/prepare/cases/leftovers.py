"""Remains of a diagnosis or of a cue in the versions of a case.

They are shown to the person who approves the versions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from konsil.prepare.cases.hints import hints
from konsil.prepare.cases.masking import LEVELS, NARRATIVE, Mark, Part, parts, unchanged
from konsil.prepare.cases.naming import Name, Way, mentions, names_of, spoken
from konsil.records import Item

LeftoverKind = Literal["diagnosis", "cue", "version", "hint"]


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that a version still tells, or does not do."""

    kind: LeftoverKind
    """A diagnosis that is named, a cue that stands elsewhere, a version that is like the one
    before, or a hint: a drug, gene, code or eponym that no mark covers."""
    level: str
    """The first level at which it is found."""
    text: str = ""
    """As it stands in the version."""
    name: str = ""
    """The name or the marked words that it is taken for; of a hint what it is."""
    way: Way = "named"
    """How sure that is: the name itself, another form of it, or something like it."""
    start: int | None = None
    """Where it begins in the narrative; None: it is not all of the narrative's own text."""
    end: int | None = None
    """Where it ends in the narrative."""

    @property
    def stops(self) -> bool:
        """Whether nobody may approve the case without a reason.

        Parts of a name and cues are only told.

        A narrative that never names the diagnosis is its own level 0.
        """
        return (self.kind == "version" and self.level != "0") or (
            self.kind == "diagnosis" and self.way != "part"
        )

    def description(self) -> str:
        """It in a sentence's words."""
        if self.kind == "version":
            return f"level {self.level} is no different from the level before"
        where = f" at {self.start:,}-{self.end:,}" if self.start is not None else ""
        if self.kind == "hint":
            return (
                f"level {self.level} still has {self.text!r}{where}, {_ARTICLE[self.name]}"
                f" {self.name}"
            )
        noun = "the diagnosis" if self.kind == "diagnosis" else "a cue"
        return (
            f"level {self.level} still has {self.text!r}{where}, {noun} {self.name!r} ({self.way})"
        )


def leftovers(item: Item, marks: Sequence[Mark], removed: str) -> tuple[Leftover, ...]:
    """Search the versions of a case for its diagnosis and its masked cues.

    The reference and the aliases are searched in every version, cues where they are masked.

    What is found at a level is not repeated at the levels after it.
    """
    collected: list[Leftover] = []
    reported: set[tuple[object, ...]] = set()
    names = names_of((item.reference or "", *item.aliases)) + _abbreviated(item, marks)
    for level in LEVELS[1:]:
        version_parts = parts(item.text, marks, level, removed)
        cues = [
            Name(spoken(item.text[m.start : m.end]))
            for m in marks
            if m.kind == "cue" and m.counts(level)
        ]
        for kind, searched in (("diagnosis", names), ("cue", cues)):
            for leftover in _leftovers(
                version_parts, searched, "diagnosis" if kind == "diagnosis" else "cue", level
            ):
                key = (
                    leftover.kind,
                    leftover.name,
                    leftover.start,
                    leftover.text if leftover.start is None else "",
                )
                if key not in reported:
                    reported.add(key)
                    collected.append(leftover)
    collected += _hints(
        item, marks, removed, {(leftover.start, leftover.end) for leftover in collected}
    )
    collected += [
        Leftover("version", level)
        for level in unchanged(item.text, marks, removed)
        if level != NARRATIVE
    ]
    return tuple(collected)


_ARTICLE = {"drug": "a", "gene": "a", "code": "a", "eponym": "an"}


def _hints(
    item: Item,
    marks: Sequence[Mark],
    removed: str,
    reported_spans: set[tuple[int | None, int | None]],
) -> list[Leftover]:
    """Drugs, genes, codes and eponyms that no mark covers, each once by its words."""
    version_parts = parts(item.text, marks, LEVELS[-1], removed)
    text = "".join(part.text for part in version_parts)
    by_words: dict[str, Leftover] = {}
    for hint in hints(text):
        place = _span_in_narrative(version_parts, hint.start, hint.end)
        words = text[hint.start : hint.end]
        if place is not None and not any(
            a is not None and b is not None and a < place[1] and place[0] < b
            for a, b in reported_spans
        ):
            by_words.setdefault(
                words.lower(), Leftover("hint", LEVELS[-1], words, hint.kind, "named", *place)
            )
    return list(by_words.values())


def _leftovers(
    version_parts: Sequence[Part], names: Sequence[Name], kind: LeftoverKind, level: str
) -> list[Leftover]:
    """The names in a version's text, with their place in the narrative.

    The place is given where all of the mention is the narrative's own.
    """
    text = "".join(part.text for part in version_parts)
    collected = []
    for mention in mentions(text, names):
        place = _span_in_narrative(version_parts, mention.start, mention.end)
        start, end = place if place is not None else (None, None)
        wording = text[mention.start : mention.end]
        collected.append(Leftover(kind, level, wording, mention.name, mention.way, start, end))
    return collected


def _span_in_narrative(
    version_parts: Sequence[Part], start: int, end: int
) -> tuple[int, int] | None:
    at = 0
    for part in version_parts:
        if at <= start and end <= at + len(part.text):
            return (part.start + start - at, part.start + end - at) if part.mark is None else None
        at += len(part.text)
    return None


_DEFINED = re.compile(r"\s*\(\s*([A-Z][A-Za-z0-9]{1,5})\s*\)")


def _abbreviated(item: Item, marks: Sequence[Mark]) -> tuple[Name, ...]:
    """Abbreviations that the narrative gives right after a marked diagnosis.

    An example is 'granulomatosis ... (GPA)'.
    """
    abbreviations = []
    for mark in marks:
        if (
            mark.kind == "diagnosis"
            and (defined := _DEFINED.match(item.text, mark.end)) is not None
        ):
            abbreviations.append(Name(defined[1], short=True, way="abbreviation"))
        inside = (
            _DEFINED.findall(item.text[mark.start : mark.end]) if mark.kind == "diagnosis" else ()
        )
        abbreviations += [
            Name(abbreviation, short=True, way="abbreviation") for abbreviation in inside
        ]
    return tuple(abbreviations)
