"""Sentences of answers, in a study that rates sentences.

An answer is split once, when it is first written, and keeps its sentences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from konsil.locale import entries
from konsil.prepare import sentences
from konsil.records import Answer, Span
from konsil.study.definition.protocol import Study

_PRETENDED = 8
SENTENCE = "Sentence {n}."
"""A placeholder in English; other languages: entry `rehearsal.sentence`."""


def rates_sentences(study: Study) -> bool:
    """Whether an instrument of the study has the sentence for its unit."""
    return any(i.unit == "sentence" for i in study.instruments)


def with_sentences(
    study: Study, answers: Iterable[Answer], stored: Mapping[str, Answer]
) -> tuple[Answer, ...]:
    """The answers as they are to be written.

    Those of a study that rates no sentences are as they were.

    An answer in `stored` (by its id) whose text is the same keeps the sentences that it
    has there, so that a file that is imported again is the same whatever rules cut it. A text
    without a word is one sentence.

    >>> from konsil.instrument import Criterion, Instrument, Scale
    >>> criterion = Criterion("true", "?", Scale(("no", "yes")), "sentence")
    >>> study = Study("", 1, instruments=(Instrument("fine", (criterion,), unit="sentence"),))
    >>> [answer] = with_sentences(study, [Answer("a", "i", "s", "Rest. Drink 2.5 l.")], {})
    >>> [answer.text[s.start : s.end] for s in answer.sentences]
    ['Rest.', 'Drink 2.5 l.']
    """
    if not rates_sentences(study):
        return tuple(answers)
    return tuple(_cut(answer, stored.get(answer.id)) for answer in answers)


def pretended(study: Study, answers: Iterable[Answer], text: str = "") -> tuple[Answer, ...]:
    """Placeholder answers for a rehearsal, with this text.

    Where sentences are rated, the text consists of sentences.
    """
    if not rates_sentences(study):
        return tuple(dataclasses.replace(a, text=text) for a in answers)
    sentence = entries(study.language, "rehearsal", ["sentence"]).get("sentence", SENTENCE)
    sentence_text = " ".join(sentence.format(n=n) for n in range(1, _PRETENDED + 1))
    return tuple(_cut(dataclasses.replace(a, text=sentence_text), None) for a in answers)


def _cut(answer: Answer, stored: Answer | None) -> Answer:
    if stored is not None and stored.text == answer.text:
        return dataclasses.replace(answer, sentences=stored.sentences)
    if answer.sentences or not answer.text.strip():
        return answer
    start = len(answer.text) - len(answer.text.lstrip())
    full_span = (Span(start, len(answer.text.rstrip())),)
    return dataclasses.replace(answer, sentences=sentences(answer.text) or full_span)
