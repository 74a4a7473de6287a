"""Readings in which a row is a comparison of two systems: who won, a preference, or counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from operator import eq

from konsil.analysis.roles.candidates.compared.answer_columns import are_answers
from konsil.analysis.roles.candidates.compared.scaled_comparisons import (
    POINTS,
    RELATED,
    add_related_left_out,
    known_ends,
    on_scale,
)
from konsil.analysis.roles.candidates.compared.shown_order import (
    RATER,
    are_opponents,
    are_orders,
    are_related,
    are_sides,
    is_order,
)
from konsil.analysis.roles.candidates.compared.win_counts import (
    counted,
    is_count,
    single_comparisons,
)
from konsil.analysis.roles.candidates.leftover import explain
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import best_fit, fit, kinds
from konsil.analysis.roles.outcomes import FIVE, are_outcomes, known_step, name_results, sense_of
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import WINS, NameRole

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
        if name_results((first.name, second.name)) and not stated.outcome and not stated.won:
            yield from _of_winners(table, stated, first, second)
            continue
        are_stated = bool(stated.first and stated.second)
        is_named = (
            are_stated
            or (are_sides(first.name, second.name) and not _is_series(table, first.name))
            or are_opponents(first.name, second.name)
        )
        if not are_stated and are_answers(table, first, second):
            continue
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


def _of_winners(
    table: Table, stated: StatedRoles, first: Column, second: Column
) -> Iterator[Draft]:
    """The reading of columns of the systems that won and lost, which leaves out no ties."""
    systems = first.folded | second.folded
    n_equal = sum(a == b for a, b in zip(first.cells, second.cells, strict=True))
    are_labels = all(kinds(word)["label"] for word in systems)
    is_like_systems = table.share(first, second) >= 0.5 and 2 * len(systems) <= table.n_rows
    ties = [c for c in table.columns if is_count(c.name, "tied")]
    if n_equal or ties or are_labels or not is_like_systems or stated.scale or stated.ends:
        return
    names = first.name, second.name
    draft = Draft("pairs", sides=names)
    draft.add(12 + POINTS, "results", ", ".join(names))
    draft.numbers = ("won",)
    yield from _completed(table, stated, draft)


def _is_series(table: Table, name: str) -> bool:
    """Whether more than two columns have names that differ in the last character only."""
    return sum(column.name[:-1] == name[:-1] for column in table.columns) > 2


def _are_systems(table: Table, first: Column, second: Column, *, is_named: bool) -> bool:
    """Whether two columns have one vocabulary and are never equal in a row."""
    if not is_named and (table.n_rows < _FEWEST or table.share(first, second) < 0.5):
        return False
    names = (first.name, second.name)
    if min(fit(name, "rater") for name in names) == 1:
        return False
    if not is_named and max(max(fit(n, "rater"), fit(n, "unit")) for n in names) == 1:
        return False
    if len(first.folded | second.folded) > (_MANY_SYSTEMS if is_named else _MOST_SYSTEMS):
        return False
    if is_named:
        n_equal: int = sum(map(eq, first.cells, second.cells))
        return n_equal <= _MOST_ERRORS * table.n_rows
    return not any(map(eq, first.cells, second.cells))


def _is_outcome(column: Column, first: Column, second: Column, *, is_named: bool) -> bool:
    """Whether a column says who won: one of the row's systems, a side, or a draw.

    Which column is the first side is step_by_word by their names only.
    """
    if column in (first, second) or column.is_long or not column.filled:
        return False
    is_counted = any(is_count(column.name, role) for role in WINS)
    if column.is_number and (is_counted or not sense_of(column.name)):
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
    is_lenient = is_named and bool(sense_of(column.name)) and not column.is_number
    return sum(wrong) <= _MOST_ERRORS * len(column.filled) if is_lenient else not any(wrong)


def _steps(column: Column, first: Column, second: Column) -> tuple[int | None, ...]:
    """The step of each row in favour of the first system, which decides the numbers."""
    names = (first.name, second.name)
    step_by_word = {w: known_step(w, names) for w in column.distinct}
    if are_outcomes(column.distinct):
        step_by_word = {word: FIVE[word.strip().casefold()] for word in column.distinct}
    steps = (
        1
        if cell.casefold() == a.casefold()
        else -1
        if cell.casefold() == b.casefold()
        else step_by_word.get(cell)
        for cell, a, b in zip(column.cells, first.cells, second.cells, strict=True)
    )
    sense = sense_of(column.name) or 1
    return tuple(None if step is None else sense * step for step in steps)


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
    wins = counted(table, stated)
    is_on_scale = bool(stated.scale or stated.ends)
    if {"won", "lost"} <= wins.keys() and (is_named or not outcomes) and not is_on_scale:
        draft = Draft("pair-counts", sides=names, wins=wins)
        draft.add(16, "wins", ", ".join(wins.values()))
        draft.numbers = single_comparisons(table, wins) or ("counts",)
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
                    draft.add(points, _reason(column, sides), column.name)
                    draft.add(RELATED * is_order(column.name), "named_for_other", column.name)
                    add_related_left_out(draft, outcomes)
                yield from _completed(table, stated, draft)
        yield from _in_both_orders(table, stated, sides, outcomes, is_named=is_named)
        yield from _of_raters(table, stated, sides, outcomes, is_named=is_named)
    if is_named:
        for draft in on_scale(table, stated, sides, () if is_on_scale else outcomes):
            yield from _completed(table, stated, draft)


def _with_outcome(sides: tuple[Column, Column], column: Column, *, is_named: bool) -> Draft:
    names = sides[0].name, sides[1].name
    draft = Draft("pairs", sides=names, outcome=column.name)
    draft.add(12, "pairs", ", ".join((*names, column.name)))
    draft.add(5.0 * is_named, "sides", ", ".join(names))
    draft.numbers = _steps(column, *sides)
    return draft


def _of_raters(
    table: Table,
    stated: StatedRoles,
    sides: tuple[Column, Column],
    outcomes: Sequence[Column],
    *,
    is_named: bool,
) -> Iterator[Draft]:
    """The reading in which several raters have a column of outcomes each."""
    names = [column.name for column in outcomes]
    raters = [name for name in names if kinds(name)["rater"] >= RATER]
    is_of_people = len(raters) > 1
    if not is_of_people:
        raters = [a for a in names if any(are_related(a, b) for b in names if a != b)]
    rated = stated.raters if len(stated.raters) > 1 else tuple(raters)
    are_two_orders = len(rated) == 2 and are_orders(*rated)
    if len(rated) < 2 or not {*rated} <= {*names} or stated.outcome or are_two_orders:
        return
    pair = sides[0].name, sides[1].name
    if not stated.raters and not _share_words([table.by_name[name] for name in rated], pair):
        return
    draft = Draft("pairs", rated=rated, sides=pair)
    draft.add(12, "pairs", ", ".join((*pair, *rated)))
    draft.add(5.0 * is_named, "sides", ", ".join(pair))
    draft.add(10.0 * is_of_people, "names_of_kind", ", ".join(rated))
    draft.numbers = tuple(_steps(table.by_name[name], *sides) for name in rated)
    yield from _completed(table, stated, draft)


def _share_words(columns: Sequence[Column], sides: tuple[str, str]) -> bool:
    """Whether each column has words for winners that another one has, too: a scale is common."""
    words = [{word for word in c.folded if known_step(word, sides) != 0} for c in columns]
    return all(
        not ours or any(ours & others for others in words if others is not ours) for ours in words
    )


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
        is_known = are_orders(first.name, second.name)
        is_open = not stated.outcome and (is_known or are_sides(first.name, second.name))
        if are_stated or is_open:
            draft = _with_outcome(sides, first, is_named=is_named)
            draft.second_outcome = second.name
            draft.numbers = ("orders", draft.numbers, _steps(second, *sides))
            draft.add(10.0 * is_known, "orders", f"{first.name}, {second.name}")
            if not stated.outcome:
                add_related_left_out(draft, [c for c in outcomes if c.name != second.name])
            yield from _completed(table, stated, draft)


_UNNAMED = {True: -1.0, False: -12.0}
"""Points of a column that is not named for outcomes, with systems and without: left may be an eye.
"""


def _points(column: Column, sides: tuple[Column, Column]) -> float:
    """Points for a column of outcomes by its name and by what it contains."""
    sense, has_systems = sense_of(column.name), _has_systems(column, sides)
    if not sense:
        return _UNNAMED[has_systems]
    return POINTS * ((sense > 0) + has_systems - column.is_number)


def _reason(column: Column, sides: tuple[Column, Column]) -> str:
    if sense_of(column.name):
        return "pairs"
    return "systems_alone" if _has_systems(column, sides) else "sides_alone"


def _has_systems(column: Column, sides: tuple[Column, Column]) -> bool:
    return bool(column.folded & (sides[0].folded | sides[1].folded))


def _completed(table: Table, stated: StatedRoles, draft: Draft) -> Iterator[Draft]:
    """The draft with each choice of items and raters by their names, and all other columns."""
    reserved = {*draft.used, *stated.groups}
    units: Sequence[tuple[str, ...]] = [stated.units]
    if not stated.units:
        free = [] if stated.has_no_units else _named(table, "unit", reserved | {*stated.raters})
        units = [(name,) for name in free] or [()]
    for unit in units:
        raters: Sequence[str | None] = () if draft.rated else stated.raters[:1]
        if not raters and not draft.rated:
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
