"""What became of the judges' calls, and the labels that are missing because of them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.columns import rating_columns
from konsil.analysis.frame import Data, Long, long
from konsil.analysis.results import OutcomeRow
from konsil.analysis.spec import Exclusions
from konsil.instrument import Criterion, Instrument
from konsil.records import Attempt, Rating, Task

READABLE = ("ok", "repaired", "re-asked")
"""Outcomes from which ratings are made."""

UNDECIDED = ("no majority", "inconsistent")
"""Outcomes of several calls of one task: each could be read, and together they say nothing."""

NO_CALL = "no call"
"""A task that was neither called nor rated."""

NOT_RECORDED = "rated, call not recorded"
"""A task whose ratings came without a call: imported or simulated."""

OUTCOMES = (
    *READABLE,
    NOT_RECORDED,
    "not json",
    "off schema",
    "truncated",
    "empty",
    "refused",
    "filtered",
    "http error",
    "gave up",
    *UNDECIDED,
    NO_CALL,
)
"""Every way in which a task of a judge can end, readable first."""

MOST_VALUES = 12
"""A stratum with more values than this (identifiers) divides nothing."""


def outcomes(data: Data, table: Long) -> tuple[OutcomeRow, ...]:
    """How the tasks of each judge ended: over all tasks, then within each value of the items' strata.

    A task counts once, with its last call; one that has ratings counts with the last call that could be read.
    """
    judges = _judges(data)
    counted = {"main", "tiebreak", "repeat"}
    tasks = [t for t in data.tasks if t.rater in judges and t.purpose in counted] if judges else []
    ended = _ended(data, tasks)
    found: list[OutcomeRow] = []
    columns = _columns(data, table)
    for rater in sorted({t.rater for t in tasks}):
        mine = [t for t in tasks if t.rater == rater]
        found.append(OutcomeRow(rater, "", "", _count(mine, ended)))
        for column, value_of in columns.items():
            by_value: dict[str, list[Task]] = defaultdict(list)
            for task in mine:
                by_value[value_of.get(task.item or "", "")].append(task)
            known = sorted(value for value in by_value if value)
            found += [OutcomeRow(rater, column, value, _count(by_value[value], ended)) for value in known]
        found += _by_system(data, rater, mine, ended)
    return tuple(found)


def _judges(data: Data) -> frozenset[str]:
    return frozenset(r.id for r in data.raters if r.kind == "llm")


def _ended(data: Data, tasks: Sequence[Task]) -> dict[str, str]:
    """Task -> how it ended."""
    rated = set(rating_columns(data.ratings).get_column("task").unique().to_list())
    last: dict[str, str] = {}

    def place(attempt: Attempt) -> tuple[bool, bool, str, str]:
        # Of several calls the one that tells why there is no label comes last, not the one that came last.
        return attempt.outcome in UNDECIDED, attempt.outcome not in READABLE, attempt.at, attempt.id

    for attempt in sorted(data.attempts, key=place):
        if attempt.task not in rated or attempt.outcome in READABLE:
            last[attempt.task] = attempt.outcome
    return {t.id: last.get(t.id) or (NOT_RECORDED if t.id in rated else NO_CALL) for t in tasks}


def _count(tasks: Sequence[Task], ended: Mapping[str, str]) -> dict[str, int]:
    counted = Counter(ended[t.id] for t in tasks)
    return {outcome: counted[outcome] for outcome in OUTCOMES if counted[outcome]}


def _columns(data: Data, table: Long) -> dict[str, dict[str, str]]:
    """Stratum or derived range -> item -> value, where the values are few."""
    found = {
        name: {i.id: i.strata[name] for i in data.items if name in i.strata}
        for name in sorted({name for i in data.items for name in i.strata})
    }
    for name in _derived(data, table):
        if table.frame.schema[name] == pl.String:
            pairs = table.frame.select("item", name).drop_nulls().unique()
            found[name] = dict(pairs.iter_rows())
    return {name: values for name, values in found.items() if 1 < len(set(values.values())) <= MOST_VALUES}


def _by_system(data: Data, rater: str, tasks: Sequence[Task], ended: Mapping[str, str]) -> Iterator[OutcomeRow]:
    """By system only where tasks show different ones; otherwise every system has the numbers of all tasks."""
    systems = {a.id: a.system for a in data.answers}
    shown = {t.id: frozenset(systems.get(a, "") for a in t.answers) for t in tasks}
    if len(set(shown.values())) < 2:
        return
    for system in sorted({s for several in shown.values() for s in several if s}):
        yield OutcomeRow(rater, "system", system, _count([t for t in tasks if system in shown[t.id]], ended))


def missing(data: Data, table: Long, exclusions: Exclusions, instruments: Sequence[Instrument]) -> Long:
    """The judges' labels that the tasks ask for and nobody gave, in the long table's columns; they have no label."""
    judges = _judges(data)
    tasks = [t for t in data.tasks if t.rater in judges] if judges else []
    criteria = {i.id: [c for c in i.criteria if c.scale.kind != "text"] for i in instruments}
    names = sorted({c.id for several in criteria.values() for c in several})
    theirs = pl.col("rater").is_in(sorted(judges)) & pl.col("criterion").is_in(names)
    ratings = rating_columns(data.ratings).filter(theirs)
    given = dict(ratings.group_by("task").len().iter_rows())
    absent: list[Rating] = []
    for task in tasks:
        asking = criteria.get(task.instrument, [])
        # Nearly every task is whole: only where ratings are fewer is it looked up which.
        if given.get(task.id, 0) < sum(_how_many(task, c) for c in asking):
            asked = [one for c in asking for one in _subjects(task, c)]
            known = _keys(ratings.filter(pl.col("task") == task.id)) if task.id in given else frozenset()
            absent += [one for one in asked if _keys(rating_columns([one])).isdisjoint(known)]
    left_out = Exclusions(raters=exclusions.raters, items=exclusions.items)
    found = long(replace(data, ratings=absent), left_out)
    columns = table.frame.select("item", *_derived(data, table)).unique(subset="item", keep="first")
    return replace(found, frame=found.frame.join(columns, on="item", how="left"))


def _keys(ratings: pl.DataFrame) -> frozenset[tuple[str, object, str]]:
    rows = ratings.select("criterion", "answers", "span").iter_rows()
    return frozenset(
        (criterion, tuple(json.loads(answers)), span.replace(" ", "")) for criterion, answers, span in rows
    )


def _how_many(task: Task, criterion: Criterion) -> int:
    """How many ratings `_subjects` would make."""
    several = {"answer": len(task.answers), "sentence": len(task.spans), "pair": 1, "item": 1, "task": 1}
    return several.get(criterion.scope, 0)


def _subjects(task: Task, criterion: Criterion) -> Iterator[Rating]:
    """An empty rating for everything that a criterion asks about on a task."""
    blank = Rating(task.id, task.rater, criterion.id, task.item)
    if criterion.scope == "answer":
        yield from (replace(blank, answers=(a,)) for a in task.answers)
    elif criterion.scope == "pair":
        yield replace(blank, answers=tuple(sorted(task.answers)))
    elif criterion.scope == "sentence":
        yield from (replace(blank, answers=task.answers, span=s) for s in task.spans)
    elif criterion.scope in {"item", "task"}:
        yield blank


def _derived(data: Data, table: Long) -> list[str]:
    """Columns that were derived from ratings: those that are neither a rating's own nor a stratum."""
    plain = long(replace(data, ratings=()), Exclusions()).frame.columns
    return [name for name in table.frame.columns if name not in plain]
