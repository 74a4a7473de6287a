"""Tasks of imported ratings: each is one screen of one rater.

A task is derived from the values that its ratings have in common.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from datetime import UTC, datetime
from typing import NamedTuple, cast

from konsil.records import Purpose, Span, Task

_Key = tuple[object, ...]
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class TaskIdentity(NamedTuple):
    """What tells one task of a file from another: whose it is, and what was shown."""

    rater: str
    item: str | None
    answers: tuple[str, ...]
    arm: str = ""
    phase: str = ""
    batch: str = ""
    purpose: str = "main"
    repeat: int | None = None
    """Which time it was; None: it is not known that there were several."""
    instrument: str = ""


class Tasks:
    """The tasks of one file.

    Without a `task` column a task's id is a digest of everything that tells it apart.
    """

    def __init__(self, first_time: int = 1) -> None:
        """`first_time`: the number that `repeat` gives to the first of several times."""
        self._first_time = first_time
        self._ids: dict[_Key, str] = {}
        self._tasks: dict[str, Task] = {}
        # What later ratings add to a screen: most screens show one answer and no spans, and need
        # neither.
        self._answers: dict[str, dict[str, None]] = {}
        self._spans: dict[str, set[Span]] = {}

    def task(
        self, identity: TaskIdentity, span: Span | None = None, task: str | None = None
    ) -> str:
        """The id of the task that a rating belongs to: `task`, where the file states it."""
        if identity.repeat is not None:
            if identity.repeat <= self._first_time:
                identity = identity._replace(repeat=None)
            elif identity.purpose == "main":
                identity = identity._replace(purpose="repeat")
        task_id = task
        if task_id is None:
            task_id = self._ids.get(identity)
            if task_id is None:
                # The digest is of the fields in their order: another order gives every imported
                # task a new id.
                task_id = self._ids[identity] = (
                    "t-" + hashlib.blake2b(_encode(identity).encode(), digest_size=8).hexdigest()
                )
        present = self._tasks.get(task_id)
        if present is None:
            self._tasks[task_id] = Task(
                task_id,
                task_id,
                identity.rater,
                identity.instrument,
                identity.item,
                identity.answers,
                (),
                identity.arm,
                identity.phase,
                identity.batch,
                0,
                cast(Purpose, identity.purpose),
            )
        elif present.answers != identity.answers:
            # A screen may show an item with all its answers and ask about each.
            self._answers.setdefault(task_id, dict.fromkeys(present.answers)).update(
                dict.fromkeys(identity.answers)
            )
        if span is not None:
            self._spans.setdefault(task_id, set()).add(span)
        return task_id

    def finished(self) -> tuple[Task, ...]:
        """All tasks in the order of the file.

        A repeat names the main task of the same rater and subject, if any.
        """
        for task_id, answers in self._answers.items():
            self._tasks[task_id] = dataclasses.replace(self._tasks[task_id], answers=tuple(answers))
        for task_id, spans in self._spans.items():
            ordered = tuple(sorted(spans, key=lambda s: (s.start, s.end)))
            self._tasks[task_id] = dataclasses.replace(self._tasks[task_id], spans=ordered)
        repeats = [t for t in self._tasks.values() if t.purpose == "repeat"]
        if repeats:
            first: dict[_Key, str] = {}
            for task in self._tasks.values():
                if task.purpose == "main":
                    first.setdefault(_subject(task), task.id)
            for task in repeats:
                self._tasks[task.id] = dataclasses.replace(
                    task, repeat_of=first.get(_subject(task))
                )
        return tuple(self._tasks.values())


def _subject(task: Task) -> _Key:
    # Sorted, since a pair may be shown the other way round the second time.
    return (task.rater, task.item, tuple(sorted(task.answers)), task.arm)


def utc(at: str) -> str:
    """A point in time in UTC; one without a zone, or in UTC already, stays as it is.

    >>> utc("2024-05-01T10:00:00+02:00"), utc("2024-05-01T08:00:00Z"), utc("2024-05-01")
    ('2024-05-01T08:00:00Z', '2024-05-01T08:00:00Z', '2024-05-01')
    """
    if at.endswith("Z"):
        return at
    moment = datetime.fromisoformat(at)
    if moment.tzinfo is None:
        return at
    return moment.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"
