"""Templates of the set-up to responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from babel.numbers import format_decimal
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from konsil.errors import KonsilError, keys_as
from konsil.errors.message import TranslatableMessage, translate
from konsil.locale import SOURCE, complete_languages, translations
from konsil.web.design.entrance import Room, language_of
from konsil.web.http.statics import address
from konsil.web.site.pages import environment

STEPS = ("data", "questions", "people", "plan", "analyses", "save", "conduct")
"""The steps in their order: each is a page of this name."""


def trying(room: Room, work: Callable[[], object]) -> bool:
    """Whether the work was done; what kept it from being done is on the next page."""
    try:
        with keys_as("fields"):
            work()
    except KonsilError as error:
        room.faults.append(error.sentence)
        return False
    return True


def lines_in(language: str, sentences: Iterable[str]) -> list[tuple[str, str]]:
    """The lines of sentences, each with its language: English where it has no translation."""

    def number(value: float, form: str) -> str:
        return format_decimal(value, locale=language) if form else str(value)

    gettext, lines = translations(language).gettext, list[tuple[str, str]]()
    for sentence in sentences:
        text = translate(sentence, gettext, number)
        is_of_catalogue = isinstance(sentence, TranslatableMessage)
        lines += [(line, language if is_of_catalogue else SOURCE) for line in text.splitlines()]
    return lines


def trial_of(request: Request, room: Room) -> Mapping[str, object]:
    """What came of the call that was tried in the form before."""
    trial, room.trial = room.trial, None
    faults = [trial.fault] if trial is not None and trial.fault else []
    return {"trial": trial, "trial_faults": lines_in(language_of(request, room), faults)}


def step(
    request: Request, room: Room, name: str, context: Mapping[str, object] | None = None
) -> Response:
    """The page of a step, with what went wrong in the form before."""
    faults, room.faults = room.faults, []
    shared = {"step": name, "faults": lines_in(language_of(request, room), faults)}
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
