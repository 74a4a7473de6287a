"""Endpoint: the pilot for those who run the study.

It shows which raters wait for which others, and the written reasons side by side.

Labels of the pilot are no outcome: they stay out of every analysis.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from konsil.instrument import Field, canonical, fields
from konsil.records import Event, Task
from konsil.records.numerals import natural
from konsil.store.engine.engine import reading
from konsil.store.log import study_events
from konsil.store.tasks import pilot, screens
from konsil.study import Study
from konsil.study.sections.calibration import REASON
from konsil.web.office.office import office
from konsil.web.site.site import site_of


@dataclass(frozen=True, slots=True)
class Reason:
    """What one rater said and wrote."""

    rater: str
    """Who."""
    label: str
    """The label; of a pair as it reads with the answers in one order for everybody."""
    text: str
    """The reason."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question on which labels lie far apart."""

    item: str
    """The item's text."""
    question: str
    """What was asked."""
    answers: tuple[str, ...]
    """The answers it was asked about, in one order for everybody."""
    reasons: tuple[Reason, ...]
    """What was written, by rater."""


def reasons(request: Request) -> Response:
    """Every question with its reasons, and how far everybody is."""
    site = site_of(request)
    with reading(site.store.engine) as connection:
        tasks = pilot.all_tasks(connection)
        written = study_events.of_kind(connection, REASON)
        tasks_by_id = {t.id: t for t in tasks}
        shown: dict[tuple[str, str], list[tuple[Event, Task]]] = {}
        for event in written:
            task = tasks_by_id.get(str(event.data.get("task", "")))
            if task is not None:
                shown.setdefault((task.item or "", str(event.data.get("subject", ""))), []).append(
                    (event, task)
                )
        questions = []
        for (item, _), several in sorted(shown.items()):
            event, task = several[0]
            field = _field(site.study, event, task)
            if field is None:
                continue
            answers = sorted(task.answers[n] for n in field.answers)
            item_record, texts = (
                screens.item(connection, item),
                screens.answers(connection, answers),
            )
            written_reasons = [
                Reason(t.rater, _label(e, t, _field(site.study, e, t)), str(e.data.get("text", "")))
                for e, t in several
            ]
            questions.append(
                Question(
                    item_record.text if item_record is not None else item,
                    field.criterion.question,
                    tuple(texts[a].text for a in answers if a in texts),
                    tuple(sorted(written_reasons, key=lambda r: (r.label, natural(r.rater)))),
                )
            )
    everybody = sorted({t.rater for t in tasks if t.rater}, key=natural)
    stages = {rater: site.pilot.stage(rater) for rater in everybody}
    context = {
        "questions": questions,
        "stages": stages,
        "asked": site.study.calibration is not None,
    }
    return office(request, "office_pilot.html", {**context, "study_language": site.study.language})


def _field(study: Study, event: Event, task: Task) -> Field | None:
    """The question that a reason is about, as it stood on its writer's screen."""
    instrument = study.instrument(task.instrument)
    form_fields = fields(instrument, task) if instrument is not None else ()
    return next((f for f in form_fields if f.name == event.data.get("field")), None)


def _label(event: Event, task: Task, field: Field | None) -> str:
    """The label as it was when the reason was written.

    The sides of a label of a pair are those of the answers in one order for all raters.
    """
    label = str(event.data.get("label", ""))
    if field is None or field.criterion.scope != "pair":
        return label
    return canonical(field.criterion, tuple(task.answers[n] for n in field.answers), label)[1]
