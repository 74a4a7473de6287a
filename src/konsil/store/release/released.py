"""What a release holds and what it leaves out, as it is stated in its files and on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Released:
    """What a release holds and what it leaves out."""

    folder: Path
    """Where it is."""
    records: Mapping[str, int]
    """Table -> rows."""
    withheld: Mapping[str, int]
    """What was left out -> how often."""
    recognisable: int = 0
    """Raters whose set of tasks fewer than k raters of their panel share."""
    small_panels: Mapping[str, int] = field(default_factory=dict)
    """Panel of fewer than k people -> how many they are."""
    is_played: bool = False
    """Whether konsil played some of the models."""
    missing: tuple[str, ...] = ()
    """Facts that catalogues of data require and study.toml does not state."""
