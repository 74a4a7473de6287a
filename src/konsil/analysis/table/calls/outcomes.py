"""What became of the judges' calls, and the labels that are missing because of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.model.composite.score_rows import of_gaps
from konsil.analysis.model.results import OutcomeRow
from konsil.analysis.model.spec import Exclusions
from konsil.analysis.table.columns import answers_in, lists, rating_columns, task_columns
from konsil.analysis.table.derived import grouped
from konsil.analysis.table.frame import Data, RatingTable, rating_table
from konsil.instrument import Criterion, Instrument
from konsil.records import Attempt, Rating, Task

READABLE = ("ok", "repaired", "re-asked")
"""Outcomes from which ratings are made."""

UNDECIDED = ("no majority", "inconsistent")
"""Outcomes of several calls of one task: each could be read, and together they give no label."""

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
    "ended otherwise",
    "http error",
    "gave up",
    *UNDECIDED,
    NO_CALL,
)
"""Every way in which a task of a judge can end, readable first."""

MOST_VALUES = 12
"""A stratum with more values than this (identifiers) divides nothing."""


def outcomes(data: Data, table: RatingTable) -> tuple[OutcomeRow, ...]:
    """Outcomes of each judge's tasks: over all tasks, then by values of the items' strata.

    A task counts once, with its last call; a task that has ratings counts with the last call that
    could be read.
    """
    ours = pl.col("rater").is_in(sorted(_judges(data))) & pl.col("purpose").is_in(
        ["main", "tiebreak", "repeat"]
    )
    tasks = task_columns(data.tasks, ("id", "rater", "item", "answers", "purpose")).filter(ours)
    tasks = tasks.with_columns(
        pl.Series("ended", _ended(data, tasks.get_column("id").to_list()), dtype=pl.String)
    )
    totals = _counts(tasks, "rater")
    columns = {}
    for column, value_of in _columns(data, table).items():
        value = pl.col("item").replace_strict(value_of, default=None, return_dtype=pl.String)
        columns[column] = _counts(
            tasks.with_columns(value.alias("value")).filter(pl.col("value") != ""), "rater", "value"
        )
    rows: list[OutcomeRow] = []
    for rater in sorted(key[0] for key in totals):
        rows.append(OutcomeRow(rater, "", "", totals[(rater,)]))
        for column, counts in columns.items():
            rows += [
                OutcomeRow(rater, column, key[1], counts[key])
                for key in sorted(counts)
                if key[0] == rater
            ]
        rows += _by_system(data, rater, tasks.filter(pl.col("rater") == rater))
    return tuple(rows)


def _judges(data: Data) -> frozenset[str]:
    return frozenset(r.id for r in data.raters if r.kind == "llm")


def _ended(data: Data, tasks: Sequence[str]) -> list[str]:
    """How each task ended."""
    if not tasks:
        return []
    of_ratings = rating_columns(data.ratings).get_column("task")
    rated = set(of_ratings.filter(of_ratings.is_in(tasks)).to_list())
    last: dict[str, str] = {}

    def place(attempt: Attempt) -> tuple[bool, bool, str, str]:
        # Of several calls the one that tells why there is no label comes last, not the one that
        # came last.
        return attempt.outcome in UNDECIDED, attempt.outcome not in READABLE, attempt.at, attempt.id

    for attempt in sorted(data.attempts, key=place):
        if attempt.task not in rated or attempt.outcome in READABLE:
            last[attempt.task] = attempt.outcome
    return [last.get(t) or (NOT_RECORDED if t in rated else NO_CALL) for t in tasks]


def _counts(tasks: pl.DataFrame, *by: str) -> dict[tuple[str, ...], dict[str, int]]:
    """How often each outcome occurs, by the values of some columns.

    Outcomes in the order of OUTCOMES.
    """
    counts_by_key: dict[tuple[str, ...], dict[str, int]] = {}
    for *key, outcome, n in tasks.group_by(*by, "ended").len().iter_rows():
        counts_by_key.setdefault(tuple(key), {})[outcome] = n
    return {
        key: {name: counts[name] for name in OUTCOMES if name in counts}
        for key, counts in counts_by_key.items()
    }


def _columns(data: Data, table: RatingTable) -> dict[str, dict[str, str]]:
    """Stratum or derived range -> item -> value, where the values are few."""
    columns = {
        name: {i.id: i.strata[name] for i in data.items if name in i.strata}
        for name in sorted({name for i in data.items for name in i.strata})
    }
    for name in table.derived:
        if table.frame.schema[name] == pl.String:
            pairs = table.frame.select("item", name).drop_nulls().unique()
            columns[name] = dict(pairs.iter_rows())
    return {
        name: values
        for name, values in columns.items()
        if 1 < len(set(values.values())) <= MOST_VALUES
    }


def _by_system(data: Data, rater: str, tasks: pl.DataFrame) -> Iterator[OutcomeRow]:
    """By system only where tasks show different ones.

    Otherwise every system has the numbers of all tasks.
    """
    systems = pl.DataFrame(
        {"answer": [a.id for a in data.answers], "system": [a.system for a in data.answers]}
    )
    each = (
        answers_in(tasks)
        .select("id", "ended", "answer")
        .join(systems.cast(pl.String), on="answer", how="left")
    )
    each = each.select("id", "ended", pl.col("system").fill_null("")).unique()
    shown = each.group_by("id").agg(pl.col("system").sort().str.join("\x1f"))
    if shown.get_column("system").n_unique() + (shown.height < tasks.height) < 2:
        return
    for (system,), counts in sorted(_counts(each.filter(pl.col("system") != ""), "system").items()):
        yield OutcomeRow(rater, "system", system, counts)


def missing(
    data: Data, table: RatingTable, exclusions: Exclusions, instruments: Sequence[Instrument]
) -> RatingTable:
    """The judges' labels that tasks request and that are missing, in the long table's columns.

    They have no label.
    """
    judges = sorted(_judges(data))
    labelled = [
        replace(i, criteria=tuple(c for c in i.criteria if c.scale.kind != "text"))
        for i in instruments
    ]
    names = sorted({c.id for i in labelled for c in i.criteria})
    ratings = rating_columns(data.ratings).filter(
        pl.col("rater").is_in(judges) & pl.col("criterion").is_in(names)
    )
    # Nearly every task is whole: only where ratings are fewer is it looked up which.
    short = _short(
        task_columns(data.tasks).filter(pl.col("rater").is_in(judges)), ratings, labelled
    )
    forms = {i.id: i for i in labelled}
    absent: list[Rating] = []
    for task in (t for t in data.tasks if t.id in short) if short else ():
        expected = [rating for c in _criteria(task, forms) for rating in _subjects(task, c)]
        rated_keys = _keys(ratings.filter(pl.col("task") == task.id))
        absent += [
            rating for rating in expected if _keys(rating_columns([rating])).isdisjoint(rated_keys)
        ]
    if not absent:
        return replace(table, frame=table.frame.clear())
    left_out = Exclusions(raters=exclusions.raters, items=exclusions.items)
    of_these = {r.task for r in absent}
    tasks = [t for t in data.tasks if t.id in of_these]
    absent_table = rating_table(
        replace(data, ratings=absent, tasks=tasks), left_out, instruments, table.together
    )
    columns = table.frame.select("item", *table.derived).unique(subset="item", keep="first")
    return replace(
        absent_table,
        frame=grouped(absent_table.frame.join(columns, on="item", how="left"), table.groups),
        composites=of_gaps(table.composites),
    )


def _short(
    tasks: pl.DataFrame, ratings: pl.DataFrame, instruments: Sequence[Instrument]
) -> frozenset[str]:
    """The tasks with fewer ratings than `_subjects` would make."""

    def n_criteria(*scopes: str) -> pl.Expr:
        def asking(n_sentences: int) -> pl.Expr:
            counts = {
                i.id: sum(c.scope in scopes for c in i.screen_criteria(n_sentences))
                for i in instruments
            }
            return pl.col("instrument").replace_strict(counts, default=0, return_dtype=pl.Int64)

        return pl.when(pl.col("spans") > 0).then(asking(1)).otherwise(asking(0))

    answers = lists("answers").list.len().cast(pl.Int64)
    n_expected = (
        n_criteria("answer") * answers
        + n_criteria("sentence") * pl.col("spans")
        + n_criteria("pair", "item", "task")
    )
    rating_counts = ratings.group_by("task").len("given")
    counted = tasks.with_columns(n_expected.alias("asked")).join(
        rating_counts, left_on="id", right_on="task", how="left"
    )
    return frozenset(
        counted.filter(pl.col("given").fill_null(0) < pl.col("asked")).get_column("id")
    )


def _criteria(task: Task, forms: Mapping[str, Instrument]) -> tuple[Criterion, ...]:
    form = forms.get(task.instrument)
    return form.screen_criteria(len(task.spans)) if form is not None else ()


def _keys(ratings: pl.DataFrame) -> frozenset[tuple[str, object, str]]:
    rows = ratings.select("criterion", "answers", "span").iter_rows()
    return frozenset(
        (criterion, tuple(json.loads(answers)), span.replace(" ", ""))
        for criterion, answers, span in rows
    )


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
