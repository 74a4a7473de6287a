"""Ratings of plain tables as columns, which become records only where columns do not suffice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from konsil.analysis.table.columns import Columns
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.sources.tables.rating_cells import DEFAULTS, RatingCells
from konsil.study import Study
from konsil.study.data.distinct import Question, Reading, admit_distinct
from konsil.study.data.incoming import Incoming, StoredRecords

_QUESTION = ("instrument", "criterion", "state", "label")
_OF_FORM = ("read_state", "read_label", "form", "stamp")


@dataclass(frozen=True)
class DeferredRatings(Incoming):
    """A file of ratings that has not become records yet."""

    cells: RatingCells | None = None
    """Its ratings as columns."""
    read: Callable[[], tuple[Incoming, ...]] = field(default=lambda: ())
    """Reads the file as records."""


@dataclass(frozen=True)
class AdmittedColumns:
    """Records that the protocol admits, the many of them as columns."""

    items: Sequence[Item]
    """Items, those implied by ratings included."""
    answers: Sequence[Answer]
    """Answers, those implied by ratings included."""
    raters: Sequence[Rater]
    """The raters that gave ratings."""
    tasks: Columns[Task]
    """Tasks, each with its instrument."""
    ratings: Columns[Rating]
    """Ratings with their labels as the scale reads them."""


def as_records(files: Sequence[Incoming]) -> tuple[Incoming, ...]:
    """The files with all their ratings as records."""
    return tuple(
        each
        for file in files
        for each in (file.read() if isinstance(file, DeferredRatings) else (file,))
    )


def admitted_columns(
    study: Study, files: Sequence[Incoming], stored: StoredRecords
) -> AdmittedColumns | None:
    """What `admit` admits of these files, as columns.

    None where it has anything to object, or where records are needed: the files are then read as
    records and admitted one by one, which names every fault.
    """
    with_ratings = [file for file in files if file.ratings or isinstance(file, DeferredRatings)]
    if len(with_ratings) != 1 or not isinstance(with_ratings[0], DeferredRatings):
        return None
    cells = with_ratings[0].cells
    assert cells is not None
    rows = cells.ratings
    questions = [
        Question(*row)
        for row in _completed(rows).select(_QUESTION).unique().sort(_QUESTION).iter_rows()
    ]
    distinct = admit_distinct(
        study,
        [file for file in files if file is not with_ratings[0]],
        stored,
        questions=questions,
        raters=rows["rater"].unique(maintain_order=True).to_list(),
        subjects=list(
            _completed(rows).select("item", "first").unique(maintain_order=True).iter_rows()
        ),
    )
    if distinct is None:
        return None
    ratings, tasks = _read_cells(cells, distinct.readings)
    return AdmittedColumns(
        distinct.items,
        distinct.answers,
        distinct.raters,
        Columns(tasks, _task_records),
        Columns(ratings, _rating_records),
    )


def _read_cells(
    cells: RatingCells, readings: Mapping[Question, Reading]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of ratings and of tasks as they are stored."""
    rows = _completed(cells.ratings)
    forms = {(reading.instrument, reading.digest) for reading in readings.values()}
    is_same = all(q.state == r.state and q.label == r.label for q, r in readings.items())
    if is_same and len(forms) == 1:
        [(form, stamp)] = forms
        rows = rows.with_columns(
            pl.lit(form).alias("form"),
            pl.lit(stamp).alias("stamp"),
            read_state="state",
            read_label="label",
        )
        form_by_task = None
    else:
        table = pl.DataFrame(
            [(*question, *reading) for question, reading in readings.items()],
            schema=dict.fromkeys((*_QUESTION, *_OF_FORM), pl.String),
            orient="row",
        )
        texts = rows.with_columns(pl.col(_QUESTION).cast(pl.String))
        rows = texts.join(table, on=_QUESTION, how="left", nulls_equal=True, maintain_order="left")
        form_by_task = rows.select("task", "form").unique("task", keep="first", maintain_order=True)
    tasks = _completed(cells.tasks)
    tasks = (
        tasks.with_columns(pl.lit(form).alias("form"))
        if form_by_task is None
        else tasks.join(
            form_by_task, left_on="id", right_on="task", how="left", maintain_order="left"
        )
    )
    return (
        rows.select(
            "task",
            "rater",
            "criterion",
            "item",
            _answers(rows).alias("answers"),
            pl.lit("").alias("span"),
            pl.col("read_state").alias("state"),
            pl.col("read_label").alias("label"),
            *("note", "confidence", "seconds", "at"),
            _unless_empty("digest", "stamp", rows).alias("instrument"),
        ),
        tasks.select(
            "id",
            pl.col("id").alias("slot"),
            "rater",
            _unless_empty("instrument", "form", tasks).alias("instrument"),
            "item",
            _answers(tasks).alias("answers"),
            pl.lit("[]").alias("spans"),
            *("arm", "phase", "batch"),
            pl.lit(0, pl.Int64).alias("position"),
            pl.lit("main").alias("purpose"),
            pl.lit(None, pl.String).alias("repeat_of"),
        ),
    )


def _completed(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the fields that its table lacks."""
    types = {"confidence": pl.Float64, "seconds": pl.Float64}
    return frame.with_columns(
        pl.lit(value, types.get(name, pl.String)).alias(name)
        for name, value in DEFAULTS.items()
        if name not in frame.columns
    )


def _unless_empty(name: str, other: str, frame: pl.DataFrame) -> pl.Expr:
    if frame[name].n_unique() == 1 and frame[name][0] == "":
        return pl.col(other)
    text = pl.col(name).cast(pl.String)
    return pl.when(text == "").then(other).otherwise(text)


def _answers(frame: pl.DataFrame) -> pl.Series:
    """The list of the one answer, or of none, as JSON; no name has a character that it escapes."""
    first = frame["first"]
    names = first.drop_nulls().unique().cast(pl.String)
    lists = ('["' + names + '"]').cast(pl.Categorical)
    return first.cast(pl.String).replace_strict(
        names, lists, default="[]", return_dtype=pl.Categorical
    )


def _rating_records(frame: pl.DataFrame) -> Iterator[Rating]:
    for task, rater, criterion, item, answers, _, *rest in frame.iter_rows():
        yield Rating(task, rater, criterion, item, tuple(json.loads(answers)), None, *rest)


def _task_records(frame: pl.DataFrame) -> Iterator[Task]:
    for task, slot, rater, instrument, item, answers, _, *rest in frame.iter_rows():
        yield Task(task, slot, rater, instrument, item, tuple(json.loads(answers)), (), *rest)
