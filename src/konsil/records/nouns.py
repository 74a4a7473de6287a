"""The records that the four papers share: items, systems, answers, raters, tasks, ratings.

One Rating fits them all. Pointwise: one answer. Pairwise: two answers. Difficulty, confidence,
surveys: no answer. Sentence: one answer and a span. Not rated is no record, abstained is a state,
unreadable is an attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

RaterKind = Literal["human", "llm", "program", "unknown"]
State = Literal["rated", "abstained"]
Purpose = Literal["main", "practice", "pilot", "repeat", "tiebreak", "injection", "adjudication"]
Outcome = Literal[
    "ok",
    "repaired",
    "re-asked",
    "not json",
    "off schema",
    "truncated",
    "empty",
    "refused",
    "filtered",
    "ended otherwise",
    "http error",
    "gave up",
    "expired",
    "no majority",
    "inconsistent",
]
"""How a call ended; the last two are of several calls for one task, whose votes or orders did not
agree."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a stored answer's text, by character offsets: text[start:end]."""

    start: int
    """The first character's offset."""
    end: int
    """One past the last character's offset."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A source that an answer names."""

    title: str
    """The source's title as the system gave it."""
    url: str = ""
    """Its address, empty where none was given."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing asked."""

    id: str
    """Unique in the study."""
    text: str
    """What is asked, as systems and raters see it."""
    reference: str | None = None
    """The expected answer given with the item; None where there is none."""
    aliases: tuple[str, ...] = ()
    """Other names of the reference."""
    case: str | None = None
    """What ties versions of one another together (masking levels); None: the item stands alone."""
    sets: tuple[str, ...] = ()
    """Named subsets it belongs to (core, split)."""
    strata: Mapping[str, str] = field(default_factory=dict)
    """Columns for selection and grouping (specialty, level, lexical match, language)."""


@dataclass(frozen=True, slots=True)
class System:
    """Who answers: an LLM, a product, a physician."""

    id: str
    """Unique in the study."""
    family: str = ""
    """The lineage, for family preference and the lineage rule."""
    model: str | None = None
    """ENDPOINT:NAME of the model that is asked; None: its answers are imported."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """How it is asked: sampling, prompts, prices."""
    dropped: str = ""
    """Why it takes no part after a pilot of candidates; empty: it does."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A system's answer to an item."""

    id: str
    """Unique in the study; the canonical id that ratings name."""
    item: str
    """The item's id."""
    system: str
    """The system's id."""
    text: str = ""
    """The final response; empty where a study was rated elsewhere and its texts are not at hand."""
    reasoning: str = ""
    """What the system thought aloud, kept apart from the final response."""
    citations: tuple[Citation, ...] = ()
    """Sources, as structure."""
    sentences: tuple[Span, ...] = ()
    """Where the text's sentences are."""


@dataclass(frozen=True, slots=True)
class Rater:
    """Who rates."""

    id: str
    """Unique in the study; a pseudonym, never a name."""
    panel: str
    """Raters that are exchangeable in an analysis."""
    kind: RaterKind = "human"
    """A person, an LLM (a judge), a program, or unknown: a place among those who rated the same,
    whose ratings of different items need not be of one rater."""
    family: str = ""
    """A judge's lineage."""
    strata: Mapping[str, str] = field(default_factory=dict)
    """Columns for matching and grouping (specialty, years, user of a product)."""


@dataclass(frozen=True, slots=True)
class Task:
    """One screen for one rater: an item with its answers, in the blinded order shown."""

    id: str
    """Unique in the study."""
    slot: str
    """The place in the plan that this task fills; a rater takes it over at sign-up."""
    rater: str
    """The rater's id; empty until somebody takes the slot."""
    instrument: str
    """The instrument's id."""
    item: str | None
    """The item's id; None for surveys of a batch, a phase or a rater."""
    answers: tuple[str, ...] = ()
    """Answer ids in the order shown, first position first."""
    spans: tuple[Span, ...] = ()
    """The sentences to rate, where the unit is the sentence."""
    arm: str = ""
    """The rendering or condition this rater sees."""
    phase: str = ""
    """The phase of the schedule."""
    batch: str = ""
    """The batch it is handed out in."""
    position: int = 0
    """Its place in the rater's order, from 0."""
    purpose: Purpose = "main"
    """Main analyses take main and tie-break tasks."""
    repeat_of: str | None = None
    """The task that this one repeats, for intra-rater agreement; of an adjudication the
    reviewed task."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One label for one subject, by canonical answer id, never by screen position."""

    task: str
    """The task's id."""
    rater: str
    """The rater's id."""
    criterion: str
    """The criterion's id."""
    item: str | None
    """The item's id; None for surveys."""
    answers: tuple[str, ...] = ()
    """None, one or two answer ids. In a pair the label speaks of the first as A and the second as
    B."""
    span: Span | None = None
    """The sentence, where one is rated."""
    state: State = "rated"
    """Rated, or abstained on purpose."""
    label: str | None = None
    """The label; None when abstained."""
    note: str = ""
    """The rater's reason or comment."""
    confidence: float | None = None
    """How sure the rater was, on the study's scale; None where not asked."""
    seconds: float | None = None
    """Seconds spent on the screen: a property of the task, repeated on each of its ratings, never
    summed."""
    at: str = ""
    """When, ISO 8601 in UTC; empty where unknown."""
    instrument: str = ""
    """The digest of the instrument it was given under; empty where imported without one."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome of one call of a judge or system, readable or not.

    It can also be the reason why several calls for one task gave no label.
    """

    id: str
    """Unique in the study."""
    task: str
    """The task's id."""
    rater: str
    """The judge's id."""
    outcome: Outcome
    """How the call ended."""
    raw: str = ""
    """The reply's body as received; of several calls, what they said about which question, as
    JSON."""
    at: str = ""
    """When, ISO 8601 in UTC."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event: a sign-up, withdrawal, closed batch, problem, consent or freeze."""

    id: str
    """Unique in the study, given by whoever reports it, so that reporting twice is harmless."""
    kind: str
    """What happened."""
    subject: str
    """To whom or what: a rater, a task, a batch."""
    at: str
    """When, ISO 8601 in UTC."""
    data: Mapping[str, object] = field(default_factory=dict)
    """Particulars."""
