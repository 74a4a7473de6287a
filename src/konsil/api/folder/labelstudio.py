"""Planned tasks to Label Studio, and its annotations back to the plan's tasks.

Each rater has one project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from konsil.api.folder.opened import OpenedStudy
from konsil.errors import StudyError
from konsil.instrument import Instrument
from konsil.instrument.screens.labelstudio import configuration, controls, data
from konsil.instrument.screens.screen import screen
from konsil.prepare import prepared
from konsil.records import Task
from konsil.sources.labelstudio.labelstudio_slots import TASK_KEY, Planned, Slot
from konsil.store import Store
from konsil.store.engine.folders import whole_folder
from konsil.store.log.write import Batch
from konsil.store.release.blinding import key
from konsil.study import study_digest
from konsil.study.data.blinding import token_of
from konsil.version import __version__

MARK = "label-studio.json"
"""The file that says what the others are."""


@dataclass(frozen=True)
class Project:
    """What one project of Label Studio is to hold."""

    folder: str
    """The folder of its configuration and of its tasks."""
    rater: str
    """Who is to annotate it."""
    tasks: int
    """How many tasks it has."""

    @property
    def file(self) -> str:
        """The file of its tasks."""
        return f"{self.folder}/{_file(self.rater)}.json"


def export_tasks(
    folder: OpenedStudy, output: Path, *, overwrite: bool = False
) -> tuple[Project, ...]:
    """Write the open tasks of people: one folder for each form.

    A task is open that has no rating yet. A folder has a configuration and one file for each rater.
    Label Studio's Community edition gives every task to everybody, so each rater has a project of
    their own. Nothing in the files says which system an answer is from: tasks are called by tokens
    of the study's secret, since their own identifiers follow from the names of systems, and their
    answers stand in the order shown.
    """
    with folder.store() as store:
        batch, secret = store.batch(), key(store)
    people = {r.id for r in (*folder.study.raters, *batch.raters) if r.kind == "human"}
    rated = {r.task for r in batch.ratings}
    tasks = [t for t in batch.tasks if t.rater in people and t.id not in rated]
    if not tasks:
        reason = (
            "every task of a person is rated"
            if any(t.rater in people for t in batch.tasks)
            else "no rater has a task"
        )
        raise StudyError(
            f"{folder.path}: there is nothing to export: {reason}; run 'konsil plan' to assign"
            " tasks"
        )
    instruments = {i.id: i for i in folder.study.instruments}
    shapes: dict[tuple[str, int, int], dict[str, list[Task]]] = {}
    for task in sorted(tasks, key=lambda t: (t.rater, t.position, t.id)):
        folder.study.instrument_of(task)
        shape = (task.instrument, len(task.answers), len(task.spans))
        shapes.setdefault(shape, {}).setdefault(task.rater, []).append(task)
    projects = []
    with whole_folder(output, mark=MARK, overwrite=overwrite, private=True) as draft:
        for shape, raters in sorted(shapes.items()):
            projects += list(
                _write(draft, _name(shape), instruments[shape[0]], raters, batch, secret)
            )
        about = {
            "konsil": __version__,
            "study": study_digest(folder.study),
            "projects": [{"rater": p.rater, "tasks": p.tasks, "file": p.file} for p in projects],
        }
        (draft / MARK).write_text(
            json.dumps(about, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )
    return tuple(projects)


def _write(
    draft: Path,
    name: str,
    instrument: Instrument,
    raters: Mapping[str, list[Task]],
    batch: Batch,
    secret: bytes,
) -> Iterator[Project]:
    items, answers = (
        {i.id: i for i in prepared(batch.items, batch.events)},
        {a.id: a for a in batch.answers},
    )
    place = draft / name
    place.mkdir()
    if instrument.codebook:
        (place / "codebook.md").write_text(instrument.codebook, encoding="utf-8")
    files: set[str] = set()
    for rater, tasks in raters.items():
        screens = [screen(instrument, t, items.get(t.item or ""), answers) for t in tasks]
        if not files:
            (place / "labeling.xml").write_text(configuration(screens[0]), encoding="utf-8")
        named = ((token_of(secret, "task", t.id), s) for t, s in zip(tasks, screens, strict=True))
        rows = [{"data": {TASK_KEY: token, **data(shown)}} for token, shown in named]
        project = Project(name, rater, len(tasks))
        if project.file in files:
            raise StudyError(
                f"raters: {rater!r} and another would share the file {project.file!r}; rename one"
            )
        files.add(project.file)
        (draft / project.file).write_text(
            json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
        yield project


def _name(shape: tuple[str, int, int]) -> str:
    instrument, n_answers, n_spans = shape
    parts = [
        _file(instrument),
        *([f"{n_answers}-answers"] if n_answers else []),
        *([f"{n_spans}-sentences"] if n_spans else []),
    ]
    return "-".join(parts)


def _file(name: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "unnamed"


def tasks_by_name(store: Store) -> dict[str, Task]:
    """Every task by its name in exported files, and by its identifier, which older files have."""
    secret = key(store)
    with store.view() as view:
        tasks = tuple(view.each("tasks"))
    return {t.id: t for t in tasks} | {token_of(secret, "task", t.id): t for t in tasks}


@dataclass
class Finder:
    """The plan's tasks by their names in the exported files, read on the first request."""

    folder: OpenedStudy
    """The study."""
    _task_by_name: dict[str, Planned] = field(default_factory=dict)

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        with self.folder.store() as store:
            return tasks_by_name(store)

    def __call__(self, name: str) -> Planned | None:
        """The task of this name and what each control of its screen is about.

        None where there is none.
        """
        task = self._tasks.get(name)
        if task is None:
            return None
        if name not in self._task_by_name:
            instrument = self.folder.study.instrument_of(task)
            self._task_by_name[name] = Planned(task, dict(_slots(instrument, task)))
        return self._task_by_name[name]


def _slots(instrument: Instrument, task: Task) -> Iterator[tuple[str, Slot]]:
    for control in controls(instrument, task):
        about = tuple(task.answers[a] for a in control.field.answers)
        span = task.spans[control.field.span] if control.field.span is not None else None
        criterion = control.field.criterion
        is_of_task = criterion.scope == "task"
        yield (
            control.name,
            Slot(criterion.id, control.part, about, span, control.words, is_of_task),
        )
