"""Tables with each unit's labels but no raters: counts of labels, and lists in a cell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.errors import SourceError, choice, nearest, option
from konsil.records.numerals import own_numbers

_MANY = 5_000_000
"""More labels than this are not written out one by one."""

ROW, UNIT, CLUSTER = "\x1frow", "\x1funit", "\x1fcluster"
"""Columns of our own; their names begin with a character that no file's column has."""

Rows = pl.DataFrame
"""One row a label: row, unit, cluster, rater (a place without meaning) and label."""


def _whole_numbers(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame | None:
    """The columns as whole numbers from 0 on, empty cells as 0.

    None if a cell is something else.
    """
    numbers = frame.select(pl.col(c).str.strip_chars().replace("", None) for c in columns)
    cast = numbers.with_columns(pl.all().cast(pl.Int64, strict=False))
    if any(cast[c].null_count() > numbers[c].null_count() or (cast[c] < 0).any() for c in columns):
        return None
    return cast.fill_null(0)


def of_counts(rows: pl.DataFrame, options: TableOptions) -> tuple[Rows, TableOptions]:
    """One row a label from a table of counts whose columns are labels.

    The scale is the columns'.
    """
    abstention = [options.abstain] if options.abstain is not None else []
    columns = [*options.labels, *(name for name in abstention if name not in options.labels)]
    absent = [label for label in columns if label not in rows.columns]
    if absent:
        raise SourceError(
            f"{options.name}: {option('labels')}: no column {absent[0]!r};"
            f" {nearest(absent[0], [c for c in rows.columns if c not in {ROW, UNIT, CLUSTER}])}"
        )
    if len(columns) < 2:
        raise SourceError(
            f"{options.name}: {choice('layout', 'counts')}: {len(columns)} column of labels;"
            " expected at least two"
        )
    words = set(options.missing)
    counted = rows.with_columns(
        pl.when(pl.col(c).str.strip_chars().is_in(list(words)))
        .then(None)
        .otherwise(pl.col(c))
        .alias(c)
        for c in columns
    )
    numbers = _whole_numbers(counted, columns)
    if numbers is None:
        raise SourceError(_no_count(counted, columns, options))
    if int(numbers.sum().sum_horizontal()[0]) > _MANY:
        raise SourceError(
            f"{options.name}: {choice('layout', 'counts')}: more than {_MANY:,} labels; are these"
            " counts?"
        )
    long = pl.concat(
        _keys(rows).with_columns(
            pl.lit(column).alias("label"), pl.Series("n", numbers[column]).alias("n")
        )
        for column in columns
    )
    long = (
        long.filter(pl.col("n") > 0)
        .select(pl.exclude("n").repeat_by("n"))
        .explode("row", "unit", "cluster", "label")
    )
    # A column whose label is read as another one is no label of the scale.
    scale = tuple(c for c in columns if c not in {options.abstain, *options.recode})
    by_label = dict(zip(scale, own_numbers(scale), strict=True))
    if None not in by_label.values():
        scale = tuple(sorted(scale, key=lambda label: by_label[label] or 0.0))
    return _placed(long), replace(options, labels=scale)


def _no_count(rows: pl.DataFrame, columns: Sequence[str], options: TableOptions) -> str:
    for n, row in enumerate(rows.select(columns).iter_rows()):
        for column, cell in zip(columns, row, strict=True):
            text = (cell or "").strip()
            if text and not text.isdigit():
                line = options.line(int(rows.item(n, ROW)))
                return (
                    f"{options.name}: {options.place} {line}, column {column!r}: {text!r} is not a"
                    " count; expected a whole number of raters (name the columns of the labels with"
                    f" {option('labels')}, that of the units with {option('unit')})"
                )
    raise AssertionError("expected a cell that is not a whole number")


def of_lists(rows: pl.DataFrame, column: str, options: TableOptions) -> Rows:
    """One row a label from a table whose cells contain lists of labels.

    The places in a list mean nothing.
    """
    lists = [
        labels_of_cell(cell, options, int(row))
        for row, cell in zip(rows.get_column(ROW), rows.get_column(column), strict=True)
    ]
    long = _keys(rows).with_columns(pl.Series("label", lists, dtype=pl.List(pl.String)))
    long = long.explode("label").filter(pl.col("label").is_not_null())
    return _placed(long.sort("unit", "label", maintain_order=True))


def labels_of_cell(cell: str | None, options: TableOptions, row: int) -> list[str | None]:
    """The labels of a cell: a list in JSON, or texts with the stated sign between them."""
    if cell is None or not cell.strip():
        return []
    if options.split:
        return [part.strip() for part in cell.split(options.split)]
    try:
        labels = json.loads(cell)
    except ValueError:
        labels = None
    if not isinstance(labels, list) or any(isinstance(label, dict | list) for label in labels):
        raise SourceError(
            f"{options.name}: {options.place} {options.line(row)}: {cell!r} is not a list of"
            " labels; expected JSON such as"
            f' ["yes", "no"], or {option("split")} with the separator of the labels'
        )
    return [
        None if label is None else json.dumps(label) if isinstance(label, bool) else str(label)
        for label in labels
    ]


def _keys(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(row=pl.col(ROW), unit=pl.col(UNIT), cluster=pl.col(CLUSTER))


def _placed(long: pl.DataFrame) -> Rows:
    """Number each unit's labels by their texts, as a study numbers unknown raters."""
    place = pl.col("label").rank("ordinal").over("unit").cast(pl.String).str.zfill(9)
    return long.with_columns(place.alias("rater")).select(
        "row", "unit", "cluster", "rater", "label"
    )
