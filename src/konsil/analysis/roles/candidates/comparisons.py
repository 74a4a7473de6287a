"""Readings in which a row is a comparison of two systems: who won, a preference, or counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, permutations
from operator import eq

from konsil.analysis.roles.candidates.leftover import explain
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import best_fit, fit
from konsil.analysis.roles.outcomes import FIVE, are_outcomes, known_step
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import OUTCOMES, PREFERENCES, SIDES, WINS, NameRole
from konsil.records.numerals import is_number

_MOST_SYSTEMS = 60
"""Systems in columns that are not named for the two sides; in others `_MANY_SYSTEMS`."""
_MANY_SYSTEMS = 200
_FEWEST = 6
"""Rows from which on it is no chance that two columns are never equal."""
_MOST_ERRORS = 0.2
"""Share of the rows of columns named for a comparison that may be none: each is refused by its
line, in place of the table as a whole."""
_REPEATED = 4
"""Rows of each value on average, from which on long values are names and no texts."""
_TRUTH = frozenset({"true", "false"})


def compared(table: Table, stated: StatedRoles) -> Iterator[Draft]:
    """Every reading with two columns of systems."""
    # Names of systems can be as long as texts, which are hardly repeated.
    repeated = {c for c in table.columns if _REPEATED * len(c.distinct) <= table.n_rows}
    words = [
        c
        for c in table.columns
        if not c.is_number and not c.is_nested and (not c.is_long or c in repeated)
    ]
    for first, second in permutations(words, 2):
        if (stated.first or first.name, stated.second or second.name) != (first.name, second.name):
            continue
        is_named = bool(stated.first and stated.second) or (
            _are_sides(first.name, second.name) and not _is_series(table, first.name)
        )
        is_swapped = not is_named and table.places[first.name] > table.places[second.name]
        if is_swapped or not _are_systems(table, first, second, is_named=is_named):
            continue
        outcomes = [
            c
            for c in table.columns
            if not known_ends(c, (first, second))
            and (c.name == stated.outcome or _is_outcome(c, first, second, is_named=is_named))
        ]
        if is_named or not _is_in_others(table, first, second, outcomes[:1]):
            yield from _drafts(table, stated, (first, second), outcomes, is_named=is_named)


_ENDS = {(a, b) for a, b in zip(*SIDES, strict=True) if len(a) == 1}
_WORDS = set(zip(*SIDES, strict=True))


def _are_sides(first: str, second: str) -> bool:
    """Whether two names differ in their side alone: model_a and model_b, left and right.

    >>> _are_sides("model_a", "model_b"), _are_sides("left", "right"), _are_sides("b", "a")
    (True, True, False)
    >>> _are_sides("slot_a_provider", "slot_b_provider"), _are_sides("g1_winner", "g2_winner")
    (True, True)
    """
    ours, theirs = _parts(first), _parts(second)
    differing = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]]
    if len(ours) == len(theirs) and len(differing) == 1 and differing[0] in _WORDS:
        return True
    joined = "".join(ours), "".join(theirs)
    stems = joined[0][:-1], joined[1][:-1]
    return stems[0] == stems[1] and (joined[0][-1:], joined[1][-1:]) in _ENDS


@cache
def _parts(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z]+|\d+", name.casefold()))


def _is_series(table: Table, name: str) -> bool:
    """Whether more than two columns have names that differ in the last character only."""
    return sum(column.name[:-1] == name[:-1] for column in table.columns) > 2


def _are_systems(table: Table, first: Column, second: Column, *, is_named: bool) -> bool:
    """Whether two columns have one vocabulary and are never equal in a row."""
    if min(fit(first.name, "rater"), fit(second.name, "rater")) == 1:
        return False
    if len(first.folded | second.folded) > (_MANY_SYSTEMS if is_named else _MOST_SYSTEMS):
        return False
    if is_named:
        n_equal = sum(map(eq, first.cells, second.cells))
        return n_equal <= _MOST_ERRORS * table.n_rows
    is_alike = table.n_rows >= _FEWEST and table.share(first, second) >= 0.5
    return is_alike and not any(map(eq, first.cells, second.cells))


def _is_outcome(column: Column, first: Column, second: Column, *, is_named: bool) -> bool:
    """Whether a column says who won: one of the row's systems, a side, or a draw.

    Which column is the first side is step_by_word by their names only.
    """
    if column in (first, second) or column.is_long or not column.filled:
        return False
    if column.is_number and not _is_named_outcome(column):
        # 0 and 1 are words for outcomes only where a column is named for them.
        return False
    if is_named and are_outcomes(column.distinct):
        return True
    systems, names = first.folded | second.folded, (first.name, second.name)
    step_by_word = {word: known_step(word, names) for word in column.folded}
    if not is_named:
        sides = {name.casefold() for name in names}
        step_by_word = {
            word: step for word, step in step_by_word.items() if step == 0 or word in sides
        }
    wrong = (
        cell.casefold() not in (a.casefold(), b.casefold())
        if cell.casefold() in systems
        else step_by_word.get(cell.casefold()) is None
        for cell, a, b in zip(column.cells, first.cells, second.cells, strict=True)
        if cell.casefold() not in column.empty
    )
    is_lenient = is_named and _is_named_outcome(column) and not column.is_number
    return sum(wrong) <= _MOST_ERRORS * len(column.filled) if is_lenient else not any(wrong)


def _is_named_outcome(column: Column) -> bool:
    """Whether a column is named for outcomes."""
    return column.name.strip().casefold() in OUTCOMES


def _steps(column: Column, first: Column, second: Column) -> tuple[int | None, ...]:
    """The step of each row in favour of the first system, which decides the numbers."""
    names = (first.name, second.name)
    step_by_word = {w: known_step(w, names) for w in column.distinct}
    if are_outcomes(column.distinct):
        step_by_word = {word: FIVE[word.strip().casefold()] for word in column.distinct}
    return tuple(
        1
        if cell.casefold() == a.casefold()
        else -1
        if cell.casefold() == b.casefold()
        else step_by_word.get(cell)
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
    is_on_scale = bool(stated.scale or stated.ends)
    if {"won", "lost"} <= wins.keys() and (is_named or not outcomes) and not is_on_scale:
        draft = Draft("pair-counts", sides=names, wins=wins)
        draft.add(16, "wins", ", ".join(wins.values()))
        draft.numbers = _one_each(table, wins) or ("counts",)
        yield from _completed(table, stated, draft)
    if not is_on_scale:
        for column in outcomes:
            if column.name == (stated.outcome or column.name) and not stated.second_outcome:
                draft = _with_outcome(sides, column, is_named=is_named)
                if not stated.outcome:
                    draft.add(
                        -6 * best_fit(column.name, ("rater", "unit")),
                        "named_for_other",
                        column.name,
                    )
                    points = _points(column, sides)
                    reason = "sides_alone" if points == _SIDES_ALONE else "pairs"
                    draft.add(points, reason, column.name)
                yield from _completed(table, stated, draft)
        yield from _in_both_orders(table, stated, sides, outcomes, is_named=is_named)
    if is_named:
        yield from _on_scale(table, stated, sides, () if is_on_scale else outcomes)


def _with_outcome(sides: tuple[Column, Column], column: Column, *, is_named: bool) -> Draft:
    names = sides[0].name, sides[1].name
    draft = Draft("pairs", sides=names, outcome=column.name)
    draft.add(12, "pairs", ", ".join((*names, column.name)))
    draft.add(5.0 * is_named, "sides", ", ".join(names))
    draft.numbers = _steps(column, *sides)
    return draft


_GAMES = re.compile(r"g(ame)?_?[12]_winner", re.IGNORECASE)
"""Names of the outcomes of the two orders; two others can be those of two raters."""


def _in_both_orders(
    table: Table,
    stated: StatedRoles,
    sides: tuple[Column, Column],
    outcomes: Sequence[Column],
    *,
    is_named: bool,
) -> Iterator[Draft]:
    """Readings with an outcome for each of the two orders in which the systems were shown."""
    for first, second in combinations(outcomes, 2):
        are_stated = (stated.outcome, stated.second_outcome) == (first.name, second.name)
        if are_stated or (not stated.outcome and _are_sides(first.name, second.name)):
            draft = _with_outcome(sides, first, is_named=is_named)
            draft.second_outcome = second.name
            draft.numbers = ("orders", draft.numbers, _steps(second, *sides))
            is_known = bool(_GAMES.fullmatch(first.name) and _GAMES.fullmatch(second.name))
            draft.add(10.0 * is_known, "orders", f"{first.name}, {second.name}")
            yield from _completed(table, stated, draft)


_POINTS = 5.0
"""Points for a column that is named for outcomes, and for the names of the row's systems in it."""
_SIDES_ALONE = -12.0
"""Points of a column with sides alone that is not named for outcomes: left may be an eye."""


