"""Which readings are ones to state: numbers can be computed of them, and something says so."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import polars as pl

from konsil.analysis.roles.candidates.cells import heading
from konsil.analysis.roles.candidates.compared.preference_scales import outcome_arguments
from konsil.analysis.roles.candidates.group_columns import has_groups
from konsil.analysis.roles.candidates.leftover import has_people
from konsil.analysis.roles.columns import table_of
from konsil.analysis.roles.evidence import unused_because
from konsil.analysis.roles.names import Kind, fit, kinds, names_codes
from konsil.analysis.roles.proof import sample, wrong_totals
from konsil.analysis.roles.proposal import LEAST
from konsil.analysis.roles.reading import (
    COMPARISONS,
    COMPUTABLE,
    RATED_ONCE,
    Purpose,
    Role,
    Shape,
    StatedRoles,
    TableReading,
)
from konsil.analysis.roles.vocabulary import NAMED

_WITH_NUMBERS = COMPUTABLE | {"repeats", "rows-to-combine", "pairs-on-scale"}
"""Shapes of which something can be computed once all is stated."""


def has_numbers(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles, purpose: Purpose
) -> bool:
    """Whether a reading is one to state: it has numbers, and something speaks for it.

    A call that states a reading for which little speaks would be copied without a look. Different
    labels in a cell may be those of one rater, or of several: only a repeated one is of several.
    Comparisons need the order of their outcomes, and are grouped by one column.
    """
    if (reading.shape in COMPARISONS) != (purpose.task == "comparisons"):
        return False
    if purpose.task == "groups" and not _can_be_grouped(frame, reading, stated):
        return False
    if (reading.shape == "raters-in-rows" and not reading.rater) or has_no_ratings(frame, reading):
        return False
    if _may_be_a_condition(frame, reading, stated, purpose):
        return False
    if reading.shape == "lists":
        column = table_of(sample(frame).select(reading.rated), (), ()).columns[0]
        cells = [column.labels(value) for value in column.distinct]
        return any(len({*labels}) < len(labels) for labels in cells)
    if reading.shape in COMPARISONS and reading.criterion and stated.groups:
        return False
    is_ordered = stated.scale or reading.ends or outcome_arguments(frame, reading, stated)
    if reading.shape == "pairs-on-scale" and not is_ordered:
        return False
    is_rated_once = purpose.task == "groups" and reading.shape in RATED_ONCE
    has_numbers = reading.criterion is None if is_rated_once else reading.shape in _WITH_NUMBERS
    return has_numbers and reading.points >= LEAST


def _may_be_a_condition(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles, purpose: Purpose
) -> bool:
    """Whether nothing says that a column names raters, and it may have conditions or ratings.

    Where several others are named for units, one of these may name the raters, such as the subjects
    of an experiment. Groups are compared without raters, too.
    """
    n_named = sum(fit(name, "unit") == 1 for name in reading.units)
    is_open = purpose.task == "groups" or (purpose.task == "ratings" and n_named > 1)
    if reading.rater is None or stated.raters or not is_open:
        return False
    cells = table_of(sample(frame).select(reading.rater), (), ()).columns[0]
    return max(fit(reading.rater, "rater"), cells.people) < 0.5


def without_condition(reading: TableReading, stated: StatedRoles) -> TableReading:
    """Ratings by one rater without the column that could have been the raters' or criteria's.

    It stays where its name is that of criteria, or the user has stated it.
    """
    name = reading.criterion
    if name is None or reading.shape not in RATED_ONCE or name == stated.criterion:
        return reading
    if fit(name, "criterion") >= NAMED:
        return reading
    roles: dict[str, Role] = {**reading.roles, name: "unused"}
    unused = {**reading.unused, name: unused_because("unused")}
    return replace(reading, criterion=None, roles=roles, unused=unused)


def is_last_resort(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles, purpose: Purpose
) -> bool:
    """Whether a reading has a column for each rater or system, which no name says or excludes.

    It is one to state where the likeliest one has no numbers.
    """
    shape: Shape = "systems" if purpose.task == "groups" and reading.group is None else "wide"
    likely = replace(reading, points=LEAST)
    is_likely = reading.points > 0 and reading.shape == shape
    others: tuple[Kind, ...] = ("criterion", "system") if shape == "wide" else ("criterion",)
    if any(kinds(name)[kind] >= NAMED for name in reading.rated for kind in others):
        return False
    return is_likely and has_numbers(frame, likely, stated, purpose)


def has_no_ratings(frame: pl.DataFrame, reading: TableReading) -> bool:
    """Whether cells are no ratings that a statement could be about, and no other reading is."""
    above = heading(reading.rated) if reading.rated else ""
    is_of_people = has_people([name.removeprefix(above) for name in reading.rated])
    is_of_people = is_of_people and reading.shape == "cross-table"
    return is_of_people or bool(wrong_totals(frame, reading))


def _can_be_grouped(frame: pl.DataFrame, reading: TableReading, stated: StatedRoles) -> bool:
    """Whether groups can be compared: all ratings are one where no other column can be groups."""
    if reading.shape == "lists" or reading.has_sets or has_codes(frame, reading.rated):
        return False
    is_open = reading.group is None and reading.shape != "systems" and not stated.has_no_groups
    return not (is_open and any(_may_name_groups(frame[name]) for name in reading.unused))


def _may_name_groups(cells: pl.Series) -> bool:
    """Whether a column may name the groups; those of systems may have one row each."""
    return has_groups(cells) or (fit(cells.name, "system") >= NAMED and cells.n_unique() > 1)


def has_codes(frame: pl.DataFrame, names: Collection[str]) -> bool:
    """Whether one of some columns has numbers and is named for codes, of which there is no mean."""
    named = [name for name in names if names_codes(name) and name in frame.columns]
    return any(column.is_number for column in table_of(frame.select(named), (), ()).columns)
