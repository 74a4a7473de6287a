"""Records as columns: a million ratings are joined and counted without an object for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, TypeVar, overload

import polars as pl

from konsil.records import Rating, Task, ratings_of, tasks_of

R = TypeVar("R")

RATING = (
    "task",
    "rater",
    "criterion",
    "item",
    "answers",
    "span",
    "state",
    "label",
    "seconds",
    "confidence",
)
"""What the analyses read of a rating."""

TASK = (
    "id",
    "rater",
    "instrument",
    "item",
    "answers",
    "spans",
    "arm",
    "phase",
    "batch",
    "purpose",
    "repeat_of",
)
"""What the analyses read of a task."""

_REPEATED = frozenset(
    {
        *("rater", "panel", "kind", "family", "criterion", "item", "case", "span", "state"),
        *("instrument", "design", "phase", "batch", "purpose"),
    }
)
"""The columns whose few values occur in many rows, and are read neither in parts nor as numbers."""

_CHUNK = 50_000
"""Values whose JSON is made at once."""
_CONTROL = "[\x00-\x1f]"
"""The characters that JSON escapes, besides quotes and backslashes."""
_ESCAPED = r'["\\\x00-\x1f]'
"""All characters that JSON escapes."""
_BETWEEN = '","'
"""What stands between two texts."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def text_type(name: str) -> type[pl.Categorical] | type[pl.String]:
    """How a column of texts is stored: values that occur in many rows once, with their numbers.

    Both compare and sort as texts; they are joined only with columns of the same type.

    >>> text_type("rater"), text_type("task")
    (Categorical, String)
    """
    return pl.Categorical if name in _REPEATED else pl.String


def text_types(*names: str) -> dict[str, type[pl.Categorical] | type[pl.String]]:
    """The schema of a frame of texts."""
    return {name: text_type(name) for name in names}


def enumerated(column: pl.Series) -> pl.Series:
    """Texts as an Enum of their sorted values, whose numbers are therefore in their order.

    >>> enumerated(pl.Series(["b", "a", "b"])).to_physical().to_list()
    [1, 0, 1]
    """
    return column.cast(pl.Enum(column.unique().cast(pl.String).sort()))


class Columns(Sequence[R]):
    """A sequence of records stored as columns; records are created only on access.

    `frame` has a column for each field, lists and spans as JSON text and no span as the empty text;
    `make` turns it into the records, in their order.
    """

    def __init__(self, frame: pl.DataFrame, make: Callable[[pl.DataFrame], Iterable[R]]) -> None:
        self.frame = frame
        self._make = make

    def with_frame(self, frame: pl.DataFrame) -> Columns[R]:
        """The same kind of records in other columns."""
        return Columns(frame, self._make)

    @cached_property
    def _records(self) -> tuple[R, ...]:
        return tuple(self._make(self.frame))

    def __len__(self) -> int:
        return self.frame.height

    @overload
    def __getitem__(self, place: int) -> R: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[R, ...]: ...

    def __getitem__(self, place: int | slice) -> R | tuple[R, ...]:
        return self._records[place]

    def __iter__(self) -> Iterator[R]:
        return iter(self._records)


def rating_columns(ratings: Sequence[Rating]) -> pl.DataFrame:
    """The ratings as columns, by the names in RATING.

    >>> rating = Rating("t", "R1", "correct", "q1", ("q1:a",), None, "rated", "yes")
    >>> rating_columns([rating]).row(0)[:6]
    ('t', 'R1', 'correct', 'q1', '["q1:a"]', '')
    """
    if isinstance(ratings, Columns):
        return _typed(ratings.frame.select(RATING))
    return _rating_frame(RATING, ratings)


def as_rating_columns(ratings: Sequence[Rating]) -> Columns[Rating]:
    """The ratings as columns, with all their fields.

    >>> rating = Rating("t", "R1", "correct", "q1", ("q1:a",), None, "rated", "yes", "Note")
    >>> tuple(as_rating_columns([rating])) == (rating,)
    True
    """
    if isinstance(ratings, Columns):
        return ratings
    frame = _rating_frame([f.name for f in fields(Rating)], ratings)
    return Columns(frame, lambda frame: ratings_of(frame.iter_rows()))


