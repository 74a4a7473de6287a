"""A rater's tasks with how far each is: what the plan says is remembered, what changes is asked."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from konsil.store import Connection, screens
from konsil.store.screens import Queued
from konsil.web.line import in_line

Mark = tuple[object, ...]


class Work:
    """The lines of tasks of all raters of a study. Thousands of tasks need not be read for every page."""

    def __init__(self) -> None:
        self._remembered: dict[str, tuple[Mark, tuple[Queued, ...]]] = {}
        self._lock = threading.Lock()

    def line(self, connection: Connection, rater: str) -> Sequence[Queued]:
        """A rater's tasks in the order of work, each as far as it is at this moment."""
        planned = self._planned(connection, rater)
        shown = screens.progressed(connection, rater)
        if not shown:
            return planned
        put_off = False
        found: list[Queued] = []
        for task in planned:
            state = shown.get(task.task)
            if state is None:
                found.append(task)
                continue
            deferred, submitted, seconds = state
            put_off = put_off or bool(deferred)
            found.append(
                Queued(
                    task.task, task.phase, task.batch, task.position, task.tiebreak, task.survey, deferred,
                    submitted or task.done, seconds,
                )
            )  # fmt: skip
        # What is remembered is in order; only what was put off changes it.
        return in_line(found) if put_off else found

    def _planned(self, connection: Connection, rater: str) -> tuple[Queued, ...]:
        mark = screens.plan_mark(connection, rater)
        with self._lock:
            known = self._remembered.get(rater)
        if known is not None and known[0] == mark:
            return known[1]
        planned = tuple(in_line(screens.planned(connection, rater)))
        with self._lock:
            self._remembered[rater] = (mark, planned)
        return planned
