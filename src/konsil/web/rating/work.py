"""A rater's tasks with the state of each.

The tasks of the plan are cached, and submissions are added to them.

A study has thousands of tasks a rater, and a page changes one. So what is remembered of a rater is
compared with the database by a few numbers, and what is new since then is read; whenever these do
not add up, all is read anew.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.records import Task
from konsil.store import Connection
from konsil.store.tasks import screens
from konsil.store.tasks.screens import Mark, Queued
from konsil.web.rating.task_queue import in_line

MOST_TASKS = 2_000
"""Tasks that are remembered; a rater asks for one about eight times and then never again."""


@dataclass(frozen=True, slots=True)
class CachedTasks:
    """What is remembered of a rater."""

    plan: tuple[object, ...]
    """Changes with the plan."""
    planned: tuple[Queued, ...]
    """The tasks as the plan and what was rated elsewhere say."""
    mark: Mark
    """Changes with what the rater does."""
    line: tuple[Queued, ...]
    """The tasks as far as each is."""
    places: Mapping[str, int]
    """Task -> its place in the line."""
    submitted: frozenset[str]
    """The tasks that were handed in."""


class Work:
    """The tasks of all raters of a study."""

    def __init__(self) -> None:
        self._known: dict[str, CachedTasks] = {}
        self._tasks: dict[str, tuple[int, Task]] = {}
        self._lock = threading.Lock()

    def line(self, connection: Connection, rater: str) -> Sequence[Queued]:
        """A rater's tasks in the order of work, each as far as it is at this moment."""
        plan, mark = screens.plan_mark(connection, rater), screens.progress_mark(connection, rater)
        # Held for the look-up alone: nobody waits while somebody else's tasks are read.
        with self._lock:
            before = self._known.get(rater)
        if before is not None and (before.plan, before.mark) == (plan, mark):
            return before.line
        now = (
            _later(connection, rater, before, mark)
            if before is not None and before.plan == plan
            else None
        )
        if now is None:
            same = before.planned if before is not None and before.plan == plan else None
            now = _anew(
                connection,
                rater,
                plan,
                same or tuple(in_line(screens.planned(connection, rater))),
                mark,
            )
        with self._lock:
            self._known[rater] = now
        return now.line

    def task(self, connection: Connection, task_id: str) -> Task | None:
        """The task of this id; it is read again only when it was written again."""
        holder = screens.assigned_rater(connection, task_id)
        if holder is None:
            return None
        with self._lock:
            entry, cached = self._tasks.get(task_id, (-1, None))
        if cached is not None and entry == holder[1] and cached.rater == holder[0]:
            return cached
        stored_task = screens.task(connection, task_id)
        if stored_task is not None:
            with self._lock:
                while len(self._tasks) >= MOST_TASKS:
                    del self._tasks[next(iter(self._tasks))]
                self._tasks[task_id] = (holder[1], stored_task)
        return stored_task


def _anew(
    connection: Connection,
    rater: str,
    plan: tuple[object, ...],
    planned: tuple[Queued, ...],
    mark: Mark,
) -> CachedTasks:
    shown = screens.progressed(connection, rater)
    line = [_as_far_as(task, shown[task.task]) if task.task in shown else task for task in planned]
    # What the plan says is in order; only what was put off changes it.
    ordered = tuple(in_line(line) if mark.deferred else line)
    places = {task.task: place for place, task in enumerate(ordered)}
    return CachedTasks(
        plan, planned, mark, ordered, places, frozenset(t for t, state in shown.items() if state[1])
    )


def _later(
    connection: Connection, rater: str, before: CachedTasks, mark: Mark
) -> CachedTasks | None:
    """What is remembered with what was handed in since.

    None where that does not add up to what the database says.
    """
    if mark.deferred != before.mark.deferred:
        return None
    line = list(before.line)
    news = screens.progressed(connection, rater, before.mark.last or "")
    submitted = before.submitted | {task for task, state in news.items() if state[1]}
    if len(submitted) != mark.submitted or not news.keys() <= before.places.keys():
        return None
    for task, state in news.items():
        place = before.places[task]
        line[place] = _as_far_as(line[place], state)
    return dataclasses.replace(before, mark=mark, line=tuple(line), submitted=submitted)


def _as_far_as(task: Queued, state: tuple[int, bool, float | None]) -> Queued:
    deferred, submitted, seconds = state
    return dataclasses.replace(
        task, deferred=deferred, is_completed=submitted or task.is_completed, seconds=seconds
    )
