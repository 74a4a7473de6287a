"""Differences between the texts that judges read and those that people read.

They are detected by removing the texts of the page from the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from konsil.instrument.definition.form import Instrument
from konsil.instrument.screens.prompt import prompt
from konsil.instrument.screens.screen import Screen, expected, screen
from konsil.records import Answer, Citation, Item, Span, Task


@dataclass(frozen=True, slots=True)
class Parity:
    """The difference between the page and the prompt of one screen."""

    role: tuple[str, ...]
    """Lines of the prompt that are the instrument's role."""
    reply: tuple[str, ...]
    """Other lines of the prompt that are not on the page, each once: how to reply, and the marks
    around texts."""
    missing: tuple[str, ...]
    """What is on the page and not in the prompt: nothing, or something is wrong."""


def texts(shown: Screen) -> Iterator[str]:
    """Every text of a screen's page and its codebook, in the prompt's order."""
    wording = shown.words
    yield shown.instrument.codebook.strip()
    yield wording.criteria
    for criterion in shown.criteria:
        yield from (criterion.question, criterion.guidance)
        yield from expected(criterion.scale, wording)
    if shown.question:
        yield from (wording.question, shown.question)
    if shown.reference:
        yield from (wording.reference, shown.reference)
    for name, answer in zip(shown.headings, shown.answers, strict=True):
        yield name
        if answer.reasoning:
            yield from (wording.reasoning, answer.reasoning, wording.final)
        yield from (piece.text for piece in answer.pieces)
        if answer.sources:
            yield from (wording.sources, *answer.sources)


def parity(shown: Screen, task: str) -> Parity:
    """Take every text of the page out of the prompt, in order, and see what is left of either."""
    judge_prompt = prompt(shown, task)
    prompt_text = f"{judge_prompt.system}\n\n{judge_prompt.user}"
    role = shown.instrument.role.strip()
    remaining, position = [], len(role) if role and prompt_text.startswith(role) else 0
    missing = []
    for text in texts(shown):
        if not text.strip():
            continue
        match = _whole_text_pattern(text).search(prompt_text, position)
        if match is None:
            missing.append(text)
            continue
        remaining.append(prompt_text[position : match.start()])
        position = match.end()
    remaining.append(prompt_text[position:])
    lines = (line.strip() for part in remaining for line in part.splitlines())
    reply = tuple(dict.fromkeys(line for line in lines if line.strip("-: ")))
    return Parity(tuple(role.splitlines()), reply, tuple(missing))


def _whole_text_pattern(text: str) -> re.Pattern[str]:
    """The pattern of a text that occurs by itself, not as words of another text.

    It may be a line, an option, a block or a marked sentence.
    """
    return re.compile(rf"(?:\A|(?<=\n)|(?<=\n- )|(?<=: )|(?<=>)){re.escape(text)}(?=[\n:<]|\Z)")


def parity_of(instrument: Instrument, n_answers: int = 1) -> Parity:
    """The difference on the example screens of an instrument.

    The examples have everything that a screen can have.
    """
    each = [parity(shown, EXAMPLE) for shown in examples(instrument, n_answers)]
    return Parity(
        each[0].role,
        tuple(dict.fromkeys(line for one in each for line in one.reply)),
        tuple(dict.fromkeys(text for one in each for text in one.missing)),
    )


EXAMPLE = "example"
"""The identifier of an example's task."""


def examples(instrument: Instrument, n_answers: int = 1) -> tuple[Screen, ...]:
    """The example screens of an instrument, with everything that its screens can have.

    It is one, but where each sentence has a screen of its own: then it is that of a sentence, and
    that of the other questions if there are any.

    >>> from konsil.instrument import Criterion, Scale
    >>> criterion = Criterion("c", "Better?", Scale(("A", "B")), "pair")
    >>> [len(shown.answers) for shown in examples(Instrument("f", (criterion,)))]
    [2]
    """
    has_sentences = any(c.scope == "sentence" for c in instrument.criteria)
    if instrument.present == "answer" or not has_sentences:
        spans = (Span(0, 2), Span(3, 5)) if has_sentences else ()
        return (_example(instrument, n_answers, spans),)
    of_sentence = _example(instrument, n_answers, (Span(0, 2),))
    return (
        of_sentence,
        *([_example(instrument, n_answers)] if instrument.screen_criteria(0) else []),
    )


def _example(instrument: Instrument, n_answers: int, spans: tuple[Span, ...] = ()) -> Screen:
    has_sentences = any(c.scope == "sentence" for c in instrument.criteria)
    pair = any(c.scope == "pair" for c in instrument.criteria)
    survey = all(c.scope in ("batch", "phase", "rater") for c in instrument.criteria)
    n = 0 if survey else 2 if pair else 1 if has_sentences else n_answers
    answers = {
        f"x{i}": Answer(
            f"x{i}", "i", f"s{i}", "1. 2.", "...", (Citation("...", "https://example.org"),)
        )
        for i in range(n)
    }
    item = None if survey else Item("i", "...?", "...")
    task = Task(EXAMPLE, "", "", instrument.id, None if survey else "i", tuple(answers), spans)
    return screen(instrument, task, item, answers)