def _rating_frame(names: Sequence[str], ratings: Sequence[Rating]) -> pl.DataFrame:
    places = {r.span for r in ratings}
    spans = {s: "" if s is None else _encode([s.start, s.end]) for s in places}
    column = pl.Series([spans[r.span] for r in ratings], dtype=text_type("span"))
    return _frame(names, ratings, span=column)


def screen_columns(ratings: Sequence[Rating]) -> pl.DataFrame:
    """One row a screen that a rater rated: the rater, its seconds and its number of ratings.

    Seconds belong to the screen and are repeated on each of its ratings.

    >>> of_screen = [Rating("t", "R1", criterion, "q1", seconds=4.0) for criterion in ("a", "b")]
    >>> screen_columns(of_screen).rows()
    [('R1', 4.0, 2)]
    """
    return (
        rating_columns(ratings)
        .group_by("task", "rater", maintain_order=True)
        .agg(pl.col("seconds").first(ignore_nulls=True), pl.len().alias("ratings"))
        .drop("task")
    )


def work_by_rater(ratings: Sequence[Rating]) -> Iterable[tuple[str, list[float], int, int]]:
    """Each rater with its seconds of every timed screen, and its numbers of screens and ratings.

    >>> two = [Rating("t", "R1", name, "q1", seconds=4.0) for name in ("a", "b")]
    >>> list(work_by_rater([*two, Rating("u", "R1", "a", "q2")]))
    [('R1', [4.0], 2, 3)]
    """
    return (
        screen_columns(ratings)
        .group_by("rater")
        .agg(
            pl.col("seconds").drop_nulls(),
            pl.len().alias("screens"),
            pl.col("ratings").sum(),
        )
        .iter_rows()
    )


def tasks_by_panel(
    ratings: Sequence[Rating], panel_of: Mapping[str, str], columns: Sequence[str]
) -> list[dict[str, list[int]]]:
    """For each of the columns: panel -> the number of tasks of each of its values.

    The columns are "rater" or "item". Tasks without an item are left out.

    >>> tasks = [Rating(task, "R1", "a", item) for task, item in (("t", "q1"), ("u", "q2"))]
    >>> both = [*tasks, Rating("v", "R2", "a", "q2")]
    >>> tasks_by_panel(both, {"R1": "p", "R2": "p"}, ["rater", "item"])
    [{'p': [2, 1]}, {'p': [1, 2]}]
    """
    tasks = rating_columns(ratings).select("task", "rater", "item").drop_nulls("item").unique()
    panel = pl.col("rater").replace_strict(panel_of, default="", return_dtype=pl.String)
    of_panels = tasks.with_columns(panel.alias("panel"))
    counts = [of_panels.group_by("panel", name).len().sort(name) for name in columns]
    return [dict(count.group_by("panel").agg("len").iter_rows()) for count in counts]


def task_columns(tasks: Sequence[Task], names: Sequence[str] = TASK) -> pl.DataFrame:
    """The tasks as columns, by names out of TASK; `spans` is the number of spans."""
    if isinstance(tasks, Columns):
        frame = _typed(tasks.frame.select(names))
        return frame.with_columns(lists("spans").list.len()) if "spans" in names else frame
    return _frame(names, tasks, spans=pl.Series([len(t.spans) for t in tasks], dtype=pl.UInt32))


def as_task_columns(tasks: Sequence[Task]) -> Columns[Task]:
    """The tasks as columns, with all their fields.

    >>> tuple(as_task_columns([Task("t", "t", "R1", "form", "q1")]))[0].item
    'q1'
    """
    if isinstance(tasks, Columns):
        return tasks
    names = [f.name for f in fields(Task)]
    spans = [_encode([[s.start, s.end] for s in t.spans]) for t in tasks]
    frame = _frame(names, tasks, spans=pl.Series(spans, dtype=pl.String))
    return Columns(frame, lambda frame: tasks_of(frame.iter_rows()))


