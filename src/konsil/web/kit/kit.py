"""The offline kit: a rater's batch as one file that works without a network.

kit_answers takes in what comes back.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from konsil.errors import KonsilError, nearest
from konsil.instrument import digest
from konsil.records import Event
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.people.access import Visitor
from konsil.store.release import kits
from konsil.store.tasks import screens
from konsil.store.tasks.screens import Queued
from konsil.study import Study
from konsil.web.rating.rating_view import with_page_names
from konsil.web.rating.sheet import QuestionView, Sheet
from konsil.web.site.gates import first_open_prerequisite
from konsil.web.site.pages import environment
from konsil.web.site.site import Site


@dataclass(frozen=True, slots=True)
class Kit:
    """One file for one rater."""

    id: str
    """Random; the file and its answers carry it."""
    rater: str
    """Whose it is."""
    phase: str
    """The phase of its batch."""
    batch: str
    """Its batch."""
    screens: int
    """How many screens are in it."""
    html: str
    """The file."""


def make(site: Site, rater: str, phase: str, batch: str, language: str, *, by: str = "") -> Kit:
    """Make the kit of what a rater has still to do in a batch.

    It is an event, so that its answers are known again.

    `by`: who makes it, for the log.
    """
    refuse_at_gates(site, rater)
    rows = _rows(site, rater, phase, batch)
    now = site.now()
    with writing(site.store.engine) as connection:
        publics = [screens.named(connection, row.task, rater, now).public for row in rows]
    sheets = []
    for public in publics:
        sheet = site.desk.open(rater, public, looks=False)
        if sheet is None or sheet.closed:
            raise KonsilError(
                f"batch {batch!r} of rater {rater!r} is closed; open it with konsil close --reopen"
            )
        if sheet.practice:
            raise KonsilError(
                f"batch {batch!r} is for practice, which is available on the study pages only"
            )
        sheets.append(with_page_names(dataclasses.replace(sheet, previous_page="back"), site.names))
    kit = secrets.token_hex(12)
    html = _html(site, kit, list(zip(rows, sheets, strict=True)), language)
    data: dict[str, Any] = {
        "rater": rater,
        "phase": phase,
        "batch": batch,
        "screens": publics,
        "instruments": digests(site.study, _instruments(site, publics)),
    } | ({"by": by} if by else {})
    with writing(site.store.engine) as connection:
        study_events.append_event(
            connection, Event(f"{kits.MADE} {kit}", kits.MADE, kit, now, data)
        )
    return Kit(kit, rater, phase, batch, len(rows), html)


def refuse_at_gates(site: Site, rater: str) -> None:
    """A kit leads past no page that its rater must pass first."""
    gate = first_open_prerequisite(site, Visitor("", rater, "rater", "", "", "", ""))
    if gate is not None:
        raise KonsilError(f"rater {rater!r}: must complete the page {gate!r} of the study first")


def digests(study: Study, names: Iterable[str]) -> dict[str, str]:
    """Instrument -> its digest as it is now; empty for one that is gone from the protocol."""
    return {
        name: digest(instrument) if (instrument := study.instrument(name)) is not None else ""
        for name in sorted(set(names))
    }


def _instruments(site: Site, publics: Sequence[str]) -> set[str]:
    with reading(site.store.engine) as connection:
        states = [screens.public(connection, public) for public in publics]
        tasks = [screens.task(connection, state.task) for state in states if state is not None]
    return {t.instrument for t in tasks if t is not None}


def _rows(site: Site, rater: str, phase: str, batch: str) -> list[Queued]:
    line = site.desk.line(rater)
    batch_rows = [row for row in line if (row.phase, row.batch) == (phase, batch)]
    if not batch_rows:
        batches = sorted({row.batch for row in line})
        raise KonsilError(f"rater {rater!r} has no batch {batch!r}; {nearest(batch, batches)}")
    open_rows = [row for row in batch_rows if not row.is_completed]
    if not open_rows:
        raise KonsilError(f"rater {rater!r} has no unfinished tasks in batch {batch!r}")
    with reading(site.store.engine) as connection:
        before = line[: line.index(open_rows[0])]
        tasks = [screens.task(connection, row.task) for row in before if not row.is_completed]
    if any(task is not None and task.purpose == "practice" for task in tasks):
        raise KonsilError(f"rater {rater!r}: must first complete the practice on the study pages")
    return open_rows


def _html(site: Site, kit: str, sheets: Sequence[tuple[Queued, Sheet]], language: str) -> str:
    templates = environment(language)

    def path(name: str, **parameters: str) -> str:
        return f"#/{name}/{parameters.get('public', '')}"

    asides: list[str] = []
    specs, tasks = [], []
    for row, sheet in sheets:
        shown = {
            "sheet": sheet,
            "conflict": False,
            "lost": (),
            "csrf": "",
            "path": path,
            "language": language,
        }
        aside = _as_element_text(templates.get_template("rating_aside.html").render(shown))
        if aside not in asides:
            asides.append(aside)
        specs.append(_spec(row, sheet, asides.index(aside)))
        tasks.append(
            (
                sheet.public,
                _as_element_text(templates.get_template("rating_form.html").render(shown)),
            )
        )
    style, module = _static("konsil.css", "kit.css"), _static("rating.js")
    script = _static("hmac.js", "kit.js")
    return templates.get_template("kit.html").render(
        language=language,
        study_title=site.study.title,
        policy=_policy(style, module, script),
        style=style,
        module=module,
        script=script,
        asides=asides,
        tasks=tasks,
        specs=specs,
        id=kit,
        key=kits.key(site.store, kit),
    )


def _as_element_text(html: str) -> str:
    """HTML as the text of an element.

    What would end that text early is written by no template and no sanitiser.
    """
    return re.sub(r"<(?=/script|!--)", "&lt;", html, flags=re.IGNORECASE)


def _spec(row: Queued, sheet: Sheet, aside: int) -> dict[str, Any]:
    questions: list[QuestionView] = [a for group in sheet.everything for a in group.questions]
    form_values = {a.name: a.value for a in questions} | {
        a.reason: a.note for a in questions if a.reason
    }
    return {
        "public": sheet.public,
        "layout": sheet.layout,
        "rev": sheet.rev,
        "survey": row.survey,
        "aside": aside,
        "values": {name: value for name, value in form_values.items() if value},
        "numbers": {
            a.name: {"low": a.low, "high": a.high, "options": [o.label for o in a.options]}
            for a in questions
            if a.kind == "number"
        },
    }


def _static(*names: str) -> str:
    folder = files("konsil.web").joinpath("static")
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)


def _policy(style: str, *scripts: str) -> str:
    """Nothing but these very texts runs, and nothing is asked of anybody."""

    def named(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    parts = (
        "default-src 'none'",
        f"style-src {named(style)}",
        f"script-src {' '.join(map(named, scripts))}",
        "img-src data:",
        "form-action 'none'",
        "base-uri 'none'",
    )
    return "; ".join(parts)
