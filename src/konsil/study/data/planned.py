"""Imported ratings find the tasks that a plan drew for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from konsil.errors import nearest
from konsil.errors.message import message
from konsil.errors.places import problem_at
from konsil.errors.unknown_names import unknown_name
from konsil.instrument import Instrument
from konsil.records import Rating, Task
from konsil.study.data.incoming import Incoming, refuse

_Place = tuple[str, str | None]
_PLAIN = ("main", "tiebreak", "practice", "pilot")
"""Purposes that a file seldom states; it states which ratings are repeats."""


def on_plan(
    files: Sequence[Incoming], stored: Sequence[Task], instruments: Sequence[Instrument]
) -> tuple[Incoming, ...]:
    """The files with their ratings at the tasks that the plan drew.

    Ratings that no task asks for are a SourceError.

    A rating names its task, or it is found by rater, item, answer and criterion, and by arm, phase,
    batch and purpose where the file tells them. Ratings of somebody for whom nothing is planned
    stay as they are.
    """
    # Tasks that an earlier file implied are their own slots: they are no plan.
    planned = {t.id: t for t in stored if t.slot != t.id}
    if not planned:
        return tuple(files)
    tasks = _Tasks(planned, {t.id for t in stored}, instruments)
    return tuple(tasks.placed(file) if file.ratings else file for file in files)


class _Tasks:
    """The planned tasks, to be found by what a rating says."""

    def __init__(
        self, planned: Mapping[str, Task], stored_ids: set[str], instruments: Sequence[Instrument]
    ) -> None:
        self.planned, self.held = planned, stored_ids
        self.forms = {i.id: i for i in instruments}
        self.criteria = {c.id for i in instruments for c in i.criteria}
        self.raters = {t.rater for t in planned.values()}
        self.by_place: dict[_Place, list[Task]] = {}
        for task in planned.values():
            self.by_place.setdefault((task.rater, task.item), []).append(task)

    def placed(self, file: Incoming) -> Incoming:
        """One file's ratings and tasks.

        Those imported before the plan, and those of raters without a plan, stay.
        """
        implied = {t.id: t for t in file.tasks}
        task_by_id: dict[str, Task] = {}
        ratings: list[Rating] = []
        problems: dict[str, None] = {}
        # Without line numbers the rows follow the heading, which is line 1.
        for rating, line in zip(
            file.ratings, file.lines or range(2, len(file.ratings) + 2), strict=True
        ):
            implied_task = implied[rating.task]
            stays = rating.rater not in self.raters or (
                implied_task.id in self.held and implied_task.id not in self.planned
            )
            plan_task = implied_task if stays else self._task(rating, implied_task)
            if isinstance(plan_task, str):
                problems[problem_at(file.place, line, plan_task)] = None
                continue
            task_by_id.setdefault(plan_task.id, plan_task)
            ratings.append(
                rating if rating.task == plan_task.id else replace(rating, task=plan_task.id)
            )
        if problems:
            refuse(file, tuple(problems))
        return replace(file, ratings=tuple(ratings), tasks=tuple(task_by_id.values()))

    def _task(self, rating: Rating, implied_task: Task) -> Task | str:
        if rating.criterion not in self.criteria:
            hint = nearest(rating.criterion, self.criteria)
            return unknown_name("criterion", rating.criterion, hint)
        named = self.planned.get(implied_task.id)
        if named is not None:
            return named if self._is_on_form(rating, named) else self._misplaced(rating, named)
        if not _is_implied(implied_task):
            return message(
                "the plan has no task {task!r}; {hint}",
                message_id="records.no_task",
                task=implied_task.id,
                hint=nearest(implied_task.id, self.planned),
            )
        candidates = self.by_place.get((rating.rater, rating.item), [])
        stated = {
            c: v for c in ("arm", "phase", "batch", "instrument") if (v := getattr(implied_task, c))
        }
        matches = [
            t
            for t in candidates
            if self._is_on_form(rating, t)
            and all(getattr(t, column) == value for column, value in stated.items())
            and (
                t.purpose == implied_task.purpose
                or (implied_task.purpose == "main" and t.purpose in _PLAIN)
            )
        ]
        if len(matches) == 1:
            return matches[0]
        subject = (
            message("item {item!r}", message_id="records.on_item", item=rating.item)
            if rating.item is not None
            else message(
                "criterion {criterion!r}",
                message_id="records.on_criterion",
                criterion=rating.criterion,
            )
        )
        if matches:
            return message(
                "rater {rater!r} has {n} {n|task|tasks} on {subject}; name the task, phase or"
                " batch",
                message_id="records.several_tasks",
                rater=rating.rater,
                n=len(matches),
                subject=subject,
            )
        about = (
            message(
                " with the criterion {criterion!r}{of}",
                message_id="records.with_criterion",
                criterion=rating.criterion,
                of=_of(rating),
            )
            if candidates
            else ""
        )
        return message(
            "in the plan, rater {rater!r} has no task on {subject}{about}",
            message_id="records.no_task_of_rater",
            rater=rating.rater,
            subject=subject,
            about=about,
        )

    def _is_on_form(self, rating: Rating, task: Task) -> bool:
        """Whether the task asks the rater for this rating."""
        return (
            task.rater == rating.rater
            and task.item == rating.item
            and set(rating.answers) <= set(task.answers)
            and (rating.span is None or rating.span in task.spans)
            and self._asks(task, rating.criterion)
        )

    def _asks(self, task: Task, criterion: str) -> bool:
        form = self.forms.get(task.instrument)
        return form is not None and any(
            c.id == criterion for c in form.screen_criteria(len(task.spans))
        )

    def _misplaced(self, rating: Rating, task: Task) -> str:
        if task.rater != rating.rater:
            return message(
                "task {task!r} belongs to {owner!r}, not to {rater!r}",
                message_id="records.task_of_other",
                task=task.id,
                owner=task.rater,
                rater=rating.rater,
            )
        if task.item != rating.item:
            return f"task {task.id!r} is on item {task.item!r}, not {rating.item!r}"
        return (
            f"task {task.id!r} does not contain {rating.criterion!r} for"
            f" {' and '.join(map(repr, rating.answers)) or 'it'}"
        )


def _of(rating: Rating) -> str:
    return f" of {' and '.join(map(repr, rating.answers))}" if rating.answers else ""


def _is_implied(task: Task) -> bool:
    """Whether a file named no task, so that its identifier is a digest."""
    return task.id.startswith("t-") and task.slot == task.id