def answers_in(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with one row for each of the answers of each row, in a column `answer`.

    Rows without answers go.
    """
    return (
        frame.with_columns(lists("answers").alias("answer"))
        .filter(pl.col("answer").list.len() > 0)
        .explode("answer")
    )


def lists(column: str) -> pl.Expr:
    """A column of JSON text, answers or spans, as lists."""
    inner = pl.String if column == "answers" else pl.List(pl.Int64)
    return pl.col(column).str.json_decode(pl.List(inner))


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its texts as analyses join them."""
    texts = [name for name, of in frame.schema.items() if of in (pl.String, pl.Categorical)]
    return frame.with_columns(pl.col(name).cast(text_type(name)) for name in texts)


def _frame(names: Sequence[str], records: Sequence[Any], **overrides: pl.Series) -> pl.DataFrame:
    texts = {answers: _encode(answers) for answers in {r.answers for r in records}}
    types = {"seconds": pl.Float64, "confidence": pl.Float64, "position": pl.Int64}
    columns = []
    for name in names:
        values = (
            (texts[r.answers] for r in records)
            if name == "answers"
            else (getattr(r, name) for r in records)
        )
        column = overrides.get(name)
        if column is None:
            column = pl.Series(name, [*values], types.get(name, text_type(name)))
        columns.append(column.alias(name))
    return pl.DataFrame(columns)


def json_of_columns(
    columns: Columns[object], order: Sequence[str]
) -> Iterator[tuple[str, Iterator[str]]]:
    """Each column, and the JSON of its values in chunks: a list's, without its brackets.

    The rows come in the order of the columns `order`.

    >>> columns = Columns(pl.DataFrame({"id": ["b", "a"], "n": [2.5, None]}), lambda frame: frame)
    >>> [(name, list(parts)) for name, parts in json_of_columns(columns, ["id"])]
    [('id', ['"a","b"']), ('n', ['null,2.5'])]
    """
    frame = columns.frame
    constants = {name for name in frame.columns if _is_constant(frame.get_column(name))}
    # Columns with one value change no order, and sorting by fewer takes less time.
    keys = [name for name in order if name not in constants] or order
    places = frame.select(pl.arg_sort_by(*keys)).to_series()
    for name in frame.columns:
        yield name, _parts(frame.get_column(name).rechunk(), places, is_constant=name in constants)


def _is_constant(column: pl.Series) -> bool:
    """Whether all values of a column of texts or whole numbers are the same, or missing.

    Other numbers are left out: 0.0 and -0.0 are equal but have different texts.
    """
    if column.dtype.is_float() or column.is_empty():
        return False
    if n_missing := column.null_count():
        return n_missing == len(column)
    return bool((column == column[0]).all())


def _parts(column: pl.Series, places: pl.Series, *, is_constant: bool) -> Iterator[str]:
    ordered = column if is_constant else column.gather(places)
    for start in range(0, len(ordered), _CHUNK):
        part = ordered[start : start + _CHUNK]
        yield ",".join([_encode(part[0])] * len(part)) if is_constant else _joined(part)


def _joined(column: pl.Series) -> str:
    if column.dtype == pl.Categorical:
        # The JSON of each value once, and then in the place of the value.
        values = column.unique()
        texts = pl.Series([_encode(value) for value in values], dtype=pl.String)
        return str(column.replace_strict(values, texts, return_dtype=pl.String).str.join(",")[0])
    if column.dtype != pl.String:
        return _encode(column.to_list())[1:-1]
    if column.null_count() or column.str.contains(_ESCAPED).any():
        return str(json_texts(column).str.join(",")[0])
    return f'"{column.str.join(_BETWEEN)[0]}"'


def json_texts(column: pl.Series) -> pl.Series:
    r"""The JSON of each text of a column.

    >>> json_texts(pl.Series(['a "b"', "c\n", None])).to_list()
    ['"a \\"b\\""', '"c\\n"', 'null']
    """
    if column.str.contains(_ESCAPED).any():
        if column.str.contains(_CONTROL).any():
            return pl.Series(column.name, map(_encode, column.to_list()), pl.String)
        column = column.str.replace_all("\\", r"\\", literal=True)
        column = column.str.replace_all('"', r"\"", literal=True)
    return ('"' + column + '"').fill_null("null")
