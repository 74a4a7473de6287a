"""A table's rows as ratings, and the tasks they were given in: columns, without an object each."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import NamedTuple

import polars as pl

from konsil.errors.places import Place
from konsil.records import Rating, Source, Task, ratings_of, tasks_of
from konsil.sources.files.problems import Problem
from konsil.sources.files.table import Table
from konsil.sources.tables.checks import ROW
from konsil.sources.tables.columns import Columns, resolve
from konsil.sources.tables.longform import COLUMN, PAIRS, long_form, systems_of
from konsil.sources.tables.rowchecks import (
    SENTENCE_NUMBER,
    Combine,
    combined,
    problems_of,
    repeated,
    two_systems,
)
from konsil.sources.tables.tasks import in_quotes, tasks_in, utc, with_tasks
from konsil.sources.tables.unknown_raters import refuse_identified, with_unknown_raters

FIELDS = (
    "rater",
    "item",
    "system",
    "answer",
    "system_a",
    "system_b",
    "answer_a",
    "answer_b",
    "criterion",
    "label",
    "state",
    "note",
    "confidence",
    "seconds",
    "at",
    "arm",
    "phase",
    "batch",
    "purpose",
    "repeat",
    "task",
    "instrument",
    "digest",
    "span_start",
    "span_end",
    "sentence",
)
"""The fields of a rating that a source may map.

