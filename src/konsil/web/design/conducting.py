"""The page on which a saved study is conducted: a button for each stage, to the report."""

from __future__ import annotations

from typing import cast, get_args

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from konsil.design.stages import STEPS, Collected, Stage, StageName
from konsil.errors import KonsilError
from konsil.locale import translations
from konsil.web.design.conduct import Action, Download
from konsil.web.design.entrance import Room, language_of
from konsil.web.design.forms import text_of
from konsil.web.design.rendering import lines_in, step
from konsil.web.design.words import need_words, stage_words

ACTIONS: frozenset[str] = frozenset({*get_args(StageName), "replace"})
"""What the page's buttons start."""


def conduct(request: Request, room: Room, _form: FormData) -> Response:
    """The stages of the saved study, with their buttons and results."""
    workshop, _ = room.workshop, translations(language_of(request, room)).gettext
    is_saved = not workshop.is_new and not workshop.is_changed()
    listed: tuple[Stage, ...] = ()
    collected = Collected()
    if is_saved:
        try:
            listed, collected = workshop.conduct.stages(), workshop.conduct.collected()
        except KonsilError as error:
            room.faults.append(error.sentence)
    words, titles = need_words(_), stage_words(_)
    job = workshop.conduct.job
    context = {
        "is_saved": is_saved,
        "stages": [
            {
                "name": stage.name,
                "title": titles[stage.name],
                "is_done": stage.is_done,
                "needs": [
                    {"words": words[need], "step": STEPS.get(need, "")} for need in stage.needs
                ],
            }
            for stage in listed
        ],
        "collected": collected,
        "job": job,
        "job_faults": lines_in(language_of(request, room), job.faults if job else ()),
        "job_notes": lines_in(language_of(request, room), job.notes if job else ()),
        "titles": titles,
        "links": workshop.conduct.links,
        "dashboard": workshop.conduct.dashboard,
        "downloads": {
            name for name in get_args(Download) if workshop.conduct.download(name) is not None
        },
    }
    return step(request, room, "conduct", context)


def start(_request: Request, room: Room, form: FormData) -> Response:
    """Start what a button asks for."""
    workshop, action = room.workshop, text_of(form, "do")
    if action in ACTIONS and not workshop.is_new and not workshop.is_changed():
        try:
            workshop.conduct.start(cast("Action", action))
        except KonsilError as error:
            room.faults.append(error.sentence)
    return RedirectResponse("/conduct", 303)


def download(request: Request, room: Room, _form: FormData) -> Response:
    """A file that the study's stages wrote."""
    name = request.path_params["name"]
    path = (
        room.workshop.conduct.download(cast("Download", name))
        if name in get_args(Download)
        else None
    )
    if path is None:
        return RedirectResponse("/conduct", 303)
    named = {"rehearsal": f"rehearsal-{path.name}", "table": f"table-2{path.suffix}"}
    return FileResponse(path, filename=named.get(name, path.name))
