"""Endpoints: rewritten questions beside the originals, to accept, edit or refuse.

A model rewrote the questions; the pages are for those who run the study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from konsil.errors import ConflictError, PlanError
from konsil.prepare import in_study
from konsil.prepare.identifiers.fidelity import FidelityWarning, fidelity_warnings
from konsil.prepare.questions.rewriting import (
    Accepted,
    Part,
    decisions,
    differences,
    proposals,
    undecided,
)
from konsil.records import Event, Item
from konsil.store.curation.rewriting import Choice, UnansweredError, decide, worded
from konsil.web.office.office import office
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.pages import path_to, to
from konsil.web.site.site import site_of

AT_ONCE = 20
"""Questions on one page."""
LONGEST = 20_000
"""Characters of a wording of one's own."""
LONGEST_ANSWER = 500
"""Characters of an answer to a warning."""
LISTS = ("open", "decided", "same")
"""Questions to decide on, those that are decided, and those in which the model changed nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question as the page shows it."""

    item: str
    """Its id."""
    before: tuple[Part, ...]
    """Its own words, with what the other wording has not."""
    after: tuple[Part, ...]
    """The other wording: what was accepted, else what the model proposes; empty: there is none."""
    wording: str
    """The text of the other wording, to edit."""
    accepted: Accepted | None
    """What was decided."""
    is_fixed: bool
    """Whether it was answered or rated already, so that its words stay."""
    warnings: tuple[FidelityWarning, ...] = ()
    """In what the other wording differs from the question, and must not."""


def rewording(request: Request) -> Response:
    """Both wordings of every question, those to be decided first."""
    return _page(request)


def _page(request: Request, fault: str = "", status: int = 200, item: str = "") -> Response:
    site, query = site_of(request), request.query_params
    prepare = site.study.prepare
    if prepare is None or prepare.rewrite is None:
        return office(request, "office_rewording.html", {"asks": False})
    with site.store.view() as view:
        items, events = tuple(view.each("items")), tuple(view.each("events"))
        fixed_ids = worded(view.connection)
    included_ids = {question.id for question in in_study(items, events)}
    listed = _lists(
        [question for question in items if question.id in included_ids], events, fixed_ids
    )
    list_name = query.get("list", "")
    chosen = list_name if list_name in LISTS else LISTS[0]
    rows = listed[chosen]
    pages = max(1, -(-len(rows) // AT_ONCE))
    number = query.get("page", "1")
    at = (
        min(max(int(number), 1), pages)
        if number.isascii() and number.isdigit() and len(number) < 7
        else 1
    )
    if item:  # what could not be kept is shown again, wherever it is in the list
        at = next((n // AT_ONCE + 1 for n, question in enumerate(rows) if question.id == item), at)
    shown = rows[(at - 1) * AT_ONCE : at * AT_ONCE]
    context = {
        "asks": True,
        "chosen": chosen,
        "lists": {name: len(listed[name]) for name in LISTS},
        "rows": [_row(question, events, fixed_ids) for question in shown],
        "at": at,
        "pages": pages,
        "fault": fault,
        "faulty": item,
        "address": lambda **keys: _address(request, keys),
        "done": query.get("done", ""),
        "total": len(included_ids),
    }
    return office(request, "office_rewording.html", context, status)


def _lists(
    items: Sequence[Item], events: Sequence[Event], fixed_ids: frozenset[str]
) -> dict[str, list[Item]]:
    decided_ids, waiting = (
        {*decisions(events), *fixed_ids},
        set(undecided(items, events, fixed_ids)),
    )
    items_by_list: dict[str, list[Item]] = {name: [] for name in LISTS}
    for item in items:
        items_by_list[
            "open" if item.id in waiting else "decided" if item.id in decided_ids else "same"
        ].append(item)
    return items_by_list


def _row(item: Item, events: Sequence[Event], fixed_ids: frozenset[str]) -> Row:
    item_events = [event for event in events if event.subject == item.id]
    accepted, proposed = decisions(item_events).get(item.id), proposals(item_events).get(item.id)
    proposal = proposed.text if proposed is not None else ""
    wording = accepted.text if accepted is not None and accepted.verdict == "edit" else proposal
    before, after = differences(item.text, wording) if wording else ((Part(item.text, False),), ())
    warnings = fidelity_warnings(item.text, wording) if wording else ()
    return Row(
        item.id, before, after, wording or item.text, accepted, item.id in fixed_ids, warnings
    )


def _address(request: Request, keys: Mapping[str, object]) -> str:
    stated = {name: str(value) for name, value in keys.items() if value}
    return path_to(request, "rewriting") + (f"?{urlencode(stated)}" if stated else "")


def reword(request: Request) -> Response:
    """Keep what was decided on a question."""
    site, form, by = site_of(request), form_of(request), visitor_of(request).who
    item, verdict = form.get("item", ""), form.get("verdict", "")
    text = form.get("text", "").replace("\r\n", "\n")[:LONGEST]
    despite = form.get("despite", "")[:LONGEST_ANSWER]
    try:
        if verdict == "accept":
            decide(site.store, [Choice(item, "accept", despite=despite)], by=by, at=site.now())
        elif verdict == "edit":
            decide(site.store, [Choice(item, "edit", text, despite)], by=by, at=site.now())
        elif verdict == "keep":
            decide(site.store, [Choice(item, "keep")], by=by, at=site.now())
        else:
            return _page(request, "unknown", 422, item)
    except UnansweredError:
        return _page(request, "unanswered", 422, item)
    except PlanError:
        return _page(
            request, "empty" if verdict == "edit" and not text.strip() else "stands", 422, item
        )
    except ConflictError:
        return _page(request, "both", 409, item)
    return to(
        _address(
            request,
            {**{k: request.query_params.get(k, "") for k in ("list", "page")}, "done": item},
        )
    )
