"""Enrolment: the steps before a rater's first task.

The protocol defines them; their state is a pure function of the events.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from konsil.errors import nearest
from konsil.instrument import Criterion, Instrument, PageNames, Scale
from konsil.plan.model.places import Places
from konsil.records import Event, Rater

CONSENT = "consent"
"""Subject: the rater; data.version: the digest of the text; data.agreed; data.withdrawn where it
was given before."""
CONSENT_TEXT = "consent text"
"""Subject: the digest of the text; data.text: the text itself, so that every version that was
agreed to stays."""
ELIGIBILITY = "eligibility"
"""Subject: the rater; data.replies: question -> label; data.eligible; or data.reopened,
data.reason: to ask again."""
PROFILE = "profile"
"""Subject: the rater; data.replies: question -> label or number."""

WAITING = "waiting list"
"""Subject: who waits for a place; data.removed (and data.by) where that ended without one."""

Withdrawn = Literal["keep", "exclude"]
Surplus = Literal["thanks", "waiting list", "extra ratings"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question to somebody who may become a rater."""

    id: str
    """Unique in its list; a profile's becomes a stratum of the rater."""
    question: str
    """What is asked."""
    scale: Scale
    """What may be replied."""
    guidance: str = ""
    """An explanation, shown beside the question."""
    admits: tuple[str, ...] = ()
    """Eligibility: the labels with which somebody is let in."""


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What comes before the first task."""

    consent: str = ""
    """The text that is agreed to, in Markdown; a name that ends in .md is a file. Empty: no consent
    is asked for."""
    withdrawn: Withdrawn = "keep"
    """What becomes of the ratings of somebody who withdraws consent: analysed, or left out and
    counted."""
    eligibility: tuple[Question, ...] = ()
    """Questions that decide whether somebody may take part."""
    profile: tuple[Question, ...] = ()
    """Questions whose replies become strata of the rater."""
    surplus: Surplus = "thanks"
    """What somebody gets for whom no place is free: thanks, a waiting list, or a place drawn at
    sign-up."""
    most_extra: int = 100
    """How many places may be drawn at sign-up in all."""


def version_of(text: str) -> str:
    r"""The name of a version of a text: a short digest; another text asks for consent again.

    >>> version_of("I agree.") == version_of("I agree.\r\n")
    True
    """
    # An editor that changes line ends does not change what was agreed to.
    return hashlib.sha256(text.replace("\r\n", "\n").strip().encode()).hexdigest()[:16]


def form_of(questions: Iterable[Question], language: str) -> Instrument:
    """The questions as a form, so that page and reader are those of every other form."""
    criteria = tuple(Criterion(q.id, q.question, q.scale, "rater", q.guidance) for q in questions)
    return Instrument("enrolment", criteria, language=language)


def names_of(asks: Enrolment) -> PageNames:
    """The names of the questions on their pages.

    An identifier could reveal which reply makes a rater eligible.
    """
    return PageNames([form_of((*asks.eligibility, *asks.profile), "en")])


def is_admitted(questions: Iterable[Question], replies: Mapping[str, str]) -> bool:
    """Whether these replies make the person eligible: each must be an admitting reply."""
    return all(replies.get(q.id) in q.admits for q in questions)


def profiles(events: Iterable[Event], questions: Iterable[Question]) -> dict[str, dict[str, str]]:
    """Rater -> strata, from what each said last.

    A question left open or abstained from gives none.
    """
    question_by_id = {q.id: q for q in questions}
    strata_by_rater: dict[str, dict[str, str]] = {}
    for event in in_time(e for e in events if e.kind == PROFILE):
        replies = event.data.get("replies")
        if isinstance(replies, dict):
            strata_by_rater[event.subject] = {
                name: str(reply)
                for name, reply in replies.items()
                if name in question_by_id and reply and reply != question_by_id[name].scale.abstain
            }
    return strata_by_rater


def withdrawn_consents(events: Iterable[Event]) -> frozenset[str]:
    """Raters whose last word on consent is that they withdraw it."""
    last = {e.subject: e for e in in_time(e for e in events if e.kind == CONSENT)}
    return frozenset(
        rater for rater, e in last.items() if e.data.get("withdrawn") and not e.data.get("agreed")
    )


def not_taking_part(events: Iterable[Event]) -> frozenset[str]:
    """Raters who do not take part, by their last reply on consent or eligibility.

    Their last reply on consent is no, or their last replies on eligibility exclude them.

    >>> said = Event("1", CONSENT, "r1", "2025-03-01", {"agreed": False})
    >>> sorted(not_taking_part([said, Event("2", CONSENT, "r2", "2025-03-01", {"agreed": True})]))
    ['r1']
    """
    last = {
        (e.kind, e.subject): e
        for e in in_time(e for e in events if e.kind in (CONSENT, ELIGIBILITY))
    }
    words = {CONSENT: "agreed", ELIGIBILITY: "eligible"}
    return frozenset(rater for (kind, rater), e in last.items() if not e.data.get(words[kind]))


def excluded_by_withdrawal(enrolment: Enrolment | None, events: Iterable[Event]) -> frozenset[str]:
    """Raters excluded from every analysis after they withdrew their consent.

    Empty unless the protocol excludes them.
    """
    says_so = enrolment is not None and enrolment.withdrawn == "exclude"
    return withdrawn_consents(events) if says_so else frozenset()


def in_time(events: Iterable[Event]) -> list[Event]:
    """Events in the order in which they happened."""
    return sorted(events, key=lambda e: (e.at, e.id))


def with_profiles(
    raters: Iterable[Rater], enrolment: Enrolment | None, events: Iterable[Event]
) -> tuple[Rater, ...]:
    """Raters with the strata of their profiles.

    What the protocol says of somebody stands, a profile adds to it.
    """
    strata_by_rater = profiles(events, enrolment.profile if enrolment is not None else ())
    return tuple(
        dataclasses.replace(r, strata={**strata_by_rater[r.id], **r.strata})
        if r.id in strata_by_rater
        else r
        for r in raters
    )


def enrolment_problems(enrolment: Enrolment, where: str) -> Iterator[str]:
    """Problems of the questions, one sentence each."""
    for name, questions in (("eligibility", enrolment.eligibility), ("profile", enrolment.profile)):
        for n, question in enumerate(questions):
            place, scale = f"{where}.{name}[{n}]", question.scale
            if name == "profile" and question.admits:
                yield (
                    f"{place}.admits: a profile does not decide on admission; put such"
                    " questions under eligibility"
                )
            if name != "eligibility":
                continue
            if scale.kind != "choice":
                yield (
                    f"{place}.scale: eligibility is decided by labels; expected a choice, got kind"
                    f" {scale.kind!r}"
                )
            elif not question.admits:
                yield (
                    f"{place}.admits: is empty, so no rater would be admitted; state at least"
                    " one label"
                )
            for label in question.admits:
                if scale.kind == "choice" and label not in scale.options():
                    yield (
                        f"{place}.admits: there is no label {label!r};"
                        f" {nearest(label, scale.options())}"
                    )
    if enrolment.most_extra < 1:
        yield f"{where}.most_extra: expected 1 or more, got {enrolment.most_extra}"
    if enrolment.withdrawn == "exclude" and not enrolment.consent.strip():
        yield (
            f"{where}.withdrawn: there is no consent that could be withdrawn; expected a text under"
            " consent"
        )


def places_problems(
    places: Iterable[Places], enrolment: Enrolment | None, where: str
) -> Iterator[str]:
    """Problems of the places that people sign up for, one sentence each."""
    question_by_id = {q.id: q for q in (enrolment.profile if enrolment is not None else ())}
    for n, group in enumerate(places):
        if group.number < 1:
            yield f"{where}[{n}].number: expected 1 or more, got {group.number}"
        for name, value in group.strata.items():
            place = f"{where}[{n}].strata"
            if name not in question_by_id:
                yield (
                    f"{place}: no question of the profile is called {name!r};"
                    f" {nearest(name, question_by_id)}"
                )
            elif (
                question_by_id[name].scale.kind == "choice"
                and value not in question_by_id[name].scale.labels
            ):
                yield (
                    f"{place}.{name}: there is no label {value!r};"
                    f" {nearest(value, question_by_id[name].scale.labels)}"
                )
