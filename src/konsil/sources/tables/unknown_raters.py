"""Ratings whose raters no column identifies.

Several unknown raters of one subject are distinguished by a running number among its rows. The
numbers follow from the rows' contents, so that the same rows in any order have the same numbers.
"""

from __future__ import annotations

import hashlib
import json

import polars as pl

from konsil.errors import SourceError
from konsil.records import Source
from konsil.sources.files.table import Table
from konsil.sources.tables.checks import ROW
from konsil.sources.tables.columns import Columns
from konsil.sources.tables.longform import COLUMN

_QUESTION = ("criterion", "span_start", "span_end", "sentence")
"""What one rater answers once about a subject."""
_DISPLAY = ("item", "first", "second", "arm", "phase", "batch", "purpose", "instrument")
"""What one task shows, and where it is in the plan."""
_UNIT, _SCREEN, _NUMBER, _IS_ONE = "\x1funit", "\x1fscreen", "\x1fnumber", "\x1fis one"
_TEXT = "\x1ftext"


def unknown_rater(panel: str, number: int) -> str:
    """The identifier of the unknown rater of a panel with this number among those of a subject.

    >>> unknown_rater("physicians", 2)
    'physicians-unknown-2'
    """
    return f"{panel}-unknown-{number}"


def refuse_identified(table: Table, source: Source, columns: Columns) -> None:
    """Refuse a source that says both that raters are unknown and who they are."""
    if source.raters:
        raise SourceError(
            f"{table.name}: unknown_raters and raters are both given; expected one of them"
        )
    for field in ("rater", "repeat"):
        if field in columns:
            raise SourceError(
                f"{table.name}: unknown_raters: {columns.called(field)!r} identifies the"
                f" {'raters' if field == 'rater' else 'repeated ratings of a rater'}; remove"
                f" unknown_raters, or set columns.{field} = [] not to read it"
            )


def with_unknown_raters(frame: pl.DataFrame, panel: str, *, in_rows: bool) -> pl.DataFrame:
    """The rows with their raters numbered within each subject: an item, or its answer or pair.

    Rows belong to one rater where they have one task, where they are one row of the file
    (`in_rows`: a column for each criterion), or where the same display occurs once for each
    question. Of several raters of one display it is not known which of their answers to different
    questions belong together: each answer then has a task of its own.

    `frame` is in long form; the raters are numbered from 1 by the contents of their rows, so that
    neither the order of the rows nor a second reading changes a number.
    """
    if not frame.height:
        return frame.with_columns(pl.lit(None, pl.String).alias("rater"))
    texts = [c for c in frame.columns if c not in (ROW, COLUMN, "rater", "label")]
    pair = pl.concat_list("first", "second").list.drop_nulls().list.sort().list.join("\x1f")
    frame = frame.with_columns(
        _joined(*texts).alias(_TEXT),
        pl.concat_str(_joined("item"), pair, separator="\x1e").alias(_UNIT),
    )
    is_one = (
        pl.lit(value=True)
        if in_rows
        else ~pl.struct(*_DISPLAY, *_QUESTION).is_duplicated().any().over(_DISPLAY)
    )
    row = pl.col(ROW).cast(pl.String)
    display = row if in_rows else pl.when(is_one).then(_joined(*_DISPLAY)).otherwise(row)
    frame = frame.with_columns(
        (is_one | pl.col("task").is_not_null()).alias(_IS_ONE),
        pl.when(pl.col("task").is_not_null())
        .then(pl.concat_str(pl.lit("task "), "task"))
        .otherwise(display)
        .alias(_SCREEN),
    )
    numbers = _numbers(frame)
    frame = frame.join(numbers, on=[_UNIT, _SCREEN], how="left", maintain_order="left")
    names = {n: unknown_rater(panel, n) for n in numbers.get_column(_NUMBER).unique().to_list()}
    frame = frame.with_columns(
        pl.col(_NUMBER).replace_strict(names, return_dtype=pl.String).alias("rater")
    )
    return frame.with_columns(_tasks(frame)).drop(_TEXT, _UNIT, _SCREEN, _NUMBER, _IS_ONE)


def _joined(*columns: str) -> pl.Expr:
    return pl.concat_str([pl.col(c).fill_null("") for c in columns], separator="\x1f")


def _numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """The number of each screen: first those of all questions, then those of a single question."""
    screens = frame.group_by(_UNIT, _SCREEN, maintain_order=True).agg(
        pl.col(_TEXT).sort().str.join("\x1e"),
        pl.col(_IS_ONE).first(),
        _joined(*_QUESTION).first().alias("question"),
    )
    is_whole = pl.col(_IS_ONE)
    ordered = screens.sort(_UNIT, _TEXT).with_columns(
        is_whole.sum().over(_UNIT).alias("n whole"),
        pl.when(is_whole).then(pl.lit("")).otherwise("question").alias("question"),
    )
    place = pl.int_range(1, pl.len() + 1).over(_UNIT, _IS_ONE, "question")
    number = pl.when(is_whole).then(place).otherwise(place + pl.col("n whole"))
    return ordered.select(_UNIT, _SCREEN, number.cast(pl.Int64).alias(_NUMBER))


def _tasks(frame: pl.DataFrame) -> pl.Series:
    """The task of each row: the file's, or that of an answer which belongs to no other.

    Null where the task follows from its rater and what it shows.
    """
    alone = ~frame.get_column(_IS_ONE)
    tasks = frame.get_column("task").to_list()
    cells = frame.select("rater", *_DISPLAY, *_QUESTION)
    for n, row in zip(alone.arg_true(), cells.filter(alone).iter_rows(), strict=True):
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        tasks[n] = f"t-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
    return pl.Series("task", tasks, dtype=pl.String)
