"""Tie-breaks as they fall due, without a new draw of the complete plan at every rating.

The plan is applied to the new ratings.

Which tie-break a conflict calls for depends on the item alone: not on other conflicts, not on when
it came about. So the plan is drawn once as if every item were in conflict, and what it says of an
item is kept until the item is.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterable, Iterator, Sequence

from konsil.errors import PlanError
from konsil.instrument import Instrument
from konsil.plan import Allocation, History, assign
from konsil.plan.draw.conflicts import conflicting_items
from konsil.plan.model.places import ADDED, panel_of_slot, signed_up, slots_of
from konsil.prepare.draw.draw import SAMPLING
from konsil.records import Answer, Event, Item, Purpose, Rater, Rating, Task
from konsil.store import Connection, Store
from konsil.store.log import study_events
from konsil.store.log.study_events import counted
from konsil.store.tasks import vacancies
from konsil.store.tasks.screens import last_position, ratings_of_item, tasks_of_item
from konsil.study import Study

MOVES = ("sign-up", "withdrawal", ADDED)
"""Events that change who holds a slot of the plan, or which slots there are."""


class Ties:
    """The tie-breaks of a study."""

    def __init__(self, study: Study, store: Store) -> None:
        self._study, self._store = study, store
        self._raters = {r.id: r for r in study.everybody()}
        self._allocations = tuple(a for a in study.plan if a.when == "disagreed")
        self._lock = threading.Lock()
        self._drawn_at: tuple[int, ...] = ()
        self._waiting: dict[str, tuple[Task, ...]] | None = None

    @property
    def any(self) -> bool:
        """Whether the plan has tie-breaks at all."""
        return bool(self._allocations)

    def ready(self) -> None:
        """Draw the tie-breaks in waiting, unless that was done since the last change of hands."""
        if not self.any:
            return
        with self._lock:
            with self._store.view() as view:
                moves = tuple(counted(view.connection, kind) for kind in MOVES)
            if moves != self._drawn_at or self._waiting is None:
                self._waiting = self._draw()
                self._drawn_at = moves

    def due(self, connection: Connection, rated: Task) -> tuple[Task, ...]:
        """The tie-breaks that a task's new ratings call for and that are not stored yet.

        `ready` was called before.
        """
        if rated.item is None or not any(
            a.instrument == rated.instrument for a in self._allocations
        ):
            return ()
        if tuple(counted(connection, kind) for kind in MOVES) != self._drawn_at:
            # Somebody withdrew or took over between `ready` and this transaction.
            self.ready()
        tasks = tasks_of_item(connection, rated.item)
        ratings = ratings_of_item(connection, rated.item)
        stored = {t.id for t in tasks}
        fresh = [
            task
            for allocation in self._allocations
            if allocation.instrument == rated.instrument
            for task in self._of(allocation, rated.item, tasks, ratings)
            if task.id not in stored
        ]
        return tuple(_placed(connection, fresh))

    def arise(self, connection: Connection, tasks: Sequence[Task], at: str) -> None:
        """Write tie-breaks that are due.

        Those whose slot nobody has go to the others of the panel, or wait.
        """
        if tasks:
            study_events.insert_follow_up_tasks(connection, tasks, reason="tie-break", at=at)
            vacancies.share(connection, self._study, tasks, at=at)

    def _of(
        self, allocation: Allocation, item: str, tasks: Sequence[Task], ratings: Sequence[Rating]
    ) -> Iterator[Task]:
        instrument = self._study.instrument(allocation.instrument)
        if instrument is None:
            return
        purposes: dict[str, Purpose] = {t.id: t.purpose for t in tasks}
        shown = {answer: answer for t in tasks for answer in t.answers}
        panel = self._study.panels().get(allocation.panel, ())
        if item not in conflicting_items(ratings, instrument, panel, self._raters, purposes, shown):
            return
        for task in self._about(item):
            if _belongs(task, allocation):
                yield task

    def _about(self, item: str) -> tuple[Task, ...]:
        if self._waiting is None:
            return ()
        if item not in self._waiting and "" in self._waiting:
            # The whole could not be drawn, because some item has too few raters left; this one may
            # have enough.
            try:
                self._waiting[item] = self._draw_for([item])
            except PlanError:
                # Nobody is left for it: what was rated is kept all the same, and `konsil plan` says
                # what is wrong.
                self._waiting[item] = ()
        return self._waiting.get(item, ())

    def _draw(self) -> dict[str, tuple[Task, ...]]:
        try:
            tasks = self._draw_for(None)
        except PlanError:
            return {"": ()}
        tasks_by_item: dict[str, list[Task]] = {}
        for task in tasks:
            tasks_by_item.setdefault(task.item or "", []).append(task)
        return {item: tuple(item_tasks) for item, item_tasks in tasks_by_item.items()}

    def _draw_for(self, only: Sequence[str] | None) -> tuple[Task, ...]:
        with self._store.view() as view:
            items: list[Item] = list(view.each("items"))
            answers: list[Answer] = list(view.each("answers"))
            events: list[Event] = [e for e in view.each("events") if e.kind in (*MOVES, SAMPLING)]
        everybody = self._study.everybody(events)
        self._raters = {r.id: r for r in signed_up(events, slots_of(everybody))} | {
            r.id: r for r in everybody
        }
        item_ids = set(only) if only is not None else None
        pretended = [
            rating
            for allocation in self._allocations
            for rating in self._pretended(allocation, answers)
            if item_ids is None or rating.item in item_ids
        ]
        # Judges see what people rated; their tasks are not needed here and are most of the plan.
        plan = [a for a in self._study.plan if a.when == "disagreed" or not a.like]
        tasks = assign(
            plan,
            items=items,
            answers=answers,
            raters=self._study.raters,
            instruments=self._study.instruments,
            seed=self._study.seed,
            history=History(pretended, events),
            places=self._study.places,
        )
        return tuple(t for t in tasks if t.purpose == "tiebreak")

    def _pretended(self, allocation: Allocation, answers: Iterable[Answer]) -> Iterator[Rating]:
        """Simulated ratings by two raters who disagree on an answer of every item.

        An allocation's tie-breakers would meet such ratings.
        """
        panel = {r.id for r in self._study.panels().get(allocation.panel, ())}
        kinds = {self._raters[r].kind for r in panel}
        two = [r for r in self._study.everybody() if r.kind in kinds and r.id not in panel][:2]
        criterion = _comparable(self._study.instrument(allocation.instrument))
        if len(two) < 2 or criterion is None:
            return
        for answer in answers:
            if not allocation.systems or answer.system in allocation.systems:
                for rater, label in zip(two, ("one", "other"), strict=True):
                    yield _odds(criterion, answer, rater, label)


def _odds(criterion: str, answer: Answer, rater: Rater, label: str) -> Rating:
    return Rating("", rater.id, criterion, answer.item, (answer.id,), label=label)


def _comparable(instrument: Instrument | None) -> str | None:
    criteria = instrument.criteria if instrument is not None else ()
    return next((c.id for c in criteria if c.scope in ("answer", "sentence", "pair")), None)


def _belongs(task: Task, allocation: Allocation) -> bool:
    panel = panel_of_slot(task.slot)
    return (panel, task.instrument, task.phase) == (
        allocation.panel,
        allocation.instrument,
        allocation.phase,
    )


def _placed(connection: Connection, tasks: Iterable[Task]) -> Iterator[Task]:
    """Each at the end of its rater's order of work; the pages put it among the others."""
    last: dict[str, int] = {}
    for task in tasks:
        if task.rater not in last:
            last[task.rater] = last_position(connection, task.rater)
        last[task.rater] += 1
        yield dataclasses.replace(task, position=last[task.rater])
