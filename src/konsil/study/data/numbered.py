"""Imported ratings that state the number of a sentence get its span in the answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from konsil.errors import PROBLEMS, nearest
from konsil.errors.message import message
from konsil.errors.places import problem_at
from konsil.errors.unknown_names import unknown_name
from konsil.records import Answer, Rating, Span
from konsil.study.data.cutting import with_sentences
from konsil.study.data.incoming import Incoming, refuse
from konsil.study.definition.protocol import Study


def with_spans(
    study: Study, files: Sequence[Incoming], stored: Mapping[str, Answer]
) -> tuple[Incoming, ...]:
    """The files with the spans of their numbered sentences.

    1 is the first sentence of an answer as it is stored, or as it will be stored with these files.
    Numbers without a sentence are a SourceError.
    """
    if not any(file.numbers for file in files):
        return tuple(files)
    named = {
        answer
        for file in files
        if file.numbers
        for rating, number in zip(file.ratings, file.numbers, strict=True)
        if number is not None
        for answer in rating.answers
    }
    of_files = (a for file in files for a in file.answers if a.id in named)
    numbered = _Sentences(
        {**stored, **{answer.id: answer for answer in with_sentences(study, of_files, stored)}},
        {*stored, *(answer.id for file in files for answer in file.answers)},
    )
    return tuple(numbered.placed(file) if file.numbers else file for file in files)


class _Sentences:
    """The sentences of all answers, to be selected by their numbers."""

    def __init__(self, answers: Mapping[str, Answer], names: Collection[str]) -> None:
        """`answers`: those that ratings name, by id; `names`: the ids of all."""
        self.answers = answers
        self.names = names
        self.hints: dict[str, str] = {}

    def placed(self, file: Incoming) -> Incoming:
        """One file's ratings and tasks with their spans."""
        ratings: list[Rating] = []
        spans: dict[str, set[Span]] = {}
        problems: dict[str, None] = {}
        lines = file.lines or range(2, len(file.ratings) + 2)
        for rating, number, line in zip(file.ratings, file.numbers, lines, strict=True):
            if number is None:
                ratings.append(rating)
                continue
            span = self._span(rating, number)
            if isinstance(span, str):
                problem = problem_at(file.place, line, span, file.number_column)
                problems[problem] = None
                continue
            ratings.append(replace(rating, span=span))
            spans.setdefault(rating.task, set()).add(span)
        refuse(file, tuple(problems))
        tasks = (
            replace(t, spans=tuple(sorted(spans[t.id], key=lambda s: (s.start, s.end))))
            if t.id in spans
            else t
            for t in file.tasks
        )
        return replace(file, ratings=tuple(ratings), tasks=tuple(tasks), numbers=())

    def _span(self, rating: Rating, number: int) -> Span | str:
        if len(rating.answers) != 1:
            return message(
                "sentence {number:,} needs one answer, got {n}",
                message_id="records.sentence_of_one",
                number=number,
                n=len(rating.answers),
            )
        [name] = rating.answers
        answer = self.answers.get(name)
        if answer is None:
            return unknown_name("answer", name, self._nearest(name))
        n = len(answer.sentences)
        if not n:
            if answer.text.strip():
                return message(
                    "answer {name!r} has not been split into sentences: import the answers into a"
                    " new folder or database",
                    message_id="records.not_split",
                    name=name,
                )
            return message(
                "answer {name!r} has no text: import the answers with their texts first",
                message_id="records.no_text",
                name=name,
            )
        if number > n:
            return message(
                "there is no sentence {number:,} in answer {name!r}: the answer has {n:,}"
                " {n|sentence|sentences}",
                message_id="records.no_sentence",
                number=number,
                name=name,
                n=n,
            )
        return answer.sentences[number - 1]

    def _nearest(self, name: str) -> str:
        """The nearest answer, searched only as often as problems are written out."""
        if name not in self.hints and len(self.hints) < PROBLEMS:
            self.hints[name] = nearest(name, self.names)
        return self.hints.get(name, "it is not among those known")
