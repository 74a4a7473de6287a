"""Problems of rows of ratings that are independent of the scale.

Checked by column, so that a million rows take little.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import get_args

import polars as pl

from konsil.errors.message import Listed, message
from konsil.errors.places import label_word, place_word
from konsil.records import Purpose, Source, State
from konsil.records.bulk import differences
from konsil.sources.files.problems import Problem
from konsil.sources.files.table import Table
from konsil.sources.tables.checks import (
    DECIMAL_COMMA,
    ROW,
    empty,
    empty_sentence,
    failing,
    not_a_number,
    not_among,
    not_whole,
    number_sentence,
)
from konsil.sources.tables.columns import Columns
from konsil.sources.tables.longform import COLUMN, PAIRS, WORD

Combine = Callable[[pl.DataFrame], pl.DataFrame]
"""Ratings by row, unit, rater, criterion and label -> one row for each unit."""
_ROW_AND_COLUMN = [ROW, COLUMN]
_SUBJECT = (
    "rater",
    "item",
    "answers",
    "criterion",
    "span_start",
    "span_end",
    "sentence",
    "arm",
    "phase",
    "batch",
    "purpose",
    "repeat",
    "instrument",
)
_SCREEN = ("rater", "item", "arm", "phase", "batch", "purpose", "instrument")
# Raters may see the same thing again in these, each time on a task of its own.
_AGAIN = ("repeat", "practice", "pilot")
_SHOWN = 60
SENTENCE_NUMBER = r"^0*[1-9]\d{0,14}(\.0+)?$"
"""A whole number from 1, also as spreadsheets write it."""


def problems_of(
    frame: pl.DataFrame, table: Table, source: Source, columns: Columns
) -> Iterator[Problem]:
    """Every problem of the rows' fields; labels are compared with the scale elsewhere."""
    for field in ("rater", "criterion"):
        yield from empty(frame, table, field, columns.called(field))
    yield from _subjects(frame, table, columns)
    yield from _labels(frame, table, source)
    for field, least in (("seconds", 0.0), ("confidence", None)):
        if field in columns:
            yield from not_a_number(frame, table, field, columns.called(field), least)
    for field in ("repeat", "span_start", "span_end"):
        if field in columns:
            yield from not_whole(frame, table, field, columns.called(field))
    for field, valid_words in (("purpose", get_args(Purpose)), ("state", get_args(State))):
        if field in columns:
            yield from not_among(
                frame, table, field, columns.called(field), valid_words, _otherwise(field, source)
            )
    if "at" in columns:
        yield from failing(
            frame, table, _not_a_time(frame), columns.called("at"), "at", _time_sentence
        )
    if "span_start" in columns or "span_end" in columns:
        yield from _spans(frame, table, columns)
    if "sentence" in columns:
        yield from _sentences(frame, table, source, columns)
    if "task" in columns:
        yield from _screens(frame, table, source, columns)


def _subjects(frame: pl.DataFrame, table: Table, columns: Columns) -> Iterator[Problem]:
    # A survey has no item and a question on the item no answer. Whether one was forgotten only the
    # criterion's scope can tell, which the protocol knows and this file does not; here only what no
    # scope allows is a problem.
    if "item" in columns:
        answered = pl.any_horizontal(
            pl.col("first", "second", "system", "answer", *PAIRS).is_not_null()
        )
        wrong = pl.col("item").is_null() & answered
        yield from failing(frame, table, wrong, columns.called("item"), "item", empty_sentence)
    answer_fields = [
        f
        for f in ("answer_a", "system_a", "answer_b", "system_b", "answer", "system")
        if f in columns
    ]
    if not answer_fields:
        return
    pair = pl.any_horizontal(pl.col(PAIRS).is_not_null())
    named = pl.col("item").is_not_null()
    first, second = pl.col("first").is_null(), pl.col("second").is_null()
    first_column = columns.called(answer_fields[0])
    yield from failing(frame, table, named & first & pair, first_column, "first", empty_sentence)
    right = next((f for f in answer_fields if f.endswith("_b")), None)
    if right is not None:
        wrong = named & second & ~first & pair
        yield from failing(frame, table, wrong, columns.called(right), "second", empty_sentence)
    same = pl.col("first") == pl.col("second")
    yield from failing(frame, table, same, "", "first", _same_answer)


