"""Distant labels of one question, and how far a rater is with the reasons for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.records import Answer, Event, Item, Task
from konsil.study.sections.calibration import Difference
from konsil.web.rating.sheet import Pane


@dataclass(frozen=True, slots=True)
class Stage:
    """How far a rater is after the pilot."""

    waiting: int
    """Raters who have not done their pilot tasks yet and are waited for."""
    open: tuple[Difference, ...]
    """Where a reason is still to be written."""
    written: int = 0
    """How many were written."""
    more: bool = False
    """Whether another pilot is still to come, in a later phase."""


@dataclass(frozen=True, slots=True)
class Apart:
    """One difference as a page shows it."""

    about: str
    """Its name in the form; it says nothing."""
    item: str
    """The item's text."""
    language: str
    """The language of the study's texts."""
    panes: tuple[Pane, ...]
    """The answers that the question is about."""
    heading: str
    """What it is about: 'Answer A', 'Sentence 2'."""
    question: str
    """What was asked."""
    label: str
    """What the rater said."""
    others: tuple[str, ...]
    """What the others said."""
    reasons: tuple[tuple[str, str], ...]
    """What others wrote about the same, with their labels."""
    text: str
    """What the rater wrote; empty: nothing yet."""


@dataclass(frozen=True, slots=True)
class Distant:
    """Differences of one rater, read from the database and not yet shown."""

    apart: tuple[tuple[Task, Difference, Item | None, Mapping[str, Answer]], ...]
    """Each difference with its task and what was seen there."""
    written: Mapping[str, str]
    """What the rater wrote."""
    texts: Sequence[Event]
    """What others wrote."""


@dataclass(frozen=True, slots=True)
class Look:
    """What stands on a rater's page after the pilot."""

    waiting: int
    """Raters who are waited for."""
    shown: tuple[Apart, ...]
    """The next difference to write about, alone; with all written, every one of them."""
    number: int
    """Its place among all."""
    total: int
    """How many differences there are, those already written about included."""
