"""What a draft would come to: its tasks, hours and costs, a sample of its pages, its power."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from konsil.analysis.model.terms import words_of
from konsil.api.design.draft import Draft
from konsil.api.folder.folder import Folder, open_folder
from konsil.api.folder.opened import now
from konsil.api.rehearsal.power import Design, expected
from konsil.api.rehearsal.rehearsal import MATERIAL
from konsil.api.rehearsal.requests import PowerRequest
from konsil.api.running.planning import implied_answers, make_plan
from konsil.design.outlook import Assumption, Outlook, PowerLine, Work
from konsil.design.questions import bad_when_high
from konsil.errors import KonsilError
from konsil.errors.message import message
from konsil.instrument.definition.fields import fields
from konsil.records import Answer, Item, Task
from konsil.simulate.power import Power
from konsil.simulate.pretended import pretended_pool
from konsil.store import Batch
from konsil.study import Study

PRETENDED = 60
"""Items that are pretended where the study has none yet."""


@contextmanager
def _trial(draft: Draft) -> Iterator[Folder]:
    """A copy of the draft with its items and answers imported, for as long as it is looked at."""
    with tempfile.TemporaryDirectory(prefix="konsil-trial-") as place:
        copy = Path(place) / "study"
        shutil.copytree(draft.staging, copy)
        folder = open_folder(copy)
        # A database that the environment names is the study's and not the trial's.
        folder = Folder(copy, folder.study)
        material = [s for s in folder.study.sources if s.records in MATERIAL]
        if material:
            folder.import_sources(material)
        with folder.store(create=True) as store:
            if not store.items():
                items = pretended_pool(folder.study, PRETENDED)
                store.add(Batch(items=items), source="trial", at=now())
        yield folder


def outlook(draft: Draft) -> Outlook:
    """The tasks that the draft's plan would give, and the time that they take."""
    with _trial(draft) as folder:
        study = folder.study
        with folder.store() as store:
            items, answers = store.items(), store.answers()
        tasks: tuple[Task, ...] = ()
        if study.plan:
            tasks = tuple(make_plan(folder, save=False).tasks)
        if not answers and study.systems:
            answers = implied_answers(items, [system.id for system in study.systems])
    is_pretended = not any(s.records in MATERIAL for s in study.sources)
    work = tuple(_work(study, items, answers, tasks))
    return Outlook(study, items, answers, tasks, work, is_pretended)


def _work(
    study: Study,
    items: tuple[Item, ...],
    answers: tuple[Answer, ...],
    tasks: tuple[Task, ...],
) -> Iterator[Work]:
    words = {item.id: len(item.text.split()) for item in items}
    answer_words = {answer.id: len(answer.text.split()) for answer in answers}
    panel_by_rater = {rater.id: rater for rater in study.everybody()}
    by_line: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        # A place that nobody has yet is called by its slot.
        rater = panel_by_rater.get(task.rater) or panel_by_rater.get(task.slot)
        if rater is not None:
            panel = rater.panel
            by_line.setdefault((panel, task.instrument), []).append(task)
    for (panel, name), line in by_line.items():
        instrument = study.instrument(name)
        if instrument is None:
            continue
        loads: dict[str, int] = {}
        n_words = n_questions = 0
        for task in line:
            loads[task.rater or task.slot] = loads.get(task.rater or task.slot, 0) + 1
            n_words += words.get(task.item or "", 0) + sum(answer_words[a] for a in task.answers)
            n_questions += len(fields(instrument, task))
        n = len(line)
        kind = next(r.kind for r in study.everybody() if r.panel == panel)
        least_screens, most_screens = min(loads.values()), max(loads.values())
        yield Work(
            panel,
            name,
            kind,
            len(loads),
            n,
            least_screens,
            most_screens,
            n_words / n,
            n_questions / n,
        )


def power_of(draft: Draft, assumption: Assumption) -> tuple[PowerLine, ...]:
    """Widths and power of the draft's analyses under an assumption, from simulated studies."""
    with _trial(draft) as folder:
        study = folder.study
        if not study.plan or not study.analyses or not study.systems:
            raise KonsilError(
                message(
                    "study.toml: power needs systems, a plan and analyses; complete the"
                    " steps before",
                    message_id="setup.power",
                )
            )
        truth = folder.path / "assumption.toml"
        truth.write_text(_truth(study, assumption), encoding="utf-8")
        request = PowerRequest(studies=assumption.studies, truth=truth, resamples=100)
        return tuple(map(_line, expected(Design(folder.path, request, str(folder.database)))))


def _line(row: Power) -> PowerLine:
    group, versus = (
        ", ".join(words_of(value) for value in values.values())
        for values in (row.group, row.versus)
    )
    return PowerLine(
        row.analysis, group, versus, row.mean, row.width, row.power if row.tested else None
    )


def _truth(study: Study, assumption: Assumption) -> str:
    from konsil.design.edits import Data, edited

    truth: Data = {"systems": {}, "panels": {}, "criteria": {}}
    for n, system in enumerate(study.systems):
        quality = assumption.others if n else assumption.best
        truth["systems"][system.id] = {"quality": quality}
    for panel in study.panels():
        truth["panels"][panel] = {"accuracy": assumption.accuracy}
    for instrument in study.instruments:
        for criterion in instrument.criteria:
            labels = criterion.scale.labels
            if criterion.scope == "answer" and labels and bad_when_high(criterion.question):
                truth["criteria"][criterion.id] = {"best": labels[0]}
    text = ""
    for key, tables in truth.items():
        for name, table in tables.items():
            text = edited(text, _nested(text, key, name, table))
    return text


def _nested(text: str, key: str, name: str, table: dict[str, object]) -> dict[str, object]:
    import tomllib

    data = tomllib.loads(text)
    return {**data, key: {**data.get(key, {}), name: table}}
