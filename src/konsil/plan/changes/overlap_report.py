"""What became of the overlap that a plan asks for: counts over its tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from konsil.plan.model.allocation import Allocation
from konsil.plan.model.places import panel_of_slot
from konsil.records import Item, Task


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
