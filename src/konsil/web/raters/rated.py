"""The list of the pages that a rater has rated or begun, with the rater's own notes.

It links back to each of these pages.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from konsil.instrument import fields
from konsil.instrument.screens.reply import values
from konsil.instrument.screens.screen import screen
from konsil.store import Connection
from konsil.store.engine.engine import reading
from konsil.store.log import study_events
from konsil.store.tasks import drafts, screens
from konsil.store.tasks.drafts import noted, typed_since
from konsil.web.rating import form
from konsil.web.rating.text.richtext import plain
from konsil.web.site.guard import visitor_of
from konsil.web.site.pages import page
from konsil.web.site.site import Site, site_of

PER_PAGE = 30
"""Rows of the list on one page."""
FILTERS = ("", "note", "open")
"""All pages; those with a note; those that are not complete."""


@dataclass(frozen=True, slots=True)
class RatedPage:
    """One row of the list."""

    public: str
    """The random name of the task."""
    question: str
    """Its question."""
    note: str
    """The rater's note to oneself."""
    is_submitted: bool
    """Whether it was handed in."""
    changed: bool
    """Whether something was changed since, and not handed in: the ratings stand as they were."""
    closed: bool
    """Whether it can only be read."""


def my_ratings(request: Request) -> Response:
    """The pages that the visitor rated or began, the last first; by words, or those with a note."""
    query, site, rater = request.query_params, site_of(request), visitor_of(request).who
    which = query.get("which", "")
    words, first = query.get("words", "").strip()[:200], query.get("from", "0")
    start = int(first) if first.isascii() and first.isdigit() and len(first) < 8 else 0
    rows = [r for r in rated_pages(site, rater) if _matches(r, words, which)]
    context = {
        "rows": rows[start : start + PER_PAGE],
        "words": words,
        "which": which if which in FILTERS else "",
        "after": start + PER_PAGE if len(rows) > start + PER_PAGE else None,
        "study_language": site.study.language,
    }
    return page(request, "ratings.html", context)


def rated_pages(site: Site, rater: str) -> list[RatedPage]:
    """All pages that a rater rated or began, the last first."""
    with reading(site.store.engine) as connection:
        notes = noted(connection, rater)
        changed = changed_pages(site, connection, rater)
        closed = {
            (phase, batch)
            for phase, batch, closed_for in study_events.closed_batches(connection)
            if closed_for in ("", rater)
        }
        return [
            RatedPage(
                state.public,
                _question(site, connection, state.task),
                notes.get(state.task, ""),
                state.submitted_at is not None,
                state.task in changed,
                (phase, batch) in closed,
            )
            for state, phase, batch in screens.begun(connection, rater)
        ]


def changed_pages(site: Site, connection: Connection, rater: str) -> frozenset[str]:
    """Open tasks that a rater handed in, and then changed without submitting the change."""
    return frozenset(
        task
        for task in typed_since(connection, rater)
        if _differs_from_ratings(site, connection, task)
    )


def _differs_from_ratings(site: Site, connection: Connection, task_id: str) -> bool:
    """Whether the page of a task says something else than its ratings.

    A change that was taken back does not.
    """
    task = screens.task(connection, task_id)
    instrument = site.study.instrument(task.instrument) if task is not None else None
    if task is None or instrument is None or study_events.is_closed(connection, task):
        return False
    form_fields = fields(instrument, task)
    stored = values(form_fields, task, screens.ratings_of_task(connection, task.id))
    typed = {name: draft.value for name, draft in drafts.values(connection, task.id).items()}
    return form.tidied(form_fields, stored | typed) != form.tidied(form_fields, stored)


def _question(site: Site, connection: Connection, task_id: str) -> str:
    """The item's text; of a survey the first thing that it asks.

    Of a page for one sentence, the sentence comes first, as pages of an answer would look alike.
    """
    task = screens.task(connection, task_id)
    item = screens.item(connection, task.item) if task is not None else None
    instrument = site.study.instrument(task.instrument) if task is not None else None
    if item is not None and task is not None:
        if instrument is None or instrument.present == "answer" or not task.spans:
            return item.text
        shown = screen(instrument, task, item, screens.answers(connection, task.answers))
        [sentence] = [p.text for p in shown.answers[0].pieces if p.span == 0]
        return f"{plain(sentence)} ({item.text})" if item.text else plain(sentence)
    return instrument.criteria[0].question if instrument is not None else ""


def _matches(row: RatedPage, words: str, which: str) -> bool:
    text = f"{row.question}\n{row.note}".casefold()
    if not all(word in text for word in words.casefold().split()):
        return False
    return which not in ("note", "open") or (
        bool(row.note) if which == "note" else not row.is_submitted or row.changed
    )
