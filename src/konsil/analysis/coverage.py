"""Every rating accounted for: rated, abstained, unreadable, missing, excluded and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from konsil.analysis.frame import Data, Long, reasons
from konsil.analysis.results import CoverageRow
from konsil.analysis.said import say
from konsil.analysis.spec import Exclusions
from konsil.instrument import Criterion, Instrument
from konsil.records import Task

Key = tuple[str, str, str]
"""(panel, criterion, system)."""


def coverage(
    data: Data, long: Long, instruments: Sequence[Instrument], exclusions: Exclusions, *, planned: bool
) -> tuple[CoverageRow, ...]:
    """One row for each panel, criterion and system.

    Expected counts come from the tasks, and only where there is a plan: imported tasks exist because they were rated.
    """
    rated = _count(long.frame.filter(pl.col("state") == "rated"))
    abstained = _count(long.frame.filter(pl.col("state") == "abstained"))
    excluded = _excluded(long.excluded, exclusions)
    unreadable = _unreadable(data, instruments)
    expected = _expected(data, instruments) if planned else {}
    keys = sorted({*rated, *abstained, *excluded, *unreadable, *expected})
    return tuple(
        _row(key, rated[key], abstained[key], unreadable[key], excluded.get(key, {}), expected.get(key)) for key in keys
    )


def _row(
    key: Key, rated: int, abstained: int, unreadable: int, excluded: Mapping[str, int], expected: int | None
) -> CoverageRow:
    seen = rated + abstained + unreadable + sum(excluded.values())
    missing = None if expected is None else max(expected - seen, 0)
    return CoverageRow(*key, expected, rated, abstained, unreadable, missing, dict(sorted(excluded.items())))


def _count(frame: pl.DataFrame) -> Counter[Key]:
    found: Counter[Key] = Counter()
    for panel, criterion, system, n in frame.group_by("panel", "criterion", "system").len().iter_rows():
        found[(panel, criterion, system)] = n
    return found


def _excluded(frame: pl.DataFrame, exclusions: Exclusions) -> dict[Key, dict[str, int]]:
    found: dict[Key, dict[str, int]] = defaultdict(dict)
    # A table holds plain texts; the same sentence with its parts can be told in the report's language.
    told = {str(one): one for one in reasons(exclusions)}
    for panel, criterion, system, reason, n in (
        frame.group_by("panel", "criterion", "system", "reason").len().sort("reason").iter_rows()
    ):
        found[(panel, criterion, system)][told[reason]] = n
    return dict(found)


def _unreadable(data: Data, instruments: Sequence[Instrument]) -> Counter[Key]:
    """Each subject of a task whose last call gave nothing readable, under its criterion and system."""
    given = {r.task for r in data.ratings}
    failed = {a.task for a in data.attempts if a.outcome not in {"ok", "repaired", "re-asked"}} - given
    return _subjects((t for t in data.tasks if t.id in failed), data, instruments)


def _expected(data: Data, instruments: Sequence[Instrument]) -> Counter[Key]:
    return _subjects(data.tasks, data, instruments)


def _subjects(tasks: Iterable[Task], data: Data, instruments: Sequence[Instrument]) -> Counter[Key]:
    criteria = {i.id: i.criteria for i in instruments}
    panels = {r.id: r.panel for r in data.raters}
    systems = {a.id: a.system for a in data.answers}
    found: Counter[Key] = Counter()
    for task in tasks:
        for criterion in criteria.get(task.instrument, ()):
            for system, n in _systems(task, criterion, systems):
                found[(panels.get(task.rater, ""), criterion.id, system)] += n
    return found


def _systems(task: Task, criterion: Criterion, systems: Mapping[str, str]) -> list[tuple[str, int]]:
    """Which systems a criterion on a task speaks of, and how many labels it asks for."""
    if criterion.scope == "answer":
        return [(systems.get(a, ""), 1) for a in task.answers]
    if criterion.scope == "sentence":
        return [(systems.get(a, ""), len(task.spans) or 1) for a in task.answers]
    if criterion.scope == "pair":
        return [(" | ".join(systems.get(a, "") for a in task.answers), 1)]
    if criterion.scope in {"item", "task"}:
        return [("", 1)]
    return []


def label_counts(long: Long, instruments: Sequence[Instrument]) -> dict[tuple[str, str, str, str], int]:
    """How often each label was given: (panel, criterion, system, label), abstentions under their own label."""
    abstain = {c.id: c.scale.abstain or say("abstained") for i in instruments for c in i.criteria}
    choices = {c.id for i in instruments for c in i.criteria if c.scale.kind == "choice"}
    counted = long.frame.group_by("panel", "criterion", "system", "state", "label").len()
    found: dict[tuple[str, str, str, str], int] = {}
    for panel, criterion, system, state, label, n in counted.sort("panel", "criterion", "system", "label").iter_rows():
        if criterion in choices:
            key = (panel, criterion, system, abstain[criterion] if state == "abstained" else label)
            found[key] = found.get(key, 0) + n
    return found