def _points(column: Column, sides: tuple[Column, Column]) -> float:
    """Points for a column of outcomes by its name and by what it contains."""
    is_named = _is_named_outcome(column)
    has_systems = bool(column.folded & (sides[0].folded | sides[1].folded))
    if not is_named and not has_systems:
        return _SIDES_ALONE
    return _POINTS * (is_named + has_systems - column.is_number)


def _on_scale(
    table: Table,
    stated: StatedRoles,
    sides: tuple[Column, Column],
    outcomes: Sequence[Column],
) -> Iterator[Draft]:
    """Readings with a preference on a scale, in a column that has no other `outcomes`."""
    for column in table.columns:
        if column in (*sides, *outcomes) or not column.is_ratings:
            continue
        is_named = _is_named_outcome(column)
        is_outcome = is_named or (fit(column.name, "label") == 1 and not outcomes)
        if column.name != stated.outcome and not (is_outcome and not stated.outcome):
            continue
        draft = Draft("pairs-on-scale", sides=(sides[0].name, sides[1].name), outcome=column.name)
        draft.ends = stated.ends or known_ends(column, sides) if not stated.scale else None
        draft.add(16, "preferences", column.name)
        is_unclear = column.is_number and not draft.ends
        draft.add(
            _POINTS * (1 + is_named - is_unclear), "sides", f"{sides[0].name}, {sides[1].name}"
        )
        is_declared = stated.scale and column.folded <= {w.casefold() for w in stated.scale}
        draft.add(5.0 * bool(is_declared), "preferences", column.name)
        draft.numbers = ("scale", column.name)
        yield from _completed(table, stated, draft)


