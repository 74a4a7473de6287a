"""Readings in which a row is a rating, or a unit and rater with a column for each criterion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from konsil.analysis.roles.candidates.families import connected
from konsil.analysis.roles.candidates.key_columns import KeyColumns
from konsil.analysis.roles.candidates.leftover import (
    FOR_LABELS,
    OTHER_KIND,
    OTHER_ROLES,
    explain,
    is_of_other_kind,
    label_fits,
    needed_labels,
)
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import best_fit, fit, is_numbered_name, kinds
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import NameRole, weights_of

_NO_UNIT: tuple[NameRole, ...] = tuple(role for role in OTHER_ROLES if role != "group")

_NAMED = 0.7
"""How well names fit criteria, on average, so that their labels may differ."""
_KEYS: tuple[NameRole, ...] = ("rater", "unit")


def by_rating(table: Table, stated: StatedRoles, floor: float = float("-inf")) -> Iterator[Draft]:
    """Every reading with a column of units, one of raters, and one or several of labels.

    `floor`: points below which no reading is needed.
    """
    candidates = KeyColumns(table, stated)
    for unit, rater in permutations(candidates.both, 2):
        if unit not in candidates.units or rater not in candidates.raters:
            continue
        for more in candidates.extras(unit, rater):
            key = _Key(table, stated, unit, rater, more, floor)
            drafts = list(key.drafts())
            yield from drafts
            if drafts and not stated.raters:
                yield key.without_rater(max(drafts, key=lambda draft: draft.points))


@dataclass(frozen=True, eq=False)
class _Key:
    """One choice of the columns that distinguish the ratings."""

    table: Table
    stated: StatedRoles
    unit: Column
    rater: Column
    more: tuple[Column, ...]
    floor: float

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All columns of the key."""
        return (self.unit.name, self.rater.name, *(column.name for column in self.more))

    @cached_property
    def is_exact(self) -> bool:
        """Whether the key distinguishes all rows."""
        return self.table.is_key(self.names)

    @cached_property
    def rater_sign(self) -> float:
        """How far name or cells say that the column names raters; without a name, anything can."""
        is_open = is_numbered_name(self.rater.name)
        return max(fit(self.rater.name, "rater"), self.rater.people, 0.5 * is_open)

    def drafts(self) -> Iterator[Draft]:
        """A reading for each choice of the labels."""
        base = Draft("long", (self.unit.name,), self.rater.name)
        if self.stated.raters:
            base.add(6, "stated", self.rater.name)
        else:
            self._weigh_rater(base)
        if self.stated.units:
            base.add(3, "stated", ", ".join(self.stated.units))
        else:
            self._weigh_unit(base)
        self._weigh_crossing(base)
        for column in self.more:
            self._weigh_extra(base, column)
        needed = needed_labels(self.table, base, (*base.units, self.rater.name), self.floor)
        for labels in self._label_sets():
            if len(labels) > 1 or self.stated.labels or needed(labels[0]):
                yield from self._with_labels(base, labels)

    def without_rater(self, top: Draft) -> Draft:
        """The same reading as a rival: the column of the raters is something else."""
        name = self.rater.name
        kind = best_fit(name, ("criterion", "system", "repeat", "group"))
        draft = Draft("one-rating", top.units, None, top.rated, name)
        draft.points, draft.roles, draft.numbers = top.points, dict(top.roles), ("one-rating",)
        points = 3.0 * (self.rater_sign < 0.5) + 1.5 * kind
        points -= max(5 * fit(name, "rater"), 4 * self.rater.people)
        # A rater's own column is neither a criterion nor a group.
        points -= 5 * (kinds(name)["rater"] >= 0.8)
        # Who rated is known where the columns of ratings are named for raters.
        points -= 5 * all(kinds(label)["rater"] >= 0.8 for label in top.rated)
        draft.add(points, "no_rater", name)
        return draft

    def _weigh_rater(self, draft: Draft) -> None:
        name = self.rater.name
        draft.add(2.5 * fit(name, "rater"), "named_for_raters", name)
        draft.add(-2 * fit(name, "unit"), "named_for_units", name)
        if not fit(name, "rater"):
            draft.add(1.5 * self.rater.people, "cells_name_raters", name)
        draft.add(-3.0 * (self.rater_sign < 0.5), "no_sign_of_raters", name)
        is_rating = kinds(name)["criterion"] == 1 or fit(name, "label") == 1
        draft.add(-3.0 * is_rating, "named_for_ratings", name)

    def _weigh_unit(self, draft: Draft) -> None:
        name = self.unit.name
        draft.add(2.5 * fit(name, "unit"), "named_for_units", name)
        draft.add(-2 * fit(name, "rater"), "named_for_raters", name)
        draft.add(-6 * best_fit(name, _NO_UNIT), "named_for_other", name)
        draft.add(-2 * self.unit.people, "cells_name_raters", name)
        is_rater = kinds(name)["rater"] >= 0.8 and self.unit.is_ratings and not fit(name, "unit")
        draft.add(-3.0 * is_rater, "named_for_raters", name)
        draft.add(-4.0 * (self.unit.is_number > self.unit.is_whole), "named_for_ratings", name)
        is_better = any(fit(c.name, "unit") > fit(name, "unit") for c in self.more)
        draft.add(-3.0 * is_better, "other_unit", ", ".join(c.name for c in self.more))
        decided = [
            c
            for c in self.table.columns
            if c not in (self.unit, self.rater)
            and len(c.distinct) > 1
            and c.name in self.table.decided_by(name)
        ]
        draft.add(0.5 * min(3, len(decided)), "unit_decides", name)

    def _weigh_crossing(self, draft: Draft) -> None:
        n_units, n_raters = len(self.unit.distinct), len(self.rater.distinct)
        name, n_rows = self.unit.name, self.table.n_rows
        draft.add(-2.0 * (n_units <= 3), "few_units", name)
        is_more = n_units > n_raters
        draft.add(1 if is_more else -1, "more_units" if is_more else "more_raters", name)
        if self.is_exact:
            draft.add(3, "each_once", name)
        else:
            draft.add(-6, "several_rows", name)
            draft.shape = "rows-to-combine"
        draft.add(1.5 * min(1.0, n_rows / (n_units * n_raters)), "crossed", name)
        draft.add(-1.5 * (2 * n_units > 1.2 * n_rows), "few_shared_units", name)

    def _weigh_extra(self, draft: Draft, column: Column) -> None:
        """What a further column of the key is: criterion, repeat, system or part of the unit."""
        name, stated = column.name, self.stated
        if name in stated.units:
            draft.units = (*draft.units, name)
        elif name == stated.criterion or (fit(name, "criterion") and not stated.criterion):
            is_nested = name in self.table.decided_by(self.unit.name)
            draft.criterion = name
            if name == stated.criterion:
                draft.add(3, "stated", name)
            else:
                draft.add(-3.0 if is_nested else 1.5, "named_for_criteria", name)
        elif name == stated.repeat or (fit(name, "repeat") and not stated.repeat):
            draft.repeat, draft.shape = name, "repeats" if self.is_exact else draft.shape
            draft.add(3.0 if name == stated.repeat else 1.0, "tells_repeats", name)
        else:
            draft.units = (*draft.units, name)
            fits = max(fit(name, "system"), 0.5 * fit(name, "unit"))
            is_unnamed = not fit(name, "system") and not fit(name, "unit")
            draft.system = name if fit(name, "system") or name == stated.system else draft.system
            draft.add(1.5 * fits - 1.0 - is_unnamed, "part_of_unit", name)

    def _label_sets(self) -> list[tuple[Column, ...]]:
        """The columns that can be the labels: one, or several criteria."""
        if self.stated.labels:
            stated = [c for c in self.table.columns if c.name in self.stated.labels]
            return [tuple(stated)] if stated else []
        by_rater, aside = self.table.decided_by(self.rater.name), {*self.names, self.stated.weight}
        varied = [
            c
            for c in self.table.columns
            if c.is_ratings
            and c.name not in aside
            and (fit(c.name, "label") == 1 or c.name not in by_rater)
        ]
        # A column that is named for units has the labels where no other can have them.
        varied = [
            c for c in varied if fit(c.name, "label") == 1 or best_fit(c.name, _KEYS) < 1
        ] or varied
        named = tuple(c for c in varied if kinds(c.name)["criterion"] == 1)
        by_unit = self.table.decided_by(*(n for n in self.names if n != self.rater.name))
        loose = tuple(
            c
            for c in varied
            if c.name not in by_unit and best_fit(c.name, OTHER_ROLES) < 0.7
            # Another whole number in each row is one of the rows.
            if not (c.is_unique and c.is_whole)
        )
        sets: list[tuple[Column, ...]] = [(c,) for c in varied]
        sets += [
            *([named] if len(named) > 1 else []),
            *([loose] if 1 < len(loose) < 9 and loose != named else []),
        ]
        alike = (
            tuple(map(self.table.by_name.__getitem__, names))
            for names in connected(self.table, [column.name for column in loose])
        )
        # Of many columns only those that all have the same labels are criteria together.
        return [
            *sets,
            *(
                g
                for g in alike
                if g != named and (1 < len(g) < len(loose) < 9 or 8 < len(g) == len(loose))
            ),
        ]

    def _with_labels(self, base: Draft, labels: tuple[Column, ...]) -> Iterator[Draft]:
        """The reading with some labels, unless it has too few points whatever is left out."""
        draft = base.copy(rated=tuple(column.name for column in labels))
        if len(labels) > 1 and draft.shape == "long":
            draft.shape = "long-criteria"
        fits = self._weigh_labels(draft, labels)
        if draft.shape == "rows-to-combine" and len(labels) == 1:
            self._weigh_errors(draft, labels[0])
        shown = {name for name in (*draft.units, draft.criterion) if name is not None}
        for column in labels if not self.stated.labels else ():
            if self.table.decides(shown, column.name):
                draft.add(-3.0 if fits < 1 else -0.5, "same_for_all_raters", column.name)
            elif column.is_unique and not fit(column.name, "label"):
                draft.add(-3, "another_in_each_row", column.name)
        if not explain(self.table, draft, (*draft.units, self.rater.name), self.floor):
            return
        self._weigh_other_criteria(draft)
        unit, rater = self.table.partition(draft.units), self.table.partition([self.rater.name])
        # Agreement of units and of raters differ; in other shapes their numbers are not computed.
        pair = (unit, rater) if draft.shape == "long" else (min(unit, rater), max(unit, rater))
        criteria = self.table.partition([draft.criterion]) if draft.criterion else None
        draft.numbers = ("long", *pair, frozenset(draft.rated), draft.shape, criteria)
        yield draft

    def _weigh_errors(self, draft: Draft, label: Column) -> None:
        """Whether each row is an error: all columns that name what is rated are then the unit."""
        if not weights_of(label.distinct):
            return
        draft.add(6, "errors", label.name)
        free = [c for c in self.table.columns if c.name not in draft.used and not c.is_unique]
        for column in free:
            is_named = best_fit(column.name, ("unit", "system")) >= 0.7 and not column.is_long
            if is_named and not self.table.decides({*draft.units}, column.name):
                draft.units = (*draft.units, column.name)
                draft.system = column.name if fit(column.name, "system") else draft.system

    def _weigh_labels(self, draft: Draft, labels: Sequence[Column]) -> float:
        """How well the names of the labels fit, from 0 to 1."""
        if self.stated.labels:
            draft.add(3, "stated", ", ".join(draft.rated))
            return 1.0
        n, shown = len(labels), ", ".join(draft.rated)
        fits, others = ([label_fits(c.name)[n] for c in labels] for n in (0, 1))
        mean = (sum(fits) - sum(others)) / n
        draft.add(FOR_LABELS * mean, "named_for_labels", shown)
        if n > 1:
            raters = sum(kinds(c.name)["rater"] >= 0.8 for c in labels)
            draft.add(-8.0 * raters / n, "rater_column", shown)
            single = [
                c.name for c in labels if fit(c.name, "label") == 1 and not re.search(r"\d", c.name)
            ]
            draft.add(-5.0 * bool(single), "only_label", ", ".join(single))
            if mean < _NAMED and len([*connected(self.table, draft.rated)]) > 1:
                draft.add(-3.0, "criteria_apart", shown)
            if not any(fits) and not fit(self.unit.name, "unit") and not self.stated.units:
                draft.add(-0.5, "criteria_not_named", shown)
            is_mixed = len({kinds(c.name)["criterion"] == 1 for c in labels}) > 1
            draft.add(-1.5 * is_mixed, "names_of_other_kind", shown)
        other = [c.name for c in labels if is_of_other_kind(c.name)]
        draft.add(OTHER_KIND * len(other), "names_of_other_kind", ", ".join(other))
        return mean

    def _weigh_other_criteria(self, draft: Draft) -> None:
        """Whether columns that are left out could be criteria as well."""
        for name, role in draft.roles.items():
            column = self.table.by_name[name]
            is_free = not self.table.decides(set(draft.units), name)
            is_free = is_free and name not in self.table.decided_by(self.rater.name)
            if role == "unused" and column.is_ratings and is_free:
                draft.add(-1, "other_criterion", name)
        labels = [
            c.name
            for c in self.table.columns
            if c.is_ratings and fit(c.name, "label") == 1 and c.name not in draft.used
        ]
        if labels and not any(fit(name, "label") == 1 for name in draft.rated):
            draft.add(-2, "named_for_ratings", ", ".join(labels))
        others = [
            c.name
            for c in self.table.columns
            if c.is_ratings and kinds(c.name)["criterion"] == 1 and c.name not in draft.used
        ]
        if len(draft.rated) == 1 and others and kinds(draft.rated[0])["criterion"] < 1:
            draft.add(-1, "other_criterion", ", ".join(others))
