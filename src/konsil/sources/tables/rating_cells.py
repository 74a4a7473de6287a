"""A plain table of ratings as columns: a million rows without an object for each.

Plain is a table without any problem, each of whose rows is a rating of its own, of an item or of
one answer, and without columns that tell tasks, repetitions, purposes or sentences apart. Any other
table is read by `read_ratings`, which has the sentences for what is wrong; where both read a table,
they read the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from konsil.errors import SourceError
from konsil.records import Source
from konsil.sources.files.table import Table
from konsil.sources.tables.columns import resolve
from konsil.sources.tables.longform import long_form
from konsil.sources.tables.ratings import FIELDS
from konsil.sources.tables.rowchecks import problems_of
from konsil.sources.tables.tasks import utc

_CHUNK = 50_000
_TASK = ("rater", "item", "first", "arm", "phase", "batch", "instrument")
"""What tells the tasks of a plain table apart."""
_PLAIN = frozenset(
    {
        *("rater", "item", "system", "answer", "criterion", "label", "state", "note", "confidence"),
        *("seconds", "at", "arm", "phase", "batch", "instrument", "digest"),
    }
)
_ESCAPED = r'["\\\x00-\x1f]'
"""Characters that JSON writes otherwise."""
_IDS = (
    "rater",
    "item",
    "first",
    "criterion",
    "label",
    "state",
    "arm",
    "phase",
    "batch",
    "instrument",
)
"""Texts that many rows share."""
DEFAULTS: Mapping[str, str | float | None] = MappingProxyType(
    {
        **dict.fromkeys(("item", "first", "label", "confidence", "seconds")),
        **dict.fromkeys(("note", "at", "arm", "phase", "batch", "instrument", "digest"), ""),
        "state": "rated",
    }
)
"""What a rating has in a field that its table lacks."""


@dataclass(frozen=True, slots=True)
class RatingCells:
    """The ratings of a plain table, and the tasks that they name."""

    ratings: pl.DataFrame
    """The task of each rating, `first`, the answer that it is about, and the fields that the table
    has; labels are words of the file."""
    tasks: pl.DataFrame
    """`id` and what tells them apart, in the order of the file."""


def rating_cells(table: Table, source: Source) -> RatingCells | None:
    """The ratings of a plain table; None for any other."""
    if source.unknown_raters:
        return None  # whose number a rater has depends on all rows of a subject
    columns = resolve(table, source, FIELDS)
    fields = {*columns.of, *columns.fixed}
    if not fields <= _PLAIN or {"system", "answer"} <= fields or columns.hashed:
        return None
    fields |= {"rater", "criterion", "label"} | (
        {"first"} if fields & {"system", "answer"} else set()
    )
    of_task = [name for name in _TASK if name in fields]
    ratings, tasks = [], []
    for start in range(0, table.frame.height, _CHUNK):
        part = Table(table.frame.slice(start, _CHUNK), table.path, table.sheet, (), table.place)
        try:
            frame = long_form(part, source, columns, FIELDS)
        except SourceError:
            return None  # which of several faults is named depends on all rows
        if next(problems_of(frame, part, source, columns), None) is not None:
            return None
        cells = _cells(frame, fields)
        of_tasks = cells.select(of_task).unique(maintain_order=True)
        if any(of_tasks.select(pl.col(of_task).str.contains(_ESCAPED).any()).row(0)):
            return None
        of_tasks = of_tasks.with_columns(_task_ids(of_tasks))
        cells = cells.join(
            of_tasks, on=of_task, how="left", nulls_equal=True, maintain_order="left"
        )
        ids = [name for name in _IDS if name in cells.columns]
        tasks.append(of_tasks.with_columns(pl.col(of_task).cast(pl.Categorical)))
        ratings.append(cells.rename({"id": "task"}).with_columns(pl.col(ids).cast(pl.Categorical)))
    rows = pl.concat(ratings, rechunk=False) if ratings else pl.DataFrame()
    if not rows.height or not are_different(rows, "task", "criterion"):
        return None
    all_tasks = pl.concat(tasks, rechunk=False)
    return RatingCells(rows, all_tasks.filter(all_tasks["id"].is_first_distinct()))


def are_different(rows: pl.DataFrame, *key: str) -> bool:
    """Whether no two rows have the same key; False, too, where two keys happen to look alike."""
    return rows.select(pl.struct(key).hash()).to_series().n_unique() == rows.height


def _cells(frame: pl.DataFrame, fields: Collection[str]) -> pl.DataFrame:
    """The fields that the table has, each as its record has it."""
    times = frame["at"].drop_nulls().unique().to_list()
    state = pl.when(pl.col("state") == "abstained").then(pl.lit("abstained"))
    values = {
        **{name: pl.col(name) for name in ("rater", "item", "first", "criterion")},
        **{name: pl.col(name).fill_null("") for name, value in DEFAULTS.items() if value == ""},
        "state": state.otherwise(pl.lit("rated")),
        "label": pl.when(pl.col("state").ne_missing("abstained")).then("label"),
        # Databases forget the sign of minus zero.
        **{name: _positive_zero(name) for name in ("confidence", "seconds")},
        "at": pl.col("at")
        .replace_strict(times, [utc(t) for t in times], default=None, return_dtype=pl.String)
        .fill_null(""),
    }
    return frame.select(values[name].alias(name) for name in values if name in fields)


def _positive_zero(name: str) -> pl.Expr:
    number = pl.col(name).cast(pl.Float64)
    return pl.when(number == 0).then(pl.lit(0.0)).otherwise(number)


def _task_ids(tasks: pl.DataFrame) -> pl.Series:
    """The identifier of each task: a digest of the JSON of its `TaskIdentity`.

    No text has a character that JSON would escape.
    """

    def text(name: str, empty: str = '""') -> pl.Expr:
        if name not in tasks.columns:
            return pl.lit(empty)
        return pl.concat_str(pl.lit('"'), name, pl.lit('"')).fill_null(empty)

    parts = [
        text("rater"),
        text("item", "null"),
        pl.concat_str(pl.lit("["), text("first", ""), pl.lit("]")),
        *(text(name) for name in ("arm", "phase", "batch")),
        pl.lit('"main",null'),
        text("instrument"),
    ]
    identity = pl.concat_str(pl.lit("["), pl.concat_str(parts, separator=","), pl.lit("]"))
    identities = tasks.select(identity.cast(pl.Binary).alias("id")).to_series()
    digests = [hashlib.blake2b(each, digest_size=8).hexdigest() for each in identities.to_list()]
    return pl.Series("id", [f"t-{digest}" for digest in digests], dtype=pl.String)
