"""How even a plan is, and what became of its overlap: before anybody is invited."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, compress, groupby

from konsil.plan.model.allocation import Allocation
from konsil.plan.model.places import panel_of_slot
from konsil.plan.model.task_columns import TaskColumns
from konsil.records import Answer, Item, Task


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
    """System -> how often it stands in the first, second, ... place of a screen with several
    answers."""
    strata: Mapping[tuple[str, str], Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    """Panel and stratum -> value -> items with it that each of the panel's raters sees in main
    tasks."""

    def shared(self) -> dict[str, tuple[int, ...]]:
        """Panel -> items that each two of its raters both see, pair by pair.

        Panels of one rater have none.
        """
        counts_by_panel: dict[str, list[int]] = {}
        for (rater, other), n in self.pairs.items():
            if self.panels[rater] == self.panels[other]:
                counts_by_panel.setdefault(self.panels[rater], []).append(n)
        return {panel: tuple(counts) for panel, counts in counts_by_panel.items()}

    def loads(self) -> tuple[int, int]:
        """The least and the greatest number of screens of a rater; (0, 0) without tasks."""
        return (min(self.screens.values(), default=0), max(self.screens.values(), default=0))


MOST_VALUES = 7
"""Strata with more values, such as tags, are no strata that a plan is held against."""
LONGEST_VALUE = 40
"""Letters of a stratum's value; longer ones are free text."""


def balance(
    tasks: Iterable[Task], answers: Iterable[Answer] = (), items: Iterable[Item] = ()
) -> Balance:
    """Load per rater, items per pair of raters, positions per system, items per stratum.

    Positions are counted per answer where `answers` are not given, and strata where `items` are.
    """
    systems = {a.id: a.system for a in answers}
    columns = TaskColumns.of(tasks)
    screens: Counter[str] = Counter()
    rated: defaultdict[str, set[str]] = defaultdict(set)
    raters_by_item: defaultdict[str, set[str]] = defaultdict(set)
    panels: dict[str, str] = {}
    places: dict[str, Counter[int]] = {}
    start = 0
    # A rater's tasks come together, mostly.
    for rater, run in groupby(columns.column("rater")):
        part = slice(start, start := start + len([*run]))
        item_ids, purposes, shown = (
            columns.column(name)[part] for name in ("item", "purpose", "answers")
        )
        screens[rater] += len(item_ids)
        # A slot is a panel and a number, and the panel's own name may have blanks.
        panels.setdefault(rater, panel_of_slot(columns.column("slot")[part.start]))
        rated[rater].update({*item_ids} - {None})
        for item in {*compress(item_ids, map("main".__eq__, purposes))} - {None}:
            raters_by_item[item].add(rater)
        for several in filter(lambda answers: len(answers) > 1, shown):
            for place, answer in enumerate(several):
                places.setdefault(systems.get(answer, answer), Counter())[place] += 1
    # Sorted, so that the report is the same whatever order a database gives.
    raters = sorted(screens)
    pairs = Counter(
        pair
        for item_raters in raters_by_item.values()
        for pair in combinations(sorted(item_raters), 2)
    )
    width = max((max(c) for c in places.values()), default=-1) + 1
    return Balance(
        screens={r: screens[r] for r in raters},
        items={r: len(rated[r]) for r in raters},
        pairs={
            p: pairs[p] for p in combinations(raters, 2) if pairs[p] or panels[p[0]] == panels[p[1]]
        },
        panels=dict(sorted(panels.items())),
        positions={s: tuple(places[s][n] for n in range(width)) for s in sorted(places)},
        strata=_strata(raters_by_item, panels, items),
    )


def _is_free_text(value: str) -> bool:
    """Whether a stratum's value is a list or a sentence, which no plan is held against.

    >>> _is_free_text("internal medicine"), _is_free_text("tachycardia, low sodium")
    (False, True)
    """
    return len(value) > LONGEST_VALUE or ", " in value


