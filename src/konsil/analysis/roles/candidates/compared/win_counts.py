"""Columns that count the wins, losses and ties of two systems."""

from __future__ import annotations

from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.names import words
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import TRUTH_VALUES, WINS
from konsil.records.numerals import is_number


def counted(table: Table, stated: StatedRoles) -> dict[str, str]:
    """won, lost and tied -> the column that counts it."""
    wins = {"won": stated.won, "lost": stated.lost, "tied": stated.tied}
    if stated.outcome:
        return {}
    for role in WINS:
        fitting = [c.name for c in table.columns if is_count(c.name, role) and _are_counts(c)]
        wins[role] = wins[role] or (fitting[0] if fitting else None)
    return {role: name for role, name in wins.items() if name is not None}


def is_count(name: str, role: str) -> bool:
    """Whether a column is named for counts of wins, losses or ties."""
    return bool({name.strip().casefold(), "_".join(words(name))} & WINS[role])


def _are_counts(column: Column) -> bool:
    """Whether most cells are counts, or true or false; others are refused by their line."""
    n_counts = sum(is_number(cell) or cell.casefold() in TRUTH_VALUES for cell in column.filled)
    return 2 * n_counts >= len(column.filled)


def single_comparisons(table: Table, wins: dict[str, str]) -> tuple[int, ...]:
    """The step of each row where every row counts a single comparison; empty otherwise."""
    steps = {"won": 1, "lost": -1, "tied": 0}
    cells = zip(*(table.by_name[name].cells for name in wins.values()), strict=True)
    rows = [
        [role for role, c in zip(wins, row, strict=True) if c in ("1", "true")] for row in cells
    ]
    is_single = all(len(row) == 1 for row in rows)
    return tuple(steps[row[0]] for row in rows) if is_single else ()