def _labels(frame: pl.DataFrame, table: Table, source: Source) -> Iterator[Problem]:
    """A decimal comma is never a label by itself; who means it so says so in `labels`."""
    translated = [*source.labels, *(word for words in source.labels_of.values() for word in words)]
    comma = pl.col(WORD).str.contains(DECIMAL_COMMA) & ~pl.col(WORD).is_in(translated)
    for row, name, word in frame.filter(comma).select(*_ROW_AND_COLUMN, WORD).iter_rows():
        yield Problem(table.line(row), name, number_sentence(word), table.place)
    silent = (pl.col("state") == "abstained") & pl.col("label").is_not_null()
    yield from failing(
        frame,
        table,
        silent,
        "label",
        WORD,
        lambda t: message(
            "{text!r} is given with the state abstained", message_id="cells.abstained", text=t
        ),
    )


def _not_a_time(frame: pl.DataFrame) -> pl.Expr:
    wrong = [t for t in frame["at"].drop_nulls().unique().to_list() if not _is_time(t)]
    return pl.col("at").is_in(wrong) if wrong else pl.lit(False)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _time_sentence(text: str) -> str:
    return message(
        "{text!r} is not a time in ISO 8601, such as 2024-05-01T08:30:00Z",
        message_id="cells.no_time",
        text=text,
    )


def _same_answer(text: str) -> str:
    return message("{text!r} is compared with itself", message_id="cells.with_itself", text=text)


def _spans(frame: pl.DataFrame, table: Table, columns: Columns) -> Iterator[Problem]:
    start, end = (pl.col(f).cast(pl.Float64, strict=False) for f in ("span_start", "span_end"))
    half = pl.col("span_start").is_null() != pl.col("span_end").is_null()
    yield from failing(
        frame,
        table,
        half,
        columns.called("span_start"),
        "span_start",
        lambda _: "a span has a start and an end",
    )
    yield from failing(
        frame,
        table,
        start >= end,
        columns.called("span_end"),
        "span_end",
        lambda t: f"{t} is not after the start",
    )


def _sentences(
    frame: pl.DataFrame, table: Table, source: Source, columns: Columns
) -> Iterator[Problem]:
    """Numbers of sentences that are not whole numbers, or in a file that has offsets too.

    A column with other contents next to offsets, such as the sentence's text, is not read unless
    the source names it.
    """
    called = columns.called("sentence")
    is_number = pl.col("sentence").str.contains(SENTENCE_NUMBER)
    hint = _otherwise("sentence", source)
    has_offsets = any(frame[f].null_count() < frame.height for f in ("span_start", "span_end"))
    if not has_offsets or "sentence" in source.columns or "sentence" in source.fixed:
        yield from failing(
            frame,
            table,
            ~is_number,
            called,
            "sentence",
            lambda t: message(
                "{text!r} is not a whole number from 1{hint}",
                message_id="cells.no_sentence_number",
                text=_shortened(t),
                hint=hint,
            ),
        )
    # If only some rows had offsets, two rows could rate the same sentence without notice.
    if has_offsets:
        offsets = [columns.called(f) for f in ("span_start", "span_end") if f in columns]
        yield from failing(
            frame,
            table,
            is_number,
            called,
            "sentence",
            lambda t: (
                f"the number {t} of a sentence is given in a file with offsets"
                f" ({' and '.join(offsets)}); expected either of them in all rows{hint}"
            ),
        )


def _shortened(cell: str) -> str:
    return cell if len(cell) <= _SHOWN else f"{cell[: _SHOWN - 3]}..."


def _otherwise(field: str, source: Source) -> str:
    """The advice on a column that has a field's name by chance."""
    if field in source.columns:
        return ""
    return message(
        "; if the column means something else, set columns.{field} = []",
        message_id="cells.other_meaning",
        field=field,
    )


def two_systems(named: pl.DataFrame, table: Table, columns: Columns) -> Iterator[Problem]:
    """Answers that rows assign to different items or systems."""
    rows = named.filter(pl.col("answer").is_duplicated()).iter_rows(named=True)
    for row, before, field in differences(rows, "answer", ("item", "system")):
        yield Problem(
            table.line(row[ROW]),
            columns.called(field),
            message(
                "answer {answer!r} belongs to {field} {here!r} here and to {before!r} on {place};"
                " if the column does not identify answers, set columns.answer = []",
                message_id="cells.two_systems",
                answer=row["answer"],
                field=field,
                here=row[field],
                before=before[field],
                place=place_word(table.place, table.line(before[ROW])),
            ),
            table.place,
        )


