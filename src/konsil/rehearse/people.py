"""Who takes part in a rehearsal, how they answer, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from konsil.rehearse.times import Times

Think = Callable[[float], float]
"""Seconds that a simulated rater takes for something -> seconds that the browser really waits."""
Say = Callable[[str], tuple[Mapping[str, str], float]]
"""The random name of a page -> what is said in its fields, and the seconds it takes."""


@dataclass(frozen=True, slots=True)
class Person:
    """One who is invited."""

    rater: str
    """The rater."""
    link: str
    """The personal link."""
    about: Mapping[str, str] = field(default_factory=dict)
    """What is said to the questions before the first task."""
    after: float = 0.0
    """Seconds until they come."""


@dataclass
class Outcome:
    """What became of it."""

    times: Times
    """How long requests took, and what went wrong."""
    handed_in: dict[str, int] = field(default_factory=dict)
    """Rater -> pages handed in."""
    saved: dict[tuple[str, str], str] = field(default_factory=dict)
    """Page and field -> the last value that the server said it had kept."""
    submitted: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Page -> what was handed in, where the server said that it had it."""
    seconds: float = 0.0
    """How long it took."""
