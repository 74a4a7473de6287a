"""The form: scales, criteria, instruments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from konsil.instrument.definition.numbering import label_numbers, places

ScaleKind = Literal["choice", "number", "text"]
ScaleLevel = Literal["nominal", "ordinal", "interval", "ratio"]
Scope = Literal["item", "answer", "sentence", "pair", "task", "batch", "phase", "rater"]
Unit = Literal["answer", "sentence", "pair"]
Presentation = Literal["answer", "sentence"]

ANSWERS = {
    "item": 0,
    "task": 0,
    "batch": 0,
    "phase": 0,
    "rater": 0,
    "answer": 1,
    "sentence": 1,
    "pair": 2,
}
"""Scope of a criterion -> how many answers its rating is about."""

ITEMS = {"item", "answer", "sentence", "pair", "task"}
"""Scopes whose ratings name an item."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What may be said in reply to a criterion's question."""

    labels: tuple[str, ...] = ()
    """The labels of a choice, in their order; empty for numbers and texts."""
    kind: ScaleKind = "choice"
    """One of the labels, a number, or a free text."""
    level: ScaleLevel = "nominal"
    "Level of measurement."
    values: tuple[float, ...] = ()
    """The labels' numbers, in their order; empty: labels that are numbers are these numbers, and
    words of a nominal or ordinal scale are 0, 1, 2, ... in the labels' order."""
    abstain: str | None = None
    """The label that says 'I cannot tell'. It is not a value."""
    low: float | None = None
    """The least number accepted, for numbers."""
    high: float | None = None
    """The greatest number accepted, for numbers."""
    unit: str = ""
    """What a number is given in, such as mg; people and models read it."""

    def options(self) -> tuple[str, ...]:
        """Every label a rater can choose, the abstention last."""
        return (*self.labels, self.abstain) if self.abstain is not None else self.labels

    def numbers(self) -> tuple[float, ...]:
        """The labels' numbers, in the labels' order.

        Undefined (nan) of words at level interval or ratio, which a study's check refuses.

        >>> Scale(("1", "2", "10")).numbers(), Scale(("no", "yes")).numbers()
        ((1.0, 2.0, 10.0), (0.0, 1.0))
        """
        return self.numbers_of(self.labels, self.labels) or (math.nan,) * len(self.labels)

    def numbers_of(self, order: Sequence[str], combined: Sequence[str]) -> tuple[float, ...] | None:
        """The numbers of the labels in `order`, into which the scale's labels are combined.

        `combined` has the new label of each label. A label that two others became has the declared
        number of the label of its name. None: words of an interval or ratio scale without numbers.

        >>> scale = Scale(("1", "2", "3"), level="ordinal")
        >>> scale.numbers_of(("1", "3"), ("1", "1", "3")), scale.numbers_of(("low",), ("low",) * 3)
        ((1.0, 3.0), (0.0,))
        """
        names = combined if len(set(combined)) == len(combined) else self.labels
        declared = dict(zip(names, self.values, strict=False))
        return label_numbers(order, self.level, declared)


@dataclass(frozen=True, slots=True)
class PlacesScale(Scale):
    """A scale whose labels without `values` count by their places, also labels that are numbers.

    So konsil counted up to version 0.9.0; analysis plans that were frozen then keep it.

    >>> PlacesScale(("1", "2", "10")).numbers()
    (0.0, 1.0, 2.0)
    """

    def numbers_of(self, order: Sequence[str], combined: Sequence[str]) -> tuple[float, ...] | None:
        """The declared numbers where each label is one of today's, or else places."""
        return self.values if self.values and [*order] == [*combined] else places(order)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question. Confidence, ease, surveys and the blinding probe are criteria too."""

    id: str
    """Unique in the instrument."""
    question: str
    """What the rater is asked."""
    scale: Scale
    """What may be replied."""
    scope: Scope = "answer"
    """What the question is about."""
    guidance: str = ""
    """How to decide, shown beside the question."""
    reason: bool = False
    """Whether a short reason may be given beside the label."""
    title: str = ""
    """What the report's figures call it; left out: its identifier. No rater sees it."""
    renamed: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Former label → today's label, for ratings given before labels were renamed. No rater sees
    it."""
    formerly: tuple[str, ...] = ()
    """Former identifiers, for ratings given before the criterion was renamed. No rater sees
    them."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """The form and its codebook."""

    id: str
    """Unique in the study."""
    criteria: tuple[Criterion, ...]
    """The questions, in the order asked."""
    codebook: str = ""
    """The codebook's text in Markdown: one text for page, print and judge."""
    role: str = ""
    """Who the rater is asked to be; the only line in which a judge's prompt may differ from the
    page."""
    show_reference: bool = False
    """Whether the item's reference is shown for orientation."""
    show_reasoning: bool = False
    """Whether a system's reasoning is shown before its answer."""
    unit: Unit = "answer"
    """What is rated at a time."""
    present: Presentation = "answer"
    """Whether the sentences of an answer are rated together on one page and in one call, or each
    alone: the whole answer with one sentence marked."""
    language: str = "en"
    """The language of its texts."""
    reason_first: bool = False
    """Whether judges give the reason of a criterion that asks for one before its label; people
    choose their order."""

    def __hash__(self) -> int:
        # What is made of an instrument once is looked up for every task: equal forms have equal ids
        # and codebooks, and the hash of a text is known already.
        return hash((self.id, self.codebook))

    def screen_criteria(self, n_sentences: int) -> tuple[Criterion, ...]:
        """The criteria of a screen about an item with so many sentences to be rated.

        Where each sentence has a screen of its own, it asks about the sentence alone; the questions
        about the answer, the task or the item are on a screen without one.

        >>> scale = Scale(("no", "yes"))
        >>> criteria = (Criterion("true", "?", scale, "sentence"), Criterion("easy", "?", scale))
        >>> form = Instrument("fine", criteria, unit="sentence", present="sentence")
        >>> [[c.id for c in form.screen_criteria(n)] for n in (1, 0)]
        [['true'], ['easy']]
        """
        if self.present == "answer":
            return self.criteria
        return tuple(c for c in self.criteria if (c.scope == "sentence") == (n_sentences > 0))

    def criterion(self, criterion_id: str) -> Criterion | None:
        """The criterion of this id, or None."""
        return next((c for c in self.criteria if c.id == criterion_id), None)