def known_ends(column: Column, sides: tuple[Column, Column]) -> tuple[float, float] | None:
    """The numbers of a full preference for the first and for the second of systems 1 and 2."""
    are_numbered = all(c.name.endswith(n) for c, n in zip(sides, "12", strict=True))
    is_preference = column.is_number and column.name.casefold() in PREFERENCES
    if are_numbered and is_preference and 1 <= column.range[0] <= column.range[1] <= 2:
        return 1.0, 2.0
    return None


def _counted(table: Table, stated: StatedRoles) -> dict[str, str]:
    """won, lost and tied -> the column that counts it."""
    wins = {"won": stated.won, "lost": stated.lost, "tied": stated.tied}
    if stated.outcome:
        return {}
    for role, names in WINS.items():
        fitting = [
            c.name for c in table.columns if c.name.strip().casefold() in names and _are_counts(c)
        ]
        wins[role] = wins[role] or (fitting[0] if fitting else None)
    return {role: name for role, name in wins.items() if name is not None}


def _are_counts(column: Column) -> bool:
    """Whether most cells are counts, or true or false; others are refused by their line."""
    n_counts = sum(is_number(cell) or cell.casefold() in _TRUTH for cell in column.filled)
    return 2 * n_counts >= len(column.filled)


def _one_each(table: Table, wins: dict[str, str]) -> tuple[int, ...]:
    """The step of each row where every row counts a single comparison; empty otherwise."""
    steps = {"won": 1, "lost": -1, "tied": 0}
    cells = zip(*(table.by_name[name].cells for name in wins.values()), strict=True)
    rows = [
        [role for role, c in zip(wins, row, strict=True) if c in ("1", "true")] for row in cells
    ]
    is_single = all(len(row) == 1 for row in rows)
    return tuple(steps[row[0]] for row in rows) if is_single else ()


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
            names = frozenset(draft.sides or ())
            fresh.numbers = (draft.shape == "pairs-on-scale", draft.numbers, names, *parts)
            yield fresh


def _named(table: Table, role: NameRole, reserved: set[str]) -> list[str]:
    """The free columns that are named best for a role; of equal ones the first."""
    free = [
        c
        for c in table.columns
        if c.name not in reserved
        and len(c.filled) >= (1 - _MOST_ERRORS) * table.n_rows
        and not c.is_date
        and fit(c.name, "row") < 1
    ]
    best = max((fit(c.name, role) for c in free), default=0.0)
    named = [c.name for c in free if fit(c.name, role) == best >= 0.7]
    return list({table.partition([name]): name for name in reversed(named)}.values())
