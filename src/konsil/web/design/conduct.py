"""What the pages need to conduct a study that was saved; whoever serves them gives it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from konsil.design.stages import Collected, Stage, StageName

Action = StageName | Literal["replace"]
"""What a button starts."""
Download = Literal["report", "word", "table", "rehearsal"]
"""Files that the page hands out."""


@dataclass
class RunningAction:
    """One action, under way or ended."""

    action: Action
    is_running: bool = True
    faults: tuple[str, ...] = ()
    """Why it did not succeed, a sentence each."""
    notes: tuple[str, ...] = ()
    """What is worth knowing about its result, a sentence each."""


@dataclass(frozen=True)
class PersonalLink:
    """A link for one person, shown while the set-up runs."""

    person: str
    url: str


class Conduct(Protocol):
    """A saved study whose stages are buttons."""

    @property
    def job(self) -> RunningAction | None:
        """The action that was started last."""

    @property
    def links(self) -> tuple[PersonalLink, ...]:
        """The raters' links that were made since the set-up began."""

    @property
    def dashboard(self) -> str:
        """The link that opens the study dashboard once; empty: none was made."""

    def collected(self) -> Collected:
        """How much was collected until now."""

    def stages(self) -> tuple[Stage, ...]:
        """The study's stages, each with what it lacks."""

    def start(self, action: Action) -> None:
        """Begin an action; it ends in the background."""

    def download(self, name: Download) -> Path | None:
        """A file to hand out; None where it is not there."""
