"""Tasks that would be added after a comparative look: refused, unless a rule stated them before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from konsil.records import Event, Rater, Task
from konsil.study.definition.interim import Interim
from konsil.study.definition.protocol import Study
from konsil.study.interim.last import shown_analysis
from konsil.study.interim.looks import (
    LOOK_TAKEN,
    TakenLook,
    freeze_problem,
    is_of_sample,
    panel_of,
    taken_looks,
)
from konsil.study.interim.planned_comparison import frozen_looks


@dataclass(frozen=True, slots=True)
class TaskLimit:
    """How many main tasks a panel may have after a comparative look."""

    look: TakenLook
    """The first comparative look."""
    interim: Interim | None
    """Whose panel is counted; None: of a freeze with a digest only, so that all tasks are."""
    maximum: int
    """How many tasks there were at the look, or to how many a pooled look before it extended the
    sample, whichever is more; 0: not known, so that none may be added."""


def task_limit(study: Study, events: Sequence[Event]) -> TaskLimit | None:
    """The limit of tasks after a comparative look; None where tasks may be added.

    They may before the first such look, and where no confirmatory test is left that could be
    affected: once the last analysis was shown, or after a look that was not planned.
    """
    looks = taken_looks(events)
    compared = [look for look in looks if look.kind == "comparative"]
    if not compared or shown_analysis(events) is not None:
        return None
    if not all(look.is_planned for look in compared):
        return None
    frozen = frozen_looks(events)
    interim = None if frozen is None else frozen.interim
    if interim is None and freeze_problem(study, events) is None:
        interim = study.interim
    present = max(look.tasks for look in compared)
    extended = _extended_to(interim, events, compared[0])
    return TaskLimit(compared[0], interim, max(present, extended) if interim else 0)


def _extended_to(interim: Interim | None, events: Iterable[Event], look: TakenLook) -> int:
    """The greatest number that planned pooled looks before a look stated; 0: they stated none."""
    maxima = [r.maximum for r in (interim.rules if interim else ()) if r.maximum is not None]
    if not maxima:
        return 0
    numbers = [
        rule["needed"]
        for event in events
        if event.kind == LOOK_TAKEN and event.data.get("look") == "pooled"
        if event.data.get("is_planned") and event.at <= look.at
        for rule in _rules_of(event)
        if isinstance(rule.get("needed"), int)
    ]
    return max((min(int(str(n)), max(maxima)) for n in numbers), default=0)


def _rules_of(event: Event) -> list[Mapping[str, object]]:
    rules = event.data.get("rules")
    return [r for r in rules if isinstance(r, Mapping)] if isinstance(rules, Sequence) else []


def added_tasks_problem(
    study: Study,
    limit: TaskLimit,
    events: Sequence[Event],
    *,
    stored: Iterable[Task],
    added: Iterable[Task],
    raters: Iterable[Rater],
) -> str | None:
    """Why these tasks cannot be added; None where they can.

    Main tasks of the panel count, as they do for the fraction of a look. Those that a withdrawal
    left to no rater do not, so that as many others can replace them.
    """
    counted = _MainTasks(study, limit, events, raters)
    n_added = sum(map(counted.counts, added))
    n_stored = sum(map(counted.counts, stored))
    if not n_added or n_stored + n_added <= limit.maximum:
        return None
    tasks = "1 task" if n_added == 1 else f"{n_added:,} tasks"
    allowed = max(limit.maximum, n_stored)
    return (
        f"{tasks} would be added to {n_stored:,} after the comparative look of {limit.look.at},"
        f" whose critical value is of a fixed number; expected at most {allowed:,}, as planned then"
        " or as a pooled look before it extended the sample; 'konsil withdraw' reassigns the tasks"
        " of a rater who leaves"
    )


class _MainTasks:
    """Which tasks count."""

    def __init__(
        self, study: Study, limit: TaskLimit, events: Sequence[Event], raters: Iterable[Rater]
    ) -> None:
        panel = None if limit.interim is None else limit.interim.panel
        self.panels = None if panel is None else set(study.together.get(panel, (panel,)))
        self.panel_by_rater = {r.id: r.panel for r in (*raters, *study.everybody(events))}
        self.left = {
            str(task)
            for event in events
            if isinstance(holders := event.data.get("holders"), Mapping)
            for task, holder in holders.items()
            if not holder
        }

    def counts(self, task: Task) -> bool:
        """Whether a task is one of the sample."""
        if not is_of_sample(task) or (not task.rater and task.id in self.left):
            return False
        return self.panels is None or panel_of(task, self.panel_by_rater, {}) in self.panels
