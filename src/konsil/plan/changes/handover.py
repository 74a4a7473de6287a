"""Reassignment of the tasks that a withdrawn rater has not rated.

It is a pure, balanced re-planning that moves nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from konsil.plan.model.allocation import Allocation
from konsil.plan.model.places import panel_of_slot
from konsil.plan.model.rng_streams import token
from konsil.records import Item, Rater, Task


@dataclass(frozen=True, slots=True)
class Handover:
    """The tasks of a withdrawn rater, and to whom they are reassigned.

    Counts leave tie-breaks out: their number is an outcome.
    """

    rater: str
    """Who leaves."""
    holders: Mapping[str, str]
    """Task -> who has it from now on; empty: nobody, it lapses."""
    stay: int = 0
    """Tasks that she rated and that stay hers."""
    before: Mapping[str, int] = field(default_factory=dict)
    """Each of the others in her panel -> tasks still to do before."""
    tiebreaks: frozenset[str] = frozenset()
    """Which of the tasks are tie-breaks."""
    frees: bool = False
    """Whether the place is free again, with all that is unrated in it, for somebody else who signs
    up."""

    @property
    def n_taken_over(self) -> dict[str, int]:
        """Each of the others -> tasks taken over."""
        counts = Counter(
            holder for task, holder in self.holders.items() if holder and task not in self.tiebreaks
        )
        return {rater: counts[rater] for rater in self.before}

    @property
    def lapsed(self) -> int:
        """Tasks that nobody can take over, or that wait in the free place."""
        return sum(
            not holder for task, holder in self.holders.items() if task not in self.tiebreaks
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a study is."""

    rated: Collection[str]
    """Tasks that have ratings."""
    withdrawn: Collection[str] = ()
    """Raters who have withdrawn."""
    closed: Collection[tuple[str, str, str]] = ()
    """Closed batches: phase, batch and rater; an empty rater: closed for all."""


def reassign_tasks(
    rater: str,
    tasks: Iterable[Task],
    *,
    plan: Sequence[Allocation],
    raters: Sequence[Rater],
    items: Mapping[str, Item],
    progress: Progress,
    seed: int = 0,
) -> Handover:
    """Give what `rater` has not rated to the others of her panel, evenly.

    All open tasks on an item go to one person: the one of the panel with the fewest tasks of its
    kind who does not have the item yet, who shares the stratum and the arm that the plan asks for
    and has room; among equals the one who shares the fewest items with the item's other raters,
    then by lot. Surveys, practice, pilots, repeats of what she rated and tasks of closed batches
    lapse.

    >>> tasks = [Task(f"t{n}", "p 1", "r1", "form", f"i{n}") for n in range(4)]
    >>> panel = [Rater("r1", "p"), Rater("r2", "p"), Rater("r3", "p")]
    >>> progress = Progress(rated={"t0"})
    >>> done = reassign_tasks("r1", tasks, plan=[], raters=panel, items={}, progress=progress)
    >>> done.stay, sorted(done.n_taken_over.values()), done.lapsed
    (1, [1, 2], 0)
    """
    everything = tuple(tasks)
    rated, withdrawn, closed = progress.rated, progress.withdrawn, progress.closed
    rater_tasks = [t for t in everything if t.rater == rater]
    panel = next((r.panel for r in raters if r.id == rater), "")
    others = [r for r in raters if r.panel == panel and r.id != rater and r.id not in withdrawn]
    open_ = [t for t in rater_tasks if t.id not in rated]
    desks = {r.id: _Desk(r) for r in others}
    raters_by_item: dict[str, set[str]] = {}
    for task in everything:
        if task.item is not None and task.purpose == "main" and task.rater:
            raters_by_item.setdefault(task.item, set()).add(task.rater)
        if task.rater in desks:
            desks[task.rater].take(task, is_rated=task.id in rated)
    before = {r: desk.open for r, desk in desks.items()}
    together = Counter[frozenset[str]]()
    for item_raters in raters_by_item.values():
        together.update(frozenset((a, b)) for a in item_raters for b in item_raters if a < b)
    holders = {t.id: "" for t in open_}
    bundles: dict[tuple[bool, str], list[Task]] = {}
    for task in open_:
        if _goes_on(task, rated, rater_tasks) and not _is_closed(task, "", closed):
            bundles.setdefault((task.purpose == "tiebreak", task.item or ""), []).append(task)
    # Tie-breaks last: how many there are must not be seen in how the rest is shared out.
    turns = sorted(
        bundles.items(), key=lambda pair: (pair[0][0], token(seed, "hand-over", rater, pair[0][1]))
    )
    for (late, item), bundle in turns:
        allocations = [_allocation(task, plan) for task in bundle]
        able = [
            desk
            for desk in desks.values()
            if all(
                _may(desk, task, allocation, items.get(item))
                and not _is_closed(task, desk.rater.id, closed)
                for task, allocation in zip(bundle, allocations, strict=True)
            )
        ]
        if not able:
            continue
        # Who rates the item besides: raters who share few items with them come first.
        company = raters_by_item.get(item, set()) - {rater}

        def place(
            desk: _Desk, late: bool = late, item: str = item, company: set[str] = company
        ) -> tuple[int, int, str]:
            shared = sum(together[frozenset((desk.rater.id, other))] for other in company)
            return (
                desk.late if late else desk.load,
                shared,
                # Last the token: a fixed draw that no order of records changes.
                token(seed, "hand-over", rater, item, desk.rater.id),
            )

        chosen = min(able, key=place)
        together.update(
            frozenset((chosen.rater.id, other)) for other in company if other != chosen.rater.id
        )
        for task in bundle:
            holders[task.id] = chosen.rater.id
            chosen.take(task, is_rated=False)
    stay = sum(t.id in rated and t.purpose != "tiebreak" for t in rater_tasks)
    return Handover(
        rater, holders, stay, before, frozenset(t.id for t in open_ if t.purpose == "tiebreak")
    )


