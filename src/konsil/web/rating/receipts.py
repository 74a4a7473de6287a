"""What became of what a rater sent: saved, or handed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of an autosave."""

    rev: int
    """The number of changes now."""
    at: str
    """When it was kept."""
    conflicts: Mapping[str, str] = field(default_factory=dict)
    """Fields that another window had changed meanwhile -> what they say."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Fields that cannot say that -> why not; nothing of it was kept."""
    closed: bool = False
    """Whether the batch is closed and nothing was kept."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of handing in."""

    is_stored: bool
    """Whether the ratings are stored."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Fields that still need an answer -> why."""
    conflicts: Mapping[str, str] = field(default_factory=dict)
    """Fields that another window had changed meanwhile -> what they say; nothing was handed in."""
    rev: int = 0
    """The number of changes now."""
    closed: bool = False
    """Whether the batch is closed and nothing was kept."""
    tiebreaks: int = 0
    """How many tie-breaks it called for."""
    explains: bool = False
    """Whether it was for practice, and its page now explains it."""
