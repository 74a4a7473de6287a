"""Adjudication without HTTP: a rater's view of a disagreement, and the final label.

The rater keeps or changes the label.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from konsil.instrument import Field, fields
from konsil.instrument.screens.reply import ratings, values
from konsil.instrument.screens.screen import screen
from konsil.records import Rating, Task
from konsil.store import Connection, Store
from konsil.store.curation.renderings import rendered
from konsil.store.engine.engine import reading, writing
from konsil.store.log import audit, study_events
from konsil.store.people.people import people
from konsil.store.tasks import adjudications, screens
from konsil.study import Study
from konsil.study.definition.adjudication import Adjudication
from konsil.study.sections.enrolment import CONSENT, withdrawn_consents
from konsil.web.rating import form, rating_view
from konsil.web.rating.sheet import Pane
from konsil.web.rating.text import richtext

LONGEST_REASON = 4_000
"""Signs of a reason that are kept."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What one of the others said."""

    name: str
    """Who it is, where the protocol shows names; else empty."""
    before: str
    """The label before."""
    note: str
    """The reason given with it."""
    is_turned: bool
    """Whether the reason was written with the answers in another order."""
    after: str
    """The label after; empty: not decided yet."""
    reason: str
    """The reason for it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One question of one disagreement in the rater's list."""

    about: str
    """Its name in addresses; it says nothing."""
    item: str
    """The item's text."""
    question: str
    """What was asked."""
    decided: bool
    """Whether the rater has kept or changed the label."""
    closed: bool
    """Whether its round is closed, so that the label stands."""


@dataclass(frozen=True, slots=True)
class Review:
    """One disagreement as a page shows it."""

    about: str
    """Its name."""
    language: str
    """The language of the study's texts."""
    item: str
    """The item's text."""
    panes: tuple[Pane, ...]
    """The answers that the question is about."""
    heading: str
    """What it is about: 'Answer A'; empty where there is one thing only."""
    question: str
    """What was asked."""
    guidance: str
    """How to decide."""
    kind: str
    """choice or number."""
    options: tuple[str, ...]
    """What can be said."""
    before: str
    """The rater's label before."""
    note: str
    """The rater's own reason with it."""
    is_turned: bool
    """Whether the rater saw the answers in another order then."""
    label: str
    """The label as it stands: that after, or the one before."""
    reason: str
    """The reason for it; empty: not decided yet."""
    others: tuple[Voice, ...]
    """What the others said."""
    closed: bool
    """Whether its round is closed, so that the label stands."""


@dataclass(frozen=True, slots=True)
class _Case:
    task: Task
    field: Field
    fields: tuple[Field, ...]


