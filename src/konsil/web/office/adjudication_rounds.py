"""Endpoints of adjudication for owners: how far it is, and opening and closing a round."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from konsil.store.engine.engine import reading
from konsil.store.tasks import adjudications
from konsil.web.office.office import office
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import path_to, to
from konsil.web.site.site import site_of


def overview(request: Request) -> Response:
    """How many disagreements wait, and how many are decided.

    For owners: their number is an outcome.
    """
    site = site_of(request)
    with reading(site.store.engine) as connection:
        rounds = adjudications.rounds(connection)
    context = {
        "rules": site.study.adjudication,
        "waiting": site.adjudicating.waiting(),
        "tasks": sum(len(adjudication_round.screens) for adjudication_round in rounds),
        "decided": sum(adjudication_round.n_decided for adjudication_round in rounds),
        "rounds": rounds,
    }
    return office(request, "office_adjudication.html", context)


def open_all(request: Request) -> Response:
    """Open the adjudication of all disagreements that wait, or close the round that is open."""
    adjudicating, account = site_of(request).adjudicating, visitor_of(request).who
    if form_of(request).get("do") == "close":
        adjudicating.close(account)
    else:
        adjudicating.open_all(account)
    return to(path_to(request, "adjudications"))