def _screens(
    frame: pl.DataFrame, table: Table, source: Source, columns: Columns
) -> Iterator[Problem]:
    """Problems of tasks, each of which is one screen.

    All ratings of a task have its rater, its item and its place in the plan.
    """
    if frame["task"].null_count() < frame.height:
        yield from empty(frame, table, "task", columns.called("task"))
    fields = [f for f in _SCREEN if f in columns or f in ("rater", "item")]
    first = frame.filter(pl.col("task").is_not_null()).unique(
        ["task", *fields], keep="first", maintain_order=True
    )
    if first["task"].is_duplicated().any():
        again = first.filter(pl.col("task").is_duplicated()).iter_rows(named=True)
        for row, before, field in differences(again, "task", fields):
            yield Problem(
                table.line(row[ROW]),
                columns.called(field),
                message(
                    "task {task!r} has {here} here and {before} on {place}{hint}",
                    message_id="cells.two_tasks",
                    task=str(row["task"]),
                    here=repr(row[field]),
                    before=repr(before[field]),
                    place=place_word(table.place, table.line(int(str(before[ROW])))),
                    hint=_otherwise("task", source),
                ),
                table.place,
            )


def repeated(
    frame: pl.DataFrame, table: Table, of_tasks: Collection[str] = ()
) -> tuple[pl.DataFrame, tuple[Problem, ...]]:
    """The ratings without repetitions, and a problem for each contradictory row.

    A row is contradictory if an earlier one has another label for the same subject. The criteria
    `of_tasks` are rated once for each task, whichever answers it shows.
    """
    if not frame.height:
        return frame, ()
    frame, key = _with_subject(frame, of_tasks)
    once = frame.unique(key, keep="first", maintain_order=True)
    if once.height == frame.height:
        return frame, ()
    first = once.select(*key, pl.col("label", ROW, COLUMN).name.prefix("first_"))
    compared = frame.join(first, on=key, how="left", nulls_equal=True, maintain_order="left")
    differ = compared.filter(pl.col("label").ne_missing(pl.col("first_label")))
    return once, tuple(_contradiction(row, table) for row in differ.iter_rows(named=True))


def combined(frame: pl.DataFrame, of_tasks: Collection[str], combine: Combine) -> pl.DataFrame:
    """One rating of each subject by each rater, as a rule makes it of several."""
    keyed, key = _with_subject(frame, of_tasks)
    subjects = keyed.select(key).unique(maintain_order=True).with_row_index("unit")
    rows = keyed.join(subjects, on=key, how="left", nulls_equal=True, maintain_order="left")
    rows = rows.select("unit", pl.col("rater", "criterion", "label").cast(pl.String))
    chosen = combine(rows.with_row_index("row"))
    label = chosen.get_column("label").cast(frame.schema["label"])
    return frame[chosen.get_column("row")].with_columns(label)


def _with_subject(frame: pl.DataFrame, of_tasks: Collection[str]) -> tuple[pl.DataFrame, list[str]]:
    """The ratings, and the columns that together say who rates what."""
    key = [c for c in _SUBJECT if c in frame.columns and frame[c].null_count() < frame.height]
    if "task" not in frame.columns:
        return frame, key
    purpose = pl.col("purpose").cast(pl.String) if "purpose" in frame.columns else pl.lit("")
    of_task = pl.col("criterion").is_in(list(of_tasks)) & pl.col("task").is_not_null()
    is_own = of_task | purpose.is_in(_AGAIN).fill_null(False)
    frame = frame.with_columns(
        pl.when(is_own).then("task").alias("_own"),
        pl.when(~of_task).then("answers").alias("_answers"),
    )
    return frame, ["_answers" if c == "answers" else c for c in key] + ["_own"]


def _contradiction(row: dict[str, object], table: Table) -> Problem:
    answers = tuple(map(label_word, json.loads(str(row["answers"]))))
    item = row.get("item")
    this = message("this", message_id="cells.this") if item is None else label_word(item)
    subject = Listed(answers, " against ", "{some} against {last}") if answers else this
    line, other = (table.line(int(str(row[name]))) for name in (ROW, f"first_{ROW}"))
    place = (
        message("on {place}", message_id="cells.on_line", place=place_word(table.place, other))
        if line != other
        else message(
            "in column {column!r}",
            message_id="cells.in_column",
            column=str(row[f"first_{COLUMN}"]),
        )
    )
    sentence = message(
        "rater {rater!r} rates {subject} on {criterion!r} as {label} here and as {former} {place};"
        " if the question was repeated on purpose, number the repetitions (1, 2, ...) in 'repeat'",
        message_id="cells.contradiction",
        rater=str(row["rater"]),
        subject=subject,
        criterion=str(row["criterion"]),
        label=label_word(row["label"]),
        former=label_word(row["first_label"]),
        place=place,
    )
    return Problem(line, str(row[COLUMN]), sentence, table.place)
