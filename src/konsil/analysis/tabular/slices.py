"""Parts of any table: rows with certain values of a column, groups by those of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from konsil.errors import AnalysisError, SourceError, entry, nearest, option
from konsil.errors.message import message
from konsil.records.numerals import natural

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
    has_criteria: bool = False
    """Whether the groups are criteria, which may have scales of their own."""

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
    _refuse_both(slices, table)
    refuse_unknown(frame.columns, slices, table)
    numbered = frame.with_row_index(_ROW)
    for column, values in slices.where.items():
        cells = frame.select(_stripped(column)).to_series()
        _refuse_absent(column, values, cells.unique().drop_nulls().to_list(), table)
        numbered = numbered.filter(_stripped(column).is_in(list(values)))
    _refuse_none(numbered.height, slices, table)
    if slices.group is None:
        return [_part("", numbered)]
    named = numbered.with_columns(_stripped(slices.group).replace("", None).alias(_GROUP))
    _warn_without(named.get_column(_GROUP).null_count(), slices.group, warnings)
    # Maintained: names that are equal in the natural order (1 and 01) must not swap between runs.
    by_group = named.drop_nulls(_GROUP).partition_by(
        _GROUP, as_dict=True, include_key=False, maintain_order=True
    )
    groups = sorted(
        ((str(key[0]), part) for key, part in by_group.items()), key=lambda entry: natural(entry[0])
    )
    _check_groups([name for name, _ in groups], slices, table)
    return [_part(name, part) for name, part in groups]


def refuse_unknown(columns: Sequence[str], slices: Slices, table: str) -> None:
    """Refuse a condition or a group whose column a table does not have."""
    flags = dict.fromkeys(slices.where, option("where"))
    if slices.group is not None:
        flags.setdefault(slices.group, _group_flag(slices))
    for column, flag in flags.items():
        if column not in columns:
            known = [name for name in columns if not name.startswith(_OWN)]
            raise SourceError(
                f"{table}: {flag} {column!r}: there is no such column; {nearest(column, known)}"
            )


def _refuse_both(slices: Slices, table: str) -> None:
    if slices.by is not None and slices.compare is not None:
        raise SourceError(
            f"{table}: {option('by')} and {option('compare')}: expected one of the two;"
            f" {option('compare')} groups by its column"
        )


def _refuse_absent(
    column: str, chosen: Sequence[str], valid_values: Sequence[str], table: str
) -> None:
    absent = [value for value in chosen if value not in valid_values]
    if absent:
        raise SourceError(
            f"{table}: {condition(column, absent[0])}: no row has this value;"
            f" {nearest(absent[0], valid_values)}"
        )


def _refuse_none(n_rows: int, slices: Slices, table: str) -> None:
    if n_rows == 0 and slices.where:
        raise SourceError(f"{table}: {option('where')}: no row has all of these values")


def _warn_without(n_without: int, column: str, warnings: list[str]) -> None:
    if n_without:
        warnings.append(
            message(
                "{n:,} {n|row|rows} without a value of {column} {n|is|are} excluded.",
                message_id="table.rows_without_group",
                n=n_without,
                column=column,
            )
        )


def _check_groups(names: Sequence[str], slices: Slices, table: str) -> None:
    if len(names) > MANY:
        raise SourceError(
            f"{table}: {_group_flag(slices)} {slices.group}: {len(names):,} different values;"
            f" expected at most {MANY}"
        )
    if slices.compare and len(names) != 2:
        some = ", ".join(repr(name) for name in names[:10])
        raise SourceError(
            f"{table}: {option('compare')} {slices.compare}: expected two values, got {len(names)}"
            f" ({some}); choose two with"
            f" {entry('where', slices.compare, '[..., ...]', '..., given twice')}"
        )


def _group_flag(slices: Slices) -> str:
    return option("compare") if slices.compare else option("by")


def _part(name: str, numbered: pl.DataFrame) -> Part:
    return Part(name, numbered.drop(_ROW), numbered.get_column(_ROW))


def _stripped(column: str) -> pl.Expr:
    """A column of words or categories as words without the spaces around them."""
    return pl.col(column).cast(pl.String).str.strip_chars()


def slicing(column: str, value: str) -> str:
    """The two ways to take groups of a column apart."""
    return f"{option('by', column)} or {condition(column, value)}"


def condition(column: str, value: str) -> str:
    """The option that keeps the rows with a value of a column."""
    return entry("where", column, repr(value), value)


_OWN = "\x1f"
"""The sign with which columns of our own begin, and no heading of a user's table."""
_ROW, _GROUP = f"{_OWN}number", f"{_OWN}group"
