"""Readings in which columns are rated together: raters, criteria, units, systems, counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from konsil.analysis.roles.candidates.counts import Counts
from konsil.analysis.roles.candidates.families import connected, families
from konsil.analysis.roles.candidates.leftover import (
    KIND_OF,
    explain,
    has_people,
    is_named_for_other,
)
from konsil.analysis.roles.candidates.row_names import (
    add_names_beside,
    add_repeated,
    add_rows_of,
    is_named_but_last,
    names_of_others,
    pair_of_unit,
    rater_with_rounds,
    take_pair,
)
from konsil.analysis.roles.columns import NEAR, Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import (
    Kind,
    Product,
    fit,
    is_numbered_name,
    is_series,
    kinds,
    product,
)
from konsil.analysis.roles.reading import Shape, StatedRoles

_SHAPES: tuple[Shape, ...] = (
    *("wide", "criteria", "raters-in-rows", "systems", "counts", "rater-by-criterion"),
)
_BY_CHANCE = 4.0
"""Agreements expected by chance alone from which on it is hardly chance that there is none."""


def rated_together(table: Table, stated: StatedRoles) -> Iterator[Draft]:
    """Every reading of every family of columns that may be rated together."""
    for names in families(table, stated):
        family = Family(table, names, stated)
        for shape in _SHAPES:
            draft = family.draft(shape)
            if draft is not None:
                yield draft


@dataclass(frozen=True, eq=False)
class Family:
    """Columns that may be rated together, and the columns beside them."""

    table: Table
    names: tuple[str, ...]
    stated: StatedRoles

    @cached_property
    def columns(self) -> list[Column]:
        """The columns of the family."""
        return [self.table.by_name[name] for name in self.names]

    @cached_property
    def rest(self) -> list[Column]:
        """The columns beside them."""
        return [column for column in self.table.columns if column.name not in self.names]

    @cached_property
    def kinds(self) -> list[Mapping[Kind, float]]:
        """What each name says; a model beside people may be a rater, too, and a number."""
        fits = [kinds(name) for name in self.names]
        fits = [
            {**names, "rater": 0.5 * names["label"]} if name.strip().isdigit() else names
            for name, names in zip(self.names, fits, strict=True)
        ]
        if not has_people(self.names):
            return fits
        return [
            {**names, "rater": 0.5, "system": 0.5}
            if names["system"] and not names["rater"]
            else names
            for names in fits
        ]

    def mean(self, kind: Kind) -> float:
        """How well the names fit a kind, on average."""
        return sum(names[kind] for names in self.kinds) / len(self.names)

    @cached_property
    def nearness(self) -> float:
        """How far the least close column shares its labels with another one."""
        return min(
            self.table.shares(a, (b for b in self.columns if b is not a)) for a in self.columns
        )

    @cached_property
    def counts(self) -> Counts:
        """The columns as numbers of raters."""
        return Counts(self.names, self.columns, self.rest)

    @cached_property
    def product(self) -> Product | None:
        """The names as the pairs of two lists."""
        return product(self.names)

    @cached_property
    def rater_column(self) -> Column | None:
        """A column that names a rater in each row."""
        stated = self.stated.raters
        if len(stated) == 1:
            return self.table.by_name.get(stated[0])
        named = [c for c in self.rest if self._names_rows(c) and fit(c.name, "rater") >= 0.7]
        return max(named, key=lambda column: fit(column.name, "rater"), default=None)

    @cached_property
    def unit_column(self) -> Column | None:
        """The column that names a unit in each row, by its name if there are several."""
        unique = [c for c in self.rest if self._names_rows(c) and not c.is_date]
        return max(
            unique,
            key=lambda c: (fit(c.name, "unit"), not c.is_long, -sum(map(len, c.cells)), c.name),
            default=None,
        )

    def _names_rows(self, column: Column) -> bool:
        """Whether a column has another value in each row, or in each row of a group."""
        if not self.table.slices:
            return column.is_unique or is_named_but_last(column)
        return column.is_full and self.table.is_key((column.name,))

    def _is_gold(self, column: Column) -> bool:
        """Whether a column is named for a reference or consensus, and has the labels."""
        is_named = fit(column.name, "gold") >= 0.7 and not kinds(column.name)["rater"]
        return is_named and self.table.shares(column, self.columns) >= NEAR

    @cached_property
    def label(self) -> str:
        """The names in a sentence."""
        return ", ".join(self.names)

    @property
    def may_be_labels(self) -> bool:
        """Whether the names can be those of labels: "r1" cannot, but a letter can."""
        return self.mean("rater") < 0.9

    @cached_property
    def never_agree(self) -> bool:
        """Whether two columns never have the same value in a row: they name two of a pair.

        Values that chance alone hardly makes equal, as measured ones, show nothing.
        """
        if len(self.columns) != 2:
            return False
        rows = [
            row
            for row in zip(*(column.cells for column in self.columns), strict=True)
            if not any(cell.casefold() in self.columns[0].empty for cell in row)
        ]
        if not rows or any(a == b for a, b in rows):
            return False
        first, second = (Counter(cells) for cells in zip(*rows, strict=True))
        return sum(first[value] * second[value] for value in first) >= _BY_CHANCE * len(rows)

    @cached_property
    def texts(self) -> list[str]:
        """The columns of texts beside them, by which several columns are named: they rate these."""
        texts = [
            c.name
            for c in self.rest
            if c.is_long and any(n != c.name and n.startswith(c.name) for n in self.names)
        ]
        return texts if len(texts) > 1 else []

    def draft(self, shape: Shape) -> Draft | None:
        """The family as one shape; None where it cannot be that."""
        draft = Draft(shape, rated=self.names)
        if shape == "rater-by-criterion":
            if self.product is None or not self._weigh_product(draft, self.product):
                return None
        else:
            self._weigh_names(draft, KIND_OF[shape])
        # Numbers of raters for different labels need not be alike.
        nearness = 2 * self.nearness - 1
        draft.add(max(0, nearness) if shape == "counts" else nearness, "common_labels", self.label)
        draft.add(float(not self.rest and self.nearness >= 0.7), "whole_table", self.label)
        draft.add(2.0 * (is_series(self.names) and shape != "counts"), "series", self.label)
        if shape == "criteria":
            of_criteria = [c.name for c in self.rest if c.are_criteria]
            draft.add(-2.0 * bool(of_criteria), "named_for_criteria", *of_criteria[:1])
        if shape == "wide":
            draft.add(-6.0 * self.never_agree, "never_equal", self.label)
            add_names_beside(draft, self.rest)
            draft.add(-4.0 * bool(self.texts), "each_of_a_text", ", ".join(self.texts))
            gold = [c.name for c in self.rest if self._is_gold(c)]
            draft.add(3.0 * bool(gold), "gold_beside", ", ".join(gold))
            further = names_of_others(self.names)
            draft.add(-8.0 * bool(further), "of_one_rater", ", ".join(further))
        if shape == "raters-in-rows":
            self._weigh_rows(draft)
        else:
            self._weigh_units(draft)
        if shape == "counts" and not self.counts.weigh(draft, may_be_labels=self.may_be_labels):
            return None
        if shape == "wide" and self.may_be_labels:
            draft.add(-4.0 * self.counts.has_same_sums, "same_sum", self.label)
        explain(self.table, draft, draft.units if self.unit_column else ())
        draft.numbers = (shape, frozenset(self.names), draft.names, draft.rater)
        return draft

    def _weigh_product(self, draft: Draft, parts: Product) -> bool:
        """Which part of the names is the rater."""
        if self.stated.names:
            draft.names = self.stated.names
            draft.add(6, "stated", draft.names)
            return True
        words = [parts.words(name) for name in self.names]
        first, second = ([kinds(pair[n]) for pair in words] for n in (0, 1))
        straight, turned = _as_rater_first(first, second), _as_rater_first(second, first)
        draft.names = parts.pattern(is_rater_first=straight >= turned)
        draft.add(2.4 * max(straight, turned) / len(self.names) + 2, "product", self.label)
        # Names such as T1 or "before" may be those of occasions or systems as well.
        raters = sum(fits["rater"] for fits in (first if straight >= turned else second))
        if abs(straight - turned) < 0.5 * len(self.names) or raters < 0.5 * len(self.names):
            draft.add(-3, "product_open", draft.names)
        sums = [name for name in self.names if fit(name, "sum")]
        draft.add(-4.0 * bool(sums), "sum_among", ", ".join(sums))
        return True

    def _weigh_names(self, draft: Draft, kind: Kind) -> None:
        """Whether the names fit the kind of the columns."""
        mean = self.mean(kind)
        draft.add(4 * mean, "names_of_kind", self.label)
        has_names = not all(map(is_numbered_name, self.names))
        draft.add(-2.0 * (mean < 0.3 and has_names), "names_do_not_tell", self.label)
        draft.add(-2.0 * self.mean("other") * (mean < 1), "names_of_other_kind", self.label)
        named = zip(self.names, self.kinds, strict=True)
        misfits = {n: fits for n, fits in named if fits[kind] < 0.3 and max(fits.values()) >= 0.7}
        points = sum(-4.0 if fits["other"] >= 0.7 else -1.5 for fits in misfits.values())
        draft.add(max(-6.0, points), "names_of_other_kind", ", ".join(misfits))
        if self.product and draft.shape != "raters-in-rows":
            # Labels that only some columns have are those of a criterion.
            is_apart = len(list(connected(self.table, self.names))) > 1
            draft.add(-6 if is_apart else -3, "product", self.label)

    def _weigh_rows(self, draft: Draft) -> None:
        """Whether each row is a rater."""
        column = self.rater_column
        if column is not None:
            draft.rater = column.name
            draft.add(3, "row_a_rater", column.name)
        elif pair := rater_with_rounds(self.table, self.rest):
            draft.rater, draft.repeat = pair
            draft.add(1, "rows_of_rounds", draft.repeat)
        else:
            draft.add(-2, "no_rater_named", self.label)
            others = [c for c in self.rest if c.is_unique and not c.is_number and not c.is_date]
            if len(others) == 1 and self.mean("item") >= 0.8:
                draft.rater = others[0].name
                draft.add(0.1, "may_name_raters", draft.rater)
        is_broad = len(self.names) > self.table.n_rows
        draft.add(float(is_broad), "more_columns_than_rows", self.label)

    def _weigh_units(self, draft: Draft) -> None:
        """Whether each row is a unit, and what names it."""
        unit, raters = self.unit_column, self.rater_column
        if self.stated.units:
            draft.units = self.stated.units
            draft.add(3, "stated", ", ".join(draft.units))
            if not self.table.is_key(draft.units):
                draft.add(-3, "several_rows", ", ".join(draft.units))
        elif unit is not None:
            draft.units = (unit.name,)
            above = [c for c in self.rest if c is not unit and self._names_several_rows(c, 8)]
            if above:
                add_rows_of(draft, above[0].name)
            draft.add(1.5 * fit(unit.name, "unit") or 0.3, "unit_in_each_row", unit.name)
        elif pair := pair_of_unit(self.table, self.rest):
            take_pair(draft, pair)
        else:
            repeated = next((c for c in self.rest if self._may_repeat(c)), None)
            if repeated:
                add_repeated(draft, repeated)
            else:
                draft.add(-0.3, "rows_are_units", self.label)
        if raters is not None and raters is not unit:
            draft.add(-3, "rater_column", raters.name)
        elif unit is not None and fit(unit.name, "rater") >= 0.7 and not fit(unit.name, "unit"):
            draft.add(-4, "row_a_rater", unit.name)
        repeated_raters = [c for c in self.rest if self._names_raters(c)]
        if repeated_raters:
            draft.add(-5, "rater_column", repeated_raters[0].name)

    def _names_several_rows(self, column: Column, n_rows_each: float) -> bool:
        """Whether a column is named for units and has several rows of each."""
        n = len(column.distinct)
        is_named = fit(column.name, "unit") >= 0.7 and not column.is_long
        if not is_named or not self.table.n_rows / n_rows_each < n < self.table.n_rows:
            return False
        is_rating = column.is_ratings and fit(column.name, "unit") < 1
        return not (is_rating and self.table.shares(column, self.columns, 0.5) >= 0.5)

    def _may_repeat(self, column: Column) -> bool:
        """Whether a column may name units that have several rows, where none names each row."""
        if self._names_several_rows(column, 8):
            return True
        n = len(column.distinct)
        is_plain = not column.is_date and not column.is_long and column.name not in self._groups
        is_name = not column.is_number or column.is_whole
        is_between = max(3, self.table.n_rows / 4) < n < self.table.n_rows
        return is_plain and is_name and is_between and not is_named_for_other(column.name)

    @cached_property
    def _groups(self) -> frozenset[str]:
        return frozenset(self.stated.groups)

    def _names_raters(self, column: Column) -> bool:
        """Whether a column names the same raters in several rows."""
        if fit(column.name, "rater") < 1 or column.is_unique or column.is_long:
            return False
        return not (column.is_ratings and self.table.shares(column, self.columns, NEAR) >= NEAR)


def _as_rater_first(
    first: Sequence[Mapping[Kind, float]], second: Sequence[Mapping[Kind, float]]
) -> float:
    """How well first parts fit raters and second parts criteria."""
    return sum(
        a["rater"] + b["criterion"] + 0.7 * b["item"] - a["item"]
        for a, b in zip(first, second, strict=True)
    )
