"""Admission of records that are read from files.

They are checked against the protocol before anything is written.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import TypeVar

from konsil.errors import PROBLEMS, nearest
from konsil.instrument import Criterion, Instrument, LabelError, canonical, digest, read_label
from konsil.instrument.definition.form import ANSWERS, ITEMS
from konsil.records import Answer, Item, Rater, Rating, State, Task
from konsil.study.data.incoming import Admitted, Incoming, StoredRecords, refuse
from konsil.study.definition.protocol import LONE_PANEL, Study

R = TypeVar("R", Rating, Task)


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
        self.items = {i.id: i for f in files for i in f.items}
        self.answers = {a.id: a for f in files for a in f.answers}
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
        self.labels: dict[tuple[str, str, str], tuple[State, str | None] | str] = {}
        self.ratings: list[Rating] = []
        self.tasks: dict[str, Task] = {}
        self.seen: dict[str, Rater] = {}
        self.hints: dict[str, str] = {}
        self.unknown_panel = ""
        self.stated: Mapping[str, tuple[str, str]] = {}
        self.by_sentence: dict[tuple[object, ...], tuple[State, str | None]] | None = None

    def check(self, file: Incoming) -> None:
        """Admit one file's records, or raise."""
        # A row of several raters has the same fault once for each of them, and is told once.
        if file.raters:
            self.systems |= {a.system for a in file.answers} if self.systems else set()
            self.seen.update({r.id: self.raters[r.id] for r in file.raters})
        problems: dict[str, None] = dict.fromkeys(self._systems(file))
        self.stated, self.unknown_panel = file.systems, file.unknown_panel
        problems |= dict.fromkeys(self._unknown_panel_problems())
        self.by_sentence = {} if any(r.span is not None for r in file.ratings) else None
        problems |= dict.fromkeys(self._stated_systems())
        tasks = {t.id: t for t in file.tasks}
        lines = file.lines or range(2, len(file.ratings) + 2)
        for rating, line in zip(file.ratings, lines, strict=True):
            problem = self._rating(rating, tasks[rating.task])
            if isinstance(problem, str):
                problems[f"{file.place} {line:,}: {problem}"] = None
        refuse(file, tuple(problems))
        if file.raters:
            # What was asked for and not rated is missing, and can only be counted where the tasks
            # are known.
            self.tasks |= {t.id: t for t in file.tasks if t.id not in self.tasks}

    def _systems(self, file: Incoming) -> Iterable[str]:
        for answer in file.answers:
            if self.systems and answer.system not in self.systems:
                hint = self._nearest(answer.system, self.systems)
                yield f"answer {answer.id!r}: there is no system {answer.system!r}; {hint}"
            if (
                not self.imply_items
                and answer.item not in self.items
                and answer.item not in self.stored.items
            ):
                hint = self._nearest(answer.item, self._item_ids())
                yield f"answer {answer.id!r}: there is no item {answer.item!r}; {hint}"
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
                yield (
                    f"answer {answer!r} belongs to system {system!r} here and to {of_study!r} in"
                    " the study; correct the file, or do not read the column: columns.system = []"
                )

    def _unknown_panel_problems(self) -> Iterable[str]:
        """A panel of unknown raters that the protocol lacks, as an option of a command may name."""
        panels = self.study.panel_names()
        if self.unknown_panel and self.unknown_panel not in panels:
            yield (
                f"unknown_raters: there is no panel {self.unknown_panel!r};"
                f" {nearest(self.unknown_panel, panels)}"
            )

    def _item_ids(self) -> Iterable[str]:
        return itertools.chain(self.items, self.stored.items)

    def _nearest(self, name: str, names: Iterable[str]) -> str:
        """The nearest name, searched only as often as problems are written out.

        Searching among many names takes long.
        """
        if name not in self.hints and len(self.hints) < PROBLEMS:
            self.hints[name] = nearest(name, names)
        return self.hints.get(name, "it is not among those known")

    def _rating(self, rating: Rating, task: Task) -> str | None:
        """Admit one rating; the problem as a sentence if it cannot be."""
        question = self.form_of(rating, task)
        if isinstance(question, str):
            return question
        instrument, criterion = question
        read = self.label_of(instrument, criterion, rating)
        if isinstance(read, str):
            return read
        problem = self.rater_problem(rating.rater) or self.subject_problem(rating, criterion)
        if problem:
            return problem
        state, label = read
        if criterion.scope == "task":
            # A question on the task is about all that it shows: the answers have named it.
            rating = replace(rating, answers=())
        # Whichever way round a file has its pairs: two raters who agree have the same record.
        answers, label = canonical(criterion, rating.answers, label)
        stamp = rating.instrument or self.digests[instrument.id]
        if self.by_sentence is not None and criterion.scope != "sentence":
            # A row of a sentence repeats what is asked once about the answer or the task.
            rating = replace(rating, span=None)
            key = (rating.task, rating.rater, criterion.id, answers)
            former = self.by_sentence.get(key)
            if former is not None:
                return None if former == (state, label) else _differing(criterion, former, label)
            self.by_sentence[key] = (state, label)
        self.ratings.append(_rating_with(rating, answers, state, label, stamp))
        if task.id not in self.tasks:
            self.tasks[task.id] = task if task.instrument else _task_with(task, instrument.id)
        return None

    def form_of(self, rating: Rating, task: Task) -> tuple[Instrument, Criterion] | str:
        """The instrument and the criterion of a rating; the problem if there are none."""
        candidates = self.criteria.get(rating.criterion)
        if not candidates:
            return (
                f"there is no criterion {rating.criterion!r};"
                f" {nearest(rating.criterion, self.criteria)}"
            )
        if task.instrument:
            for instrument, criterion in candidates:
                if instrument.id == task.instrument:
                    return instrument, criterion
            instrument_ids = [i.id for i in self.study.instruments]
            return (
                f"no instrument {task.instrument!r} contains {rating.criterion!r};"
                f" {nearest(task.instrument, instrument_ids)}"
            )
        if len(candidates) > 1:
            names = ", ".join(i.id for i, _ in candidates)
            return (
                f"criterion {rating.criterion!r} is in several instruments ({names}); state the"
                " instrument"
            )
        return candidates[0]

    def label_of(
        self, instrument: Instrument, criterion: Criterion, rating: Rating
    ) -> tuple[State, str | None] | str:
        """The label as the scale reads it; the problem if it does not."""
        if rating.state == "abstained":
            return "abstained", None
        key = (instrument.id, criterion.id, rating.label or "")
        if key not in self.labels:
            try:
                self.labels[key] = read_label(criterion, rating.label or "")
            except LabelError as error:
                self.labels[key] = str(error)
        return self.labels[key]

    def rater_problem(self, rater: str) -> str | None:
        """Admit a rater; the problem as a sentence if they cannot be."""
        if rater not in self.seen:
            if self.unknown_panel:
                self.seen[rater] = Rater(rater, self.unknown_panel, "unknown")
                return None
            if self.raters and rater not in self.raters:
                return f"there is no rater {rater!r}; {self._nearest(rater, self.raters)}"
            self.seen[rater] = self.raters.get(rater) or Rater(rater, LONE_PANEL)
        return None

    def subject_problem(self, rating: Rating, criterion: Criterion) -> str | None:
        """Admit what a rating is about; the problem as a sentence if it cannot be."""
        need = ANSWERS[criterion.scope]
        if criterion.scope != "task" and len(rating.answers) != need:
            got = len(rating.answers)
            return (
                f"criterion {criterion.id!r} is about {criterion.scope}: expected {need}"
                f" answer{'' if need == 1 else 's'}, got {got}"
                f" ({'name the system or answer' if got < need else 'leave system and answer out'})"
            )
        if rating.item is None and criterion.scope in ITEMS:
            return f"criterion {criterion.id!r} is about {criterion.scope}: the item is empty"
        if rating.span is None and criterion.scope == "sentence":
            return (
                f"criterion {criterion.id!r} is about sentence: the span is empty (the number in"
                " 'sentence', or span_start and span_end)"
            )
        if (
            rating.item is not None
            and rating.item not in self.items
            and rating.item not in self.stored.items
        ):
            if not self.imply_items:
                return (
                    f"there is no item {rating.item!r};"
                    f" {self._nearest(rating.item, self._item_ids())}"
                )
            self.items[rating.item] = Item(rating.item, "")
        for answer in rating.answers:
            problem = self._answer(answer, rating.item)
            if problem:
                return problem
        return None

    def _answer(self, answer: str, item: str | None) -> str | None:
        if answer in self.answers or answer in self.stored.answers:
            return None
        if not self.imply_answers:
            answer_ids = itertools.chain(self.answers, self.stored.answers)
            return f"there is no answer {answer!r}; {self._nearest(answer, answer_ids)}"
        prefix = f"{item}:"
        if answer in self.stated:
            _, system = self.stated[answer]
        elif item is not None and answer.startswith(prefix):
            system = answer.removeprefix(prefix)
        else:
            return (
                f"answer {answer!r}: its system is not known; import the answers or give a system"
                " column"
            )
        assert item is not None
        if self.systems and system not in self.systems:
            return f"there is no system {system!r}; {self._nearest(system, self.systems)}"
        self.answers[answer] = Answer(answer, item, system)
        return None

    def admitted(self) -> Admitted:
        """Everything that came through."""
        return Admitted(
            tuple(self.items.values()),
            tuple(self.answers.values()),
            tuple(self.seen.values()),
            tuple(self.tasks.values()),
            tuple(self.ratings),
        )


def _changing(record: type[R], *names: str) -> Callable[..., R]:
    """A function like `dataclasses.replace` for these fields, in a third of the time.

    A file has hundreds of thousands of records.
    """
    field_names = [f.name for f in fields(record)]
    values_of, places = attrgetter(*field_names), [field_names.index(name) for name in names]

    def changed(original: R, *values: object) -> R:
        all_values = list(values_of(original))
        for place, value in zip(places, values, strict=True):
            all_values[place] = value
        return record(*all_values)

    return changed


_rating_with = _changing(Rating, "answers", "state", "label", "instrument")
_task_with = _changing(Task, "instrument")


def _differing(criterion: Criterion, former: tuple[State, str | None], label: str | None) -> str:
    """That a rater's rows of the sentences of one answer have different values of it."""
    values = [repr(value) if value is not None else "an abstention" for value in (former[1], label)]
    return (
        f"criterion {criterion.id!r} is about {criterion.scope}: expected the same value in the"
        f" rows of all its sentences, got {values[0]} before and {values[1]} here"
    )
