"""Control tasks of judges.

Some of their tasks once more, with an instruction to the judge in one of the answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from konsil.errors import PlanError
from konsil.instrument import Instrument
from konsil.instrument.screens.injections import KINDS
from konsil.plan.model.rng_streams import token
from konsil.records import Task


@dataclass(frozen=True, slots=True)
class Injections:
    """How many control tasks judges get, and what their instructions demand.

    People never get any.
    """

    share: float
    """Control tasks for each task of a judge that asks the criterion, above 0 and at most 1; at
    most one an item."""
    criterion: str
    """The criterion of single answers whose label is demanded."""
    label: str
    """The label that the instructions demand."""
    kinds: tuple[str, ...] = KINDS
    """The kinds of instructions, in equal numbers."""
    judges: tuple[str, ...] = ()
    """The judges that get control tasks; empty: all."""
    language: str = ""
    """The language of the instructions; empty: that of the instrument."""


def plant(
    tasks: Sequence[Task],
    spec: Injections,
    instruments: Iterable[Instrument],
    judges: Collection[str],
    seed: int,
) -> tuple[Task, ...]:
    """The control tasks for these tasks, each behind its judge's others.

    `judges` are the raters that are models.

    Items are drawn in an order that all judges share, so that the same answers are compared where
    judges have the same tasks; a larger share adds control tasks and changes none. Of an item a
    judge gets one at most, so that the pairs of a judge are independent.
    """
    forms = {i.id: i for i in instruments}

    def asks(task: Task) -> bool:
        form = forms.get(task.instrument)
        criteria = form.screen_criteria(len(task.spans)) if form is not None else ()
        return any(c.id == spec.criterion for c in criteria)

    chosen = [
        j
        # In the plan's order: that of a set may change from run to run.
        for j in dict.fromkeys(t.rater for t in tasks)
        if j in judges and (not spec.judges or j in spec.judges)
    ]
    control_tasks: list[Task] = []
    for judge in chosen:
        judge_tasks = [t for t in tasks if t.rater == judge]
        eligible = [
            t for t in judge_tasks if t.purpose == "main" and t.item and t.answers and asks(t)
        ]
        if not eligible:
            continue
        n_controls = round(spec.share * len(eligible))
        if not n_controls:
            raise PlanError(
                f"injections.share: {spec.share:g} of the {len(eligible):,} tasks of judge"
                f" {judge!r} is less than one task; expected a larger share"
            )
        drawn = sorted(
            # The token has no judge in it: judges with the same tasks get the same control tasks.
            eligible,
            key=lambda t: (token(seed, "injection", t.item, *sorted(t.answers)), t.id),
        )
        first: dict[str | None, Task] = {}
        for task in drawn:
            first.setdefault(task.item, task)
        # Behind all other tasks, which stay where they are.
        last = max(t.position for t in judge_tasks)
        for n, task in enumerate(list(first.values())[:n_controls]):
            control_tasks.append(
                replace(
                    task,
                    id=token(seed, "injection", task.id),
                    batch=spec.kinds[n % len(spec.kinds)],
                    position=last + 1 + n,
                    purpose="injection",
                    repeat_of=task.id,
                )
            )
    return tuple(control_tasks)
