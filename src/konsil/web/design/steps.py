"""Endpoints of the steps after the tables: questions, people, plan, analyses, saving."""

from __future__ import annotations

import re
from dataclasses import replace

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from konsil.design.edits import Data
from konsil.design.lines import lines_of, with_lines
from konsil.design.models import models_of, with_models, without_secrets
from konsil.design.people import panels_of, with_panels
from konsil.design.proposals import proposals, with_analyses
from konsil.design.questions import KINDS, labels_of, questions_of, with_questions, with_references
from konsil.design.stages import STEPS, step_of_line
from konsil.errors import KonsilError
from konsil.locale import catalogue_language, translations
from konsil.web.design import rendering
from konsil.web.design.entrance import Room, follow, language_of
from konsil.web.design.forms import (
    assumption_in,
    lines_in,
    models_in,
    panels_in,
    pay_in,
    questions_in,
    text_of,
)
from konsil.web.design.rendering import onward, step, trying
from konsil.web.design.words import kind_words, need_words, purpose_words
from konsil.web.site.pages import LANGUAGE_COOKIE


def questions(request: Request, room: Room, _form: FormData) -> Response:
    """What raters are asked."""
    workshop, _ = room.workshop, translations(language_of(request, room)).gettext
    content = workshop.data
    entries = questions_of(content)
    context = {
        "questions": [replace(q, labels=labels_of(q, workshop.language)) for q in entries],
        "kinds": kind_words(_),
        "addable": KINDS,
        "instruments": content.get("instruments", ()),
        "has_ratings": workshop.has_ratings,
    }
    return step(request, room, "questions", context)


def take_questions(_request: Request, room: Room, form: FormData) -> Response:
    """Take the questions."""
    workshop, action = room.workshop, text_of(form, "do")
    entries = questions_in(form, workshop.language)

    def change() -> None:
        shown = [name for name in form.getlist("reference") if isinstance(name, str)]
        workshop.change(with_references(with_questions(workshop.data, entries), shown))

    is_fine = trying(room, change)
    if is_fine and action.startswith("page "):
        return RedirectResponse(f"/page/{action.removeprefix('page ')}", 303)
    return onward("questions", action if is_fine else "stay")


def people(request: Request, room: Room, _form: FormData) -> Response:
    """Who rates, and which models speak for judges."""
    content = room.workshop.data
    typed = {model.rater: model for model in room.models}
    context = {
        "panels": panels_of(content),
        "models": [typed.get(model.rater, model) for model in models_of(content)],
        **rendering.trial_of(request, room),
    }
    room.models = ()
    return step(request, room, "people", context)


def take_people(_request: Request, room: Room, form: FormData) -> Response:
    """Take the panels and the judges' models; where it is asked for, call one of them."""
    workshop, action = room.workshop, text_of(form, "do")
    panels, models = panels_in(form, workshop.language), models_in(form)

    def change() -> None:
        content = with_panels(workshop.data, panels)
        judges = {model.rater for model in models_of(content)}
        workshop.change(with_models(content, [m for m in models if m.rater in judges]))

    is_fine = trying(room, change)
    if not is_fine:
        # What may be a key is shown on no page.
        room.models = tuple(map(without_secrets, models))
    number = action.removeprefix("try ")
    if is_fine and action.startswith("try ") and number.isdecimal() and int(number) < len(models):
        room.trial = workshop.try_model(models[int(number)])
    return onward("people", action if is_fine else "stay")


def _plans_all(room: Room, content: Data) -> bool:
    """Whether all panels are proposed for all forms: nothing is planned, and nothing was rated."""
    is_rated = any(s.get("records") == "ratings" for s in content.get("sources", ()))
    return room.workshop.is_new and not content.get("plan") and not is_rated


def plan(request: Request, room: Room, _form: FormData) -> Response:
    """Who rates what, with the hours and what they cost."""
    workshop, content = room.workshop, room.workshop.data
    lines = lines_of(content, is_new=_plans_all(room, content))
    outlook = None
    if content.get("plan"):
        try:
            outlook = workshop.outlook()
        except KonsilError as error:
            room.faults.append(error.sentence)
    kinds = {panel.name: panel.kind for panel in panels_of(content)}
    context = {"lines": lines, "outlook": outlook, "pay": room.pay, "panel_kinds": kinds}
    return step(request, room, "plan", context)


def take_plan(_request: Request, room: Room, form: FormData) -> Response:
    """Take the plan."""
    workshop = room.workshop
    room.pay = pay_in(form)
    is_fine = trying(room, lambda: workshop.change(with_lines(workshop.data, lines_in(form))))
    return onward("plan", text_of(form, "do") if is_fine else "stay")


def analyses(request: Request, room: Room, _form: FormData) -> Response:
    """Which numbers are estimated, and how sure they would be."""
    workshop, _ = room.workshop, translations(language_of(request, room)).gettext
    listed = proposals(workshop.data, is_new=workshop.is_new)
    context = {
        "proposals": [{"it": proposal, "words": purpose_words(proposal, _)} for proposal in listed],
        "is_retrospective": workshop.data.get("retrospective", False),
        "assumption": room.assumption,
        "power": room.power,
    }
    return step(request, room, "analyses", context)


def take_analyses(_request: Request, room: Room, form: FormData) -> Response:
    """Take the analyses; where it is asked for, simulate the study."""
    workshop, action = room.workshop, text_of(form, "do")
    names = {name for name in form.getlist("analysis") if isinstance(name, str)}
    is_fine = trying(room, lambda: workshop.change(with_analyses(workshop.data, names)))
    room.power = ()
    if action == "power" and is_fine:
        room.assumption = assumption_in(form, room.assumption)

        def estimate() -> None:
            room.power = workshop.power(room.assumption)

        trying(room, estimate)
    return onward("analyses", action if is_fine else "stay")


def save(request: Request, room: Room, _form: FormData) -> Response:
    """What the study is now, what is wrong with it, and what would change in its file."""
    workshop, content = room.workshop, room.workshop.data
    language = language_of(request, room)
    _ = translations(language).gettext
    words, needs = need_words(_), workshop.needs()
    context = {
        "problems": [
            {
                "lines": rendering.lines_in(language, [str(problem)]),
                "step": step_of_line(workshop.text, problem.line),
            }
            for problem in workshop.problems()
        ],
        "needs": [{"step": STEPS[need], "words": words[need]} for need in needs],
        "differences": workshop.differences(),
        "is_changed": workshop.is_changed(),
        "saved": room.saved,
        "systems": [system["id"] for system in content.get("systems", ())],
        "questions": questions_of(content),
        "panels": panels_of(content),
        "sources": content.get("sources", ()),
        "n_analyses": len(content.get("analyses", ())),
    }
    return step(request, room, "save", context)


def take_save(_request: Request, room: Room, _form: FormData) -> Response:
    """Write the study's folder."""

    def write() -> None:
        room.saved = room.workshop.save()

    room.saved = ()
    # The page shows what is missing in place of the button.
    if not room.workshop.problems() and not room.workshop.needs():
        trying(room, write)
    return RedirectResponse("/save", 303)


def choose_language(_request: Request, room: Room, form: FormData) -> Response:
    """Show the pages in another language."""
    address = text_of(form, "back")
    # Only a page of ours: two slashes, or a slash and a backslash, lead elsewhere.
    response = RedirectResponse(address if re.fullmatch(r"(/[\w-]+)+", address) else "/data", 303)
    language = catalogue_language(text_of(form, "language"))
    if language:
        follow(room, language)
        response.set_cookie(LANGUAGE_COOKIE, language, httponly=True, samesite="lax", path="/")
    return response