class _Desk:
    """What one of the others has."""

    def __init__(self, rater: Rater) -> None:
        self.rater, self.open, self.load, self.late = rater, 0, 0, 0
        self.items: dict[str, set[str | None]] = {}
        self.arms: dict[tuple[str, str], str] = {}

    def take(self, task: Task, *, is_rated: bool) -> None:
        # What she did counts too: whoever has done most is not given most because she is quick.
        if task.purpose == "tiebreak":
            self.late += 1
        else:
            self.open += not is_rated
            self.load += task.item is not None
        self.items.setdefault(task.instrument, set()).add(task.item)
        self.arms.setdefault((task.instrument, task.phase), task.arm)


def _goes_on(task: Task, rated: Collection[str], rater_tasks: Sequence[Task]) -> bool:
    if task.item is None or task.purpose not in ("main", "tiebreak", "repeat"):
        return False
    if task.purpose != "repeat":
        return True
    # A repetition tells how alike one person rates twice; it goes with the first time or not at
    # all.
    return task.repeat_of not in rated and any(t.id == task.repeat_of for t in rater_tasks)


def _allocation(task: Task, plan: Sequence[Allocation]) -> Allocation | None:
    panel = panel_of_slot(task.slot)
    matches = [
        a for a in plan if (a.panel, a.instrument, a.phase) == (panel, task.instrument, task.phase)
    ]
    return next((a for a in matches if a.purpose == task.purpose), matches[0] if matches else None)


def _may(desk: _Desk, task: Task, allocation: Allocation | None, item: Item | None) -> bool:
    assigned_items = desk.items.get(task.instrument, set())
    if (
        task.item in assigned_items
        or desk.arms.get((task.instrument, task.phase), task.arm) != task.arm
    ):
        return False
    if allocation is None:
        return True
    if allocation.per_rater is not None and len(assigned_items) >= allocation.per_rater:
        return False
    match = allocation.match
    return match is None or item is None or desk.rater.strata.get(match) == item.strata.get(match)


def _is_closed(task: Task, rater: str, closed: Collection[tuple[str, str, str]]) -> bool:
    return (task.phase, task.batch, "") in closed or (task.phase, task.batch, rater) in closed
