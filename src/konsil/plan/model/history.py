"""What has happened in a study since its plan was first drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from konsil.records import Event, Rating


@dataclass(frozen=True, slots=True)
class History:
    """Ratings and events that a plan depends on."""

    ratings: Iterable[Rating] = ()
    """They call for tie-breaks where raters disagree, and for nothing else."""
    events: Iterable[Event] = ()
    """Which items were drawn, who holds a slot, which places were added."""


UNSTARTED = History()
"""Of a study in which nothing has happened yet."""
