"""Readings in which a row is a comparison of two systems: who won, a preference, or counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from konsil.analysis.roles.candidates.leftover import explain
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import best_fit, fit
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import OUTCOMES, SIDES, TIES, WINS, NameRole

_MOST_SYSTEMS = 60
_FEWEST = 6
"""Rows from which on it is no chance that two columns are never equal."""


def compared(table: Table, stated: StatedRoles) -> Iterator[Draft]:
    """Every reading with two columns of systems."""
    words = [c for c in table.columns if not c.is_long and not c.is_nested]
    for first, second in permutations(words, 2):
        if (stated.first or first.name, stated.second or second.name) != (first.name, second.name):
            continue
        is_named = bool(stated.first and stated.second) or (
            _are_sides(first.name, second.name) and not _is_series(table, first.name)
        )
        is_swapped = not is_named and table.places[first.name] > table.places[second.name]
        if is_swapped or not _are_systems(table, first, second, is_named=is_named):
            continue
        outcomes = [c for c in table.columns if _is_outcome(c, first, second, is_named=is_named)]
        if is_named or not _is_in_others(table, first, second, outcomes[:1]):
            yield from _drafts(table, stated, (first, second), outcomes, is_named=is_named)


def _are_sides(first: str, second: str) -> bool:
    """Whether two names are those of two sides: model_a and model_b, left and right.

    >>> _are_sides("model_a", "model_b"), _are_sides("left", "right"), _are_sides("b", "a")
    (True, True, False)
    """
    ends = {(a, b) for a, b in zip(*SIDES, strict=True) if len(a) == 1}
    joined = ["".join(re.findall(r"[a-z]+|\d+", name.casefold())) for name in (first, second)]
    if (joined[0], joined[1]) in set(zip(*SIDES, strict=True)):
        return True
    stems = joined[0][:-1], joined[1][:-1]
    return stems[0] == stems[1] and (joined[0][-1:], joined[1][-1:]) in ends


def _is_series(table: Table, name: str) -> bool:
    """Whether more than two columns have names that differ in the last character only."""
    return sum(column.name[:-1] == name[:-1] for column in table.columns) > 2


def _are_systems(table: Table, first: Column, second: Column, *, is_named: bool) -> bool:
    """Whether two columns have one vocabulary and are never equal in a row."""
    if first.is_number or second.is_number:
        return False
    if any(a == b for a, b in zip(first.cells, second.cells, strict=True)):
        return False
    if len(first.folded | second.folded) > _MOST_SYSTEMS:
        return False
    return is_named or (table.share(first, second) >= 0.5 and table.n_rows >= _FEWEST)


def _is_outcome(column: Column, first: Column, second: Column, *, is_named: bool) -> bool:
    """Whether a column says who won: one of the row's systems, a side, or a draw.

    Which column is the first side is known by their names only.
    """
    if column in (first, second) or column.is_long or not column.filled:
        return False
    words = {*SIDES[0], *SIDES[1]} if is_named else set()
    sides = {*words, first.name.casefold(), second.name.casefold()}
    systems = first.folded | second.folded
    if not all(v in systems | sides or v.startswith(TIES) for v in column.folded):
        return False
    return all(
        cell.casefold() not in systems or cell.casefold() in (a.casefold(), b.casefold(), *sides)
        for cell, a, b in zip(column.cells, first.cells, second.cells, strict=True)
    )


def _is_in_others(table: Table, first: Column, second: Column, outcomes: Sequence[Column]) -> bool:
    """Whether further columns have the systems, too: then they are ratings of several raters."""
    others = [c for c in table.columns if c not in (first, second, *outcomes)]
    return any(table.share(first, other) > 0.5 for other in others)


def _drafts(
    table: Table,
    stated: StatedRoles,
    sides: tuple[Column, Column],
    outcomes: Sequence[Column],
    *,
    is_named: bool,
) -> Iterator[Draft]:
    names = sides[0].name, sides[1].name
    wins = _counted(table, stated)
    if {"won", "lost"} <= wins.keys() and (is_named or not outcomes):
        draft = Draft("pair-counts", sides=names, wins=wins)
        draft.add(16, "wins", ", ".join(wins.values()))
        yield from _completed(table, stated, draft)
    for column in outcomes:
        if column.name == (stated.outcome or column.name) and not stated.scale:
            draft = Draft("pairs", sides=names, outcome=column.name)
            draft.add(12, "pairs", ", ".join((*names, column.name)))
            draft.add(5.0 * is_named, "sides", ", ".join(names))
            if not stated.outcome:
                draft.add(
                    -6 * best_fit(column.name, ("rater", "unit")), "named_for_other", column.name
                )
            yield from _completed(table, stated, draft)
    if not is_named or (outcomes and not stated.scale):
        return
    for column in table.columns:
        if column.name in names or not column.is_ratings:
            continue
        is_outcome = fit(column.name, "label") == 1 or column.name.casefold() in OUTCOMES
        if column.name == stated.outcome or (is_outcome and not stated.outcome):
            draft = Draft("pairs-on-scale", sides=names, outcome=column.name)
            draft.add(16, "preferences", column.name)
            yield from _completed(table, stated, draft)


def _counted(table: Table, stated: StatedRoles) -> dict[str, str]:
    """won, lost and tied -> the column that counts it."""
    wins = {"won": stated.won, "lost": stated.lost, "tied": stated.tied}
    for role, names in WINS.items():
        fitting = [c.name for c in table.columns if c.is_whole and c.name.casefold() in names]
        wins[role] = wins[role] or (fitting[0] if fitting else None)
    return {role: name for role, name in wins.items() if name is not None}


def _completed(table: Table, stated: StatedRoles, draft: Draft) -> Iterator[Draft]:
    """The draft with each choice of items and raters by their names, and all other columns."""
    reserved = {*draft.used, *stated.groups}
    units: Sequence[tuple[str, ...]] = [stated.units]
    if not stated.units:
        free = [] if stated.has_no_units else _named(table, "unit", reserved | {*stated.raters})
        units = [(name,) for name in free] or [()]
    for unit in units:
        raters: Sequence[str | None] = stated.raters[:1]
        if not raters:
            raters = [] if stated.has_no_raters else _named(table, "rater", reserved | {*unit})
        for rater in raters or [None]:
            fresh = draft.copy(units=unit, rater=rater)
            explain(table, fresh, ())
            parts = tuple(table.partition([name]) for name in (*unit, rater) if name)
            names = frozenset({*(draft.sides or ()), draft.outcome, *draft.wins.values()})
            fresh.numbers = (draft.shape, names, len(unit), *parts)
            yield fresh


def _named(table: Table, role: NameRole, reserved: set[str]) -> list[str]:
    """The free columns that are named best for a role; of equal ones the first."""
    free = [
        c
        for c in table.columns
        if c.name not in reserved and c.is_full and not c.is_date and fit(c.name, "row") < 1
    ]
    best = max((fit(c.name, role) for c in free), default=0.0)
    named = [c.name for c in free if fit(c.name, role) == best >= 0.7]
    return list({table.partition([name]): name for name in reversed(named)}.values())
