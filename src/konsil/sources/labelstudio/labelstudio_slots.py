"""Ratings from annotations of konsil's own tasks.

A control of a neutral slot becomes a rating of a canonical answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from konsil.errors import nearest
from konsil.records import Span, Task
from konsil.sources.labelstudio.controls import label_of, note_of

TASK_KEY = "konsil_task"
"""The key of a task's data that says which of konsil's tasks it is."""

Row = dict[str, str | None]
_Json = Mapping[str, Any]


@dataclass(frozen=True)
class Slot:
    """The subject of one control of a task's screen."""

    criterion: str
    """The criterion."""
    part: str
    """'label', 'abstain' or 'reason'."""
    answers: tuple[str, ...] = ()
    """The answers, by their canonical ids."""
    span: Span | None = None
    """The sentence."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Label Studio's word -> the label, where it has words of its own."""
    is_of_task: bool = False
    """Whether it asks about the task, so that each task of an item has a label of its own."""


@dataclass(frozen=True)
class Planned:
    """One of the plan's tasks and the controls of its screen."""

    task: Task
    """The task; its rater is who the plan says."""
    slots: Mapping[str, Slot]
    """Name of a control -> what it is about."""


Find = Callable[[str], Planned | None]
"""A task's id -> the task; None where the study has none of this id."""


def planned_rows(planned: Planned, results: list[_Json]) -> Iterator[Row]:
    """The rows of one annotation; ValueError with a sentence where a result cannot be read.

    A control that was left empty is not rated. A reason belongs to the label of its own slot.
    """
    task, slots = planned.task, planned.slots
    reply_by_subject: dict[tuple[str, tuple[str, ...], Span | None], Row] = {}
    notes: dict[tuple[str, tuple[str, ...], Span | None], str] = {}
    for result in results:
        name = str(result.get("from_name", ""))
        slot = slots.get(name)
        if slot is None:
            raise ValueError(f"the task has no control {name!r}; {nearest(name, slots)}")
        key = (slot.criterion, slot.answers, slot.span)
        if slot.part == "reason":
            notes[key] = note_of(result) or ""
            continue
        label = label_of(result, slot.words)
        if label is None:
            continue
        label = slot.words.get(label, label)
        row: Row = {"state": "abstained"} if slot.part == "abstain" else {"label": label}
        if key in reply_by_subject:
            raise ValueError(f"{slot.criterion!r} has both a label and an abstention")
        reply_by_subject[key] = row
    for key, row in reply_by_subject.items():
        criterion, answers, span = key
        full_row: Row = {
            "task": task.id,
            "item": task.item,
            "instrument": task.instrument,
            "criterion": criterion,
            "arm": task.arm,
            "phase": task.phase,
            "batch": task.batch,
            "purpose": task.purpose,
            "note": notes.get(key) or None,
            **row,
        }
        if len(answers) == 2:
            full_row["answer_a"], full_row["answer_b"] = answers
        elif answers:
            full_row["answer"] = answers[0]
        if span is not None:
            full_row["span_start"], full_row["span_end"] = str(span.start), str(span.end)
        yield {name: value or None for name, value in full_row.items()}
