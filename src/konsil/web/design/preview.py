"""A rating page of the draft, as raters will see it; nothing on it is kept."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from konsil.design.outlook import Outlook
from konsil.errors import KonsilError
from konsil.instrument import Instrument
from konsil.instrument.screens.screen import Screen, screen
from konsil.records import Task
from konsil.web.design.entrance import Room
from konsil.web.design.rendering import page
from konsil.web.rating import rating_view
from konsil.web.rating.sheet import FormState, Sheet
from konsil.web.rating.task_queue import Progress
from konsil.web.rating.text import richtext


def rating_page(request: Request, room: Room, _form: FormData) -> Response:
    """The page of the first task on a form."""
    name = request.path_params["instrument"]
    try:
        outlook = room.workshop.outlook()
        sheet = _sample(outlook, name)
    except KonsilError as error:
        room.faults.append(error.sentence)
        sheet = None
    if sheet is None:
        return RedirectResponse("/questions", 303)

    def path(_name: str, **_parameters: str) -> str:
        return request.url.path

    context = {"sheet": sheet, "conflict": False, "lost": (), "path": path}
    context |= {"role": "", "signed_in": False, "reviews": False, "consents": False}
    return page(request, room, "design_rating.html", context)


def keep_nothing(request: Request, _room: Room, _form: FormData) -> Response:
    """A form of the sample page: the same page once more."""
    return RedirectResponse(request.url.path, 303)


def _sample(outlook: Outlook, name: str) -> Sheet | None:
    """The first planned page on a form, or one made of the first item."""
    instrument = outlook.study.instrument(name)
    if instrument is None or not outlook.items:
        return None
    task = next((t for t in outlook.tasks if t.instrument == name), None)
    task = task or _sample_task(outlook, instrument)
    item = next((i for i in outlook.items if i.id == task.item), None)
    answers = {answer.id: answer for answer in outlook.answers}
    return sheet_of(screen(instrument, task, item, answers))


def _sample_task(outlook: Outlook, instrument: Instrument) -> Task:
    item = outlook.items[0]
    answers = tuple(answer.id for answer in outlook.answers if answer.item == item.id)
    shown = answers[:2] if instrument.unit == "pair" else answers
    return Task(
        id="sample",
        rater="sample",
        item=item.id,
        answers=shown,
        instrument=instrument.id,
        slot="sample",
    )


def sheet_of(shown: Screen) -> Sheet:
    """A screen as its page shows it, empty, and without anything of a database."""
    html = [richtext.html_of(text) for text in rating_view.texts_of(shown)]
    groups = rating_view.groups_of(shown, FormState({}))
    panes = rating_view.panes_of(shown, html, groups)
    inside = {id(group) for pane in panes for group in pane.groups}
    return Sheet(
        public="sample",
        visit="",
        rev=0,
        layout=rating_view.layout_of(shown),
        language=shown.instrument.language,
        question=shown.question,
        question_word=shown.words.question,
        reference=shown.reference,
        reference_word=shown.words.reference,
        reasoning_word=shown.words.reasoning,
        sources_word=shown.words.sources,
        panes=panes,
        groups=tuple(group for group in groups if id(group) not in inside),
        entries=rating_view.entries_of(shown),
        codebook=html[-1] if shown.instrument.codebook.strip() else "",
        progress=Progress(0, 1, 1, 1, None),
        submitted=False,
        closed=False,
        practice=False,
        explained=False,
        previous_page="",
    )
