"""Endpoints: problems that raters reported, and what was done about them."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from konsil.records import Event
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.log.study_events import SETTLED
from konsil.store.tasks import screens
from konsil.web.office.office import office
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import path_to, to
from konsil.web.site.scope import scope_of
from konsil.web.site.site import site_of


def problems(request: Request) -> Response:
    """What was reported, the open ones first."""
    return _page(request)


def _page(request: Request, *, fault: bool = False) -> Response:
    scope = scope_of(request)
    with reading(site_of(request).store.engine) as connection:
        reported = [
            event
            for event in study_events.of_kind(connection, study_events.PROBLEM)
            if scope.sees(str(event.data.get("rater", "")))
        ]
        settled = {e.subject: e for e in study_events.of_kind(connection, SETTLED)}
        tasks = {e.subject: screens.task(connection, e.subject) for e in reported}
    rows = [
        {
            "id": event.id,
            "at": event.at,
            "rater": str(event.data.get("rater", "")),
            "text": str(event.data.get("text", "")),
            # The item and no answer: which system it is about is not said here.
            "item": task.item or "" if (task := tasks[event.subject]) is not None else "",
            "settled": settled.get(event.id),
        }
        for event in reversed(reported)
    ]
    rows.sort(key=lambda row: row["settled"] is not None)
    return office(
        request, "office_problems.html", {"rows": rows, "fault": fault}, 422 if fault else 200
    )


def resolve(request: Request) -> Response:
    """Note what was done about a problem."""
    site, form = site_of(request), form_of(request)
    name, note = form.get("problem", ""), form.get("note", "").strip()[:2_000]
    scope = scope_of(request)
    with writing(site.store.engine) as connection:
        problem_ids = {
            event.id
            for event in study_events.of_kind(connection, study_events.PROBLEM)
            if scope.sees(str(event.data.get("rater", "")))
        }
        if name in problem_ids and note:
            times = len(study_events.of_kind(connection, SETTLED, name)) + 1
            data = {"note": note, "by": visitor_of(request).who}
            study_events.append_event(
                connection, Event(f"{name} settled {times}", SETTLED, name, site.now(), data)
            )
            return to(path_to(request, "problems"))
    return _page(request, fault=True)