`system` without `answer` means the answer 'item:system'; the fields ending in _a and _b make it a
pair, A first. `repeat` says which time it is (1, 2, ...). `instrument` is the instrument's id,
`digest` the digest of what was shown. `sentence` is the number of the rated sentence in its answer,
1 for the first, in place of its offsets. """

_CHUNK = 50_000
"""Rows that are read at once."""
_OF_ALL_ROWS = ("task", "repeat", "sentence")
"""Fields whose meaning in a row depends on the other rows."""
_SHARED = frozenset(
    {
        *("rater", "item", "answers", "criterion", "label", "state", "arm", "phase", "batch"),
        *("purpose", "instrument", COLUMN),
    }
)
"""Texts that many rows share."""
_DEFAULTS: Mapping[str, str | float | None] = {
    **dict.fromkeys(("item", "label", "confidence", "seconds")),
    **dict.fromkeys(("note", "at", "digest", "span"), ""),
    "answers": "[]",
    "state": "rated",
}
"""What a rating has in a field that its table lacks."""


def _nothing() -> pl.DataFrame:
    return pl.DataFrame()


@dataclass(frozen=True)
class ParsedRatings:
    """Ratings of a table and the tasks they name; there are none while there are problems."""

    problems: tuple[Problem, ...] = ()
    """The problems, in the order of the file."""
    place: Place = "line"
    """The unit that `lines` count."""
    rows: int = 0
    """How many rows (of a table) or tasks (of Label Studio) the file has, for `raise_if`."""
    ratings: pl.DataFrame = field(default_factory=_nothing)
    """A column for each field of a rating, in the order of the file's rows; labels are words of
    the file, answers are JSON."""
    screens: pl.DataFrame = field(default_factory=_nothing)
    """A column for each field of a task, one row for each screen."""
    lines: Sequence[int] = ()
    """The line of each rating."""
    duplicates: int = 0
    """Rows left out because an earlier one says the same."""
    systems: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Answer -> its item and system, where rows have both an answer and a system."""
    numbers: tuple[int | None, ...] = ()
    """The number of each rating's sentence; empty where no row has one."""
    number_column: str = "sentence"
    """The column of these numbers."""
    planned: Mapping[str, Task] = field(default_factory=dict)
    """Tasks of the plan that the file names."""
    cancelled: int = 0
    """Screens that their rater skipped: not rated, and no abstention."""

    @cached_property
    def records(self) -> tuple[Rating, ...]:
        """The ratings."""
        return tuple(ratings_of(self.ratings.iter_rows()))

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, those of the plan as it has them."""
        return tuple(self.planned.get(t.id, t) for t in tasks_of(self.screens.iter_rows()))


class _Part(NamedTuple):
    """Some rows of a table in long form."""

    rows: pl.DataFrame
    """The fields that the table has, each as its record has it."""
    problems: tuple[Problem, ...]
    systems: pl.DataFrame


def read_ratings(
    table: Table,
    source: Source,
    of_tasks: Collection[str] = (),
    combine: Combine | None = None,
) -> ParsedRatings:
    """Read ratings, long or wide.

    Their labels are words that the caller still checks against the scale. The criteria `of_tasks`
    are rated once for each task. `combine` makes one of several ratings of the same by one rater.

    A row without a label is not rated and gives no record. Rows that say the same of the same
    subject are one rating; rows that disagree are a problem. While there is any problem there are
    no records.
    """
    columns = resolve(table, source, FIELDS)
    if source.unknown_raters:
        refuse_identified(table, source, columns)
    parts = [_read(part, start, source, columns) for start, part in _parts(table, source, columns)]
    rows = pl.concat([part.rows for part in parts], rechunk=False)
    problems = tuple(itertools.chain.from_iterable(part.problems for part in parts))
    named = pl.concat([part.systems for part in parts]).unique(
        ["answer", "item", "system"], keep="first", maintain_order=True
    )
    if combine is not None and not problems and rows.height:
        rows = combined(rows, of_tasks, combine)
    n_rows, are_stated = rows.height, "task" in columns or bool(source.unknown_raters)
    if are_stated or not _are_different(rows):
        rows, conflicts = repeated(rows, table, of_tasks)
        problems = (*problems, *conflicts)
    problems = (*problems, *two_systems(named, table, columns))
    parsed = ParsedRatings(
        tuple(sorted(problems, key=lambda p: p.line)),
        table.place,
        table.frame.height,
    )
    if problems or not rows.height:
        return parsed
    numbers = rows["sentence"] if "sentence" in rows.columns else None
    return replace(
        parsed,
        ratings=_ratings(rows),
        screens=tasks_in(rows, are_stated=are_stated),
        lines=_lines(rows[ROW], table),
        duplicates=n_rows - rows.height,
        systems={answer: (item, system) for answer, item, system, _ in named.iter_rows()},
        numbers=() if numbers is None or numbers.is_null().all() else tuple(numbers),
        number_column=columns.called("sentence"),
    )


def _parts(table: Table, source: Source, columns: Columns) -> Iterator[tuple[int, Table]]:
    """The table in parts, if its rows can be read without each other; each with its first row."""
    is_whole = source.unknown_raters or columns.hashed or any(f in columns for f in _OF_ALL_ROWS)
    height = table.frame.height
    if is_whole or height <= _CHUNK:
        yield 0, table
        return
    lines = table.lines or range(2, height + 2)
    for start in range(0, height, _CHUNK):
        frame = table.frame.slice(start, _CHUNK)
        yield start, replace(table, frame=frame, lines=lines[start : start + _CHUNK])


def _read(part: Table, start: int, source: Source, columns: Columns) -> _Part:
    frame = long_form(part, source, columns, FIELDS)
    if source.unknown_raters:
        in_rows = bool(source.criteria)
        frame = with_unknown_raters(frame, source.unknown_raters, in_rows=in_rows)
    problems = tuple(problems_of(frame, part, source, columns))
    stated = {name for name in FIELDS if name in columns}
    stated |= {"task"} if frame["task"].null_count() < frame.height else set()
    rows = _fields(frame, stated, start, are_times=not problems)
    named = systems_of(frame).with_columns(pl.col(ROW) + start)
    return _Part(rows, problems, named)


def _fields(
    frame: pl.DataFrame, stated: AbstractSet[str], start: int, *, are_times: bool
) -> pl.DataFrame:
    """The fields that the table has, each as its record has it."""
    answers = [in_quotes(frame[f]) for f in ("first", "second") if stated & _ANSWERS[f]]
    times = frame["at"].drop_nulls().unique().to_list() if are_times else []
    state = pl.when(pl.col("state") == "abstained").then(pl.lit("abstained"))
    integers = {f: pl.col(f).cast(pl.Float64, strict=False) for f in _WHOLE}
    number = pl.when(pl.col("sentence").str.contains(SENTENCE_NUMBER)).then("sentence")
    texts = ("note", "arm", "phase", "batch", "instrument", "digest")
    values = {
        **{name: pl.col(name) for name in ("rater", "item", "criterion", "task")},
        **{name: pl.col(name).fill_null("") for name in texts},
        "purpose": pl.col("purpose").fill_null("main"),
        "state": state.otherwise(pl.lit("rated")),
        "label": pl.when(pl.col("state").ne_missing("abstained")).then("label"),
        **{name: _positive_zero(name) for name in ("confidence", "seconds")},
        **{name: value.cast(pl.Int64, strict=False) for name, value in integers.items()},
        "sentence": number.cast(pl.Float64).cast(pl.Int64),
        "at": pl.col("at")
        .replace_strict(times, [utc(t) for t in times], default=None, return_dtype=pl.String)
        .fill_null(""),
    }
    has = {*stated, "rater", "criterion", "label"}
    columns = [values[name].alias(name) for name in values if name in has]
    if answers:
        names = pl.concat_str([pl.lit(a) for a in answers], separator=",", ignore_nulls=True)
        columns.append(pl.concat_str(pl.lit("["), names, pl.lit("]")).alias("answers"))
    else:
        columns.append(pl.lit("[]").alias("answers"))
    rows = with_tasks(frame.select((pl.col(ROW) + start).alias(ROW), COLUMN, *columns))
    shared = [name for name in rows.columns if name in _SHARED]
    return rows.with_columns(pl.col(shared).cast(pl.Categorical))


_ANSWERS: Mapping[str, frozenset[str]] = {
    "first": frozenset({"system", "answer", *PAIRS}),
    "second": frozenset(PAIRS),
}
_WHOLE = ("repeat", "span_start", "span_end")


def _positive_zero(name: str) -> pl.Expr:
    # Databases forget the sign of minus zero.
    number = pl.col(name).cast(pl.Float64, strict=False)
    return pl.when(number == 0).then(pl.lit(0.0)).otherwise(number)


def _are_different(rows: pl.DataFrame) -> bool:
    """Whether no two rows are ratings of the same; False, too, where two happen to look alike."""
    key = [c for c in ("task", "criterion", "span_start", "span_end", "sentence") if c in rows]
    return rows.select(pl.struct(key).hash()).to_series().n_unique() == rows.height


def _ratings(rows: pl.DataFrame) -> pl.DataFrame:
    if "span_start" in rows.columns and "span_end" in rows.columns:
        span = pl.concat_str(
            pl.lit("["), "span_start", pl.lit(","), "span_end", pl.lit("]")
        ).fill_null("")
        rows = rows.with_columns(span.alias("span"))
    types = {"confidence": pl.Float64, "seconds": pl.Float64}
    rows = rows.with_columns(
        pl.lit(value, types.get(name, pl.Categorical)).alias(name)
        for name, value in _DEFAULTS.items()
        if name not in rows.columns
    ).drop("instrument", strict=False)
    # The digest of the instrument is what a rating has of it.
    return rows.rename({"digest": "instrument"}).select(f.name for f in fields(Rating))


def _lines(numbers: pl.Series, table: Table) -> Sequence[int]:
    lines = pl.Series(table.lines).gather(numbers) if table.lines else numbers + 2
    return array("q", lines.cast(pl.Int64).to_numpy().tobytes())
