"""Label Studio's JSON export: its annotations as ratings.

What is read, and how a Source says what it means (`columns` name keys of the task's `data`):

- A control (`from_name`) is a criterion of the same name, or the one that `criteria` maps it to;
  with `criteria`, other controls are left out. Read are Choices, Taxonomy, Rating, Number, Pairwise
  and text Labels; a TextArea that is no criterion is a note on the ratings of the same object. A
  result with `start` and `end` is about that span.
- `item`, `system`, `answer`, `system_a` ... come from data keys of these names or those in
  `columns`; without any, the item is the task's id. Where one screen shows several answers,
  `"system@<to_name>"` or `"answer@<to_name>"`, in `columns` or `fixed`, says which answer an object
  is. Pairwise compares its first object, A, with its second, B.
- The rater is 'ls-<id>' of `completed_by`, never an e-mail; `raters` maps ids to other names.
- A cancelled annotation was skipped: it is missing, not an abstention. `lead_time` is the screen's
  seconds.
- A task that konsil exported says which one it is: then the plan knows item, answers and rater, and
  nothing is mapped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from konsil.errors import SourceError, nearest
from konsil.records import Source, Task
from konsil.sources.files.cells import as_text
from konsil.sources.files.jsontable import elements
from konsil.sources.files.problems import Problem
from konsil.sources.files.table import Table, read_bytes, text_of
from konsil.sources.labelstudio.controls import label_of, note_of, objects_of, span_of
from konsil.sources.labelstudio.labelstudio_slots import TASK_KEY, Find, Planned, planned_rows
from konsil.sources.tables.columns import JOIN
from konsil.sources.tables.ratings import FIELDS, ParsedRatings, read_ratings

_FIXED = tuple(f for f in FIELDS if f != "sentence")
"""The fields that a source may fix: annotations of a text have offsets, not numbers."""
_FROM_DATA = (
    "item",
    "system",
    "answer",
    "system_a",
    "system_b",
    "answer_a",
    "answer_b",
    "arm",
    "phase",
    "batch",
    "purpose",
    "repeat",
    "instrument",
    "digest",
)
_PER_OBJECT = ("system", "answer")

_Row = dict[str, str | None]
_Json = Mapping[str, Any]


def read_labelstudio(
    path: str | Path, source: Source, find: Find = lambda _: None
) -> ParsedRatings:
    """Read the ratings of an export in Label Studio's JSON format (not JSON-MIN).

    See the module for what is read.

    `find` knows the tasks of the plan, for exports of what konsil wrote.
    """
    path = Path(path)
    text = text_of(read_bytes(path), source.encoding, path.name).decode()
    _refuse_unknown_fields(source, path.name)
    reader = _Reader(source, find)
    order = 0
    for order, (_, task) in enumerate(elements(text, path.name), start=1):
        if (
            not isinstance(task, dict)
            or not isinstance(task.get("data"), dict)
            or _annotations(task) is None
        ):
            raise SourceError(
                f"{path.name}: element {order:,} is not a task of Label Studio's JSON export, which"
                " has 'data' and 'annotations'; export as JSON, not as JSON-MIN or CSV"
            )
        reader.read(task, order)
    if reader.problems:
        return ParsedRatings(tuple(reader.problems), "task", order, cancelled=reader.cancelled)
    if not reader.rows:
        raise SourceError(f"{path.name}: no annotation contains a rating")
    names = [f for f in FIELDS if any(f in row for row in reader.rows)]
    frame = pl.DataFrame(
        {f: [row.get(f) for row in reader.rows] for f in names},
        schema=dict.fromkeys(names, pl.String),
    )
    plain = Source(
        file=source.file,
        records="ratings",
        labels=source.labels,
        missing=source.missing,
        hashed=source.hashed,
        columns={f: () for f in FIELDS if f not in names and f not in source.fixed},
        fixed={f: v for f, v in source.fixed.items() if "@" not in f and f not in names},
    )
    table = Table(frame, path, lines=reader.tasks, place="task")
    parsed = read_ratings(table, plain, reader.of_tasks)
    return dataclasses.replace(
        parsed, planned=reader.planned, rows=order, cancelled=reader.cancelled
    )


def _annotations(task: _Json) -> list[_Json] | None:
    annotations = task.get("annotations", task.get("completions"))
    return (
        annotations
        if isinstance(annotations, list) and all(isinstance(a, dict) for a in annotations)
        else None
    )


def _refuse_unknown_fields(source: Source, where: str) -> None:
    for key, mapping in (("columns", source.columns), ("fixed", source.fixed)):
        for field in mapping:
            name, at, target = field.partition("@")
            valid_names = _PER_OBJECT if at else _FROM_DATA if key == "columns" else _FIXED
            if name not in valid_names or (at and not target):
                hint = nearest(name, valid_names)
                raise SourceError(
                    f"{where}: {key}: Label Studio's exports have no field {field!r}; {hint}"
                )


class _Reader:
    """Collects one row a rating while the tasks are read."""

    def __init__(self, source: Source, find: Find) -> None:
        self._source = source
        self._find = find
        self.planned: dict[str, Task] = {}
        self.of_tasks: set[str] = set()
        """Criteria of planned tasks that ask about the task."""
        self._by: dict[str, str] = {}
        self.rows: list[_Row] = []
        self.tasks: list[int] = []
        self.problems: list[Problem] = []
        self.cancelled = 0

    def read(self, task: _Json, order: int) -> None:
        """Add the rows of one task's annotations.

        `order` counts the tasks from 1, for those without an id.
        """
        number = task.get("id")
        number = number if type(number) is int else order
        try:
            planned = self._planned(task["data"])
            subject = {} if planned else self._subject(task["data"], number)
            for annotation in _annotations(task) or ():
                if annotation.get("was_cancelled"):
                    self.cancelled += 1
                    continue
                rows = (
                    self._of_plan(annotation, planned)
                    if planned
                    else self._annotation(annotation, subject, task["data"], number)
                )
                for row in rows:
                    self.rows.append(row)
                    self.tasks.append(number)
        except _TaskError as error:
            self.problems.append(Problem(number, error.column, str(error), "task"))

    def _planned(self, data: _Json) -> Planned | None:
        if TASK_KEY not in data:
            return None
        planned = self._find(str(data[TASK_KEY]))
        if planned is None:
            raise _TaskError(
                TASK_KEY,
                f"the study has no task {data[TASK_KEY]!r}; was it exported from another one?",
            )
        return planned

    def _of_plan(self, annotation: _Json, planned: Planned) -> Iterator[_Row]:
        """The rows of an annotation of one of konsil's tasks.

        It is its rater's, whatever Label Studio calls them.
        """
        task = planned.task
        by = annotation.get("completed_by")
        if self._source.raters and (mapped := self._rater(by)) != task.rater:
            raise _TaskError(
                "completed_by", f"task {task.id!r} is {task.rater!r}'s, but {mapped!r} annotated it"
            )
        annotator = str(by.get("id") if isinstance(by, dict) else by)
        if self._by.setdefault(task.id, annotator) != annotator:
            raise _TaskError(
                "completed_by",
                f"task {task.id!r} was annotated by {self._by[task.id]} and by {annotator}",
            )
        self.planned[task.id] = task
        self.of_tasks |= {s.criterion for s in planned.slots.values() if s.is_of_task}
        try:
            for row in planned_rows(planned, _results(annotation)):
                yield {**row, "rater": task.rater, **_screen(annotation)}
        except ValueError as error:
            raise _TaskError("result", str(error)) from None

    def _annotation(
        self, annotation: _Json, subject: _Row, data: _Json, number: int
    ) -> Iterator[_Row]:
        screen = {
            **subject,
            "rater": self._rater(annotation.get("completed_by")),
            "task": f"ls-{annotation.get('id', number)}",
            **_screen(annotation),
        }
        results = _results(annotation)
        notes: dict[tuple[str, ...], list[str]] = {}
        rated_rows: list[tuple[tuple[str, ...], _Row]] = []
        for result in results:
            name, objects = str(result.get("from_name", "")), objects_of(result)
            if name not in self._source.criteria:
                note = note_of(result)
                if note is not None:
                    notes.setdefault(objects, []).append(note)
                    continue
                if self._source.criteria or result.get("type") in ("relation", None):
                    continue
            row: _Row = {**screen, "criterion": self._source.criteria.get(name, name)}
            try:
                row |= {"label": label_of(result, self._source.labels), **span_of(result)}
            except ValueError as error:
                raise _TaskError(name, str(error)) from None
            rated_rows.append((objects, {**row, **self._objects(objects, data, result)}))
        rated = {objects for objects, _ in rated_rows}
        elsewhere = [n for objects, texts in notes.items() if objects not in rated for n in texts]
        for objects, row in rated_rows:
            note = "\n".join([*notes.get(objects, ()), *elsewhere])
            yield {**row, "note": note} if note else row

    def _rater(self, completed_by: object) -> str:
        number = completed_by.get("id") if isinstance(completed_by, dict) else completed_by
        mail = completed_by.get("email") if isinstance(completed_by, dict) else completed_by
        for account in (number, mail):
            if account is not None and str(account) in self._source.raters:
                return self._source.raters[str(account)]
        if type(number) is not int and not (isinstance(number, str) and number.isdigit()):
            raise _TaskError(
                "completed_by",
                "has no rater id; map the rater in raters, or export with ids",
            )
        if self._source.raters:
            raise _TaskError(
                "completed_by",
                f"rater {number} is not in raters; {nearest(str(number), self._source.raters)}",
            )
        return f"ls-{number}"

    def _subject(self, data: _Json, number: int) -> _Row:
        row: _Row = {}
        for field in _FROM_DATA:
            if field in self._source.fixed:
                row[field] = self._source.fixed[field]
            elif field in self._source.columns:
                row[field] = _joined(data, self._source.columns[field])
            elif field in data and isinstance(data[field], (str, int)):
                row[field] = as_text(data[field])
        return {"item": str(number), **row}

    def _objects(self, objects: tuple[str, ...], data: _Json, result: _Json) -> _Row:
        """Which answers the objects of a control are; a control on two objects speaks of a pair."""
        pair = result.get("type") == "pairwise"
        named: _Row = {}
        for target, side in zip(objects, ("_a", "_b") if pair else ("",), strict=False):
            for field in _PER_OBJECT:
                key = f"{field}@{target}"
                if key in self._source.fixed:
                    named[field + side] = self._source.fixed[key]
                elif key in self._source.columns:
                    named[field + side] = _joined(data, self._source.columns[key])
        # The pair's own fields do not make a pair of the questions beside it, nor the other way
        # round.
        others = ("system", "answer") if pair else ("system_a", "system_b", "answer_a", "answer_b")
        return {**dict.fromkeys(others), **named}


def _screen(annotation: _Json) -> _Row:
    return {
        "seconds": as_text(annotation.get("lead_time")),
        "at": as_text(annotation.get("created_at")),
    }


def _results(annotation: _Json) -> list[_Json]:
    results = annotation.get("result")
    if not isinstance(results, list) or not all(isinstance(r, dict) for r in results):
        raise _TaskError("result", "expected a list of results")
    return results


def _joined(data: _Json, keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if key not in data:
            raise _TaskError("data", f"has no key {key!r}; {nearest(key, data)}")
    return JOIN.join(as_text(data[key]) or "" for key in keys) or None


class _TaskError(Exception):
    """A task that cannot be read."""

    def __init__(self, column: str, sentence: str) -> None:
        super().__init__(sentence)
        self.column = column