def _strata(
    raters_by_item: Mapping[str, set[str]], panels: Mapping[str, str], items: Iterable[Item]
) -> dict[tuple[str, str], dict[str, tuple[int, ...]]]:
    """Count each rater's items with each value of each stratum, by panel.

    Strata of one or many values stay out.
    """
    shown = [item for item in items if item.id in raters_by_item]
    counts_by_stratum: dict[tuple[str, str], dict[str, tuple[int, ...]]] = {}
    for column in sorted({column for item in shown for column in item.strata}):
        values = sorted({item.strata[column] for item in shown if column in item.strata})
        # Identifiers and free texts have too many values to balance anything by.
        if not 2 <= len(values) <= MOST_VALUES or any(map(_is_free_text, values)):
            continue
        counts = Counter(
            (rater, item.strata.get(column)) for item in shown for rater in raters_by_item[item.id]
        )
        for panel in dict.fromkeys(sorted(panels.values())):
            raters = sorted(
                {
                    r
                    for item_raters in raters_by_item.values()
                    for r in item_raters
                    if panels[r] == panel
                }
            )
            if raters:
                counts_by_stratum[panel, column] = {
                    v: tuple(counts[r, v] for r in raters) for v in values
                }
    return counts_by_stratum


@dataclass(frozen=True, slots=True)
class PlannedOverlap:
    """The shared comparisons (or ratings) of one line of the plan."""

    panel: str
    """Whose they are."""
    share: float
    """The share that is asked for."""
    raters: int
    """How many raters are to make each."""
    comparisons: int
    """Different comparisons: an item's same answers in the same arm count once."""
    shared: int
    """How many of them at least so many raters make."""
    each: tuple[int, int]
    """Shared comparisons of the rater with the fewest, and of the one with the most."""
    cells: Mapping[tuple[str, str], tuple[int, int]]
    """Value of the matched stratum and arm -> shared and all comparisons."""


def overlaps_of(
    plan: Sequence[Allocation], tasks: Iterable[Task], items: Iterable[Item] = ()
) -> tuple[PlannedOverlap, ...]:
    """The overlap of each line of the plan that asks for one, counted over its main tasks.

    Args:
        plan: the lines.
        tasks: of the whole plan, each in its slot.
        items: for the matched stratum; without them there is one stratum.
    """
    lines = [(line, line.overlap) for line in plan if line.overlap is not None]
    planned_tasks, strata = tuple(tasks if lines else ()), {i.id: i.strata for i in items}
    overlaps = []
    for line, overlap in lines:
        slots_by_subject: dict[tuple[str, tuple[str, ...], str], set[str]] = {}
        for task in planned_tasks:
            line_key = (panel_of_slot(task.slot), task.instrument, task.phase, task.purpose)
            if task.item is not None and line_key == (
                line.panel,
                line.instrument,
                line.phase,
                line.purpose,
            ):
                slots_by_subject.setdefault(
                    (task.item, tuple(sorted(task.answers)), task.arm), set()
                ).add(task.slot)
        several = {
            key: slots for key, slots in slots_by_subject.items() if len(slots) >= overlap.raters
        }
        # A rater without a shared comparison counts with 0, and is not absent.
        each = dict.fromkeys(
            sorted({slot for slots in slots_by_subject.values() for slot in slots}), 0
        )
        each |= Counter(slot for slots in several.values() for slot in slots)
        counts: Counter[tuple[str, str, bool]] = Counter()
        for key in slots_by_subject:
            counts[strata.get(key[0], {}).get(line.match or "", ""), key[2], key in several] += 1
        cells = sorted({(value, arm) for value, arm, _ in counts})
        overlaps.append(
            PlannedOverlap(
                line.panel,
                overlap.share,
                overlap.raters,
                len(slots_by_subject),
                len(several),
                (min(each.values(), default=0), max(each.values(), default=0)),
                {
                    (value, arm): (
                        counts[value, arm, True],
                        counts[value, arm, True] + counts[value, arm, False],
                    )
                    for value, arm in cells
                },
            )
        )
    return tuple(overlaps)
