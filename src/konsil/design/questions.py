"""What raters are asked: the criteria of study.toml as a list of questions, and back."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from konsil.analysis.roles.candidates.compared.preference_scales import scale_of_labels
from konsil.analysis.roles.outcomes import are_outcomes, known_step
from konsil.analysis.roles.vocabulary import known_pair
from konsil.design.edits import Data
from konsil.design.wording import identifier, wording
from konsil.records.numerals import own_numbers

Kind = Literal["five", "yesno", "choice", "ordered", "pair3", "pair5", "other"]
"""The scale: five points, yes or no, labels without and with an order, a preference with a tie of
three or five steps; `other` is a number, a text, or what else an existing file has."""
KINDS: tuple[Kind, ...] = ("five", "yesno", "ordered", "choice", "pair3", "pair5")
"""The scales that a new question can have."""
PAIRS: frozenset[Kind] = frozenset({"pair3", "pair5"})
_ORDERED: frozenset[Kind] = frozenset({"five", "ordered", "pair3", "pair5"})

About = Literal["answer", "item"]
"""What a question that compares nothing is about: each answer, or the question itself."""


@dataclass(frozen=True)
class Question:
    """One criterion as its form shows it."""

    question: str
    """What the rater is asked."""
    kind: Kind = "five"
    labels: tuple[str, ...] = ()
    """The labels in their order; empty: the kind's own."""
    abstain: str = ""
    """The label of an abstention; empty: none is offered."""
    guidance: str = ""
    about: About = "answer"
    id: str = ""
    """Its identifier; empty: new, and made from the question."""
    instrument: str = ""
    """Its instrument; empty: the first that fits."""
    new_id: str = ""
    """Its identifier where a file has one already, such as a table of ratings."""


def kind_of(criterion: Data) -> Kind:
    """The kind of an existing criterion."""
    scale = criterion.get("scale", {})
    labels = tuple(scale.get("labels", ()))
    if scale.get("kind", "choice") != "choice" or criterion.get("scope", "answer") not in (
        *("answer", "item", "pair"),
    ):
        return "other"
    if criterion.get("scope") == "pair":
        return {3: "pair3", 5: "pair5"}.get(len(labels), "other")  # type: ignore[return-value]
    if scale.get("level", "nominal") == "nominal":
        return "yesno" if len(labels) == 2 else "choice"
    if scale.get("level") == "ordinal" or scale.get("values"):
        return "five" if len(labels) == 5 else "ordered"
    return "other"


def questions_of(data: Data) -> tuple[Question, ...]:
    """The questions of a study, instrument by instrument."""
    return tuple(
        Question(
            question=criterion.get("question", ""),
            kind=kind_of(criterion),
            labels=tuple(criterion.get("scale", {}).get("labels", ())),
            abstain=criterion.get("scale", {}).get("abstain", ""),
            guidance=criterion.get("guidance", ""),
            about="item" if criterion.get("scope") == "item" else "answer",
            id=criterion.get("id", ""),
            instrument=instrument.get("id", ""),
        )
        for instrument in data.get("instruments", ())
        for criterion in instrument.get("criteria", ())
    )


def with_questions(data: Data, questions: Sequence[Question]) -> Data:
    """The study with these questions: changed, added and taken away; all else of a form stays."""
    study = copy.deepcopy(data)
    language = study.get("language", "en")
    instruments: list[Data] = study.setdefault("instruments", [])
    remaining_ids = {(question.instrument, question.id) for question in questions if question.id}
    for instrument in instruments:
        instrument["criteria"] = [
            criterion
            for criterion in instrument.get("criteria", [])
            if (instrument.get("id"), criterion.get("id")) in remaining_ids
        ]
    for question in questions:
        if question.id:
            form = next(i for i in instruments if i.get("id") == question.instrument)
            criterion = next(c for c in form["criteria"] if c.get("id") == question.id)
            _change(criterion, question, language)
        elif question.question.strip():
            form = _form_for(instruments, question, language)
            used_ids = {c["id"] for i in instruments for c in i["criteria"]}
            is_free = bool(question.new_id) and question.new_id not in used_ids
            name = question.new_id if is_free else identifier(question.question, used_ids)
            form["criteria"].append(_criterion(name, question, language))
    study["instruments"] = [instrument for instrument in instruments if instrument["criteria"]]
    if not study["instruments"]:
        del study["instruments"]
    return study


def with_language(data: Data, language: str) -> Data:
    """The study with its texts in another language; forms in its former one follow it."""
    study = copy.deepcopy(data)
    former, study["language"] = study.get("language", "en"), language
    for form in study.get("instruments", ()):
        if form.get("language", "en") == former:
            form["language"] = language
    return study


def labels_of(question: Question, language: str) -> tuple[str, ...]:
    """The labels, or those that its kind begins with."""
    return question.labels or tuple(wording(language).get(question.kind, ()))


def _change(criterion: Data, question: Question, language: str) -> None:
    criterion["question"] = question.question
    if question.guidance or "guidance" in criterion:
        criterion["guidance"] = question.guidance
    if question.kind == "other":
        return
    scale: dict[str, Any] = criterion["scale"]
    if kind_of(criterion) != question.kind:
        new = _criterion(criterion["id"], question, language)
        criterion.update(scope=new["scope"], scale=new["scale"])
        return
    if tuple(scale.get("labels", ())) != (labels := labels_of(question, language)):
        scale["labels"] = list(labels)
    if question.abstain:
        scale["abstain"] = question.abstain
    else:
        scale.pop("abstain", None)


