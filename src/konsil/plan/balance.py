"""How even a plan is: what a coordinator looks at before anybody is invited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from konsil.records import Answer, Task


@dataclass(frozen=True, slots=True)
class Balance:
    """Counts over the tasks of a plan."""

    screens: Mapping[str, int]
    """Rater -> screens, all purposes."""
    items: Mapping[str, int]
    """Rater -> different items."""
    pairs: Mapping[tuple[str, str], int]
    """Pair of raters -> items that both see in main tasks, also where it is none."""
    panels: Mapping[str, str]
    """Rater -> panel."""
    positions: Mapping[str, tuple[int, ...]]
    """System -> how often it stands in the first, second, ... place of a screen with several answers."""

    def shared(self) -> dict[str, tuple[int, ...]]:
        """Panel -> items that each two of its raters both see, pair by pair; panels of one rater have none."""
        found: dict[str, list[int]] = {}
        for (one, other), n in self.pairs.items():
            if self.panels[one] == self.panels[other]:
                found.setdefault(self.panels[one], []).append(n)
        return {panel: tuple(counts) for panel, counts in found.items()}

    def loads(self) -> tuple[int, int]:
        """The least and the greatest number of screens of a rater; (0, 0) without tasks."""
        return (min(self.screens.values(), default=0), max(self.screens.values(), default=0))


def balance(tasks: Iterable[Task], answers: Iterable[Answer] = ()) -> Balance:
    """Load per rater, items per pair of raters, positions per system (per answer, where `answers` are not given)."""
    systems = {a.id: a.system for a in answers}
    screens: Counter[str] = Counter()
    items: dict[str, set[str]] = {}
    seen: dict[str, set[str]] = {}
    panels: dict[str, str] = {}
    places: dict[str, Counter[int]] = {}
    for task in tasks:
        screens[task.rater] += 1
        mine = items.setdefault(task.rater, set())
        panels.setdefault(task.rater, task.slot.rsplit(" ", 1)[0])
        if task.item is not None:
            mine.add(task.item)
            if task.purpose == "main":
                seen.setdefault(task.item, set()).add(task.rater)
        if len(task.answers) > 1:
            for place, answer in enumerate(task.answers):
                places.setdefault(systems.get(answer, answer), Counter())[place] += 1
    raters = sorted(screens)
    pairs = Counter(pair for who in seen.values() for pair in combinations(sorted(who), 2))
    width = max((max(c) for c in places.values()), default=-1) + 1
    return Balance(
        screens={r: screens[r] for r in raters},
        items={r: len(items[r]) for r in raters},
        pairs={p: pairs[p] for p in combinations(raters, 2) if pairs[p] or panels[p[0]] == panels[p[1]]},
        panels=dict(sorted(panels.items())),
        positions={s: tuple(places[s][n] for n in range(width)) for s in sorted(places)},
    )
