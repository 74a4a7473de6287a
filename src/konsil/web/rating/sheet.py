"""The values of which a rating page is made: options, questions, groups, panes and the sheet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from konsil.web.rating.task_queue import Progress

Layout = Literal["panes", "pair", "beside", "survey"]


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that can be chosen."""

    label: str
    """What it says; also its value."""
    key: str
    """The digit that chooses it; empty where there are more than nine."""
    abstain: bool
    """Whether it says 'I cannot tell'."""


@dataclass(frozen=True, slots=True)
class QuestionView:
    """One question with what was said to it so far."""

    name: str
    """The field's name."""
    kind: str
    """choice, number or text."""
    question: str
    """What is asked."""
    guidance: str
    """How to decide."""
    anchor: str
    """The place in the codebook panel."""
    options: tuple[Option, ...]
    """What can be chosen."""
    stacked: bool
    """Whether the options are too long to stand beside one another."""
    low: float | None
    """The least number."""
    high: float | None
    """The greatest number."""
    unit: str
    """What the number is given in; empty: nothing that is said."""
    reason: str
    """The name of the field for a reason; empty: none can be given."""
    always_reason: bool
    """Whether a reason can be given to every label, and not to an abstention only."""
    value: str
    """What was said so far."""
    note: str
    """The reason so far."""
    problem: bool
    """Whether it still needs an answer, after an attempt to go on."""
    conflict: bool
    """Whether another window says something else."""
    suggested: str = ""
    """After a practice: the label that is suggested."""
    explanation: str = ""
    """After a practice: the reason."""


@dataclass(frozen=True, slots=True)
class Group:
    """The questions about one subject."""

    subject: str
    """What they are about: answer, sentence, pair or whole."""
    number: int
    """The number of the answer or sentence, from 1; 0 for the others."""
    heading: str
    """'Answer A', 'Sentence 2 of 6', or nothing."""
    quote: str
    """The sentence's own words; empty where it is about no sentence."""
    questions: tuple[QuestionView, ...]
    """The questions."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One answer."""

    heading: str
    """'Answer A'."""
    html: str
    """The final response."""
    reasoning: str
    """What was thought aloud, as HTML; empty where the study does not show it."""
    sources: tuple[str, ...]
    """Its sources, where the arm shows them."""
    groups: tuple[Group, ...]
    """Questions that stand in the pane."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One criterion in the codebook panel."""

    anchor: str
    """Its place."""
    question: str
    """What is asked."""
    guidance: str
    """How to decide."""
    options: tuple[str, ...]
    """What can be said."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One rating page."""

    public: str
    """The random name of the task."""
    visit: str
    """The random name of this opening of it."""
    rev: int
    """The number of changes so far."""
    layout: Layout
    """Answers each with its questions; two, or one, with the questions beside; or questions
    alone."""
    language: str
    """The language of the study's texts."""
    question: str
    """The item's text."""
    question_word: str
    """What it is called: 'Question'."""
    reference: str
    """The reference, where it is shown."""
    reference_word: str
    """What it is called."""
    reasoning_word: str
    """What reasoning is called."""
    sources_word: str
    """What sources are called."""
    panes: tuple[Pane, ...]
    """The answers in the order shown."""
    groups: tuple[Group, ...]
    """Questions that stand outside the panes."""
    entries: tuple[Entry, ...]
    """The criteria, for the codebook panel."""
    codebook: str
    """The codebook as HTML; empty where there is none."""
    progress: Progress
    """How far the rater is."""
    submitted: bool
    """Whether it was handed in before."""
    closed: bool
    """Whether its batch is closed, so that nothing can be changed any more."""
    practice: bool
    """Whether it is for practice, so that nothing of it counts."""
    explained: bool
    """Whether it shows what a practice explains, and takes no more answers."""
    previous_page: str
    """The random name of the task handed in before this one; empty: none, or it cannot be
    changed."""
    note: str = ""
    """The rater's note to oneself."""
    asks_reason: bool = False
    """Whether a change of what was handed in needs a reason."""
    reason: str = ""
    """The reason so far."""
    lacks_reason: bool = False
    """Whether something was changed and the reason is missing, after an attempt to go on."""

    @property
    def everything(self) -> tuple[Group, ...]:
        """All groups of the page, in its order."""
        return (*(g for pane in self.panes for g in pane.groups), *self.groups)


@dataclass(frozen=True, slots=True)
class FormState:
    """What was said so far, and what is wrong with it."""

    values: Mapping[str, str]
    """Field -> value."""
    problems: frozenset[str] = frozenset()
    """Fields that still need an answer."""
    conflicts: frozenset[str] = frozenset()
    """Fields that another window changed meanwhile."""
    explained: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """After a practice: field -> the suggested label and why."""
