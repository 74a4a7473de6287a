"""Endpoints of those who run a study: how far it is, and its batches.

Nothing here depends on a label.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from konsil.errors import StoreError
from konsil.records.formulas import harmless
from konsil.store.engine.engine import reading
from konsil.store.log import study_events
from konsil.store.people.sites import site_by_rater
from konsil.store.tasks import batches as batch_events
from konsil.store.tasks import progress, vacancies, withdrawal
from konsil.store.tasks.progress import Count
from konsil.web.http import formatting
from konsil.web.office.pace import Pace, forecast, paces
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import language_of, page, path_to, to
from konsil.web.site.scope import scope_of
from konsil.web.site.site import Site, site_of

NAVIGATION = (
    "overview",
    "screening",
    "cases",
    "rewriting",
    "invitations",
    "enrolment",
    "reasons",
    "batches",
    "adjudications",
    "problems",
    "recruitment",
    "flags",
    "quality",
    "download",
    "log",
)
"""The pages of the office in the order of the menu; who may see which is in the table of routes."""

_COUNTED = ("tasks", "completed", "withdrawn")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the plan: an instrument, a phase, a batch, for a panel."""

    panel: str
    """Who rates."""
    instrument: str
    """On what."""
    phase: str
    """The phase."""
    batch: str
    """The batch."""
    tasks: int
    """Screens of all its raters."""
    n_completed: int
    """How many of them are done."""
    raters: int
    """Raters with tasks in it."""
    ready: int
    """Raters who have done all of theirs."""


def office(
    request: Request, template: str, context: Mapping[str, object] | None = None, status: int = 200
) -> Response:
    """Render a page of the office, with the menu of what the visitor may see."""
    role, language = visitor_of(request).role, language_of(request)
    may = {
        p.name
        for p in request.app.state.pages
        if isinstance(p.audience, frozenset)
        and role in p.audience
        and (p.by_site or request.state.sites is None)
    }
    study = site_of(request).study
    idle = {"enrolment"} if study.enrolment is None else set()
    idle |= {"screening"} if site_of(request).pool.spec is None else set()
    idle |= {"cases"} if site_of(request).marks.spec is None else set()
    idle |= {"rewriting"} if study.prepare is None or study.prepare.rewrite is None else set()
    idle |= {"reasons"} if study.calibration is None else set()
    idle |= {"adjudications"} if study.adjudication is None else set()
    # Agreement is an outcome, unless the protocol plans looks at it.
    idle |= {"quality"} if study.interim is None and role == "coordinator" else set()
    words = {
        "menu": [name for name in NAVIGATION if name in may - idle],
        "may": may,
        "day": partial(formatting.day, language=language),
        "moment": partial(formatting.moment, language=language),
        "count": partial(formatting.number, language=language),
    }
    return page(request, template, {**words, **(context or {})}, status)


def overview(request: Request) -> Response:
    """How far everybody is, and when it will be done."""
    return _overview(request)


def _overview(request: Request, fault: str = "", status: int = 200) -> Response:
    site = site_of(request)
    with reading(site.store.engine) as connection:
        counts, handed = progress.counts(connection), progress.handed_in(connection)
        withdrawn, closed = (
            withdrawal.withdrawn_raters(connection),
            study_events.closed_batches(connection),
        )
        panels = withdrawal.panels(connection, site.study)
        vacant = vacancies.vacancies(connection, site.study)
    scope = scope_of(request)
    counts, handed = scope.own(counts), scope.own(handed)
    rater_paces = paces(counts, handed, site.now())
    # Places and tasks that nobody has are those of the whole study.
    free = 0 if scope.is_tied else site.placing.free()
    vacant = () if scope.is_tied else vacant
    people = [
        p
        for p in rater_paces
        if panels.get(p.rater, ("", ""))[1] == "human" and p.rater not in withdrawn
    ]
    groups: dict[str, list[Pace]] = {}
    for pace in rater_paces:
        groups.setdefault(panels.get(pace.rater, ("", ""))[0], []).append(pace)
    context = {
        "groups": groups,
        "total": sum(p.total for p in people),
        "done": sum(p.n_completed for p in people),
        "free": free,
        # Of the tasks that are nobody's, some can still be taken and some wait for a successor: not
        # these.
        "sites": sorted(scope.sites or ()),
        "lapsed": (
            sum(c.tasks for c in counts if not c.rater) - free - sum(v.screens for v in vacant)
        ),
        "vacant": vacant,
        "fault": fault,
        "forecast": forecast(people),
        "gone": withdrawn,
        "cells": cells(counts, panels),
        "closed": closed,
        "ties": any(a.when == "disagreed" for a in site.study.plan),
    }
    return office(request, "office_overview.html", context, status)


def succeed(request: Request) -> Response:
    """Name who takes over a slot that nobody has."""
    site, form, by = site_of(request), form_of(request), visitor_of(request).who
    slot, successor = form.get("slot", ""), form.get("who", "")
    try:
        vacancies.succeed(site.store, site.study, slot, successor, at=site.now(), by=by)
    except StoreError:
        return _overview(request, slot or "?", 422)
    return to(path_to(request, "invitations"))


