"""Columns of two systems' answers, which are no names of systems: names recur."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from konsil.analysis.roles.candidates.compared.shown_order import are_sides
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.names import fit
from konsil.analysis.roles.vocabulary import NAMED
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, message

_FEWEST = 3
"""Rows from which on columns without a single recurring value have no names of systems."""
_SEVERAL = 6
"""Rows from which on a name occurs twice on average."""


def are_answers(table: Table, first: Column, second: Column) -> bool:
    """Whether two columns have the systems' answers in place of their names, which recur.

    Columns that are named for systems have none.
    """
    if min(fit(column.name, "system") for column in (first, second)) >= NAMED:
        return False
    n = len(first.folded | second.folded)
    return table.n_rows >= _FEWEST and (
        n > table.n_rows if table.n_rows >= _SEVERAL else n == 2 * table.n_rows
    )


def answers_as_systems(table: Table) -> Iterator[TranslatableMessage]:
    """Columns named for the two sides that have answers, where no column has their systems."""
    for first, second in permutations(table.columns, 2):
        if are_sides(first.name, second.name) and are_answers(table, first, second):
            yield message(
                "{first} and {second} have answers and no names of systems, as hardly any occurs"
                " twice: add columns of the systems that gave them, and state these with"
                " {option_first} and {option_second}.",
                message_id="roles.answers_as_systems",
                first=shortened(first.name),
                second=shortened(second.name),
                option_first=option("first"),
                option_second=option("second"),
            )
            return
