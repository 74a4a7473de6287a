"""All ratings as one long table: one row a rating, with what is known of its task, item, answers and rater."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from konsil.analysis.spec import Exclusions
from konsil.errors import AnalysisError
from konsil.records import Answer, Attempt, Item, Rater, Rating, Task

COLUMNS = (
    "task",
    "rater",
    "panel",
    "kind",
    "family",
    "criterion",
    "item",
    "case",
    "answers",
    "system",
    "span",
    "state",
    "label",
    "seconds",
    "confidence",
    "instrument",
    "arm",
    "phase",
    "batch",
    "purpose",
    "repeat_of",
)
"""The columns that every rating has; strata of items and raters stand beside them under their own names."""


@dataclass(frozen=True)
class Data:
    """Everything collected, as records."""

    items: Sequence[Item] = ()
    """What was asked."""
    answers: Sequence[Answer] = ()
    """What was answered."""
    raters: Sequence[Rater] = ()
    """Who rated."""
    tasks: Sequence[Task] = ()
    """Which screens there are."""
    ratings: Sequence[Rating] = ()
    """Which labels were given."""
    attempts: Sequence[Attempt] = ()
    """What the judges' calls gave."""


@dataclass(frozen=True)
class Long:
    """The long table and what was left out of it."""

    frame: pl.DataFrame
    """One row a rating that may be used, columns as in COLUMNS and the strata."""
    excluded: pl.DataFrame
    """The ratings left out, with a column `reason`."""
    sets: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Named set -> its items."""


def long(data: Data, exclusions: Exclusions) -> Long:
    """Join the records into one long table and set aside what the protocol excludes, with the reason."""
    raters = {r.id: r for r in data.raters}
    items = {i.id: i for i in data.items}
    tasks = {t.id: t for t in data.tasks}
    systems = {a.id: a.system for a in data.answers}
    rows: dict[str, list[object]] = {name: [] for name in COLUMNS}
    for rating in data.ratings:
        rater = raters.get(rating.rater)
        if rater is None:
            raise AnalysisError(f"rating of task {rating.task!r}: the rater {rating.rater!r} is not known")
        item = items.get(rating.item) if rating.item is not None else None
        task = tasks.get(rating.task)
        for name, value in zip(COLUMNS, _row(rating, rater, item, task, systems), strict=True):
            rows[name].append(value)
    frame = pl.DataFrame(rows, schema={n: _kind(n) for n in COLUMNS})
    frame = _with_strata(frame, data)
    frame, excluded = _exclude(frame, exclusions)
    named: dict[str, set[str]] = {}
    for one in data.items:
        for name in one.sets:
            named.setdefault(name, set()).add(one.id)
    return Long(frame, excluded, {name: frozenset(ids) for name, ids in named.items()})


def _row(
    rating: Rating, rater: Rater, item: Item | None, task: Task | None, systems: Mapping[str, str]
) -> tuple[object, ...]:
    return (
        rating.task,
        rating.rater,
        rater.panel,
        rater.kind,
        rater.family,
        rating.criterion,
        rating.item,
        (item.case or item.id) if item is not None else rating.item,
        " | ".join(rating.answers),
        " | ".join(systems.get(a, "") for a in rating.answers),
        "" if rating.span is None else f"{rating.span.start}-{rating.span.end}",
        rating.state,
        rating.label,
        rating.seconds,
        rating.confidence,
        task.instrument if task is not None else "",
        task.arm if task is not None else "",
        task.phase if task is not None else "",
        task.batch if task is not None else "",
        task.purpose if task is not None else "main",
        task.repeat_of if task is not None else None,
    )


def _kind(name: str) -> type[pl.Float64] | type[pl.String]:
    return pl.Float64 if name in {"seconds", "confidence"} else pl.String


def _with_strata(frame: pl.DataFrame, data: Data) -> pl.DataFrame:
    """Put the strata of items and raters beside the ratings; a name that both use is prefixed for the raters."""
    of_items = sorted({name for i in data.items for name in i.strata})
    of_raters = sorted({name for r in data.raters for name in r.strata})
    taken = [name for name in of_items if name in {*COLUMNS, "reason"}]
    if taken:
        raise AnalysisError(f"the stratum {taken[0]!r} of the items has the name of a rating's own column; rename it")
    for name in of_items:
        values = {i.id: i.strata.get(name) for i in data.items}
        frame = frame.with_columns(
            pl.col("item").replace_strict(values, default=None, return_dtype=pl.String).alias(name)
        )
    for name in of_raters:
        column = f"rater_{name}" if name in of_items or name in COLUMNS else name
        values = {r.id: r.strata.get(name) for r in data.raters}
        frame = frame.with_columns(
            pl.col("rater").replace_strict(values, default=None, return_dtype=pl.String).alias(column)
        )
    return frame


def _exclude(frame: pl.DataFrame, rules: Exclusions) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split into what may be used and what is left out; the first reason that applies is the one counted."""
    reason = (
        pl.when(~pl.col("purpose").is_in(["main", "tiebreak", "repeat"]))
        .then(pl.concat_str(pl.lit("phase: "), pl.col("purpose")))
        .when(pl.col("rater").is_in(list(rules.raters)))
        .then(pl.lit("rater excluded by the protocol"))
        .when(pl.col("item").is_in(list(rules.items)))
        .then(pl.lit("item excluded by the protocol"))
        .when(pl.col("seconds").is_null() & pl.lit(rules.require_seconds))
        .then(pl.lit("no time recorded"))
        .when(pl.col("seconds") < rules.min_seconds)
        .then(pl.lit(f"faster than {rules.min_seconds:g} seconds"))
        .otherwise(None)
    )
    marked = frame.with_columns(reason.alias("reason"))
    kept = marked.filter(pl.col("reason").is_null()).drop("reason")
    return kept, marked.filter(pl.col("reason").is_not_null())
