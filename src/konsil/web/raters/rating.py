"""Endpoints of the rating page.

What they do is the desk's; here are only addresses, forms and messages.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from konsil.store.engine.engine import reading
from konsil.store.tasks.drafts import NOTE, REASON_FOR_CHANGE, Change
from konsil.store.tasks.screens import Visit
from konsil.web.http.metrics import MARK
from konsil.web.raters.rated import changed_pages
from konsil.web.rating.rating_view import with_page_names
from konsil.web.rating.receipts import Submitted
from konsil.web.rating.sheet import Group, Sheet
from konsil.web.rating.task_queue import progress
from konsil.web.rating.window import OWN, changes_of, is_places, read_seconds, token, window_of
from konsil.web.site.gates import first_open_prerequisite
from konsil.web.site.guard import Endpoint, form_of, visitor_of
from konsil.web.site.pages import page, path_to, refusal, to, wants_json
from konsil.web.site.site import site_of

PAUSE_AFTER = 20
"""Pages of a batch after which a page says that one may pause."""


def uncounted_if_tie(endpoint: Endpoint) -> Endpoint:
    """The endpoint of a task, with requests for tie-breaks marked for the metrics.

    The number of tie-breaks is an outcome.
    """

    def behind(request: Request) -> Response:
        site, public = site_of(request), request.path_params["public"]
        if site.options.metrics and site.desk.is_tie_break(visitor_of(request).who, public):
            request.scope[MARK] = True
        return endpoint(request)

    return behind


def next_task(request: Request) -> Response:
    """Go to what comes next."""
    return to(_next(request))


def _next(request: Request) -> str:
    """The address of what comes next: a page that must be passed, the next task, or the end."""
    site, visitor = site_of(request), visitor_of(request)
    gate = first_open_prerequisite(site, visitor)
    if gate is not None:
        return path_to(request, gate)
    public = site.desk.next_task(visitor.who)
    return (
        path_to(request, "finished") if public is None else path_to(request, "task", public=public)
    )


def finished(request: Request) -> Response:
    """All is rated, for now."""
    site, rater = site_of(request), visitor_of(request).who
    open_ = sum(not (row.decided or row.closed) for row in site.adjudicating.rows(rater))
    with reading(site.store.engine) as connection:
        changed = changed_pages(site, connection, rater)
    context = {
        "progress": progress(site.desk.line(rater), None),
        "reviews_open": open_,
        "n_changed": len(changed),
    }
    return page(request, "finished.html", context)


def task(request: Request) -> Response:
    """A rating page."""
    return _task(request)


def _task(
    request: Request, submission: Submitted | None = None, sent: Mapping[str, str] | None = None
) -> Response:
    site, visitor = site_of(request), visitor_of(request)
    public, at = request.path_params["public"], site.now()
    sheet = site.desk.open(visitor.who, public, looks=False)
    if sheet is None:
        return refusal(request, 404)
    if submission is None:
        pause = (
            not sheet.submitted
            and sheet.progress.n_completed > 0
            and sheet.progress.n_completed % PAUSE_AFTER == 0
        )
        context = {
            "sheet": with_page_names(sheet, site.names),
            "conflict": False,
            "lost": (),
            "pause": pause,
        }
        shown = page(request, "rating.html", context)
    elif submission.closed:
        lost = _lost(sheet, sent or {})
        shown = page(
            request,
            "rating.html",
            {"sheet": with_page_names(sheet, site.names), "conflict": False, "lost": lost},
            409 if lost else 200,
        )
    else:
        conflict = bool(submission.conflicts)
        sheet = _with_form(sheet, submission, sent or {})
        shown = page(
            request,
            "rating.html",
            {"sheet": with_page_names(sheet, site.names), "conflict": conflict, "lost": ()},
            409 if conflict else 422,
        )
    # Noted when the page is on its way: nobody who wants to read waits for others who write.
    shown.background = BackgroundTask(site.desk.looked, visitor.who, public, sheet.visit, at)
    return shown


def _with_form(sheet: Sheet, submission: Submitted, sent: Mapping[str, str]) -> Sheet:
    """The page again with what was sent, and what is wrong with it."""

    def fill_group(group: Group) -> Group:
        questions = tuple(
            dataclasses.replace(
                a,
                value=sent.get(a.name, a.value),
                note=sent.get(a.reason, a.note) if a.reason else "",
                problem=a.name in submission.problems,
                conflict=a.name in submission.conflicts,
            )
            for a in group.questions
        )
        return dataclasses.replace(group, questions=questions)

    panes = tuple(
        dataclasses.replace(p, groups=tuple(fill_group(g) for g in p.groups)) for p in sheet.panes
    )
    return dataclasses.replace(
        sheet,
        panes=panes,
        groups=tuple(fill_group(g) for g in sheet.groups),
        note=sent.get(NOTE, sheet.note),
        reason=sent.get(REASON_FOR_CHANGE, sheet.reason),
        lacks_reason=REASON_FOR_CHANGE in submission.problems,
    )


def _lost(sheet: Sheet, sent: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Questions and what was entered that a closed batch did not take."""
    questions = [a for group in sheet.everything for a in group.questions]
    values = [(a.question, sent.get(a.name, ""), a.value) for a in questions]
    notes = [(a.question, sent.get(a.reason, ""), a.note) for a in questions if a.reason]
    return tuple(
        (question, now)
        for question, now, before in (*values, *notes)
        if now.strip() and now != before
    )


