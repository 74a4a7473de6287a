"""Columns that together may name the ratings of a long table: units, raters and what is beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from konsil.analysis.roles.columns import FEW, NEAR, Column, Table
from konsil.analysis.roles.names import best_fit, fit, is_series, kinds
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import NameRole

_EXTRA: tuple[NameRole, ...] = ("criterion", "system", "repeat", "group", "unit")
"""What columns beside unit and rater can be named for that make rows unique."""
_MOST_UNITS, _MOST_RATERS, _MOST_EXTRA = 7, 6, 5
"""How many columns of each kind are tried, by their names."""
_SPARSE = 40
"""Cells of unit x rater for each row from which on a table is not crossed at all."""


@dataclass(frozen=True, eq=False)
class KeyColumns:
    """Columns that can be units, raters, and what else distinguishes rows."""

    table: Table
    stated: StatedRoles

    @cached_property
    def _named(self) -> list[Column]:
        """Columns whose values are repeated, in each row one."""
        n = self.table.n_rows
        return [
            c
            for c in self.table.columns
            if not c.is_nested and not c.is_date and c.is_full and 1 < len(c.distinct) < n
        ]

    @cached_property
    def units(self) -> list[Column]:
        """Columns of units: the stated one that has most values, or the best by name."""
        if self.stated.units:
            fixed = [self.table.by_name[u] for u in self.stated.units if u in self.table.by_name]
            return sorted(fixed, key=lambda column: -len(column.distinct))[:1]
        free = [c for c in self._named if c.name not in self.fixed]
        return _best(free, "unit", _MOST_UNITS)

    @cached_property
    def raters(self) -> list[Column]:
        """Columns of raters: the stated one, or the best by name."""
        if len(self.stated.raters) == 1:
            return [c for c in self.table.columns if c.name in self.stated.raters]
        free = [
            c
            for c in self._named
            if not c.is_long and c.name not in self.fixed and not self._has_ratings(c)
        ]
        return [] if self.stated.raters else _best(free, "rater", _MOST_RATERS)

    def _has_ratings(self, column: Column) -> bool:
        """Whether a column has labels by its values, its name, or another column with them.

        It is named for one of several raters, or for one whose ratings a reference stands beside.
        """
        if fit(column.name, "gold") == 1 or column.are_labels:
            return True
        is_person = kinds(column.name)["rater"] >= 0.8
        is_rated = is_person or not fit(column.name, "rater")
        others = [c for c in self.table.columns if c is not column] if is_person else []
        alike = [c for c in others if _are_raters(column, c)] + (self._gold if is_rated else [])
        return any(c is not column and self.table.share(column, c) >= NEAR for c in alike)

    @cached_property
    def _gold(self) -> list[Column]:
        """The columns that are named for a reference."""
        return [c for c in self.table.columns if fit(c.name, "gold") == 1]

    @cached_property
    def both(self) -> list[Column]:
        """Columns of units or raters."""
        return list({column.name: column for column in (*self.units, *self.raters)}.values())

    @cached_property
    def fixed(self) -> frozenset[str]:
        """Columns that are stated to be neither unit nor rater."""
        stated = self.stated
        singles = (stated.criterion, stated.repeat, stated.weight)
        fixed = (*stated.labels, *stated.units, *stated.raters, *singles)
        return frozenset(name for name in fixed if name is not None)

    def extras(self, unit: Column, rater: Column) -> Iterator[tuple[Column, ...]]:
        """Columns beside unit and rater that make rows unique, at most two; first none."""
        both = (unit.name, rater.name)
        n_both = self.table.n_groups(both)
        n_units, n_raters = len(unit.distinct), len(rater.distinct)
        is_stated = bool(self.stated.units and self.stated.raters)
        is_nested = n_both <= max(n_units, n_raters) or n_units * n_raters > _SPARSE * n_both
        if is_nested and not is_stated:
            return
        stated = self.stated
        fixed = [
            self.table.by_name[name]
            for name in (*stated.units, stated.criterion, stated.system, stated.repeat)
            if name in self.table.by_name and name not in both
        ]
        base = tuple(dict.fromkeys(fixed))
        yield base
        if self.table.is_key((*both, *(c.name for c in base))):
            return
        free = [c for c in self._extra if c not in (unit, rater, *base)][: 2 * _MOST_EXTRA]
        singles = [c for c in free if self.table.is_key((*both, *(b.name for b in base), c.name))]
        yield from ((*base, c) for c in singles)
        for pair in combinations([c for c in free if c not in singles][:_MOST_EXTRA], 2):
            if self.table.is_key((*both, *(c.name for c in (*base, *pair)))):
                yield (*base, *pair)

    @cached_property
    def _extra(self) -> list[Column]:
        n_values = max(FEW, self.table.n_rows // 10)
        return [
            c
            for c in self._named
            if not c.is_long
            and len(c.distinct) <= n_values
            and best_fit(c.name, _EXTRA)
            and c.name not in {*self.stated.labels, self.stated.weight}
        ]


def _are_raters(column: Column, other: Column) -> bool:
    """Whether two columns have names of several raters: in a series, or those of persons."""
    names = (column.name, other.name)
    return is_series(names) or _are_people(*names)


def _are_people(*names: str) -> bool:
    """Whether all names are those of persons, and of no column with their names."""
    return all(kinds(name)["rater"] >= 0.8 and not fit(name, "rater") for name in names)


def _best(columns: Sequence[Column], role: NameRole, n_columns: int) -> list[Column]:
    ranked = sorted(columns, key=lambda c: (fit(c.name, role), not c.is_long), reverse=True)
    return ranked[:n_columns]
