"""Ratings as columns: what is different among them, and how they are stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from konsil.errors.message import message
from konsil.errors.places import label_word
from konsil.instrument import Criterion, canonical
from konsil.records import State

QUESTION = ("form", "criterion", "state", "label")
"""What decides how a label is read; the form is the instrument that the rating's task states."""
SHAPE = ("form", "criterion", "n answers", "has item", "has span")
"""What decides whether a rating is about what its criterion asks about."""
SUBJECT = ("item", "answers")
RATER = ("rater",)


class Reading(NamedTuple):
    """How the protocol reads a label."""

    state: State
    """Rated or abstained."""
    label: str | None
    """The label as the scale reads it."""
    instrument: str
    """The instrument."""
    digest: str
    """The digest of what was shown, where the file states none."""
    scope: str
    """What the criterion is about."""


_READ = tuple(f"read {name}" for name in Reading._fields)


def read_rows(
    rows: pl.DataFrame,
    readings: Mapping[tuple[Any, ...], Reading],
    criterion_of: Callable[[str, str], Criterion],
) -> pl.DataFrame:
    """The rows with their labels as the protocol reads them.

    `criterion_of`: the criterion by its identifier and that of its instrument.
    """
    first, *others = readings.values()
    is_literal = all((r.state, r.label) == (q[2], q[3]) for q, r in readings.items())
    if is_literal and all(other[2:] == first[2:] for other in others):
        values = dict(zip(_READ[2:], first[2:], strict=True))
        rows = rows.with_columns(
            pl.col("state").alias("read state"),
            pl.col("label").alias("read label"),
            **{name: pl.lit(value, pl.Categorical) for name, value in values.items()},
        )
    else:
        table = pl.DataFrame(
            [(*question, *reading) for question, reading in readings.items()],
            schema=dict.fromkeys((*QUESTION, *_READ), pl.String),
            orient="row",
        )
        rows = rows.with_columns(pl.col(QUESTION).cast(pl.String)).join(
            table, on=QUESTION, how="left", nulls_equal=True, maintain_order="left"
        )
    rows = rows.with_columns(
        state="read state",
        label="read label",
        instrument=_unless_empty("instrument", "read digest", rows),
    )
    scopes = set(rows["read scope"].unique()) if others else {first.scope}
    if "task" in scopes:
        # A question on the task is about all that it shows: the answers have named it.
        of_answers = pl.col("answers").cast(pl.String)
        shown = pl.when(pl.col("read scope") != "task").then(of_answers)
        rows = rows.with_columns(shown.otherwise(pl.lit("[]")).alias("answers"))
    return _canonical(rows, criterion_of) if "pair" in scopes else rows


