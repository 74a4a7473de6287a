"""The washout interval between two ratings of the same answers.

A crossover needs it so that the first rating is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from konsil.plan.model.places import panel_of_slot
from konsil.plan.model.task_columns import TaskColumns
from konsil.records import Task


@dataclass(frozen=True, slots=True)
class Washout:
    """Over all raters of a panel and all answers that they look at twice."""

    looks: int
    """How many second looks there are."""
    least: int
    """The fewest screens between two looks."""
    median: float
    """The median of the screens between."""
    greatest: int
    """The most screens between."""
    batches: int
    """The fewest whole batches between; 0 where nothing is handed out in batches."""


def washouts(tasks: Iterable[Task]) -> dict[tuple[str, str], Washout]:
    """Panel and kind of second rating -> the distance to the first rating.

    The kinds are "designs" (on another instrument) and "repeats" (on the same instrument).

    Screens about items are counted, those for practice and the pilot too; questionnaires are not.

    >>> seen = [("coarse", "x"), ("coarse", "y"), ("fine", "z"), ("fine", "x")]
    >>> made = [
    ...     Task(f"t{n}", "panel 1", "r", form, "i", (a,), position=n)
    ...     for n, (form, a) in enumerate(seen)
    ... ]
    >>> washouts(made)["panel", "designs"].least
    2
    """
    columns = TaskColumns.of(tasks)
    columns = columns.where(item is not None for item in columns.column("item"))
    slots = columns.column("slot")
    kinds_by_slot: dict[str, set[tuple[str, bool]]] = {}
    kinds = {*zip(slots, columns.column("instrument"), columns.column("purpose"), strict=True)}
    for slot, instrument, purpose in kinds:
        kinds_by_slot.setdefault(slot, set()).add((instrument, purpose == "repeat"))
    # With one instrument and without repeats nothing is looked at twice.
    once = {slot for slot, [*each] in kinds_by_slot.items() if len(each) == 1 and not each[0][1]}
    by_rater: dict[str, list[Task]] = {}
    for task in columns.where(slot not in once for slot in slots):
        by_rater.setdefault(task.slot, []).append(task)
    distances: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for slot, rater_tasks in by_rater.items():
        panel = panel_of_slot(slot)
        for kind, between in _distances(sorted(rater_tasks, key=lambda t: t.position)):
            distances.setdefault((panel, kind), []).append(between)
    return {key: _washout(distances[key]) for key in sorted(distances)}


def _distances(rater_tasks: Sequence[Task]) -> Iterable[tuple[str, tuple[int, int]]]:
    """Screens and whole batches between each second look and the look before it."""
    batches = {
        name: n
        for n, name in enumerate(dict.fromkeys((t.phase, t.batch) for t in rater_tasks if t.batch))
    }
    places = {t.id: n for n, t in enumerate(rater_tasks)}
    before: dict[tuple[str | None, frozenset[str]], Task] = {}
    # Where each sentence has its own screen, the screens of an answer are one look.
    looks = [tuple(look) for _, look in groupby(rater_tasks, key=_look)]
    last_by_id = {task.id: look[-1] for look in looks for task in look}
    for task, *_ in looks:
        if task.purpose == "repeat":
            first = last_by_id.get(task.repeat_of or "")
            kind = "repeats"
        elif task.purpose == "main":
            first = before.get((task.item, frozenset(task.answers)))
            before[task.item, frozenset(task.answers)] = last_by_id[task.id]
            kind = "designs" if first is not None and first.instrument != task.instrument else ""
        else:
            continue
        if first is not None and kind:
            ends = [batches.get((t.phase, t.batch)) for t in (first, task)]
            n_batches = 0 if ends[0] is None or ends[1] is None else max(ends[1] - ends[0] - 1, 0)
            yield kind, (places[task.id] - places[first.id] - 1, n_batches)


def _look(task: Task) -> tuple[object, ...]:
    """What the consecutive screens of an answer's sentences have in common."""
    return (task.item, frozenset(task.answers), task.instrument, task.phase, task.purpose)


def _washout(distances: Sequence[tuple[int, int]]) -> Washout:
    screens = [n for n, _ in distances]
    return Washout(
        len(distances), min(screens), median(screens), max(screens), min(n for _, n in distances)
    )
