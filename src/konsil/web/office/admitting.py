"""Endpoints: what was said before the first task, as counts and by person.

A reply on eligibility given by mistake.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from konsil.errors import KonsilError
from konsil.plan.model.places import Places
from konsil.records import Event
from konsil.records.numerals import natural
from konsil.store.engine.engine import reading
from konsil.store.log import study_events
from konsil.store.people.sites import SITE
from konsil.store.tasks import additions
from konsil.store.tasks.additions import Addition
from konsil.study.sections.enrolment import (
    CONSENT,
    ELIGIBILITY,
    PROFILE,
    Enrolment,
    Question,
    in_time,
)
from konsil.web.office.office import office
from konsil.web.rating.enrolment_service import Standing
from konsil.web.rating.form import clean
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import path_to, to
from konsil.web.site.scope import Scope, scope_of
from konsil.web.site.site import Site, site_of

PERSONAL = frozenset({"owner", "coordinator"})
"""Roles that see who said what; others see how many."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who has said something before the first task."""

    rater: str
    """The rater."""
    standing: Standing
    """How far they are."""
    version: str
    """The version of the text on which they said something last; empty: none."""
    replies: Mapping[str, str] = field(default_factory=dict)
    """Question -> reply, of eligibility and profile together."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a question was replied how."""

    part: str
    """'eligibility' or 'profile'."""
    question: Question
    """The question."""
    replies: tuple[tuple[str, int], ...]
    """Reply and how many gave it, the scale's own in its order first."""


def enrolment(request: Request) -> Response:
    """How many said what, and who."""
    return _page(request)


def _page(request: Request, fault: str = "", status: int = 200, reason: str = "") -> Response:
    site, scope, role = site_of(request), scope_of(request), visitor_of(request).role
    asks = site.study.enrolment or Enrolment()
    with reading(site.store.engine) as connection:
        events_by_kind = {
            kind: study_events.of_kind(connection, kind) for kind in (CONSENT, ELIGIBILITY, PROFILE)
        }
    people = scope.own(_people(site, events_by_kind))
    groups = additions.groups(site.study, site.store) if site.study.places else ()
    context = {
        "asks": asks,
        "version": site.reception.version,
        "people": people if role in PERSONAL else (),
        "consent_counts": sorted(
            Counter((p.standing.consent, p.version) for p in people if p.version).items()
        ),
        "admitted": Counter(p.standing.eligible for p in people),
        "tallies": [
            *_tallies("eligibility", asks.eligibility, people),
            # The possible replies to the question about the site are the sites.
            *_tallies("profile", _without_site(asks.profile, scope), people),
        ],
        "fault": fault,
        "why": reason,
        "study_language": site.study.language,
        "places": tuple(group for group in groups if scope.has_site(group.strata)),
        "keeps_list": site.placing.keeps_list,
        "waiting": scope.own(site.placing.waiting()) if role in PERSONAL else (),
        "most_places": additions.MOST,
    }
    return office(request, "office_enrolment.html", context, status)


def _without_site(questions: Iterable[Question], scope: Scope) -> list[Question]:
    return [q for q in questions if not scope.is_tied or q.id != SITE]


def _people(site: Site, events_by_kind: Mapping[str, Sequence[Event]]) -> list[Person]:
    last: dict[str, dict[str, Event]] = {}
    for kind, events in events_by_kind.items():
        for event in in_time(events):
            last.setdefault(event.subject, {})[kind] = event
    persons = []
    for rater, rater_events in sorted(last.items(), key=lambda pair: natural(pair[0])):
        replies: dict[str, str] = {}
        for kind in (ELIGIBILITY, PROFILE):
            stored_replies = (
                rater_events[kind].data.get("replies") if kind in rater_events else None
            )
            if isinstance(stored_replies, Mapping):
                replies |= {str(k): str(v) for k, v in stored_replies.items()}
        version = (
            str(rater_events[CONSENT].data.get("version", "")) if CONSENT in rater_events else ""
        )
        persons.append(Person(rater, site.reception.standing(rater), version, replies))
    return persons


def _tallies(part: str, questions: Iterable[Question], people: Sequence[Person]) -> list[Tally]:
    tallies = []
    for question in questions:
        counts = Counter(p.replies[question.id] for p in people if question.id in p.replies)
        scale = question.scale
        # A free text is everybody's own; its number says all there is to count.
        other_replies = (
            [] if scale.kind == "text" else sorted(counts.keys() - {*scale.options()}, key=_natural)
        )
        order = [*scale.options(), *other_replies] if scale.kind == "choice" else other_replies
        tallies.append(
            Tally(part, question, tuple((reply, counts[reply]) for reply in order if reply))
        )
    return tallies


def _natural(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text


def reopen_eligibility(request: Request) -> Response:
    """Ask somebody again who let themselves out or in by mistake; the reply of before is kept."""
    site, form = site_of(request), form_of(request)
    if not scope_of(request).sees(form.get("who", "")):
        return _page(request, "reason", 422)
    is_reopened = site.reception.reopen(
        form.get("who", ""), form.get("reason", ""), visitor_of(request).who
    )
    return to(path_to(request, "enrolment")) if is_reopened else _page(request, "reason", 422)


def add_places(request: Request) -> Response:
    """Add places to a panel; who adds them, and why, stands in the log."""
    site, form = site_of(request), form_of(request)
    chosen, number = form.get("group", ""), form.get("number", "")
    groups = additions.groups(site.study, site.store)
    if (
        not chosen.isdecimal()
        or int(chosen) >= len(groups)
        or not number.isdecimal()
        or len(number) > 4
    ):
        return _page(request, "places", 422)
    places = Places(groups[int(chosen)].panel, int(number), groups[int(chosen)].strata)
    addition = Addition(places, clean(form.get("reason", "")), visitor_of(request).who)
    try:
        additions.add_places(site.store, site.study, addition, at=site.now())
    except KonsilError as error:
        return _page(request, "places", 422, str(error))
    return to(path_to(request, "enrolment"))


def end_waiting(request: Request) -> Response:
    """Take somebody off the waiting list."""
    site, form = site_of(request), form_of(request)
    if not scope_of(request).sees(form.get("who", "")):
        return _page(request, "reason", 422)
    site.placing.stop_waiting(form.get("who", ""), by=visitor_of(request).who)
    return to(path_to(request, "enrolment"))
