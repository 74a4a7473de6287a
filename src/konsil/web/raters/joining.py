"""Endpoints before the first task: consent, eligibility, the profile, taking a place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from konsil.records.digits import stamp
from konsil.store.curation.renderings import rendered
from konsil.store.engine.engine import reading
from konsil.store.people.access import GUEST
from konsil.store.tasks import progress
from konsil.study.sections.privacy import keeps_ratings
from konsil.web.rating.enrolment_service import Part
from konsil.web.rating.rating_view import groups_with_page_names
from konsil.web.rating.text import richtext
from konsil.web.site.gates import first_open_prerequisite
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import page, path_to, to
from konsil.web.site.site import Site, site_of

FEWEST_SCREENS = 20
"""Screens that others handed in before anybody is told how long the pages take."""
LINK_DAYS = 90
"""How long a link works that somebody makes for another device."""


def consent(request: Request) -> Response:
    """The text, and how it stands with the visitor's consent."""
    site, visitor = site_of(request), visitor_of(request)
    reception = site.reception
    if not reception.version or site.study.enrolment is None:
        return to(path_to(request, "next"))
    flowing = partial(richtext.html_of, breaks=False)
    [html] = rendered(site.store, richtext.renderer(), [site.study.enrolment.consent], flowing)
    context = {
        "html": html,
        "version": reception.version,
        "standing": reception.standing(visitor.who),
        "study_language": site.study.language,
        "kept": site.study.enrolment.withdrawn == "keep",
        "ahead": work_ahead(site, visitor.who),
        "retention": site.study.privacy.retention if site.study.privacy is not None else "",
        "keeps_ratings": keeps_ratings(site.study.privacy),
    }
    return page(request, "consent.html", context)


@dataclass(frozen=True, slots=True)
class WorkAhead:
    """What somebody agrees to do, as far as the plan says."""

    pages: int
    """Pages to rate; 0: not known yet."""
    batches: int
    """In so many batches."""
    minutes: int | None
    """About how many minutes they take, by the pages that others rated; None where too few did."""


def work_ahead(site: Site, rater: str) -> WorkAhead:
    """The pages that a rater has, or would have in the place that is free now."""
    line = site.desk.line(rater)
    offer = site.placing.offer(rater) if not line else None
    pages = len(line) if line else offer.pages if offer is not None else 0
    with reading(site.store.engine) as connection:
        seconds = progress.typical_seconds(connection, FEWEST_SCREENS)
    minutes = None if seconds is None or not pages else max(5, 5 * round(pages * seconds / 300))
    return WorkAhead(pages, len({(row.phase, row.batch) for row in line}), minutes)


def say_consent(request: Request) -> Response:
    """Agree, decline or withdraw."""
    site, rater, form = site_of(request), visitor_of(request).who, form_of(request)
    word = form.get("say", "")
    if word == "agree" and site.reception.agree(rater, form.get("version", "")):
        return to(path_to(request, "next"))
    if word == "decline":
        site.reception.decline(rater)
    elif word == "withdraw":
        site.reception.withdraw(rater)
    # A text that changed while it was read is shown again.
    return to(path_to(request, "consent"))


def eligibility(request: Request) -> Response:
    """Questions on eligibility, or thanks to a person who is not eligible."""
    return _questions(request, "eligibility")


def say_eligibility(request: Request) -> Response:
    """Take the replies."""
    return _reply(request, "eligibility")


def profile(request: Request) -> Response:
    """Who the visitor is, as far as the study asks."""
    return _questions(request, "profile")


def say_profile(request: Request) -> Response:
    """Take the replies."""
    return _reply(request, "profile")


def _questions(
    request: Request,
    part: Part,
    sent: Mapping[str, str] | None = None,
    problems: Mapping[str, str] | None = None,
) -> Response:
    site, visitor = site_of(request), visitor_of(request)
    standing = site.reception.standing(visitor.who)
    groups = site.reception.questions(part, visitor.who, sent, problems)
    if not groups or first_open_prerequisite(site, visitor) != part:
        # Nothing is asked here, or it is not its turn; what was said once stands.
        return to(path_to(request, "next"))
    context = {
        "part": part,
        "groups": groups_with_page_names(groups, site.reception.names),
        "declined": part == "eligibility" and standing.eligible is False,
        "problems": len(problems or ()),
        "study_language": site.study.language,
        "sheet": {"closed": False},
    }
    return page(request, "questions.html", context, 422 if problems else 200)


def _reply(request: Request, part: Part) -> Response:
    site, visitor, sent = site_of(request), visitor_of(request), form_of(request)
    if first_open_prerequisite(site, visitor) != part:
        return to(path_to(request, "next"))
    sent = site.reception.names.fields(sent)
    problems = site.reception.reply(part, visitor.who, sent)
    return _questions(request, part, sent, problems) if problems else to(path_to(request, "next"))


def place(request: Request) -> Response:
    """The place that the visitor can take, or that there is none."""
    site, visitor = site_of(request), visitor_of(request)
    if first_open_prerequisite(site, visitor) != "place":
        return to(path_to(request, "next"))
    offer = site.placing.offer(visitor.who)
    context = {
        "pages": offer.pages if offer is not None else 0,
        "extra": offer is None and site.placing.draws_for(visitor.who),
        "keeps_list": site.placing.keeps_list,
        "waits": site.placing.is_waiting(visitor.who),
    }
    return page(request, "place.html", context)


def take_place(request: Request) -> Response:
    """Take it, or wait for one, or wait no longer."""
    site, visitor = site_of(request), visitor_of(request)
    word = form_of(request).get("say", "take")
    if first_open_prerequisite(site, visitor) == "place":
        if word in ("wait", "leave"):
            waits = (
                site.placing.wait(visitor.who)
                if word == "wait"
                else not site.placing.stop_waiting(visitor.who)
            )
            # Who came by the link for anybody has no way back from another device yet.
            return to(
                path_to(request, "own_link" if waits and visitor.who.startswith(GUEST) else "place")
            )
        has_place = site.placing.take(visitor.who)
        if has_place and visitor.who.startswith(GUEST):
            return to(path_to(request, "own_link"))
    return to(path_to(request, "next"))


def own_link(request: Request) -> Response:
    """What a personal link is good for, with a button that makes one: looking makes none."""
    return page(request, "own_link.html", {"link": ""})


def make_own_link(request: Request) -> Response:
    """Make a personal link for the visitor and show it this once; those made here before end."""
    site, visitor = site_of(request), visitor_of(request)
    now, until = site.now(), stamp(site.clock() + timedelta(days=LINK_DAYS))
    site.access.revoke(visitor.who, at=now, stay=True, by=visitor.who)
    secret = site.access.invite(visitor.who, "rater", at=now, expires_at=until, by=visitor.who)
    link = site.options.host + path_to(request, "invitation", secret=secret)
    return page(request, "own_link.html", {"link": link})
