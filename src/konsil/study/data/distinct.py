"""Admission of ratings that are columns: what is different among them is checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from konsil.errors import SourceError
from konsil.records import Answer, Item, Rater, Rating, State, Task
from konsil.study.data.admit import Door
from konsil.study.data.incoming import Incoming, StoredRecords
from konsil.study.definition.protocol import Study


class Question(NamedTuple):
    """What the form that a rating is on depends on, and how its label is read."""

    instrument: str
    """The instrument that the file states; empty: none."""
    criterion: str
    """The criterion."""
    state: State
    """Rated or abstained."""
    label: str | None
    """The file's word."""


class Reading(NamedTuple):
    """How the protocol reads a question."""

    state: State
    """Rated or abstained."""
    label: str | None
    """The label as the scale reads it."""
    instrument: str
    """The instrument."""
    digest: str
    """The digest of what was shown, where the file states none."""


@dataclass(frozen=True)
class AdmittedDistinct:
    """What is admitted of a file whose ratings are columns."""

    items: tuple[Item, ...]
    """Items, those implied by ratings included."""
    answers: tuple[Answer, ...]
    """Answers, those implied by ratings included."""
    raters: tuple[Rater, ...]
    """The raters that gave ratings."""
    readings: Mapping[Question, Reading]
    """How each question is read."""


def admit_distinct(
    study: Study,
    others: Sequence[Incoming],
    stored: StoredRecords,
    *,
    questions: Sequence[Question],
    raters: Sequence[str],
    subjects: Sequence[tuple[str | None, str | None]],
) -> AdmittedDistinct | None:
    """Check the different questions, raters and subjects of a file's ratings, in its order.

    Each rating is about an item or one answer. A million ratings have a few of each. None where
    anything is not admitted, or where ratings would have to be looked at one by one. `others`: the
    files without ratings.
    """
    door = Door(study, others, stored)
    try:
        for file in others:
            door.check(file)
    except SourceError:
        return None
    readings, scopes = {}, set()
    for question in questions:
        reading = _reading(door, question)
        if reading is None:
            return None
        readings[question], scope = reading
        scopes.add(scope)
    # The number of answers tells which of these two a rating is about.
    if len(scopes) != 1 or not scopes <= {"answer", "item"}:
        return None
    criterion = door.criteria[questions[0].criterion][0][1]
    if any(door.rater_problem(rater) for rater in raters):
        return None
    for item, answer in subjects:
        if item is None or (answer is None) == (criterion.scope == "answer"):
            return None
        if door.subject_problem(
            Rating("", "", "", item, () if answer is None else (answer,)), criterion
        ):
            return None
    admitted = door.admitted()
    return AdmittedDistinct(admitted.items, admitted.answers, admitted.raters, readings)


def _reading(door: Door, question: Question) -> tuple[Reading, str] | None:
    """How a question is read, and the scope of its criterion; None if it is not admitted."""
    rating = Rating("", "", question.criterion, None, state=question.state, label=question.label)
    form = door.form_of(rating, Task("", "", "", question.instrument, None))
    if isinstance(form, str):
        return None
    instrument, criterion = form
    label = door.label_of(instrument, criterion, rating)
    if isinstance(label, str):
        return None
    return Reading(*label, instrument.id, door.digests[instrument.id]), criterion.scope
