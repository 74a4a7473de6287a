"""Endpoints of the first step: the title, the user's tables, and what is read from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from konsil.design.models import (
    answering_models_of,
    with_answering_models,
    without_secrets,
)
from konsil.design.questions import with_language
from konsil.design.tables.first_row import first_row
from konsil.design.tables.loaded import Loaded
from konsil.design.tables.sources import fixable_roles
from konsil.locale import catalogue_language, complete_languages, translations
from konsil.web.design.entrance import Room, language_of
from konsil.web.design.forms import (
    TableEntry,
    answering_in,
    system_names_in,
    tables_in,
    text_of,
    uploads,
)
from konsil.web.design.rendering import onward, step, trial_of, trying
from konsil.web.design.words import (
    Gettext,
    confidence_words,
    form_words,
    reason_words,
    role_words,
)
from konsil.web.design.workshop import Workshop


def data(request: Request, room: Room, _form: FormData) -> Response:
    """The study's title and the user's tables with the guesses about them."""
    workshop, _ = room.workshop, translations(language_of(request, room)).gettext
    content = workshop.data
    models = answering_models_of(content) if room.answering is None else room.answering
    used = [s for s in content.get("sources", ()) if s.get("file") not in workshop.tables]
    context = {
        "title": content.get("title", ""),
        "tables": [_table(workshop, name, loaded, _) for name, loaded in workshop.tables.items()],
        "used": used,
        "loose": workshop.loose_files(),
        "systems": [system["id"] for system in content.get("systems", ())],
        "renamable": workshop.systems(),
        "models": models,
        "is_retrospective": content.get("retrospective", False),
        **trial_of(request, room),
        "roles": role_words(_),
        "forms": form_words(_),
        "confidences": confidence_words(_),
    }
    return step(request, room, "data", context)


def _table(workshop: Workshop, name: str, loaded: Loaded, _: Gettext) -> Mapping[str, object]:
    """One table on the page."""
    missing, repeated = workshop.lacking(name)
    command = workshop.command_of(name)
    columns = zip(loaded.guesses, loaded.table.columns, strict=True)
    return {
        "loaded": loaded,
        "rows": [
            {
                "guess": guess,
                "why": reason_words(guess, _),
                "role": loaded.roles.get(guess.column, "unused"),
                "examples": [value[:80] for value in column.distinct[:3]],
            }
            for guess, column in columns
        ],
        "missing": missing,
        "repeated": repeated,
        "command": command,
        "fixable": fixable_roles(loaded.roles),
        "first": first_row(loaded) if command or not (missing or repeated) else None,
    }


def take_data(_request: Request, room: Room, form: FormData) -> Response:
    """Take the title, new tables, how they are read, and the roles of their columns."""
    workshop, action = room.workshop, text_of(form, "do")
    content = workshop.data
    content["title"] = text_of(form, "title")
    language = catalogue_language(text_of(form, "study_language"))
    if language in complete_languages() and language != content.get("language", "en"):
        content, room.follows = with_language(content, language), False
    is_fine = trying(room, lambda: workshop.change(content))
    for entry in tables_in(form):
        if entry.name in workshop.tables and action != f"remove {entry.name}":
            is_fine &= _take_table(room, entry)
    if action.startswith("remove "):
        is_fine &= trying(room, lambda: workshop.remove_table(action.removeprefix("remove ")))
    is_fine &= trying(room, lambda: workshop.rename_systems(system_names_in(form)))
    is_fine &= _take_models(room, form)
    new = list(uploads(form))
    for name, content_of_file in new:
        trying(room, partial(workshop.add_table, name, content_of_file))
    loose = [name for name in form.getlist("loose") if isinstance(name, str)]
    for name in loose:
        trying(room, partial(workshop.take_loose, name))
    # What is guessed of a new table is shown before it counts.
    stays = new or loose or not is_fine
    return onward("data", "stay" if stays else action)


def _take_models(room: Room, form: FormData) -> bool:
    """Whether the models that answer were taken; where it is asked for, one is called."""
    workshop, action = room.workshop, text_of(form, "do")
    models = answering_in(form, workshop.systems().values())
    if not models and not answering_models_of(workshop.data):
        return True
    room.answering = tuple(map(without_secrets, models))
    if not trying(room, lambda: workshop.change(with_answering_models(workshop.data, models))):
        return False
    number = action.removeprefix("try ")
    if action.startswith("try ") and number.isdecimal() and int(number) < len(models):
        room.trial = workshop.try_model(models[int(number)])
    return True


def _take_table(room: Room, entry: TableEntry) -> bool:
    """Whether a table is used as the form says; one that is read anew is shown first."""
    workshop, loaded = room.workshop, room.workshop.tables[entry.name]
    former = loaded.table.settings
    settings = former

    def state() -> None:
        nonlocal settings
        settings = entry.file_settings(former, loaded.table.settable)

    if not trying(room, state):
        return False
    if settings != former:
        trying(room, lambda: workshop.read_again(entry.name, settings))
        return False
    if entry.form is not None and entry.form != loaded.form:
        form = entry.form
        trying(room, lambda: workshop.set_form(entry.name, form))
        return False
    if entry.names is not None and entry.names != loaded.names:
        pattern = entry.names
        trying(room, lambda: workshop.set_names(entry.name, pattern))
        return False
    named = dict(zip([c.name for c in loaded.table.columns], entry.roles, strict=False))
    is_fine = trying(room, lambda: workshop.use_table(entry.name, named, entry.fixed))
    return is_fine and workshop.tables[entry.name].is_used
