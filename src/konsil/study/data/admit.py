"""Admission of records that are read from files.

They are checked against the protocol before anything is written.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import polars as pl

from konsil.analysis.table.columns import Columns, as_rating_columns, as_task_columns
from konsil.errors import PROBLEMS, nearest
from konsil.errors.message import message, placed
from konsil.errors.places import problem_at
from konsil.errors.unknown_names import unknown_name
from konsil.instrument import Criterion, Instrument, LabelError, digest, read_label
from konsil.instrument.definition.form import ANSWERS, ITEMS
from konsil.records import Answer, Item, Rater, Rating, State, ratings_of, tasks_of
from konsil.study.data.incoming import (
    Admitted,
    Incoming,
    StoredRecords,
    contradictions,
    refuse,
)
from konsil.study.data.rating_rows import (
    QUESTION,
    RATER,
    SHAPE,
    SUBJECT,
    Reading,
    different,
    once_about_answers,
    read_rows,
    shape_of_subject,
    together,
    with_forms,
    with_instruments,
)
from konsil.study.definition.protocol import LONE_PANEL, Study


def admit(study: Study, files: Sequence[Incoming], stored: StoredRecords | None = None) -> Admitted:
    """Check all files together.

    Raises one SourceError that lists what is wrong, and then nothing may be written.

    Where neither the store nor the files have items with texts, items are implied by the ratings
    that name them; likewise answers.
    """
    door = Door(study, files, stored or StoredRecords())
    for file in files:
        door.check(file)
    return door.admitted()


class Door:
    """The state of one admission: what is known so far and what has been implied."""

    def __init__(self, study: Study, files: Sequence[Incoming], stored: StoredRecords) -> None:
        self.study = study
        self.files = files
        self.items: dict[str, Item] = {}
        self.answers: dict[str, Answer] = {}
        for file in files:
            for item in file.items:
                self.items.setdefault(item.id, item)
            for answer in file.answers:
                self.answers.setdefault(answer.id, answer)
        self.stored = stored
        self.imply_items = not self.items and (stored.bare or not stored.items)
        self.imply_answers = not self.answers and (stored.bare or not stored.answers)
        brought = {r.id: r for f in files for r in f.raters}
        self.raters = brought | {r.id: r for r in study.raters}
        self.systems = {s.id for s in study.systems}
        self.criteria: dict[str, list[tuple[Instrument, Criterion]]] = {}
        for instrument in study.instruments:
            for criterion in instrument.criteria:
                self.criteria.setdefault(criterion.id, []).append((instrument, criterion))
        self.digests = {i.id: digest(i) for i in study.instruments}
        self.ratings: list[pl.DataFrame] = []
        self.tasks: list[pl.DataFrame] = []
        self.seen: dict[str, Rater] = {}
        self.hints: dict[str, str] = {}
        self.unknown_panel = ""
        self.stated: Mapping[str, tuple[str, str]] = {}

    def check(self, file: Incoming) -> None:
        """Admit one file's records, or raise."""
        # A row of several raters has the same fault once for each of them, and is named once.
        if file.raters:
            self.systems |= {a.system for a in file.answers} if self.systems else set()
            self.seen.update({r.id: self.raters[r.id] for r in file.raters})
        problems: dict[str, None] = dict.fromkeys(contradictions("item", file.items, self.items))
        problems |= dict.fromkeys(contradictions("answer", file.answers, self.answers))
        problems |= dict.fromkeys(self._systems(file))
        self.stated, self.unknown_panel = file.systems, file.unknown_panel
        problems |= dict.fromkeys(self._unknown_panel_problems())
        problems |= dict.fromkeys(self._stated_systems())
        if file.ratings:
            rows = as_rating_columns(file.ratings).frame
            tasks = as_task_columns(file.tasks).frame
            rows, problem_by_row = self._rows(rows, tasks)
            lines = file.lines or range(2, len(file.ratings) + 2)
            for n, problem in sorted(problem_by_row.items()):
                problems[problem_at(file.place, lines[n], problem)] = None
        refuse(file, tuple(problems))
        if file.ratings:
            self.ratings.append(rows.select(f.name for f in fields(Rating)))
            self.tasks.append(with_instruments(tasks, rows, is_whole=bool(file.raters)))
        elif file.raters:
            self.tasks.append(as_task_columns(file.tasks).frame)

    def _systems(self, file: Incoming) -> Iterable[str]:
        for answer in file.answers:
            if self.systems and answer.system not in self.systems:
                hint = self._nearest(answer.system, self.systems)
                yield _of_answer(answer.id, unknown_name("system", answer.system, hint))
            if (
                not self.imply_items
                and answer.item not in self.items
                and answer.item not in self.stored.items
            ):
                hint = self._nearest(answer.item, self._item_ids())
                yield _of_answer(answer.id, unknown_name("item", answer.item, hint))
            elif self.imply_items:
                self.items.setdefault(answer.item, Item(answer.item, ""))

    def _stated_systems(self) -> Iterable[str]:
        """Rows of ratings that assign an answer to another system than the study's."""
        for answer, (_, system) in self.stated.items():
            of_study = (
                self.answers[answer].system
                if answer in self.answers
                else self.stored.answers.get(answer)
            )
            if of_study is not None and of_study != system:
                yield message(
                    "answer {answer!r} belongs to system {system!r} here and to {other!r} in the"
                    " study; correct the file, or do not read the column: columns.system = []",
                    message_id="records.other_system",
                    answer=answer,
                    system=system,
                    other=of_study,
                )

    def _unknown_panel_problems(self) -> Iterable[str]:
        """A panel of unknown raters that the protocol lacks, as an option of a command may name."""
        panels = self.study.panel_names()
        if self.unknown_panel and self.unknown_panel not in panels:
            yield placed(
                "unknown_raters",
                unknown_name("panel", self.unknown_panel, nearest(self.unknown_panel, panels)),
            )

    def _item_ids(self) -> Iterable[str]:
        return itertools.chain(self.items, self.stored.items)

    def _nearest(self, name: str, names: Iterable[str]) -> str:
        """The nearest name, searched only as often as problems are written out.

        Searching among many names takes long.
        """
        if name not in self.hints and len(self.hints) < PROBLEMS:
            self.hints[name] = nearest(name, names)
        return self.hints.get(name) or message(
            "it is not among those known", message_id="nearest.not_searched"
        )

    def _rows(self, rows: pl.DataFrame, tasks: pl.DataFrame) -> tuple[pl.DataFrame, dict[int, str]]:
        """A file's ratings as they are stored, and row -> why it is not admitted.

        What is different among the rows is checked once.
        """
        rows = with_forms(rows, tasks)
        readings = {q: self._reading(*q) for q in different(rows, QUESTION)}
        unread = {q: problem for q, problem in readings.items() if isinstance(problem, str)}
        problems = self._problems(rows, unread)
        if problems:
            return rows, problems
        read = {question: r for question, r in readings.items() if not isinstance(r, str)}
        has_spans = bool((rows["span"] != "").any())
        rows = read_rows(rows, read, self._criterion)
        return once_about_answers(rows) if has_spans else (rows, {})

    def _problems(
        self, rows: pl.DataFrame, unread: Mapping[tuple[Any, ...], str]
    ) -> dict[int, str]:
        """Row -> the first of its problems; what it is about is admitted."""
        cells = rows.select(*QUESTION, "rater", *SUBJECT, *shape_of_subject())
        checks: list[tuple[Sequence[str], Mapping[tuple[Any, ...], str | None]]] = [
            (QUESTION, unread),
            (RATER, {rater: self._rater_problem(*rater) for rater in different(cells, RATER)}),
            (SHAPE, {shape: self._shape_problem(*shape) for shape in different(cells, SHAPE)}),
            (SUBJECT, {s: self._subject_problem(*s) for s in different(cells, SUBJECT)}),
        ]
        problems: dict[int, str] = {}
        for names, problem_by_value in checks:
            if any(problem_by_value.values()):
                for n, value in enumerate(cells.select(names).iter_rows()):
                    if problem := problem_by_value.get(value):
                        problems.setdefault(n, problem)
        return problems

    def _reading(
        self, form: str, criterion_id: str, state: State, label: str | None
    ) -> Reading | str:
        """How a label is read; the problem as a sentence if it cannot be."""
        question = self._form_of(criterion_id, form)
        if isinstance(question, str):
            return question
        instrument, criterion = question
        if state == "abstained":
            read: tuple[State, str | None] = "abstained", None
        else:
            try:
                read = read_label(criterion, label or "")
            except LabelError as error:
                return error.sentence
        return Reading(*read, instrument.id, self.digests[instrument.id], criterion.scope)

    def _criterion(self, criterion_id: str, form: str) -> Criterion:
        return next(c for i, c in self.criteria[criterion_id] if i.id == form)

    def _form_of(self, criterion_id: str, form: str) -> tuple[Instrument, Criterion] | str:
        """The instrument and the criterion of a rating; the problem if there are none."""
        candidates = self.criteria.get(criterion_id)
        if not candidates:
            return unknown_name("criterion", criterion_id, nearest(criterion_id, self.criteria))
        if form:
            for instrument, criterion in candidates:
                if instrument.id == form:
                    return instrument, criterion
            instrument_ids = [i.id for i in self.study.instruments]
            return message(
                "no instrument {form!r} contains {criterion!r}; {hint}",
                message_id="records.not_on_form",
                form=form,
                criterion=criterion_id,
                hint=nearest(form, instrument_ids),
            )
        if len(candidates) > 1:
            names = ", ".join(i.id for i, _ in candidates)
            return message(
                "criterion {criterion!r} is in several instruments ({names}); state the instrument",
                message_id="records.several_forms",
                criterion=criterion_id,
                names=names,
            )
        return candidates[0]

    def _rater_problem(self, rater: str) -> str | None:
        """Admit a rater; the problem as a sentence if they cannot be."""
        if rater not in self.seen:
            if self.unknown_panel:
                self.seen[rater] = Rater(rater, self.unknown_panel, "unknown")
                return None
            if self.raters and rater not in self.raters:
                return unknown_name("rater", rater, self._nearest(rater, self.raters))
            self.seen[rater] = self.raters.get(rater) or Rater(rater, LONE_PANEL)
        return None

    def _shape_problem(
        self, form: str, criterion_id: str, size: int, has_item: bool, has_span: bool
    ) -> str | None:
        """That a rating is not about what its criterion is about."""
        question = self._form_of(criterion_id, form)
        if isinstance(question, str):
            return None  # it has this problem already
        criterion = question[1]
        need = ANSWERS[criterion.scope]
        if criterion.scope != "task" and size != need:
            advice = (
                message("name the system or answer", message_id="records.name_answer")
                if size < need
                else message("leave system and answer out", message_id="records.leave_answer_out")
            )
            return message(
                "criterion {criterion!r} is about {scope}: expected {need} {need|answer|answers},"
                " got {size} ({advice})",
                message_id="records.n_answers",
                criterion=criterion.id,
                scope=criterion.scope,
                need=need,
                size=size,
                advice=advice,
            )
        if not has_item and criterion.scope in ITEMS:
            return message(
                "criterion {criterion!r} is about {scope}: the item is empty",
                message_id="records.no_item",
                criterion=criterion.id,
                scope=criterion.scope,
            )
        if not has_span and criterion.scope == "sentence":
            return message(
                "criterion {criterion!r} is about sentence: the span is empty (the number in"
                " 'sentence', or span_start and span_end)",
                message_id="records.no_span",
                criterion=criterion.id,
            )
        return None

    def _subject_problem(self, item: str | None, answers: str) -> str | None:
        """Admit what a rating is about; the problem as a sentence if it cannot be."""
        if item is not None and item not in self.items and item not in self.stored.items:
            if not self.imply_items:
                return unknown_name("item", item, self._nearest(item, self._item_ids()))
            self.items[item] = Item(item, "")
        for answer in json.loads(answers):
            problem = self._answer(answer, item)
            if problem:
                return problem
        return None

    def _answer(self, answer: str, item: str | None) -> str | None:
        if answer in self.answers or answer in self.stored.answers:
            return None
        if not self.imply_answers:
            answer_ids = itertools.chain(self.answers, self.stored.answers)
            return unknown_name("answer", answer, self._nearest(answer, answer_ids))
        prefix = f"{item}:"
        if item is not None and answer in self.stated:
            _, system = self.stated[answer]
        elif item is not None and answer.startswith(prefix):
            system = answer.removeprefix(prefix)
        else:
            return _of_answer(
                answer,
                message(
                    "its system is not known; import the answers or give a system column",
                    message_id="records.system_not_known",
                ),
            )
        if self.systems and system not in self.systems:
            return unknown_name("system", system, self._nearest(system, self.systems))
        self.answers[answer] = Answer(answer, item, system)
        return None

    def admitted(self) -> Admitted:
        """Everything that came through."""
        return Admitted(
            tuple(self.items.values()),
            tuple(self.answers.values()),
            tuple(self.seen.values()),
            Columns(together(self.tasks, "id"), lambda frame: tasks_of(frame.iter_rows()))
            if self.tasks
            else (),
            Columns(together(self.ratings), lambda frame: ratings_of(frame.iter_rows()))
            if self.ratings
            else (),
        )


def _of_answer(answer: str, fact: str) -> str:
    return message(
        "answer {answer!r}: {fact}", message_id="records.of_answer", answer=answer, fact=fact
    )
