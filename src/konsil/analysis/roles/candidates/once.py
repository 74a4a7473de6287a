"""Readings in which each row is the one rating of a unit: within each group that is compared."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.roles.candidates.leftover import OTHER_ROLES, explain, is_named_for_other
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import best_fit, fit, kinds, stem, words
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import NAMED


def rated_once(table: Table, stated: StatedRoles, floor: float = float("-inf")) -> Iterator[Draft]:
    """Every reading with a column of units, or none, and a column of ratings, or several.

    The raters are unknown. Units distinguish the rows of each group. `floor`: points below which no
    reading is needed.
    """
    if stated.raters or stated.layout or stated.names or stated.split or stated.systems:
        return
    for units in _units(table, stated):
        base = Draft("one-rating", units)
        _weigh_units(table, stated, base)
        for labels in _label_sets(table, stated, units):
            draft = base.copy(rated=tuple(column.name for column in labels))
            _weigh_labels(stated, draft, labels)
            if not explain(table, draft, units, floor):
                continue
            partition = table.partition(units) if units else ()
            draft.numbers = ("once", partition, frozenset(draft.rated))
            yield draft


def _units(table: Table, stated: StatedRoles) -> Iterator[tuple[str, ...]]:
    """The columns that can name the units; none: each row is one."""
    if stated.units:
        yield stated.units
        return
    if not stated.has_no_units:
        stated_names = {*stated.labels, stated.criterion, stated.weight}
        yield from (
            (c.name,)
            for c in table.columns
            if c.is_full and not c.is_date and not c.is_nested
            if c.name not in stated_names and table.is_key((c.name,))
        )
    yield ()


def _weigh_units(table: Table, stated: StatedRoles, draft: Draft) -> None:
    name = ", ".join(draft.units)
    if stated.units or stated.has_no_units:
        draft.add(3, "stated", name)
    elif draft.units:
        draft.add(2.5 * fit(name, "unit") or 0.3, "named_for_units", name)
        draft.add(-2 * fit(name, "rater"), "named_for_raters", name)
    else:
        named = [c.name for c in table.columns if fit(c.name, "unit") >= NAMED]
        draft.add(-4.0 if named else -0.3, "other_unit" if named else "rows_are_units", *named[:1])
    if not draft.units or table.is_key(draft.units):
        draft.add(3, "each_once", name)
    else:
        draft.add(-3, "several_rows", name)
    if not stated.has_no_raters:
        raters = [c.name for c in table.columns if _names_raters(c) and c.name not in draft.units]
        draft.add(-5.0 * bool(raters), "rater_column", *raters[:1])


_PERSON = 0.8
"""How well a name fits a rater."""


def _names_raters(column: Column) -> bool:
    """Whether a column names raters, and is not one rater's own."""
    is_named = fit(column.name, "rater") >= NAMED and not _is_of_one(column)
    return not column.is_unique and (is_named or column.people >= NAMED)


def _is_of_one(column: Column) -> bool:
    """Whether a column has the ratings of one rater, for whom it is named."""
    is_person = kinds(column.name)["rater"] >= _PERSON and not is_named_for_other(column.name)
    is_one = not fit(column.name, "rater") or len(words(column.name)) > len(stem(column.name))
    return is_person and is_one and column.is_ratings and not column.people


def _label_sets(
    table: Table, stated: StatedRoles, units: tuple[str, ...]
) -> Iterator[tuple[Column, ...]]:
    """The columns that can be the ratings: one, or several criteria."""
    if stated.labels:
        labels = tuple(c for c in table.columns if c.name in stated.labels)
        yield from [labels] if labels else []
        return
    varied = [c for c in table.columns if c.is_ratings and c.name not in {*units, stated.weight}]
    yield from ((c,) for c in varied)
    named = tuple(c for c in varied if kinds(c.name)["criterion"] == 1)
    yield from [named] if len(named) > 1 else []


def _weigh_labels(stated: StatedRoles, draft: Draft, labels: tuple[Column, ...]) -> None:
    shown = ", ".join(draft.rated)
    if stated.labels:
        draft.add(3, "stated", shown)
        return
    is_single = len(labels) == 1 and _is_of_one(labels[0])
    fits = [max(fit(c.name, "label"), kinds(c.name)["criterion"]) for c in labels]
    others = [best_fit(c.name, ("unit", "rater")) * (fit(c.name, "label") < 1) for c in labels]
    others = [0.0] if is_single else others
    draft.add(2.5 * (sum(fits) - sum(others)) / len(labels), "named_for_labels", shown)
    raters = [c.name for c in labels if kinds(c.name)["rater"] >= _PERSON and not is_single]
    draft.add(-8.0 * bool(raters), "rater_column", *raters[:1])
    other = [c.name for c in labels if best_fit(c.name, OTHER_ROLES) >= NAMED]
    other = [name for name in other if fit(name, "label") < NAMED]
    draft.add(-6.0 * len(other), "names_of_other_kind", ", ".join(other))