def submit(request: Request) -> Response:
    """Hand in, and go on; what is not complete is kept and shown again."""
    form, names = form_of(request), site_of(request).names
    values, visit = names.fields(_answers(form)), _visit(form.get("visit", ""), form)
    public, window = request.path_params["public"], window_of(form, names)
    submission = site_of(request).desk.submit(
        visitor_of(request).who, public, values, window, visit
    )
    if submission is None:
        return refusal(request, 404)
    if wants_json(request):
        if submission.is_stored:
            return JSONResponse({"go": _after(request, submission)})
        if submission.closed:
            return JSONResponse({"closed": True})
        reply = {
            "problems": sorted(names.neutrals(submission.problems)),
            "conflicts": names.neutrals(submission.conflicts),
            "rev": submission.rev,
        }
        return JSONResponse(reply, 409 if submission.conflicts else 422)
    if submission.is_stored:
        return to(_after(request, submission))
    # A batch that was closed meanwhile takes nothing; its page tells what that was.
    return _task(request, submission, values)


def _after(request: Request, submission: Submitted) -> str:
    """The next task; after a practice first the same page again, with what it explains."""
    if submission.explains:
        return path_to(request, "task", public=request.path_params["public"])
    # Its address and not that of /next, which would only lead there.
    return _next(request)


def save(request: Request) -> Response:
    """Keep what was changed: the page's module calls this at every change."""
    message = _json(request)
    if message is None:
        return JSONResponse(
            {"error": "expected a JSON object with a list 'changes' and a visit"}, 422
        )
    names, (changes, visit) = site_of(request).names, message
    changes = [dataclasses.replace(c, field=names.field(c.field)) for c in changes]
    saved = site_of(request).desk.save(
        visitor_of(request).who, request.path_params["public"], changes, visit
    )
    if saved is None:
        return refusal(request, 404)
    return JSONResponse(
        {
            "rev": saved.rev,
            "at": saved.at,
            "conflicts": names.neutrals(saved.conflicts),
            "refused": sorted(names.neutrals(saved.refused)),
            "closed": saved.closed,
        }
    )


def postpone_task(request: Request) -> Response:
    """Put the task at the end of its batch."""
    form, public, names = form_of(request), request.path_params["public"], site_of(request).names
    values, window = names.fields(_answers(form)), window_of(form, names)
    is_postponed = site_of(request).desk.put_off(visitor_of(request).who, public, values, window)
    return to(path_to(request, "next")) if is_postponed else refusal(request, 404)


def problem(request: Request) -> Response:
    """Take a report; the task stays where it is."""
    form, public = form_of(request), request.path_params["public"]
    is_reported = site_of(request).desk.report(
        visitor_of(request).who,
        public,
        form.get("text", ""),
        f"{public} {token(form.get('visit', ''))}",
    )
    return to(path_to(request, "task", public=public)) if is_reported else refusal(request, 404)


def _answers(form: Mapping[str, str]) -> dict[str, str]:
    """What a form says."""
    return {name: value for name, value in form.items() if name not in OWN}


def _json(request: Request) -> tuple[list[Change], Visit | None] | None:
    """The changes and times of an autosave; None where it is no message of ours."""
    try:
        message = json.loads(request.state.body)
        changes = list(changes_of(message["changes"]))
        visit = _visit(
            str(message["visit"]),
            {k: str(message.get(k, "")) for k in ("ends", "wall", "active", "first_input")},
        )
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
    return changes, visit


def _visit(name: str, times: Mapping[str, str]) -> Visit | None:
    """The times that a page sent; impossible times are treated as unknown."""
    if not token(name):
        return None
    wall, active, first = (
        read_seconds(times.get(key, "")) for key in ("wall", "active", "first_input")
    )
    if wall is None:
        return Visit(name)
    ends = times.get("ends", "")
    return Visit(
        name,
        wall,
        # Clocks of browsers jump: nobody is active for longer than the page is open.
        None if active is None else min(active, wall),
        first,
        ends if is_places(ends) else None,
    )
