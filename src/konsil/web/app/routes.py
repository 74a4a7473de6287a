"""Every page there is, with who may see it. What is not in this table does not exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.routing import Route

from konsil.records.roles import Role
from konsil.web.http import statics
from konsil.web.office import (
    adjudication_rounds,
    admitting,
    collected,
    flags,
    invitations,
    marking,
    office,
    piloted,
    problem_reports,
    recruiting,
    rewording,
    screening,
)
from konsil.web.raters import (
    adjudicating,
    calibrating,
    joining,
    passkeys,
    rated,
    rating,
    sign_in,
)
from konsil.web.raters.prerequisites import past_gates
from konsil.web.site.guard import RATERS, Audience, Endpoint, Public, guarded

EVERYBODY = Public()
OFFICE: frozenset[Role] = frozenset({"owner", "coordinator"})
OWNERS: frozenset[Role] = frozenset({"owner"})
ANALYSTS: frozenset[Role] = frozenset({"owner", "analyst"})
CURATORS: frozenset[Role] = frozenset({"owner", "coordinator", "curator"})
SIGNED_IN = RATERS | OFFICE | ANALYSTS | CURATORS


def _task_page(endpoint: Endpoint) -> Endpoint:
    """A page of one task, behind what must come first."""
    return past_gates(rating.uncounted_if_tie(endpoint))


@dataclass(frozen=True, slots=True)
class Page:
    """One row of the table."""

    name: str
    """What links call it."""
    path: str
    """Its address."""
    method: str
    """GET shows, POST does."""
    audience: Audience
    """Who may."""
    endpoint: Endpoint
    """What answers."""
    before_passkey: bool = False
    """Whether owners have the page before they have signed in with their passkey."""
    by_site: bool = False
    """Whether a coordinator who is tied to sites has the page: it then shows their raters alone."""


ROUTES: tuple[Page, ...] = (
    Page("landing", "/", "GET", EVERYBODY, sign_in.landing, by_site=True),
    Page("health", "/health", "GET", EVERYBODY, sign_in.health, by_site=True),
    Page("ready", "/ready", "GET", EVERYBODY, sign_in.ready, by_site=True),
    Page("invitation", "/come/{secret}", "GET", EVERYBODY, sign_in.invitation, by_site=True),
    Page("come_in", "/come/{secret}", "POST", EVERYBODY, sign_in.accept_invitation, by_site=True),
    Page("language", "/language", "POST", EVERYBODY, sign_in.language, by_site=True),
    Page("leave", "/leave", "POST", SIGNED_IN, sign_in.leave, by_site=True, before_passkey=True),
    Page("static", "/static/{digest}/{name}", "GET", EVERYBODY, statics.static, by_site=True),
    Page("passkey", "/passkey", "GET", EVERYBODY, passkeys.passkey_page),
    Page("begin_passkey", "/passkey/begin", "POST", EVERYBODY, passkeys.begin),
    Page("end_passkey", "/passkey/end", "POST", EVERYBODY, passkeys.end),
    Page("consent", "/consent", "GET", RATERS, joining.consent),
    Page("say_consent", "/consent", "POST", RATERS, joining.say_consent),
    Page("eligibility", "/eligibility", "GET", RATERS, joining.eligibility),
    Page("say_eligibility", "/eligibility", "POST", RATERS, joining.say_eligibility),
    Page("profile", "/profile", "GET", RATERS, joining.profile),
    Page("say_profile", "/profile", "POST", RATERS, joining.say_profile),
    Page("place", "/place", "GET", RATERS, joining.place),
    Page("take_place", "/place", "POST", RATERS, joining.take_place),
    Page("own_link", "/link", "GET", RATERS, past_gates(joining.own_link, open_at="place")),
    Page(
        "make_own_link", "/link", "POST", RATERS, past_gates(joining.make_own_link, open_at="place")
    ),
    Page("calibration", "/calibration", "GET", RATERS, calibrating.calibration),
    Page("say_calibration", "/calibration", "POST", RATERS, calibrating.say_calibration),
    Page("reviews", "/adjudication", "GET", RATERS, past_gates(adjudicating.reviews)),
    Page("review", "/adjudication/{about}", "GET", RATERS, past_gates(adjudicating.review)),
    Page("decide_review", "/adjudication/{about}", "POST", RATERS, past_gates(adjudicating.decide)),
    Page("ratings", "/ratings", "GET", RATERS, past_gates(rated.my_ratings)),
    Page("next", "/next", "GET", RATERS, rating.next_task),
    Page("finished", "/finished", "GET", RATERS, past_gates(rating.finished)),
    Page("task", "/task/{public}", "GET", RATERS, _task_page(rating.task)),
    Page("submit", "/task/{public}", "POST", RATERS, _task_page(rating.submit)),
    Page("save", "/task/{public}/save", "POST", RATERS, _task_page(rating.save)),
    Page("later", "/task/{public}/later", "POST", RATERS, _task_page(rating.postpone_task)),
    Page("problem", "/task/{public}/problem", "POST", RATERS, _task_page(rating.problem)),
    Page("overview", "/office", "GET", OFFICE | ANALYSTS, office.overview, by_site=True),
    Page("succeed", "/office", "POST", OFFICE, office.succeed),
    Page("screening", "/office/screening", "GET", CURATORS, screening.screening),
    Page("screened", "/office/screening/item", "GET", CURATORS, screening.screened),
    Page("decide", "/office/screening/item", "POST", CURATORS, screening.decide),
    Page("cases", "/office/cases", "GET", CURATORS, marking.cases),
    Page("case", "/office/cases/mark", "GET", CURATORS, marking.case),
    Page("mark", "/office/cases/mark", "POST", CURATORS, marking.mark),
    Page("rewriting", "/office/rewriting", "GET", OFFICE, rewording.rewording),
    Page("reword", "/office/rewriting", "POST", OFFICE, rewording.reword),
    Page(
        "invitations", "/office/invitations", "GET", OFFICE, invitations.invitations, by_site=True
    ),
    Page("invite", "/office/invitations", "POST", OFFICE, invitations.invite, by_site=True),
    Page("note", "/office/invitations/name", "POST", OFFICE, invitations.note, by_site=True),
    Page("revoke", "/office/invitations/end", "POST", OFFICE, invitations.revoke, by_site=True),
    Page("leaving", "/office/withdrawal", "GET", OFFICE, invitations.leave, by_site=True),
    Page("withdraw", "/office/withdrawal", "POST", OFFICE, invitations.withdraw, by_site=True),
    Page(
        "progress_table",
        "/office/progress.csv",
        "GET",
        OFFICE,
        office.progress_table,
        by_site=True,
    ),
    Page("batches", "/office/batches", "GET", OFFICE, office.batches, by_site=True),
    Page("close_batch", "/office/batches/close", "POST", OFFICE, office.close_batch, by_site=True),
    Page("reopen_batch", "/office/batches/open", "POST", OWNERS, office.reopen_batch),
    Page("adjudications", "/office/adjudication", "GET", OWNERS, adjudication_rounds.overview),
    Page(
        "open_adjudications", "/office/adjudication", "POST", OWNERS, adjudication_rounds.open_all
    ),
    Page("problems", "/office/problems", "GET", OFFICE, problem_reports.problems, by_site=True),
    Page("settle", "/office/problems", "POST", OFFICE, problem_reports.resolve, by_site=True),
    Page(
        "enrolment",
        "/office/enrolment",
        "GET",
        OFFICE | ANALYSTS,
        admitting.enrolment,
        by_site=True,
    ),
    Page(
        "reopen_eligibility",
        "/office/enrolment",
        "POST",
        OFFICE,
        admitting.reopen_eligibility,
        by_site=True,
    ),
    Page("add_places", "/office/enrolment/places", "POST", OFFICE, admitting.add_places),
    Page(
        "end_waiting",
        "/office/enrolment/waiting",
        "POST",
        OFFICE,
        admitting.end_waiting,
        by_site=True,
    ),
    Page("reasons", "/office/pilot", "GET", OFFICE, piloted.reasons),
    Page("recruitment", "/office/recruitment", "GET", OFFICE, recruiting.recruiting),
    Page("recruit", "/office/recruitment", "POST", OFFICE, recruiting.recruit),
    Page("flags", "/office/signs", "GET", ANALYSTS, flags.flags),
    Page("quality", "/office/quality", "GET", OFFICE | ANALYSTS, flags.quality),
    Page("download", "/office/download", "GET", ANALYSTS, collected.download),
    Page("fetch", "/office/download", "POST", ANALYSTS, collected.fetch),
    Page("log", "/office/log", "GET", ANALYSTS, collected.log),
    Page("check_log", "/office/log", "POST", ANALYSTS, collected.check_log),
)


def routes(pages: Sequence[Page] = ROUTES, *, under: str = "") -> list[Route]:
    """The table as the framework takes it, every endpoint behind the guard.

    All paths begin with `under`.
    """
    return [
        Route(
            under + p.path,
            guarded(p.endpoint, p.audience, by_site=p.by_site, before_passkey=p.before_passkey),
            methods=[p.method],
            name=p.name,
        )
        for p in pages
    ]