def cells(counts: Sequence[Count], panels: Mapping[str, tuple[str, str]]) -> list[Cell]:
    """The cells of the plan in the order of work; tasks that are nobody's are in none."""
    counts_by_cell: dict[tuple[str, str, str, str], list[Count]] = {}
    for count in counts:
        if count.rater:
            panel = panels.get(count.rater, ("", ""))[0]
            counts_by_cell.setdefault(
                (panel, count.phase, count.batch, count.instrument), []
            ).append(count)
    ordered = sorted(
        counts_by_cell.items(),
        key=lambda pair: (pair[0][0], min(c.first for c in pair[1]), pair[0]),
    )
    return [
        Cell(
            panel,
            instrument,
            phase,
            batch,
            sum(c.tasks for c in cell_counts),
            sum(c.n_completed for c in cell_counts),
            len(cell_counts),
            sum(c.tasks == c.n_completed for c in cell_counts),
        )
        for (panel, phase, batch, instrument), cell_counts in ordered
    ]


def batches(request: Request) -> Response:
    """Every batch: how far it is, whether it is closed."""
    return _batches(request)


def _batches(request: Request, fault: str = "", status: int = 200) -> Response:
    site, scope = site_of(request), scope_of(request)
    with reading(site.store.engine) as connection:
        counts = scope.own(progress.counts(connection))
        closed = study_events.closed_batches(connection)
        events = [
            *study_events.of_kind(connection, study_events.BATCH_CLOSED),
            *study_events.of_kind(connection, study_events.BATCH_REOPENED),
        ]
    blocks: dict[tuple[str, str], list[Count]] = {}
    for count in sorted(counts, key=lambda c: (c.first, c.phase, c.batch)):
        if count.rater:
            blocks.setdefault((count.phase, count.batch), []).append(count)
    rows = [
        {
            "phase": phase,
            "batch": batch,
            "tasks": sum(c.tasks for c in batch_counts),
            "done": sum(c.n_completed for c in batch_counts),
            "raters": _raters(batch_counts),
            "closed": (phase, batch, "") in closed,
            "closed_for": sorted(
                r for p, b, r in closed if (p, b) == (phase, batch) and r and scope.sees(r)
            ),
        }
        for (phase, batch), batch_counts in blocks.items()
    ]
    visible = (e for e in events if not scope.is_tied or scope.sees(str(e.data.get("rater", ""))))
    context = {
        "rows": rows,
        # What happened to a batch of all raters may be for a reason that names another site's.
        "history": sorted(visible, key=lambda e: (e.at, e.id), reverse=True),
        "is_tied": scope.is_tied,
        "fault": fault,
    }
    return office(request, "office_batches.html", context, status)


def progress_table(request: Request) -> Response:
    """How far the visitor's raters are, as a file: no rating, and nothing that depends on one."""
    site, scope = site_of(request), scope_of(request)
    with reading(site.store.engine) as connection:
        counts = scope.own(progress.counts(connection))
        panels = withdrawal.panels(connection, site.study)
        withdrawn = withdrawal.withdrawn_raters(connection)
        site_of_rater = site_by_rater(connection, site.study)
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(("rater", "panel", "site", "phase", "batch", "instrument", *_COUNTED))
    for count in counts:
        panel, kind = panels.get(count.rater, ("", ""))
        if kind == "human":
            names = (count.rater, panel, site_of_rater.get(count.rater, ""))
            cell = (count.phase, count.batch, count.instrument)
            numbers = (count.tasks, count.n_completed, int(count.rater in withdrawn))
            rows.writerow((*map(harmless, (*names, *cell)), *numbers))
    name = f"progress-{site.now()[:10]}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def _raters(counts: Sequence[Count]) -> dict[str, tuple[int, int]]:
    """Rater -> done and all of one batch, over its instruments."""
    progress_by_rater: dict[str, tuple[int, int]] = {}
    for count in counts:
        n_completed, total = progress_by_rater.get(count.rater, (0, 0))
        progress_by_rater[count.rater] = (n_completed + count.n_completed, total + count.tasks)
    return dict(sorted(progress_by_rater.items()))


def close_batch(request: Request) -> Response:
    """Close a batch for everybody or for one rater: its ratings stand."""
    site, form = site_of(request), form_of(request)
    place, scope = _batch_of_form(site, form), scope_of(request)
    # A batch of all raters is one of other sites, too.
    if place is None or (scope.is_tied and not scope.sees(place[2])):
        return _batches(request, "unknown", 422)
    batch_events.close(site.store, *place, at=site.now(), by=visitor_of(request).who)
    return to(path_to(request, "batches"))


def reopen_batch(request: Request) -> Response:
    """Open a closed batch again; the reason is kept."""
    site, form = site_of(request), form_of(request)
    place = _batch_of_form(site, form)
    if place is None:
        return _batches(request, "unknown", 422)
    try:
        account, reason = visitor_of(request).who, form.get("reason", "")
        batch_events.reopen(site.store, *place, at=site.now(), reason=reason, by=account)
    except StoreError:
        return _batches(request, "reason", 422)
    return to(path_to(request, "batches"))


def _batch_of_form(site: Site, form: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Phase, batch and rater of a form, where there is such a batch."""
    phase, batch, rater = (form.get(key) for key in ("phase", "batch", "rater"))
    with reading(site.store.engine) as connection:
        valid_places = {(c.phase, c.batch, c.rater) for c in progress.counts(connection)}
    if phase is None or batch is None or rater is None:
        return None
    fits = (phase, batch, rater) in valid_places or (
        not rater and any((p, b) == (phase, batch) for p, b, _ in valid_places)
    )
    return (phase, batch, rater) if fits else None
