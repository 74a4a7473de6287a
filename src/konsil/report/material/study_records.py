"""The records of a study that a report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from konsil.records import Answer, Event, Item, Rater, Rating, Usage
from konsil.records.worked import Worked


@dataclass(frozen=True)
class StudyRecords:
    """What was asked, answered and rated, and what is known of how it went."""

    items: Sequence[Item]
    """What was asked."""
    answers: Sequence[Answer]
    """What was answered."""
    raters: Sequence[Rater]
    """Who rated."""
    ratings: Sequence[Rating]
    """How it was rated."""
    events: Sequence[Event] = ()
    """What happened to the items before the first rating."""
    times: Sequence[Worked] = ()
    """How long people worked on the screens that were handed in on the pages."""
    lengths: Mapping[str, int] = field(default_factory=dict)
    """Answer -> its length, where its text is not at hand."""
    usage: Sequence[Usage] = ()
    """What the calls of each system and judge took."""
