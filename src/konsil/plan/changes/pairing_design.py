"""The design of comparisons.

Which systems meet how often, by specialty too, and how often a question comes again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from konsil.plan.model.places import panel_of_slot
from konsil.records import Answer, Item, Task

MOST_VALUES = 50
"""Strata of the items with more values are told of nowhere: they are names, not strata."""

Pair = tuple[str, str]
"""Two systems, by name."""


@dataclass(frozen=True, slots=True)
class Meetings:
    """Counts over the main comparisons of two answers that one panel is to make."""

    comparisons: int
    """How many there are."""
    first: Mapping[Pair, tuple[int, int]] = field(default_factory=dict)
    """Two systems -> how often the one and how often the other stands first."""
    strata: Mapping[str, Mapping[str, Mapping[Pair, int]]] = field(default_factory=dict)
    """Stratum of the items -> value -> two systems -> comparisons; 0 where they never meet
    there."""
    raters: Mapping[int, int] = field(default_factory=dict)
    """Raters of an item -> so many items, those that nobody is given included."""
    repeated: int = 0
    """Comparisons of an item's same two systems that another rater of the panel makes as well, in
    the same arm."""


def meetings(
    tasks: Iterable[Task], answers: Iterable[Answer], items: Iterable[Item]
) -> dict[str, Meetings]:
    """Panel -> its comparisons; panels that compare nothing two at a time are left out.

    Args:
        tasks: a plan's.
        answers: whose they are.
        items: those that are in the study; their strata are counted where they have 2 to 50 values.
    """
    systems = {a.id: a.system for a in answers}
    items_by_id = {item.id: item for item in items}
    of_panel: dict[str, list[Task]] = {}
    for task in tasks:
        if len(task.answers) == 2 and task.purpose == "main" and task.item is not None:
            of_panel.setdefault(panel_of_slot(task.slot), []).append(task)
    return {panel: _counted(of_panel[panel], systems, items_by_id) for panel in sorted(of_panel)}


def _counted(tasks: list[Task], systems: Mapping[str, str], items: Mapping[str, Item]) -> Meetings:
    first: Counter[tuple[str, str]] = Counter()
    raters: dict[str, set[str]] = {item: set() for item in items}
    same: dict[tuple[str, str, Pair], set[str]] = {}
    n_by_item_pair: Counter[tuple[str, Pair]] = Counter()
    for task in tasks:
        system, other = (systems.get(a, a) for a in task.answers)
        # In one order: which system came first is counted by itself.
        pair: Pair = (min(system, other), max(system, other))
        item = str(task.item)
        first[system, other] += 1
        n_by_item_pair[item, pair] += 1
        raters.setdefault(item, set()).add(task.slot)
        same.setdefault((item, task.arm, pair), set()).add(task.slot)
    pairs = sorted({(min(p), max(p)) for p in first})
    strata: dict[str, dict[str, dict[Pair, int]]] = {}
    for column in sorted({column for item in items.values() for column in item.strata}):
        values = sorted({item.strata[column] for item in items.values() if column in item.strata})
        # Columns of very many values are identifiers and no strata.
        if 2 <= len(values) <= MOST_VALUES:
            counts: Counter[tuple[str, Pair]] = Counter()
            for (item, pair), n in n_by_item_pair.items():
                if item in items and column in items[item].strata:
                    counts[items[item].strata[column], pair] += n
            strata[column] = {v: {p: counts[v, p] for p in pairs} for v in values}
    return Meetings(
        comparisons=len(tasks),
        first={(a, b): (first[a, b], first[b, a]) for a, b in pairs},
        strata=strata,
        raters=dict(sorted(Counter(map(len, raters.values())).items())),
        repeated=sum(len(slots) for slots in same.values() if len(slots) > 1),
    )
