"""What a draft would come to: its tasks, the time that they take, its precision and power."""

from __future__ import annotations

from dataclasses import dataclass

from konsil.design.lines import minutes_a_screen
from konsil.records import Answer, Item, Task
from konsil.study import Study


@dataclass(frozen=True)
class Work:
    """The work of one panel on one form."""

    panel: str
    instrument: str
    kind: str
    """human, llm or program."""
    raters: int
    screens: int
    """Of all raters together."""
    least_screens: int
    """Of the rater with the fewest screens."""
    most_screens: int
    """Of the rater with the most."""
    words: float
    """Words to read on a screen, on average."""
    questions: float
    """Questions on a screen, on average."""

    @property
    def minutes(self) -> float:
        """Estimated minutes on a screen."""
        return minutes_a_screen(self.words, round(self.questions))


@dataclass(frozen=True)
class Outlook:
    """A draft's plan, with what is rated in it."""

    study: Study
    items: tuple[Item, ...]
    answers: tuple[Answer, ...]
    tasks: tuple[Task, ...]
    work: tuple[Work, ...]
    is_pretended: bool
    """Whether the items are placeholders."""


@dataclass(frozen=True)
class Assumption:
    """What the power is computed for."""

    best: float = 0.85
    """Share of good answers of the best system."""
    others: float = 0.7
    """Share of good answers of the other systems."""
    accuracy: float = 0.85
    """How often a rater judges an answer rightly."""
    studies: int = 20
    """How many studies are simulated."""


@dataclass(frozen=True)
class PowerLine:
    """One estimate over the simulated studies."""

    analysis: str
    group: str
    """The group that it is about; empty: all."""
    versus: str
    """The group that it is compared with; empty: none."""
    mean: float
    width: float
    """The mean width of its confidence interval."""
    power: float | None
    """The share of studies with p up to 0.05; None where nothing is tested."""
