"""The numbers that a frozen plan keeps, and what is stated of numbers that changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from konsil.analysis.table.labels import counted_labels, reads_numbers
from konsil.errors import AnalysisError
from konsil.errors.message import TranslatableMessage, message
from konsil.instrument import Criterion, PlacesScale, Scale, number_word
from konsil.records import Event
from konsil.study.data.freezing import NUMBERING, frozen
from konsil.study.definition.protocol import Study

LAST_OF_PLACES = "0.9.0"
"""The last version in which labels that are numbers counted by their places."""


@dataclass(frozen=True)
class Recount:
    """Labels whose numbers are not those of their places, by which they counted before."""

    criterion: str
    """The criterion."""
    level: str
    "Level of measurement."
    now: tuple[float, ...]
    """Their numbers; empty: words of an interval or ratio scale, which have none."""
    before: tuple[float, ...]
    """Their numbers by their places."""
    is_read: bool
    """Whether an analysis, a derived column or the expectation of votes depends on them."""


def with_frozen_numbers(study: Study, events: Iterable[Event]) -> Study:
    """The study with the numbers of its labels by the rule under which its plan was frozen.

    A freeze states the number of the rule; one of version 0.9.0 and earlier states none, and its
    labels count by their places. Digests of forms and plans do not change.
    """
    freeze = frozen(events)
    if freeze is None or NUMBERING in freeze.data:
        return study

    def by_places(criterion: Criterion) -> Criterion:
        return dataclasses.replace(criterion, scale=_as(PlacesScale, criterion.scale))

    forms = tuple(
        dataclasses.replace(form, criteria=tuple(map(by_places, form.criteria)))
        for form in study.instruments
    )
    return dataclasses.replace(study, instruments=forms)


def recounts(study: Study) -> tuple[Recount, ...]:
    """The labels of a study that count otherwise than by their places, each once."""
    choices = (c for form in study.instruments for c in form.criteria if c.scale.kind == "choice")
    return tuple(dict.fromkeys(r for choice in choices for r in _of_criterion(study, choice)))


def numbering_sentences(
    study: Study, events: Iterable[Event] = ()
) -> tuple[TranslatableMessage, ...]:
    """Sentences on labels whose numbers changed, with those of before.

    None once the plan was frozen with today's numbers, which then were never others.
    """
    freeze = frozen(events)
    if freeze is not None and NUMBERING in freeze.data:
        return ()
    is_kept = any(
        isinstance(c.scale, PlacesScale) for form in study.instruments for c in form.criteria
    )
    return tuple(_sentence(r, is_kept=is_kept) for r in recounts(study) if r.is_read)


def _of_criterion(study: Study, criterion: Criterion) -> Iterator[Recount]:
    plain, by_places = (_as(kind, criterion.scale) for kind in (Scale, PlacesScale))
    level, of_votes = plain.level, any(j.combine == "expectation" for j in study.judges)
    scores = {score.id for score in study.scores if criterion.id in score.of}
    names = {criterion.id, *scores}
    named = [a for a in study.analyses if names & {a.criterion, *a.criteria}]
    is_read = (
        any(reads_numbers(a, level) for a in named if not (a.collapse or a.labels))
        or any(d.criterion == criterion.id for d in study.derived)
        or (of_votes and level != "nominal")
    )
    # A scale that is combined of none of its analyses counts for what reads it as it is.
    now = plain.numbers_of(plain.labels, plain.labels)
    before = by_places.numbers()
    if now != before:
        yield Recount(criterion.id, level, now or (), before, is_read)
    for analysis in (a for a in named if a.collapse or a.labels):
        _, former = counted_labels(analysis, by_places)
        try:
            _, now = counted_labels(analysis, plain)
        except AnalysisError:
            now = ()
        if now != former:
            yield Recount(criterion.id, level, now, former, reads_numbers(analysis, level))


def _sentence(recount: Recount, *, is_kept: bool) -> TranslatableMessage:
    now, before = (", ".join(map(number_word, n)) for n in (recount.now, recount.before))
    if not is_kept:
        return message(
            "The labels of {criterion} count as {now} (up to version {version}: {before}).",
            message_id="numbering.changed",
            criterion=repr(recount.criterion),
            now=now,
            before=before,
            version=LAST_OF_PLACES,
        )
    if now:
        return message(
            "The labels of {criterion} count as {before}, by their places, as when the analysis"
            " plan was frozen; without that freeze they count as {now}.",
            message_id="numbering.kept",
            criterion=repr(recount.criterion),
            now=now,
            before=before,
        )
    return message(
        "The labels of {criterion} count as {before}, by their places, as when the analysis plan"
        " was frozen; without that freeze labels of level {level} that are words need numbers.",
        message_id="numbering.kept_words",
        criterion=repr(recount.criterion),
        before=before,
        level=recount.level,
    )


def _as(kind: type[Scale], scale: Scale) -> Scale:
    return kind(*(getattr(scale, field.name) for field in dataclasses.fields(scale)))
