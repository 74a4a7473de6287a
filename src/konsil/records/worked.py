"""The time that a rater worked on a screen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Worked:
    """One screen that was handed in on the pages, with its times."""

    task: str
    """The task's id."""
    rater: str
    """Who did it."""
    active: float | None
    """Seconds until it was handed in first in which the page was visible and somebody was at it;
    None: not known."""
    wall: float | None
    """Seconds for which its page was open, all openings together; None where no browser told."""
    displayed: tuple[bool | None, ...] = ()
    """For each of the task's answers, in their order, whether its text was displayed to its end at
    any opening; None: not known, as no browser told."""