def _criterion(name: str, question: Question, language: str) -> Data:
    scope = "pair" if question.kind in PAIRS else question.about
    level = "ordinal" if question.kind in _ORDERED else "nominal"
    scale: Data = {"labels": list(labels_of(question, language)), "level": level}
    if question.kind == "other":  # measured values of a table have no labels
        scale = {"kind": "number"}
    if question.abstain:
        scale["abstain"] = question.abstain
    criterion: Data = {"id": name, "question": question.question.strip(), "scope": scope}
    if question.guidance:
        criterion["guidance"] = question.guidance
    return {**criterion, "scale": scale}


def _form_for(instruments: list[Data], question: Question, language: str) -> Data:
    """The first instrument of the question's unit; a new one where there is none."""
    is_pair = question.kind in PAIRS
    for instrument in instruments:
        unit = instrument.get("unit", "answer")
        if unit == ("pair" if is_pair else "answer") and _is_form(instrument):
            return instrument
    words = wording(language)
    name = words["comparison" if is_pair else "answers"]
    form: Data = {
        "id": identifier(name, {i.get("id", "") for i in instruments}),
        "unit": "pair" if is_pair else "answer",
        "language": language,
        "criteria": [],
    }
    instruments.append(form)
    return form


def _is_form(instrument: Data) -> bool:
    """Whether it asks about items or answers, and is no survey."""
    scopes = {criterion.get("scope", "answer") for criterion in instrument.get("criteria", ())}
    return not scopes or bool(scopes & {"answer", "item", "pair"})


def with_references(data: Data, shown: Collection[str]) -> Data:
    """The study whose forms of these identifiers show an item's reference answer, and no others."""
    study = copy.deepcopy(data)
    for instrument in study.get("instruments", ()):
        if instrument["id"] in shown:
            instrument["show_reference"] = True
        elif instrument.get("show_reference"):
            instrument["show_reference"] = False
    return study


_HARM = ("harm", "risk", "danger", "unsafe", "error", "wrong", "schad", "gefahr", "gefähr", "risik")


def bad_when_high(question: str) -> bool:
    """Whether the last label of a question is the bad one, by its words.

    >>> bad_when_high("Could the answer harm a patient?"), bad_when_high("Is it safe?")
    (True, False)
    """
    return any(word in question.casefold() for word in _HARM)


def from_ratings(columns: Iterable[tuple[str, str, Sequence[str]]]) -> tuple[Question, ...]:
    """Questions for ratings that exist: (identifier, words, values); the labels are the values."""
    questions = []
    for name, words, values in columns:
        numbers = dict(zip(values, own_numbers(values), strict=True))
        is_number = None not in numbers.values()
        labels = tuple(sorted(values, key=lambda v: numbers[v] or 0.0) if is_number else values)
        # The last of two labels is the one whose proportion is proposed, whichever row came first.
        pair = known_pair(labels) if len(labels) == 2 else None
        labels = tuple(sorted(labels, key=lambda n: pair.index(n.casefold()))) if pair else labels
        kind: Kind = "yesno" if len(labels) == 2 else "choice"
        if is_number and len(labels) > 2:
            points = _points(labels)
            labels, kind = points, "five" if len(points) == 5 else "ordered" if points else "other"
        questions.append(Question(words, kind, labels, new_id=name))
    return tuple(questions)


def from_outcomes(
    columns: Iterable[tuple[str, str, Sequence[str]]],
    systems: Collection[str],
    sides: tuple[str, str],
) -> tuple[Question, ...]:
    """Questions for comparisons that exist: (identifier, words, outcomes).

    Outcomes that name a side, a system or a tie are read as the usual labels; others are labels of
    their own, whose order is proposed. `sides`: the columns of the systems.

    >>> [question] = from_outcomes([("better", "?", ["x", "tie", "y"])], {"x", "y"}, ("a", "b"))
    >>> question.kind, question.labels
    ('pair3', ())
    """
    names = {system.casefold() for system in systems}
    questions = []
    for name, words, outcomes in columns:
        labels: tuple[str, ...] = ()
        others = [w for w in outcomes if w.casefold() not in names and known_step(w, sides) is None]
        if others and not are_outcomes(outcomes):
            [rated] = from_ratings([(name, words, outcomes)])
            labels = scale_of_labels(outcomes) or rated.labels or tuple(outcomes)
        is_long = len(labels) > 3 or (bool(others) and not labels)
        questions.append(Question(words, "pair5" if is_long else "pair3", labels, new_id=name))
    return tuple(questions)


_MOST_POINTS = 21
"""Points of a scale of whole numbers; numbers of more are no labels."""


def _points(numbers: Sequence[str]) -> tuple[str, ...]:
    """Every point between the ends of a scale of whole numbers, also those that nobody chose."""
    if not all(re.fullmatch(r"-?\d{1,3}", number) for number in numbers):
        return ()
    low, high = int(numbers[0]), int(numbers[-1])
    return tuple(map(str, range(low, high + 1))) if high - low < _MOST_POINTS else ()