def _canonical(rows: pl.DataFrame, criterion_of: Callable[[str, str], Criterion]) -> pl.DataFrame:
    """Comparisons in one order of their answers: two raters who agree have the same record."""
    keys = ("read instrument", "criterion", "answers", "label")
    rows = rows.with_columns(pl.col(keys).cast(pl.String))
    table = []
    for form, criterion, answers, label in different(
        rows.filter(pl.col("read scope") == "pair"), keys
    ):
        names, read = canonical(criterion_of(criterion, form), tuple(json.loads(answers)), label)
        table.append((form, criterion, answers, label, _encode(names), read))
    types = dict.fromkeys((*keys, "of pair", "label of pair"), pl.String)
    mirrored = pl.DataFrame(table, schema=types, orient="row")
    rows = rows.join(mirrored, on=keys, how="left", nulls_equal=True, maintain_order="left")
    of_pair = pl.when(pl.col("of pair").is_not_null())
    return rows.with_columns(
        of_pair.then("of pair").otherwise("answers").alias("answers"),
        of_pair.then("label of pair").otherwise("label").alias("label"),
    )


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def different(rows: pl.DataFrame, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The different values of some columns, in the order of the file."""
    return rows.select(names).unique(maintain_order=True).iter_rows()


def shape_of_subject() -> tuple[pl.Expr, ...]:
    """How many answers a rating is about, and whether it has an item and a span."""
    # Within a name, JSON has a backslash before each quote.
    answers = pl.col("answers").cast(pl.String)
    size = (answers != "[]").cast(pl.UInt32) + answers.str.count_matches('","', literal=True)
    return (
        size.alias("n answers"),
        pl.col("item").is_not_null().alias("has item"),
        (pl.col("span") != "").alias("has span"),
    )


def with_forms(rows: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """The rows with the instrument that their task states; empty: none."""
    forms = tasks["instrument"].unique()
    if len(forms) == 1:
        return rows.with_columns(pl.lit(forms[0], pl.Categorical).alias("form"))
    of_tasks = tasks.select(
        pl.col("id").cast(pl.String).alias("task"), pl.col("instrument").alias("form")
    )
    return rows.with_columns(pl.col("task").cast(pl.String)).join(
        of_tasks, on="task", how="left", maintain_order="left"
    )


def with_instruments(tasks: pl.DataFrame, rows: pl.DataFrame, *, is_whole: bool) -> pl.DataFrame:
    """The tasks with the instrument of their ratings, where they state none.

    Those without ratings are left out, unless the file has all tasks of a study: what was asked for
    and not rated is missing, and can only be counted where the tasks are known.
    """
    forms = rows["read instrument"].unique()
    rated = rows.select(pl.col("task").alias("id"), "read instrument").unique("id", keep="first")
    if len(forms) == 1 and rated.height == tasks.height:
        tasks = tasks.with_columns(pl.lit(forms[0], pl.Categorical).alias("read instrument"))
    else:
        tasks = tasks.join(rated, on="id", how="left", maintain_order="left")
        tasks = tasks if is_whole else tasks.filter(pl.col("read instrument").is_not_null())
    read = pl.col("read instrument").fill_null("")
    return tasks.with_columns(_unless_empty("instrument", read, tasks).alias("instrument")).drop(
        "read instrument"
    )


def _unless_empty(name: str, other: str | pl.Expr, frame: pl.DataFrame) -> pl.Expr:
    other = pl.col(other) if isinstance(other, str) else other
    if frame[name].n_unique() == 1 and frame[name][0] == "":
        return other
    text = pl.col(name).cast(pl.String)
    return pl.when(text == "").then(other).otherwise(text)


def together(frames: Sequence[pl.DataFrame], key: str | None = None) -> pl.DataFrame:
    """The rows of several files; of those with the same key the first."""
    if len(frames) == 1:
        return frames[0]
    rows = pl.concat([f.with_columns(pl.col(pl.Categorical).cast(pl.String)) for f in frames])
    return rows if key is None else rows.unique(key, keep="first", maintain_order=True)


def once_about_answers(rows: pl.DataFrame) -> tuple[pl.DataFrame, dict[int, str]]:
    """The rows in which what is asked once about an answer or a task occurs once.

    A row of a sentence repeats it; different values are a problem.
    """
    key = ("task", "rater", "criterion", "answers")
    is_repeated = pl.col("read scope") != "sentence"
    rows = rows.with_row_index("row").with_columns(
        pl.when(is_repeated)
        .then(pl.lit(""))
        .otherwise(pl.col("span").cast(pl.String))
        .alias("span")
    )
    repeated = rows.filter(is_repeated)
    first = repeated.unique(key, keep="first", maintain_order=True)
    values = first.select(*key, pl.col("state", "label").name.prefix("first "))
    later = repeated.join(values, on=key, how="left").filter(
        pl.col("state").ne_missing(pl.col("first state"))
        | pl.col("label").ne_missing(pl.col("first label"))
    )
    problems = {
        row["row"]: _differing(
            row["criterion"], row["read scope"], row["first label"], row["label"]
        )
        for row in later.iter_rows(named=True)
    }
    is_once = ~is_repeated | pl.col("row").is_in(first["row"].implode())
    return rows.filter(is_once).drop("row"), problems


def _differing(criterion: str, scope: str, former: str | None, label: str | None) -> str:
    """That a rater's rows of the sentences of one answer have different values of it."""
    values = [label_word(value) for value in (former, label)]
    return message(
        "criterion {criterion!r} is about {scope}: expected the same value in the rows of all its"
        " sentences, got {former} before and {label} here",
        message_id="records.sentences_differ",
        criterion=criterion,
        scope=scope,
        former=values[0],
        label=values[1],
    )
