"""What comes before somebody's first task, without HTTP: consent, eligibility, the profile.

One transaction each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from konsil.instrument import fields
from konsil.instrument.screens.reply import Reading
from konsil.instrument.screens.screen import screen
from konsil.records import Event, Task
from konsil.store import Connection, Store
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.study import Study
from konsil.study.sections.enrolment import (
    CONSENT,
    CONSENT_TEXT,
    ELIGIBILITY,
    PROFILE,
    Enrolment,
    Question,
    form_of,
    is_admitted,
    names_of,
    version_of,
)
from konsil.web.rating import form, rating_view
from konsil.web.rating.sheet import FormState, Group

Consent = Literal["not asked", "open", "outdated", "given", "declined", "withdrawn"]
Part = Literal["eligibility", "profile"]
_KINDS = (CONSENT, ELIGIBILITY, PROFILE)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far somebody is before the first task."""

    consent: Consent
    """Whether the text as it is now was agreed to; 'outdated': only an older one."""
    consent_at: str = ""
    """When it was last said."""
    eligible: bool | None = None
    """Whether the replies let somebody in; None: not asked yet. True where nothing is asked."""
    profiled: bool = False
    """Whether every question of the profile was asked. True where there is none."""


class Reception:
    """The reception of one study.

    What is said there becomes events; none of it is ever overwritten.
    """

    def __init__(self, study: Study, store: Store, now: Callable[[], str]) -> None:
        self._study, self._store, self._now = study, store, now
        self._asks: Enrolment = study.enrolment or Enrolment()
        self.names = names_of(self._asks)
        self.version = version_of(self._asks.consent) if self._asks.consent.strip() else ""

    @property
    def asks_anything(self) -> bool:
        """Whether the study asks for anything before the first task."""
        return bool(self.version or self._asks.eligibility or self._asks.profile)

    def standing(self, rater: str) -> Standing:
        """How far somebody is."""
        if not self.asks_anything:
            return Standing("not asked", eligible=True, profiled=True)
        with reading(self._store.engine) as connection:
            return self._standing(connection, rater)

    def _standing(self, connection: Connection, rater: str) -> Standing:
        last = {e.kind: e for e in study_events.of_subject(connection, rater, _KINDS)}
        consent_event, admitted = last.get(CONSENT), last.get(ELIGIBILITY)
        replies = _replies(last.get(PROFILE))
        return Standing(
            self._consent(consent_event),
            consent_event.at if consent_event is not None else "",
            True if not self._asks.eligibility else _eligible(admitted),
            all(q.id in replies for q in self._asks.profile),
        )

    def _consent(self, consent_event: Event | None) -> Consent:
        if not self.version:
            return "not asked"
        if consent_event is None:
            return "open"
        if consent_event.data.get("agreed"):
            return "given" if consent_event.data.get("version") == self.version else "outdated"
        return "withdrawn" if consent_event.data.get("withdrawn") else "declined"

    def agree(self, rater: str, version: str) -> bool:
        """Note that somebody agrees to the text.

        False where that is not the text any more and nothing was noted.
        """
        if not self.version or version != self.version:
            return False
        # A second click on the button is no second consent.
        self._say(rater, {"agreed": True}, unless=("given",))
        return True

    def decline(self, rater: str) -> None:
        """Note that somebody does not agree.

        Who had agreed to an older text declines the new one only.
        """
        self._say(rater, {"agreed": False}, unless=("given", "declined", "withdrawn"))

    def withdraw(self, rater: str) -> bool:
        """Note that somebody withdraws the consent that was given; say whether there was one."""
        return self._say(
            rater, {"agreed": False, "withdrawn": True}, unless=("open", "declined", "withdrawn")
        )

    def _say(self, rater: str, data: Mapping[str, object], *, unless: Sequence[Consent]) -> bool:
        at = self._now()
        # Read where it is written: of two windows, both would otherwise be the first to say it.
        with writing(self._store.engine) as connection:
            consent_events = study_events.of_subject(connection, rater, (CONSENT,))
            if (
                not self.version
                or self._consent(consent_events[-1] if consent_events else None) in unless
            ):
                return False
            # With the text itself, once a version: the file it came from may be changed or lost.
            if not study_events.of_kind(connection, CONSENT_TEXT, self.version):
                text = {"text": self._asks.consent}
                study_events.append_event(
                    connection,
                    Event(f"{CONSENT_TEXT} {self.version}", CONSENT_TEXT, self.version, at, text),
                )
            name = f"{CONSENT} {rater} {len(consent_events) + 1}"
            content = {"version": self.version, **data}
            return study_events.append_event(connection, Event(name, CONSENT, rater, at, content))

    def questions(
        self,
        part: Part,
        rater: str,
        sent: Mapping[str, str] | None = None,
        problems: Mapping[str, str] | None = None,
    ) -> tuple[Group, ...]:
        """The questions of a part with what was said so far, as the pages show questions."""
        form_ = form_of(self._questions(part), self._study.language)
        rater_screen = screen(form_, _task(rater), None, {})
        replies = self.replies(part, rater) if sent is None else sent
        return rating_view.groups_of(
            rater_screen, FormState(dict(replies), frozenset(problems or ()))
        )

    def replies(self, part: Part, rater: str) -> dict[str, str]:
        """What somebody replied last; empty where nothing was."""
        with reading(self._store.engine) as connection:
            events = study_events.of_subject(connection, rater, (part,))
        return _replies(events[-1] if events else None)

    def reply(self, part: Part, rater: str, sent: Mapping[str, str]) -> dict[str, str]:
        """Take the replies to a part.

        What is wrong with them, by question, where nothing was taken.

        Replies on eligibility stand: whoever was not let in is not asked again until the questions
        are others.
        """
        questions, at = self._questions(part), self._now()
        form_fields = fields(form_of(questions, self._study.language), _task(rater))
        form_values = form.tidied(form_fields, sent)
        read = form.read(form_fields, form_values)
        if not read.readable:
            return form.problems(form_fields, form_values, read)
        replies = _given_replies(questions, read)
        data: dict[str, object] = {"replies": replies}
        if part == "eligibility":
            data["eligible"] = is_admitted(questions, replies)
        with writing(self._store.engine) as connection:
            before = study_events.of_subject(connection, rater, (part,))
            is_final = part == "eligibility" and bool(before) and _eligible(before[-1]) is not None
            if is_final or (before and _replies(before[-1]) == replies):
                return {}
            study_events.append_event(
                connection, Event(f"{part} {rater} {len(before) + 1}", part, rater, at, data)
            )
        return {}

    def reopen(self, rater: str, reason: str, by: str) -> bool:
        """Ask somebody again about eligibility, as after a slip.

        Say whether there was a reply and a reason for it.
        """
        clean_reason, at = form.clean(reason).strip(), self._now()
        with writing(self._store.engine) as connection:
            before = study_events.of_subject(connection, rater, ("eligibility",))
            if not before or _eligible(before[-1]) is None or not clean_reason:
                return False
            data = {"reopened": True, "reason": clean_reason, "by": by}
            name = f"eligibility {rater} {len(before) + 1}"
            return study_events.append_event(
                connection, Event(name, "eligibility", rater, at, data)
            )

    def _questions(self, part: Part) -> tuple[Question, ...]:
        return self._asks.eligibility if part == "eligibility" else self._asks.profile


def _task(rater: str) -> Task:
    return Task("", "", rater, "enrolment", None)


def _eligible(event: Event | None) -> bool | None:
    """Whether the replies let somebody in; None where nothing was asked yet, or is asked again."""
    return None if event is None or event.data.get("reopened") else bool(event.data.get("eligible"))


def _replies(event: Event | None) -> dict[str, str]:
    stored_replies = event.data.get("replies") if event is not None else None
    return (
        {str(k): str(v) for k, v in stored_replies.items()}
        if isinstance(stored_replies, Mapping)
        else {}
    )


def _given_replies(questions: Sequence[Question], read: Reading) -> dict[str, str]:
    """Question -> reply; an abstention has its label, and an empty text is empty."""
    scales = {q.id: q.scale for q in questions}
    replies_by_field = {
        g.field.name: g.label if g.label is not None else scales[g.field.name].abstain or ""
        for g in read.replies
    }
    return {q.id: replies_by_field.get(q.id, "") for q in questions}
