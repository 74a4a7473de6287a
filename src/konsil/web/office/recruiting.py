"""Endpoints: the recruitment record, its form and the flow figure made from it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from konsil.errors import StudyError
from konsil.store.engine.engine import reading
from konsil.store.log import study_events
from konsil.store.people.recruiting import record, recorded
from konsil.store.tasks import progress, withdrawal
from konsil.study.sections.recruitment import DECISIONS, KIND, STEPS, TEXTS, about, stratum
from konsil.web.office.office import office
from konsil.web.office.pace import paces
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import path_to, to
from konsil.web.site.site import site_of

LONGEST = 2_000
"""Characters of a text of the record."""


def recruiting(request: Request) -> Response:
    """What the record says, with a form to add to it."""
    return _page(request)


def _page(request: Request, fault: str = "", status: int = 200) -> Response:
    site = site_of(request)
    with reading(site.store.engine) as connection:
        counts, panels = progress.counts(connection), withdrawal.panels(connection, site.study)
        events = study_events.of_kind(connection, KIND)
    people = [
        p for p in paces(counts, (), site.now()) if panels.get(p.rater, ("", ""))[1] == "human"
    ]
    context = {
        "found": recorded(site.store),
        "steps": STEPS,
        "decisions": DECISIONS,
        "ready": sum(not p.n_pending for p in people),
        "raters": len(people),
        "history": tuple(reversed(events)),
        "fault": fault,
    }
    return office(request, "office_recruitment.html", context, status)


def recruit(request: Request) -> Response:
    """Add to the record: the counts of a stratum, or the texts."""
    site, form, account = site_of(request), form_of(request), visitor_of(request).who
    try:
        if form.get("what") == "about":
            subject, data = about({k: form.get(k, "")[:LONGEST] for k in TEXTS})
        elif form.get("what") == "stratum":
            subject, data = stratum(form.get("name", "")[:200], {k: form.get(k, "") for k in STEPS})
        else:
            return _page(request, "form", 422)
    except StudyError as error:
        return _page(request, str(error).partition(":")[0], 422)
    record(site.store, subject, data, at=site.now(), by=account)
    return to(path_to(request, "recruitment"))
