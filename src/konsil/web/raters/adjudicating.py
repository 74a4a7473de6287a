"""Endpoints of adjudication: the rater's list and each disagreement.

How far it is, and opening more, for owners.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from konsil.store.engine.engine import reading
from konsil.store.tasks import adjudications
from konsil.web.office.office import office
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import page, path_to, refusal, to
from konsil.web.site.site import site_of


def reviews(request: Request) -> Response:
    """What the visitor looks at together with others."""
    rows = site_of(request).adjudicating.rows(visitor_of(request).who)
    told = {
        "rows": rows,
        "open": sum(not (r.decided or r.closed) for r in rows),
        "study_language": site_of(request).study.language,
    }
    return page(request, "adjudications.html", told)


def review(request: Request) -> Response:
    """One disagreement: the answers, all labels and reasons, and the visitor's own label to be kept or changed."""
    return _review(request)


def _review(request: Request, fault: str = "", status: int = 200) -> Response:
    found = site_of(request).adjudicating.review(
        visitor_of(request).who, request.path_params["about"]
    )
    if found is None:
        return refusal(request, 404)
    sent = form_of(request) if fault else {}
    told = {
        "one": found,
        "fault": fault,
        "label": sent.get("label", found.label),
        "reason": sent.get("reason", found.reason),
    }
    return page(request, "adjudication.html", told, status)


def decide(request: Request) -> Response:
    """Keep or change the label, and go on to the next disagreement."""
    adjudicating, who, about = (
        site_of(request).adjudicating,
        visitor_of(request).who,
        request.path_params["about"],
    )
    fault = adjudicating.decide(who, about, form_of(request))
    if fault == "unknown":
        return refusal(request, 404)
    if fault:
        return _review(request, fault, 409 if fault == "closed" else 422)
    rest = next((r.about for r in adjudicating.rows(who) if not (r.decided or r.closed)), None)
    return to(
        path_to(request, "reviews") if rest is None else path_to(request, "review", about=rest)
    )


def overview(request: Request) -> Response:
    """How many disagreements wait, and how many are decided.

    For owners: their number is an outcome.
    """
    site = site_of(request)
    with reading(site.store.engine) as connection:
        rounds = adjudications.rounds(connection)
    told = {
        "rules": site.study.adjudication,
        "waiting": site.adjudicating.waiting(),
        "tasks": sum(len(one.screens) for one in rounds),
        "decided": sum(one.n_decided for one in rounds),
        "rounds": rounds,
    }
    return office(request, "office_adjudication.html", told)


def open_all(request: Request) -> Response:
    """Open the adjudication of all disagreements that wait, or close the round that is open."""
    adjudicating, who = site_of(request).adjudicating, visitor_of(request).who
    if form_of(request).get("do") == "close":
        adjudicating.close(who)
    else:
        adjudicating.open_all(who)
    return to(path_to(request, "adjudications"))
