"""Sentences, where a study rates them: an answer is cut once, when it is first written, and keeps its sentences."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from konsil.prepare import sentences
from konsil.records import Answer, Span
from konsil.study.definition.protocol import Study

_PRETENDED = 8


def rates_sentences(study: Study) -> bool:
    """Whether an instrument of the study has the sentence for its unit."""
    return any(i.unit == "sentence" for i in study.instruments)


def with_sentences(
    study: Study, answers: Iterable[Answer], stored: Mapping[str, Answer]
) -> tuple[Answer, ...]:
    """The answers as they are to be written.

    Those of a study that rates no sentences are as they were.

    An answer in `held` (id -> what is stored) whose text is the same keeps the sentences that it
    has there, so that a file that is imported again is the same whatever rules cut it. A text
    without a word is one sentence.

    >>> from konsil.instrument import Criterion, Instrument, Scale
    >>> form = Instrument("fine", (Criterion("true", "?", Scale(("no", "yes")), "sentence"),), unit="sentence")
    >>> [answer] = with_sentences(Study("", 1, instruments=(form,)), [Answer("a", "i", "s", "Rest. Drink 2.5 l.")], {})
    >>> [answer.text[s.start : s.end] for s in answer.sentences]
    ['Rest.', 'Drink 2.5 l.']
    """
    if not rates_sentences(study):
        return tuple(answers)
    return tuple(_cut(answer, stored.get(answer.id)) for answer in answers)


def pretended(study: Study, answers: Iterable[Answer], text: str = "") -> tuple[Answer, ...]:
    """Answers that are not there yet, for a rehearsal: with this text, or with sentences where these are rated."""
    if not rates_sentences(study):
        return tuple(dataclasses.replace(a, text=text) for a in answers)
    word = "Satz" if study.language == "de" else "Sentence"
    sentence_text = " ".join(f"{word} {n}." for n in range(1, _PRETENDED + 1))
    return tuple(_cut(dataclasses.replace(a, text=sentence_text), None) for a in answers)


def _cut(answer: Answer, stored: Answer | None) -> Answer:
    if stored is not None and stored.text == answer.text:
        return dataclasses.replace(answer, sentences=stored.sentences)
    if answer.sentences or not answer.text.strip():
        return answer
    start = len(answer.text) - len(answer.text.lstrip())
    full_span = (Span(start, len(answer.text.rstrip())),)
    return dataclasses.replace(answer, sentences=sentences(answer.text) or full_span)
