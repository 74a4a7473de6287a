"""Parts of any table: rows with certain values of a column, groups by those of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from konsil.analysis.model.message import message
from konsil.errors import AnalysisError, SourceError, entry, nearest, option
from konsil.records.ordering import natural

MANY = 200
"""More groups than this are taken for a mistake: an identifier's column."""


@dataclass(frozen=True)
class Slices:
    """Which rows of a table are used, and how they are grouped."""

    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Column -> the values that its rows may have."""
    by: str | None = None
    """The column whose values are groups."""
    compare: str | None = None
    """The column whose two values are compared."""

    @property
    def group(self) -> str | None:
        """The column that groups the rows, whether they are compared or not."""
        return self.compare or self.by

    @property
    def columns(self) -> set[str]:
        """All columns named."""
        return {*self.where, *([self.group] if self.group else [])}


@dataclass(frozen=True)
class Part:
    """Some rows of a table."""

    name: str
    """The group's value; empty for all rows."""
    frame: pl.DataFrame
    """The rows."""
    rows: pl.Series
    """Their numbers in the whole table."""


def as_values(where: Mapping[str, str | Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    """Columns with the values that their rows may have, one or several."""
    if where is not None and not isinstance(where, Mapping):
        raise AnalysisError(
            f"where: expected a mapping of columns to values, such as {{'ward': 'A'}}, got"
            f" {type(where).__name__}"
        )
    conditions = (where or {}).items()
    return {
        column: (str(v),) if isinstance(v, str | int | float) else tuple(map(str, v))
        for column, v in conditions
    }


def parts(frame: pl.DataFrame, slices: Slices, table: str, warnings: list[str]) -> list[Part]:
    """The groups of the rows that are used, in the natural order of their names.

    One part where nothing is grouped.

    `frame` contains words. An unknown column or value is refused with the nearest one.
    """
    if slices.by is not None and slices.compare is not None:
        raise SourceError(
            f"{table}: {option('by')} and {option('compare')}: expected one of the two;"
            f" {option('compare')} groups by its column"
        )
    numbered = frame.with_row_index(_ROW)
    for column, values in slices.where.items():
        cells = _cells(frame, column, option("where"), table)
        valid_values = cells.unique().drop_nulls().to_list()
        absent = [value for value in values if value not in valid_values]
        if absent:
            raise SourceError(
                f"{table}: {condition(column, absent[0])}: no row has this value;"
                f" {nearest(absent[0], valid_values)}"
            )
        numbered = numbered.filter(pl.col(column).str.strip_chars().is_in(list(values)))
    if numbered.height == 0 and slices.where:
        raise SourceError(f"{table}: {option('where')}: no row has all of these values")
    if slices.group is None:
        return [_part("", numbered)]
    flag = option("compare") if slices.compare else option("by")
    _cells(frame, slices.group, flag, table)
    named = numbered.with_columns(
        pl.col(slices.group).str.strip_chars().replace("", None).alias(_GROUP)
    )
    n_without = named.get_column(_GROUP).null_count()
    if n_without:
        warnings.append(
            message(
                "{n:,} {n|row|rows} without a value of {column} {n|is|are} excluded.",
                message_id="table.rows_without_group",
                n=n_without,
                column=slices.group,
            )
        )
    # Maintained: names that are equal in the natural order (1 and 01) must not swap between runs.
    by_group = named.drop_nulls(_GROUP).partition_by(
        _GROUP, as_dict=True, include_key=False, maintain_order=True
    )
    groups = sorted(
        ((str(key[0]), part) for key, part in by_group.items()), key=lambda entry: natural(entry[0])
    )
    if len(groups) > MANY:
        raise SourceError(
            f"{table}: {flag} {slices.group}: {len(groups):,} different values; expected at most"
            f" {MANY}"
        )
    if slices.compare and len(groups) != 2:
        names = ", ".join(repr(name) for name, _ in groups[:10])
        raise SourceError(
            f"{table}: {option('compare')} {slices.compare}: expected two values, got {len(groups)}"
            f" ({names}); choose two with"
            f" {entry('where', slices.compare, '[..., ...]', '..., given twice')}"
        )
    return [_part(name, part) for name, part in groups]


def _part(name: str, numbered: pl.DataFrame) -> Part:
    return Part(name, numbered.drop(_ROW), numbered.get_column(_ROW).cast(pl.Int64))


def _cells(frame: pl.DataFrame, column: str, flag: str, table: str) -> pl.Series:
    if column not in frame.columns:
        raise SourceError(
            f"{table}: {flag} {column!r}: there is no such column; {nearest(column, frame.columns)}"
        )
    return frame.get_column(column).str.strip_chars()


def slicing(column: str, value: str) -> str:
    """The two ways to take groups of a column apart."""
    return f"{option('by', column)} or {condition(column, value)}"


def condition(column: str, value: str) -> str:
    """The option that keeps the rows with a value of a column."""
    return entry("where", column, repr(value), value)


# With a control character, which no heading of a user's table has.
_ROW, _GROUP = "\x1fnumber", "\x1fgroup"
