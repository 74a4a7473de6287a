"""Templates of the set-up to responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from konsil.errors import KonsilError
from konsil.locale import SOURCE, catalogue_language, complete_languages
from konsil.web.design.entrance import Room
from konsil.web.http.statics import address
from konsil.web.rating.text.language import preferred
from konsil.web.site.pages import LANGUAGE_COOKIE, environment

STEPS = ("data", "questions", "people", "plan", "analyses", "save", "conduct")
"""The steps in their order: each is a page of this name."""


def language_of(request: Request, room: Room) -> str:
    """The language of the pages: chosen, else the browser's, else the study's."""
    return (
        catalogue_language(request.cookies.get(LANGUAGE_COOKIE, ""))
        or preferred(request.headers.get("accept-language", ""))
        or catalogue_language(room.workshop.language)
        or SOURCE
    )


def trying(room: Room, work: Callable[[], object]) -> bool:
    """Whether the work was done; what kept it from being done is on the next page."""
    try:
        work()
    except KonsilError as error:
        room.faults += str(error).split("\n")
        return False
    return True


def step(
    request: Request, room: Room, name: str, context: Mapping[str, object] | None = None
) -> Response:
    """The page of a step, with what went wrong in the form before."""
    faults, room.faults = room.faults, []
    shared = {"step": name, "faults": faults}
    return page(request, room, f"design_{name}.html", {**shared, **(context or {})})


def page(request: Request, room: Room, template: str, context: Mapping[str, object]) -> Response:
    """Render a template."""
    language = language_of(request, room)
    data = room.workshop.data
    shared = {
        "language": language,
        "study_title": data.get("title") or "konsil",
        "study_language": data.get("language", SOURCE),
        "complete_languages": complete_languages(),
        "csrf": room.csrf,
        "static": address,
        "steps": STEPS,
        "place": room.workshop.place,
        "is_new": room.workshop.is_new,
        "here": request.url.path,
        # A study during its set-up belongs to no list of studies.
        "centre": "",
    }
    html = environment(language).get_template(template).render({**shared, **context})
    return HTMLResponse(html)


def onward(name: str, action: str) -> Response:
    """The next step where that was asked for, else the same page again."""
    if action == "next":
        name = STEPS[min(STEPS.index(name) + 1, len(STEPS) - 1)]
    return RedirectResponse(f"/{name}", 303)
