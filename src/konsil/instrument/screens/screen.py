"""The content of a task's screen, from which page and judge's prompt are rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from konsil.instrument.definition.fields import Field, FormError, fields, letter
from konsil.instrument.definition.form import Criterion, Instrument, Scale
from konsil.instrument.screens.rendering import Shown, show
from konsil.instrument.screens.words import Words, words
from konsil.records import Answer, Item, Task


@dataclass(frozen=True, slots=True)
class Screen:
    """One task as texts. No identifier of an answer, a system or a rater is in it."""

    instrument: Instrument
    """How it is rated."""
    fields: tuple[Field, ...]
    """What is asked, in order."""
    question: str = ""
    """The item's text; empty in a survey."""
    reference: str = ""
    """The item's reference, where the instrument shows it."""
    answers: tuple[Shown, ...] = ()
    """The answers in the order shown."""

    @property
    def words(self) -> Words:
        """Headings in the instrument's language."""
        return words(self.instrument.language)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria that are asked, each once."""
        return tuple(dict.fromkeys(f.criterion for f in self.fields))

    @property
    def headings(self) -> tuple[str, ...]:
        """What the answers are called, in the order shown."""
        return _headings(self.words.answer, len(self.answers))

    def subject(self, field: Field) -> str:
        """What a field is about, as the heading says it: 'Answer A', 'Sentence 2', or nothing."""
        if field.span is not None:
            return (
                self.words.marked_sentence
                if self.instrument.present == "sentence"
                else self.words.sentence.format(field.span + 1)
            )
        return self.words.answer.format(letter(field.answers[0])) if len(field.answers) == 1 else ""


@cache
def _headings(pattern: str, n_answers: int) -> tuple[str, ...]:
    return tuple(pattern.format(letter(n)) for n in range(n_answers))


def screen(
    instrument: Instrument, task: Task, item: Item | None, answers: Mapping[str, Answer]
) -> Screen:
    """The screen of a task; `answers` has at least the task's own by id."""
    if task.instrument and task.instrument != instrument.id:
        raise FormError(
            f"task {task.id!r} is on instrument {task.instrument!r}, got {instrument.id!r}"
        )
    if (item.id if item is not None else None) != task.item:
        raise FormError(
            f"task {task.id!r} is about item {task.item!r}, got"
            f" {item.id if item is not None else None!r}"
        )
    wording = words(instrument.language)
    arm, spans, thoughts = task.arm, task.spans, instrument.show_reasoning
    try:
        shown = tuple([show(answers[a], arm, wording, spans, thoughts) for a in task.answers])
    except KeyError as absent:
        raise FormError(
            f"task {task.id!r}: its answer {absent.args[0]!r} is not among those given"
        ) from None
    reference = (item.reference or "") if item is not None and instrument.show_reference else ""
    return Screen(
        instrument,
        fields(instrument, task),
        item.text if item is not None else "",
        reference,
        shown,
    )


def expected(scale: Scale, wording: Words) -> tuple[str, ...]:
    """The permitted replies, one line each: the options, or the kind of number or text.

    >>> expected(Scale(kind="number", low=0, high=10), words("en"))
    ('a number from 0 to 10',)
    >>> expected(Scale(kind="number", low=0, high=500, unit="mg"), words("en"))
    ('a number from 0 to 500 (mg)',)
    """
    if scale.kind == "choice":
        return scale.options()
    return (
        wording.text if scale.kind == "text" else _describe_number(scale, wording),
        *scale.options(),
    )


def _describe_number(scale: Scale, wording: Words) -> str:
    low, high = scale.low, scale.high
    if low is not None and high is not None:
        description = wording.number_between.format(f"{low:g}", f"{high:g}")
    elif low is not None:
        description = wording.number_from.format(f"{low:g}")
    else:
        description = wording.number if high is None else wording.number_to.format(f"{high:g}")
    return f"{description} ({scale.unit})" if scale.unit else description
