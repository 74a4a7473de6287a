"""Endpoints: the cases to be marked, one case with its versions, and one change of its marks."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from konsil.web.curation.marks import KINDS, Case, following
from konsil.web.curation.passages import runs
from konsil.web.office.office import office
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import path_to, to
from konsil.web.site.site import site_of

ASKED = (
    "do",
    "place",
    "kind",
    "words",
    "start",
    "end",
    "everywhere",
    "replacement",
    "rank",
    "reason",
)
"""The fields of a change, which a page gives back where it could not be made."""


def cases(request: Request) -> Response:
    """All cases, how far each is."""
    site = site_of(request)
    rows = site.marks.cases() if site.marks.spec is not None else []
    counts = {
        state: sum(row.state == state for row in rows)
        for state in ("unmarked", "marked", "approved", "made")
    }
    context = {
        "rows": rows,
        "counts": counts,
        "case": lambda name: _case_path(request, name),
        "asks": site.marks.spec,
    }
    return office(request, "office_cases.html", context)


def _case_path(request: Request, name: str) -> str:
    return f"{path_to(request, 'case')}?{urlencode({'case': name})}"


def case(request: Request) -> Response:
    """One case, to be marked."""
    current_case = site_of(request).marks.case(request.query_params.get("case", ""))
    return to(path_to(request, "cases")) if current_case is None else _page(request, current_case)


def _page(
    request: Request, current_case: Case, fault: str = "", sent: Mapping[str, str] | None = None
) -> Response:
    text, marks = current_case.item.text, current_case.marks
    leftover_spans = [
        (m.start, m.end)
        for m in current_case.leftovers
        if m.start is not None and m.end is not None
    ]
    # Browsers read a carriage return before a line feed as nothing: it has a run of its own, so
    # that offsets hold.
    returns = [(n, n + 1) for n, letter in enumerate(text) if letter == "\r"]
    spans = [*((m.start, m.end) for m in marks), *leftover_spans, *returns]
    n, last = len(marks), len(marks) + len(leftover_spans)
    marked_runs = [
        (
            run,
            [marks[k] for k in run.of if k < n],
            any(n <= k < last for k in run.of),
            any(k >= last for k in run.of),
        )
        for run in runs(text, spans)
    ]
    ordered = sorted(marks, key=lambda m: (KINDS.index(m.kind), m.rank, m.start))
    nxt = following(site_of(request).marks.cases(), current_case.item.id)
    context = {
        "one": current_case,
        "told": marked_runs,
        "kinds": KINDS,
        "marks": ordered,
        "ranks": sorted({m.rank for m in marks if m.rank}),
        "words_of": lambda mark: text[mark.start : mark.end],
        "fault": fault,
        "asked": {key: (sent or {}).get(key, "") for key in ASKED},
        "following": _case_path(request, nxt) if nxt is not None else "",
        "here_query": _case_path(request, current_case.item.id),
    }
    return office(request, "office_case.html", context, {"": 200, "crossed": 409}.get(fault, 422))


def mark(request: Request) -> Response:
    """One change of the marks of a case, or its approval; where it cannot be made, why."""
    site, form = site_of(request), form_of(request)
    name, number_text = form.get("case", ""), form.get("seen", "")
    number = (
        int(number_text)
        if number_text.isascii() and number_text.isdigit() and len(number_text) < 9
        else 0
    )
    fault = site.marks.change(name, form, by=visitor_of(request).who, base_number=number)
    if not fault:
        return to(_case_path(request, name))
    current_case = site.marks.case(name)
    if current_case is None:
        return to(path_to(request, "cases"))
    return _page(request, current_case, fault, form)
