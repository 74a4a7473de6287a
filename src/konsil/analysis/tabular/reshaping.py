"""A table whose columns have their roles, as rows or columns of ratings by known names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import polars as pl

from konsil.analysis.roles.candidates.cells import heading
from konsil.analysis.roles.names import named_parts
from konsil.analysis.roles.reading import TableReading
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.slices import Slices
from konsil.analysis.tabular.unnamed import ROW
from konsil.errors import SourceError, choice, option
from konsil.errors.message import message

UNIT, RATER, CRITERION, LABEL = "\x1funit key", "\x1frater name", "criterion", "\x1frating"
"""Columns of our own; a criterion is printed as the groups of a result."""

_JOIN = " / "
_MOST = 5_000_000
"""More units of a cross table than this are not written out one by one."""


@dataclass(frozen=True, eq=False)
class Reshaped:
    """A table by roles."""

    frame: pl.DataFrame
    """The cells, and the rows' numbers in the file."""
    options: TableOptions
    """How they are to be read: every column that has a role is named."""
    slices: Slices
    """Which rows are used, and how they are grouped; the criteria are groups."""


def reshape(
    frame: pl.DataFrame, reading: TableReading, options: TableOptions, slices: Slices
) -> Reshaped:
    """A table of any shape as one of raters' columns, ratings, counts or lists.

    Columns by which rows are chosen or grouped stay. Several columns that name the unit become
    one.
    """
    options = replace(options, cluster=reading.cluster)
    frame, unit = _with_unit(frame.with_row_index(ROW), reading.units)
    options = replace(options, unit=unit, split=reading.separator, has_sets=reading.has_sets)
    match reading.shape:
        case "wide":
            by_criterion = _by_criterion(frame, reading.criterion, slices, options)
            wide = replace(options, layout="wide", rater=reading.rated)
            return Reshaped(frame, wide, by_criterion)
        case "counts":
            labels = options.labels or reading.rated
            return Reshaped(frame, replace(options, layout="counts", labels=labels), slices)
        case "lists":
            lists = replace(options, layout="lists", label=reading.rated[0])
            return Reshaped(frame, lists, slices)
        case "cross-table":
            return _crossed(frame, reading, options, slices)
        case "long" | "repeats" | "rows-to-combine" if len(reading.rated) == 1:
            return _long(frame, reading, options, slices)
        case _:
            return _melted(frame, reading, options, slices)


def _with_unit(frame: pl.DataFrame, units: Sequence[str]) -> tuple[pl.DataFrame, str | None]:
    """The frame with one column that names the unit."""
    if len(units) < 2:
        return frame, units[0] if units else None
    parts = [pl.col(name).fill_null("").str.strip_chars() for name in units]
    key = frame.select(pl.concat_str(parts, separator=_JOIN).alias(UNIT)).to_series()
    if key.n_unique() < frame.select(units).unique().height:
        # Names with the sign between them in them: other units must not become one.
        key = frame.select(pl.struct(parts).struct.json_encode().alias(UNIT)).to_series()
    return frame.with_columns(key), UNIT


def _long(
    frame: pl.DataFrame, reading: TableReading, options: TableOptions, slices: Slices
) -> Reshaped:
    rater = () if reading.rater is None else (reading.rater,)
    named = replace(options, layout="long", rater=rater, label=reading.rated[0])
    return Reshaped(frame, named, _by_criterion(frame, reading.criterion, slices, options))


def _by_criterion(
    frame: pl.DataFrame, criterion: str | None, slices: Slices, options: TableOptions
) -> Slices:
    """The criteria as groups; beside other groups one criterion has to be chosen."""
    if criterion is None or criterion == slices.group:
        return slices
    criteria = frame.get_column(criterion).drop_nulls().unique().sort().to_list()
    chosen = slices.where.get(criterion, criteria)
    if len(chosen) == 1:
        return slices
    if slices.group is not None:
        raise SourceError(
            message(
                "{table}: {n} criteria in {column}, and {groups}: choose one of the criteria with"
                " {where}",
                message_id="error.criteria_beside_groups",
                table=options.name,
                n=len(chosen),
                column=repr(criterion),
                groups=option("compare" if slices.compare else "by", slices.group),
                where=option("where", example=f"{criterion}=..."),
            )
        )
    return replace(slices, by=criterion, has_criteria=True)


