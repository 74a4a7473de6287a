"""How calls ended, what came back of them, and their sizes."""

from __future__ import annotations

import json
from dataclasses import dataclass

from konsil.records import RENAMED


@dataclass(frozen=True, slots=True)
class Ended:
    """How many works of one model ended how."""

    kind: str
    """A system's answers or a judge's ratings."""
    who: str
    """The system or the judge."""
    outcome: str
    """How they ended."""
    works: int
    """How many."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model has done in all runs before."""

    has_replied: bool
    """Whether any reply came from it."""
    is_usable: bool
    """Whether any of its replies became a record."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the calls of one model were like so far."""

    calls: int = 0
    """How many replies these numbers are of."""
    read: float = 0.0
    """Tokens read, as the endpoint counts them, a call."""
    written: float = 0.0
    """Tokens written a call."""
    longest: int = 0
    """The most tokens written."""
    dearest: float = 0.0
    """The price of the dearest call of all."""
    is_capped: bool = True
    """Whether a cap on the reply's tokens was sent wherever one was asked for."""


SIZED = 1_000
"""So many replies teach how long the next ones will be."""


def was_sent(name: str, asked: str, sent: str) -> bool:
    """Whether a parameter that was asked for, if it was, is among those that were sent."""
    return name not in json.loads(asked) or not {name, RENAMED.get(name, name)}.isdisjoint(
        json.loads(sent)
    )