class Adjudicating:
    """The adjudications of one study."""

    def __init__(self, study: Study, store: Store, now: Callable[[], str]) -> None:
        self._study, self._store, self._now = study, store, now
        self._rules: Adjudication | None = study.adjudication

    def waiting(self) -> int:
        """How many disagreements are not open yet."""
        return (
            len(adjudications.waiting(self._store, self._study, self._rules))
            if self._rules is not None
            else 0
        )

    def open_all(self, by: str) -> int:
        """Open all that wait; count them."""
        if self._rules is None:
            return 0
        return adjudications.open_all(self._store, self._study, self._rules, at=self._now(), by=by)

    def close(self, by: str) -> bool:
        """Close the round that is open; say whether there was one."""
        if self._rules is None:
            return False
        return adjudications.close(self._store, at=self._now(), by=by) is not None

    def rows(self, rater: str) -> tuple[Row, ...]:
        """The rater's list, in an order that says nothing."""
        if self._rules is None:
            return ()
        with reading(self._store.engine) as connection:
            cases = self._cases(connection, rater)
            labels = adjudications.labels(connection, [c.task for c in cases])
            texts = {c.task.id: screens.item(connection, c.task.item) for c in cases}
            closed = adjudications.closed_tasks(connection)
        return tuple(
            Row(
                name,
                (item.text if (item := texts[case.task.id]) is not None else ""),
                case.field.criterion.question,
                case.field.name in values(case.fields, case.task, labels.get(case.task.id, ())),
                case.task.id in closed,
            )
            for name, case in sorted((_name(c), c) for c in cases)
        )

    def review(self, rater: str, about: str) -> Review | None:
        """One disagreement of the rater's.

        None where it is not the rater's own, or there is none.
        """
        with reading(self._store.engine) as connection:
            case = next((c for c in self._cases(connection, rater) if _name(c) == about), None)
            if case is None:
                return None
            task = case.task
            everybody = [
                t for t in adjudications.adjudication_tasks(connection, [task]) if _alike(t, task)
            ]
            withdrawn = withdrawn_consents(study_events.of_kind(connection, CONSENT))
            labels = adjudications.labels(connection, everybody)
            before = {t.id: screens.task(connection, t.repeat_of or "") for t in everybody}
            closed = adjudications.is_closed(connection, task.id)
            item, answers = (
                screens.item(connection, task.item),
                screens.answers(connection, task.answers),
            )
        names = (
            people(self._store)
            if self._rules is not None and self._rules.names == "shown"
            else None
        )
        instrument = self._study.instrument_of(task)
        rater_screen = screen(instrument, task, item, answers)
        html = rendered(
            self._store, richtext.renderer(), rating_view.texts_of(rater_screen), richtext.html_of
        )
        panes = rating_view.panes_of(rater_screen, html, ())
        rater_voice = self._voice(case, task, before[task.id], labels, "")
        others = []
        for other in sorted(
            everybody, key=lambda t: hashlib.sha256(f"{about} {t.rater}".encode()).digest()
        ):
            if other.rater and other.rater != rater and other.rater not in withdrawn:
                name = (
                    (names[other.rater].name if other.rater in names else "") or other.rater
                    if names is not None
                    else ""
                )
                others.append(self._voice(case, other, before[other.id], labels, name))
        alone = len(rater_screen.answers) == 1 and case.field.span is None
        criterion = case.field.criterion
        return Review(
            about,
            instrument.language,
            rater_screen.question,
            tuple(panes[n] for n in case.field.answers) if case.field.answers else panes,
            "" if alone else rater_screen.subject(case.field),
            criterion.question,
            criterion.guidance,
            criterion.scale.kind,
            case.field.options,
            rater_voice.before,
            rater_voice.note,
            rater_voice.is_turned,
            rater_voice.after or rater_voice.before,
            rater_voice.reason,
            tuple(others),
            closed,
        )

    def decide(self, rater: str, about: str, sent: Mapping[str, str]) -> str:
        """Keep or change the label.

        What is wrong: 'unknown', 'closed', 'label', 'reason', or nothing.
        """
        reason, at = form.clean(sent.get("reason", "")).strip()[:LONGEST_REASON], self._now()
        with reading(self._store.engine) as connection:
            case = next((c for c in self._cases(connection, rater) if _name(c) == about), None)
            closed = case is not None and adjudications.is_closed(connection, case.task.id)
        if case is None:
            return "unknown"
        if closed:
            return "closed"
        form_values = form.tidied((case.field,), {case.field.name: sent.get("label", "")})
        read = form.read((case.field,), form_values)
        if not read.readable or not read.replies:
            return "label"
        if not reason:
            return "reason"
        [rating] = ratings(read, self._study.instrument_of(case.task), case.task, at=at)
        with writing(self._store.engine) as connection:
            # Locked as in `adjudications.close`: a label is either counted there or refused here.
            audit.head(connection, lock=True)
            if adjudications.is_closed(connection, case.task.id):
                return "closed"
            stored_ratings = [
                r
                for r in screens.ratings_of_task(connection, case.task.id)
                if r.task == case.task.id
            ]
            now = dataclasses.replace(rating, note=reason)
            if not any(_same(now, r) for r in stored_ratings):
                adjudications.decide(connection, now, at=at)
        return ""

    def _cases(self, connection: Connection, rater: str) -> list[_Case]:
        cases = []
        for task in adjudications.tasks_of(connection, rater):
            form_fields = fields(self._study.instrument_of(task), task)
            differ = set(adjudications.fields_of(connection, task))
            cases += [
                _Case(task, field, form_fields) for field in form_fields if field.name in differ
            ]
        return cases

    def _voice(
        self,
        case: _Case,
        task: Task,
        before: Task | None,
        labels: Mapping[str, Sequence[Rating]],
        name: str,
    ) -> Voice:
        """What somebody said, as it reads with the answers in the common order."""
        subject = {case.task.answers[n] for n in case.field.answers}
        span = case.task.spans[case.field.span] if case.field.span is not None else None
        labels_with_notes = []
        for ratings_ in (labels.get(task.repeat_of or "", ()), labels.get(task.id, ())):
            label = values(case.fields, case.task, ratings_).get(case.field.name, "")
            notes = [
                r.note
                for r in ratings_
                if r.criterion == case.field.criterion.id
                and set(r.answers) == subject
                and r.span == span
            ]
            labels_with_notes.append((label, notes[0] if notes else ""))
        turned = before is not None and before.answers != case.task.answers
        return Voice(name, *labels_with_notes[0], turned, *labels_with_notes[1])


def _alike(task: Task, other: Task) -> bool:
    return (task.instrument, task.phase, task.arm, task.answers, task.spans) == (
        other.instrument,
        other.phase,
        other.arm,
        other.answers,
        other.spans,
    )


def _same(rating: Rating, other: Rating) -> bool:
    return (
        rating.criterion,
        rating.answers,
        rating.span,
        rating.state,
        rating.label,
        rating.note,
    ) == (
        other.criterion,
        other.answers,
        other.span,
        other.state,
        other.label,
        other.note,
    )


def _name(case: _Case) -> str:
    return hashlib.sha256(f"{case.task.id} {case.field.name}".encode()).hexdigest()[:20]
