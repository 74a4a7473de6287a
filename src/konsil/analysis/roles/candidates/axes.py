"""Columns of criteria: each comparison is repeated for each of their values.

Rows of one item and pair of systems that such a column distinguishes are no independent
comparisons: pooled, each criterion would count as a further rater.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from konsil.analysis.roles.candidates.compared.shown_order import is_order, order_question
from konsil.analysis.roles.columns import Table
from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.reading import StatedRoles, TableReading
from konsil.errors import entry, option
from konsil.errors.message import TranslatableMessage, message

CROSSED = 0.9
"""Share of the repeated comparisons that have every value of a column equally often, from which on
the column is taken for one of criteria, and not of what rows happen to have."""
_MOST_BY_CHANCE = 10
"""So many repeated comparisons can be crossed with a column by chance, unless they are half of
all rows."""
FEW_VALUES = 50
"""Columns with more values than this are no criteria."""


def is_axis(comparisons: NDArray[np.int64], values: NDArray[np.int64], n_rows: int) -> bool:
    """Whether a column has each of its values equally often in (nearly) every comparison.

    Args:
        comparisons: (n,) a number for each row, equal where item, rater and pair are equal; every
            number occurs at least twice.
        values: (n,) the rows' values of the column as numbers from 0.
        n_rows: all rows, those of comparisons that are not repeated included.

    >>> is_axis(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), 4)
    True
    >>> is_axis(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 4)
    False
    """
    n_values = len(np.unique(values))
    if not 1 < n_values <= FEW_VALUES:
        return False
    width = int(values.max()) + 1
    each, n_each = np.unique(comparisons * width + values, return_counts=True)
    _, begin, n_different = np.unique(each // width, return_index=True, return_counts=True)
    is_even = np.minimum.reduceat(n_each, begin) == np.maximum.reduceat(n_each, begin)
    if len(begin) < _MOST_BY_CHANCE and 2 * len(values) < n_rows:
        return False
    return bool(np.mean(is_even & (n_different == n_values)) >= CROSSED)


def with_axis(reading: TableReading, column: str) -> TableReading:
    """The reading in which a column has the criteria of the comparisons."""
    if is_order(column):
        return replace(reading, order=column)
    unused = {name: reason for name, reason in reading.unused.items() if name != column}
    return replace(
        reading,
        criterion=column,
        roles={**reading.roles, column: "criterion"},
        unused=unused,
    )


def axis_question(column: str) -> TranslatableMessage:
    """What is asked of a column of criteria, or of the order in which systems were shown."""
    if is_order(column):
        return order_question(column)
    return message(
        "{column} repeats each comparison for each of its values, and such rows are not"
        " independent: analyse each value by itself with {by}, select some with {where}, or pool"
        " all with {unused}.",
        message_id="roles.axis",
        column=shortened(column),
        by=option("by", column),
        where=entry("where", column, "'...'", "..."),
        unused=option("unused", column),
    )


def axis_of(table: Table, reading: TableReading, stated: StatedRoles) -> str | None:
    """A column of criteria, for each of which the comparisons are repeated."""
    if reading.shape == "pair-counts" or reading.sides is None:
        return None
    parts = (*reading.units, *([reading.rater] if reading.rater else []))
    names = [*parts, *(column.name for column in table.slices)]
    cells = [column.codes for column in (*table.columns, *table.slices) if column.name in names]
    first, second = (table.by_name[name].cells for name in reading.sides)
    pairs = [tuple(sorted(pair)) for pair in zip(first, second, strict=True)]
    numbers: dict[object, int] = {}
    keys = zip(pairs, *cells, strict=True)
    of_row = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    repeated = np.bincount(of_row)[of_row] > 1
    if not repeated.any() or not reading.units:
        return None
    return next(
        (
            name
            for name in axis_columns(reading, stated)
            if name in table.by_name
            and is_axis(
                of_row[repeated], np.array(table.by_name[name].codes)[repeated], table.n_rows
            )
        ),
        None,
    )


def axis_columns(reading: TableReading, stated: StatedRoles) -> tuple[str, ...]:
    """The columns that may be criteria of comparisons: rounds and what is stated are none."""
    aside = {*stated.groups, *stated.unused, stated.swapped}
    roles = {"unused", "group", "row"}
    return tuple(n for n, role in reading.roles.items() if role in roles and n not in aside)
