"""Tasks of imported ratings: each is one screen of one rater.

A task is derived from the values that its ratings have in common.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import polars as pl

_SCREEN = ("rater", "item", "answers", "arm", "phase", "batch", "purpose", "repeat", "instrument")
"""What tells one task of a file from another, in the order of its digest: another order gives
every imported task a new identifier."""
_DEFAULTS = {"item": "null", "answers": "[]", "purpose": '"main"', "repeat": "null"}
"""The JSON of what a table without these columns has."""
_TEXTS = {
    "item": None,
    "purpose": "main",
    **dict.fromkeys(("arm", "phase", "batch", "instrument"), ""),
}
"""What a task has in a field that its table lacks."""
_ESCAPED = r'["\\\x00-\x1f]'
"""Characters that JSON writes otherwise."""
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def in_quotes(column: pl.Series) -> pl.Series:
    r"""The JSON of each text of a column.

    >>> in_quotes(pl.Series(['a "b"', None])).to_list()
    ['"a \\"b\\""', None]
    """
    texts = column.unique().drop_nulls()
    escaped = texts.filter(texts.str.contains(_ESCAPED)).to_list()
    if escaped:
        column = column.replace(escaped, [_encode(text)[1:-1] for text in escaped])
    return '"' + column + '"'


def with_tasks(rows: pl.DataFrame) -> pl.DataFrame:
    """The ratings of a table with the task of each, as the file states it or by a digest.

    `rows` has the columns of `_SCREEN` that the table has; `answers` is JSON.
    """
    if "repeat" in rows.columns:
        rows = _with_repeats(rows)
    names = [name for name in _SCREEN if name in rows.columns]
    screens = rows.select(names).unique(maintain_order=True)
    screens = screens.with_columns(_digests(screens))
    rows = rows.join(screens, on=names, how="left", nulls_equal=True, maintain_order="left")
    task = pl.coalesce("task", "digest of task") if "task" in rows.columns else "digest of task"
    return rows.with_columns(task=task).drop("digest of task")


def _with_repeats(rows: pl.DataFrame) -> pl.DataFrame:
    """The first of several times is the task itself; files number it as 0 or as 1."""
    number = pl.col("repeat")
    is_repeat = number > (0 if (rows["repeat"] == 0).any() else 1)
    purpose = pl.col("purpose") if "purpose" in rows.columns else pl.lit("main")
    return rows.with_columns(
        pl.when(is_repeat).then(number).alias("repeat"),
        pl.when(is_repeat & (purpose == "main"))
        .then(pl.lit("repeat"))
        .otherwise(purpose)
        .alias("purpose"),
    )


def _digests(screens: pl.DataFrame) -> pl.Series:
    """The identifier of each task: a digest of the JSON of all that tells it apart."""
    fields = [_json(screens, name, _DEFAULTS.get(name, '""')) for name in _SCREEN]
    text = pl.concat_str(pl.lit("["), pl.concat_str(fields, separator=","), pl.lit("]"))
    texts = screens.select(text.cast(pl.Binary)).to_series().to_list()
    digests = [f"t-{hashlib.blake2b(each, digest_size=8).hexdigest()}" for each in texts]
    return pl.Series("digest of task", digests, pl.String)


def _json(screens: pl.DataFrame, name: str, empty: str) -> pl.Expr:
    if name not in screens.columns:
        return pl.lit(empty)
    texts = screens[name].cast(pl.String)
    return pl.lit(texts if name in ("answers", "repeat") else in_quotes(texts)).fill_null(empty)


def tasks_in(rows: pl.DataFrame, *, are_stated: bool) -> pl.DataFrame:
    """The tasks of ratings in the order of their first ones, by the fields of `Task`.

    A repeat names the main task of the same rater and subject, if any.
    """
    tasks = rows.filter(rows["task"].is_first_distinct())
    values = {
        name: pl.col(name) if name in rows.columns else pl.lit(value, pl.Categorical)
        for name, value in _TEXTS.items()
    }
    tasks = tasks.select(
        pl.col("task").alias("id"),
        pl.col("task").alias("slot"),
        "rater",
        *(values[name].alias(name) for name in ("instrument", "item")),
        "answers",
        pl.lit("[]", pl.Categorical).alias("spans"),
        *(values[name].alias(name) for name in ("arm", "phase", "batch")),
        pl.lit(0, pl.Int64).alias("position"),
        values["purpose"].alias("purpose"),
        pl.lit(None, pl.Categorical).alias("repeat_of"),
    )
    if are_stated:
        tasks = _replaced(tasks, "answers", _answers_by_task(rows))
    if "span_start" in rows.columns:
        tasks = _replaced(tasks, "spans", _spans_by_task(rows))
    has_purposes = "purpose" in rows.columns
    return _replaced(tasks, "repeat_of", _main_tasks(tasks)) if has_purposes else tasks


def _replaced(tasks: pl.DataFrame, name: str, value_by_task: dict[str, str]) -> pl.DataFrame:
    if not value_by_task:
        return tasks
    ids = pl.col("id").replace_strict(value_by_task, default=None, return_dtype=pl.String)
    return tasks.with_columns(pl.coalesce(ids, pl.col(name).cast(pl.String)).alias(name))


def _answers_by_task(rows: pl.DataFrame) -> dict[str, str]:
    """The answers of screens that show an item with several, and ask about each."""
    different = rows.select("task", pl.col("answers").cast(pl.String)).unique(maintain_order=True)
    answers: dict[str, dict[str, None]] = {}
    for task, texts in different.filter(pl.col("task").is_duplicated()).iter_rows():
        answers.setdefault(task, {}).update(dict.fromkeys(json.loads(texts)))
    return {task: _encode([*names]) for task, names in answers.items()}


def _spans_by_task(rows: pl.DataFrame) -> dict[str, str]:
    spans = rows.select("task", "span_start", "span_end").drop_nulls().unique()
    by_task: dict[str, list[list[int]]] = {}
    for task, *span in spans.sort("task", "span_start", "span_end").iter_rows():
        by_task.setdefault(task, []).append(span)
    return {task: _encode(places) for task, places in by_task.items()}


def _main_tasks(tasks: pl.DataFrame) -> dict[str, str]:
    """Repeat -> the main task of the same rater and subject."""
    first: dict[object, str] = {}
    repeats: list[tuple[str, object]] = []
    rows = tasks.select("id", "purpose", "rater", "item", "answers", "arm")
    for task, purpose, rater, item, answers, arm in rows.iter_rows():
        # Sorted, since a pair may be shown the other way round the second time.
        subject = (rater, item, tuple(sorted(json.loads(answers))), arm)
        if purpose == "main":
            first.setdefault(subject, task)
        elif purpose == "repeat":
            repeats.append((task, subject))
    return {task: first[subject] for task, subject in repeats if subject in first}


def utc(at: str) -> str:
    """A point in time in UTC; one without a zone, or in UTC already, stays as it is.

    >>> utc("2024-05-01T10:00:00+02:00"), utc("2024-05-01T08:00:00Z"), utc("2024-05-01")
    ('2024-05-01T08:00:00Z', '2024-05-01T08:00:00Z', '2024-05-01')
    """
    if at.endswith("Z"):
        return at
    moment = datetime.fromisoformat(at)
    if moment.tzinfo is None:
        return at
    return moment.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"
