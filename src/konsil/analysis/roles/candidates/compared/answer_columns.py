"""Columns of two systems' answers, which are no names of systems: names recur."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from konsil.analysis.roles.candidates.compared.shown_order import are_opponents, are_sides
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.names import fit, kinds
from konsil.analysis.roles.reading import StatedRoles, TableReading
from konsil.analysis.roles.vocabulary import NAMED
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, message

_FEWEST = 3
"""Rows from which on columns without a single recurring value have no names of systems."""
_SEVERAL = 6
"""Rows from which on a name occurs twice on average."""


def are_answers(table: Table, first: Column, second: Column) -> bool:
    """Whether two columns have the systems' answers in place of their names, which recur.

    Columns that are named for systems have none; that of a model's answer is named for answers.
    """
    names = first.name, second.name
    if are_opponents(*names) or (_are_of_systems(names) and not _are_of_answers(names)):
        return False
    n = len(first.folded | second.folded)
    return table.n_rows >= _FEWEST and (
        n > table.n_rows if table.n_rows >= _SEVERAL else n == 2 * table.n_rows
    )


def _are_of_systems(names: tuple[str, str]) -> bool:
    return min(fit(name, "system") for name in names) >= NAMED


def _are_of_answers(names: tuple[str, str]) -> bool:
    """Whether two columns are named for answers or diagnoses; the model of an answer is none.

    >>> _are_of_answers(("answer_1", "answer_2")), _are_of_answers(("model_a_output",) * 2)
    (True, True)
    >>> _are_of_answers(("answer_model_1", "answer_model_2"))
    False
    """
    return min(max(fit(name, "answer"), fit(name, "reference")) for name in names) == 1


def unclear_answers(
    table: Table, reading: TableReading, stated: StatedRoles
) -> Iterator[TranslatableMessage]:
    """Columns named for answers that are read as names of systems: short answers recur, too.

    Names of known systems are no answers.
    """
    sides = reading.sides
    if sides is None or (stated.first and stated.second) or not _are_of_answers(sides):
        return
    cells = {cell for name in sides for cell in table.by_name[name].distinct}
    if 2 * sum(kinds(cell)["system"] == 1 for cell in cells) > len(cells):
        return
    yield message(
        "{first} and {second} are read as the systems, but are named like answers: if cells such as"
        " {cell} are answers, add columns of the systems that gave them, and state these with"
        " {option_first} and {option_second}.",
        message_id="roles.systems_named_answers",
        first=shortened(sides[0]),
        second=shortened(sides[1]),
        cell=repr(min(cells)),
        option_first=option("first"),
        option_second=option("second"),
    )


def answers_as_systems(table: Table) -> Iterator[TranslatableMessage]:
    """Columns named for the two sides that have answers, where no column has their systems."""
    for first, second in permutations(table.columns, 2):
        if are_sides(first.name, second.name) and are_answers(table, first, second):
            yield message(
                "Hardly any value of {first} and {second} occurs twice, as in answers and unlike in"
                " names of systems: if they are answers, add columns of the systems that gave them;"
                " state the columns of the systems with {option_first} and {option_second}.",
                message_id="roles.answers_as_systems",
                first=shortened(first.name),
                second=shortened(second.name),
                option_first=option("first"),
                option_second=option("second"),
            )
            return
