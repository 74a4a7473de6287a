"""Parts of any table: rows with certain values of a column, groups by those of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from konsil.analysis.model.message import message
from konsil.errors import AnalysisError, SourceError, entry, nearest, option
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
    numbered = frame.with_row_index(_ROW)
    for column, values in slices.where.items():
        cells = _cells(frame, column, option("where"), table)
        _refuse_absent(column, values, cells.unique().drop_nulls().to_list(), table)
        numbered = numbered.filter(_stripped(column).is_in(list(values)))
    _refuse_none(numbered.height, slices, table)
    if slices.group is None:
        return [_part("", numbered)]
    _cells(frame, slices.group, _group_flag(slices), table)
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


@dataclass(frozen=True)
class PieceParts:
    """The groups of some rows of a table, and what is needed to check those of all rows."""

    parts: tuple[Part, ...]
    """The groups."""
    names: tuple[str, ...]
    """The groups' names."""
    values: Mapping[str, frozenset[str]]
    """Column of a condition -> some of its values, those of the condition included."""
    n_used: int
    """Rows that fulfil the conditions."""
    n_without: int
    """Rows of these that have no group."""

    def without_rows(self) -> PieceParts:
        """The same without the rows."""
        return replace(self, parts=())


def piece_parts(frame: pl.DataFrame, first: int, slices: Slices, table: str) -> PieceParts:
    """The groups of some consecutive rows, the first of which has the number `first`.

    `frame` contains words where there are conditions or groups.
    """
    _refuse_both(slices, table)
    numbered = frame.with_row_index(_ROW, offset=first)
    values: dict[str, frozenset[str]] = {}
    for column, chosen in slices.where.items():
        cells = _cells(frame, column, option("where"), table).unique().drop_nulls()
        present = cells.filter(cells.is_in(list(chosen))).to_list()
        values[column] = frozenset([*present, *cells.sort().head(MANY)])
        numbered = numbered.filter(_stripped(column).is_in(list(chosen)))
    if slices.group is None:
        return PieceParts((_part("", numbered),), ("",), values, numbered.height, 0)
    _cells(frame, slices.group, _group_flag(slices), table)
    named = numbered.with_columns(_stripped(slices.group).replace("", None).alias(_GROUP))
    by_group = named.drop_nulls(_GROUP).partition_by(
        _GROUP, as_dict=True, include_key=False, maintain_order=True
    )
    parts = tuple(_part(str(key[0]), part) for key, part in by_group.items())
    n_without = named.get_column(_GROUP).null_count()
    if len(parts) > MANY:
        # The rows of identifiers are of no use.
        return PieceParts((), tuple(p.name for p in parts), values, numbered.height, n_without)
    return PieceParts(parts, tuple(p.name for p in parts), values, numbered.height, n_without)


def gathered_parts(
    pieces: Sequence[PieceParts], slices: Slices, table: str, warnings: list[str]
) -> list[str]:
    """The names of the groups of all pieces, as `parts` orders, checks and refuses them."""
    for column, chosen in slices.where.items():
        values = frozenset().union(*(piece.values[column] for piece in pieces))
        _refuse_absent(column, chosen, sorted(values), table)
    _refuse_none(sum(piece.n_used for piece in pieces), slices, table)
    names = list(dict.fromkeys(name for piece in pieces for name in piece.names))
    if slices.group is None:
        return names
    _warn_without(sum(piece.n_without for piece in pieces), slices.group, warnings)
    names.sort(key=natural)
    _check_groups(names, slices, table)
    return names


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


def _cells(frame: pl.DataFrame, column: str, flag: str, table: str) -> pl.Series:
    if column not in frame.columns:
        known = [name for name in frame.columns if not name.startswith(_OWN)]
        raise SourceError(
            f"{table}: {flag} {column!r}: there is no such column; {nearest(column, known)}"
        )
    return frame.select(_stripped(column)).to_series()


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