def _melted(
    frame: pl.DataFrame, reading: TableReading, options: TableOptions, slices: Slices
) -> Reshaped:
    """Columns of ratings as rows: what a column is is in its name."""
    parts = _parts(reading, options)
    new_columns = {
        UNIT if role == "unit" else RATER if role == "rater" else CRITERION for role in parts
    }
    present_columns = new_columns & {*frame.columns}
    if present_columns:
        raise SourceError(
            f"{options.name}: the column {min(present_columns)!r} has the name of the column for"
            " the criteria; rename it"
        )
    long = frame.unpivot(
        on=list(reading.rated),
        index=[name for name in frame.columns if name not in reading.rated],
        variable_name=_NAME,
        value_name=LABEL,
    ).with_columns(
        pl.col(_NAME).replace_strict(dict(values), return_dtype=pl.String).alias(column)
        for column, values in ((_COLUMN_OF[role], values) for role, values in parts.items())
    )
    rater = RATER if "rater" in parts else reading.rater
    if rater is None:
        # Rows that are raters without a column that names them.
        long, rater = long.with_columns(pl.col(ROW).cast(pl.String).alias(RATER)), RATER
    unit = UNIT if "unit" in parts else options.unit
    if unit is None:
        long = long.with_columns(pl.col(ROW).cast(pl.String).str.zfill(9).alias(UNIT))
        unit = UNIT
    named = replace(options, layout="long", unit=unit, rater=(rater,), label=LABEL)
    criterion = CRITERION if "criterion" in parts else None
    return Reshaped(long.drop(_NAME), named, _by_criterion(long, criterion, slices, options))


_NAME = "\x1fname"
_COLUMN_OF = {"unit": UNIT, "rater": RATER, "criterion": CRITERION}


def _parts(reading: TableReading, options: TableOptions) -> Mapping[str, Mapping[str, str]]:
    """Role -> column of ratings -> what its name says of that role."""
    if not reading.names:
        role = "unit" if reading.shape == "raters-in-rows" else "criterion"
        return {role: {name: name for name in reading.rated}}
    values = named_parts(reading.names, reading.rated)
    others = [name for name in reading.rated if name not in next(iter(values.values()))]
    if others:
        raise SourceError(
            f"{options.name}: {option('names', reading.names)}: the column {others[0]!r} has"
            " another name"
        )
    return values


def _crossed(
    frame: pl.DataFrame, reading: TableReading, options: TableOptions, slices: Slices
) -> Reshaped:
    """A cross table of two raters as their ratings, unit by unit."""
    side = next((name for name, role in reading.roles.items() if role == "row"), None)
    above = heading(reading.rated)
    columns = [name.removeprefix(above) for name in reading.rated]
    # A row of sums at the end has no label.
    frame = frame if side is None else frame.head(len(columns))
    rows = _side_labels(frame, side, columns, options)
    counts = [
        _count(frame.item(n, name), n, name, options)
        for n, name in product(range(frame.height), reading.rated)
    ]
    if sum(counts) > _MOST:
        raise SourceError(
            f"{options.name}: {choice('layout', 'cross-table')}: more than {_MOST:,} units; are"
            " these counts?"
        )
    cells = pl.DataFrame(
        {
            ROW: [n for n in range(frame.height) for _ in reading.rated],
            "first": [rows[n] for n in range(frame.height) for _ in reading.rated],
            "second": columns * frame.height,
            "n": counts,
        }
    )
    units = cells.select(pl.exclude("n").repeat_by("n")).explode(ROW, "first", "second")
    units = units.drop_nulls().with_row_index(UNIT)
    first, second = _rater_names(f"{side} / {above[:-2]}" if side and above else side)
    wide = units.select(
        ROW,
        pl.col(UNIT).cast(pl.String).str.zfill(9),
        pl.col("first").alias(first),
        pl.col("second").alias(second),
    )
    labels = options.labels or tuple(columns)
    named = replace(options, layout="wide", unit=UNIT, rater=(first, second), labels=labels)
    return Reshaped(wide, named, slices)


def _side_labels(
    frame: pl.DataFrame, side: str | None, columns: Sequence[str], options: TableOptions
) -> list[str]:
    """The label of each row, of one rater."""
    if side is None:
        if frame.height == len(columns):
            return list(columns)
        raise SourceError(
            f"{options.name}: {choice('layout', 'cross-table')}: {frame.height} rows and"
            f" {len(columns)} columns; expected a row and a column for each label"
        )
    return [(cell or "").strip() for cell in frame.get_column(side)]


def _count(cell: str | None, row: int, column: str, options: TableOptions) -> int:
    text = (cell or "0").strip() or "0"
    if not text.isdigit():
        raise SourceError(
            f"{options.name}: line {options.line(row)}, column {column!r}: {text!r} is not a"
            " number of units; expected a whole number"
        )
    return int(text)


def _rater_names(corner: str | None) -> tuple[str, str]:
    """The raters' names by the corner of a cross table, 'Rater A / Rater B'."""
    names = [part.strip() for part in re.split(r"\s+[/\\|x×]\s+", corner or "")]
    if len(names) == 2 and all(names) and names[0] != names[1]:
        return names[0], names[1]
    return "rows", "columns"
