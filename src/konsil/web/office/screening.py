"""Endpoints: screening of a pool of case reports or questions.

They show the list and one item, and store the decision on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from konsil.prepare.identifiers.suspects import RECALLS
from konsil.web.curation.passages import places, runs, sections
from konsil.web.curation.pool import ItemReview
from konsil.web.curation.standing import STANDINGS
from konsil.web.office.office import office
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import path_to, to
from konsil.web.site.site import site_of

LONGEST_SEARCH = 200


def _filter(query: Mapping[str, str]) -> dict[str, str]:
    """What of the pool is looked at, as the address says."""
    standing = query.get("standing", "")
    filters = {
        "standing": standing if standing in STANDINGS else "",
        "reason": query.get("reason", ""),
        "words": query.get("words", "")[:LONGEST_SEARCH],
    }
    return {name: value for name, value in filters.items() if value}


def _page_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def screening(request: Request) -> Response:
    """The list: how many stand how, and the items of one filter, page by page."""
    site, query = site_of(request), request.query_params
    chosen = _filter(query)
    listed = site.pool.listed(**chosen, page=_page_number(query.get("page", "1")))

    def link(**more: str | int) -> str:
        return f"{path_to(request, 'screening')}?{urlencode({**chosen, **more})}"

    context = {
        "listed": listed,
        "chosen": {"standing": "", "reason": "", "words": "", **chosen},
        "standings": STANDINGS,
        "link": link,
        "plain": lambda **only: f"{path_to(request, 'screening')}?{urlencode(only)}",
        "item": lambda name: _item_path(request, name, chosen),
        "asks": site.pool.spec is not None,
        "recalls": (
            {rule: RECALLS[rule] for rule in site.pool.spec.rules}
            if site.pool.spec is not None
            else {}
        ),
    }
    return office(request, "office_screening.html", context)


def _item_path(request: Request, name: str, chosen: Mapping[str, str]) -> str:
    return f"{path_to(request, 'screened')}?{urlencode({'item': name, **chosen})}"


def screened(request: Request) -> Response:
    """One item, to be decided on."""
    item_view = site_of(request).pool.review(request.query_params.get("item", ""))
    if item_view is None or site_of(request).pool.spec is None:
        return to(path_to(request, "screening"))
    return _item_page(request, item_view, _filter(request.query_params))


def _item_page(
    request: Request, item_view: ItemReview, chosen: Mapping[str, str], fault: str = ""
) -> Response:
    site, form = site_of(request), form_of(request)
    last = item_view.history[0] if item_view.history else None
    ticked = (
        [form[name] for name in form if name.startswith("met.")]
        if fault
        else list(last.statements)
        if last
        else []
    )
    following = site.pool.next_after(item_view.item.id, **chosen)
    section_runs = []
    passages = [
        *(text for _, text in item_view.evidence),
        *([item_view.quoted] if item_view.quoted else []),
    ]
    for section in sections(item_view.item.text):
        spans = places(section.text, passages)
        section_runs.append((section.heading, runs(section.text, spans)))
    context = {
        "one": item_view,
        "sections": section_runs,
        "chosen": chosen,
        "criteria": site.pool.spec.criteria if site.pool.spec is not None else (),
        "ticked": ticked,
        "reason": form.get("reason", "")
        if fault
        else item_view.reason
        if item_view.standing == "out"
        else "",
        "note": form.get("note", "") if fault else "",
        "fault": fault,
        "following": _item_path(request, following, chosen) if following is not None else "",
        "back": f"{path_to(request, 'screening')}?{urlencode(chosen)}",
    }
    return office(request, "office_screened.html", context, 422 if fault else 200)


def decide(request: Request) -> Response:
    """Keep an item, leave it out or take that back; then the next one under the same filter."""
    site, form = site_of(request), form_of(request)
    # The reason that is looked through has another name here than the reason that is given.
    chosen = _filter({**form, "reason": form.get("of", "")})
    name, decision = form.get("item", ""), form.get("decision", "")
    ticked = [value for key, value in form.items() if key.startswith("met.")]
    fault = site.pool.decide(
        name,
        decision,
        by=visitor_of(request).who,
        base_number=_page_number(form.get("seen", "0")),
        reason=form.get("reason", ""),
        met=ticked,
        note=form.get("note", ""),
    )
    if fault:
        item_view = site.pool.review(name)
        return (
            _item_page(request, item_view, chosen, fault)
            if item_view is not None
            else to(path_to(request, "screening"))
        )
    if decision == "undo":
        return to(_item_path(request, name, chosen))
    following = site.pool.next_after(name, **chosen)
    return to(
        _item_path(request, following, chosen)
        if following
        else f"{path_to(request, 'screening')}?{urlencode(chosen)}"
    )
