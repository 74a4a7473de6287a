"""In which order two systems were shown: columns of the order, and outcomes of both orders."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from konsil.analysis.roles.candidates.compared.preference_scales import (
    ends_of_numbers,
    step_of_label,
)
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.names import kinds, words
from konsil.analysis.roles.outcomes import known_step, sense_of
from konsil.analysis.roles.reading import StatedRoles, TableReading
from konsil.analysis.roles.vocabulary import OPPONENTS, ORDER_PAIRS, ORDERS, SIDES, known_pair
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, message
from konsil.records.numerals import own_numbers

_SECOND_SIDE = {**dict(zip(*SIDES, strict=True)), "links": "rechts"}
_SIDE_WORDS = frozenset({*_SECOND_SIDE, *_SECOND_SIDE.values()})


def are_sides(first: str, second: str) -> bool:
    """Whether two names differ in their side alone: model_a and model_b, left and right.

    >>> are_sides("model_a", "model_b"), are_sides("left", "right"), are_sides("b", "a")
    (True, True, False)
    >>> are_sides("slot_a_provider", "slot_b_provider"), are_sides("g1_winner", "g2_winner")
    (True, True)
    """
    theirs = _sides_in(second)
    return any(_SECOND_SIDE.get(side) == theirs.get(rest, "") for rest, side in _firsts_in(first))


def names_of_sides(names: Sequence[str]) -> frozenset[str]:
    """The names that differ from another one in their side alone.

    >>> sorted(names_of_sides(["score_a", "score_b", "score_c", "column 1", "column 2"]))
    ['score_a', 'score_b']
    """
    names_by_side: dict[tuple[_Rest, str], list[str]] = {}
    for name in names:
        for key in _sides_in(name).items():
            names_by_side.setdefault(key, []).append(name)
    return frozenset(
        name
        for first in names
        for rest, side in _firsts_in(first)
        for second in names_by_side.get((rest, _SECOND_SIDE.get(side, "")), ())
        for name in (first, second)
    )


_Rest = tuple[tuple[str, ...], tuple[str, ...]] | str


@cache
def _sides_in(name: str) -> Mapping[_Rest, str]:
    """The rest of a name -> the word for a side in it, or the letter or digit at its end."""
    parts = _parts(name)
    sides: dict[_Rest, str] = {
        (parts[:n], parts[n + 1 :]): word for n, word in enumerate(parts) if word in _SIDE_WORDS
    }
    joined = "".join(parts)
    return sides | ({joined[:-1]: joined[-1]} if joined[-1:] in _SIDE_WORDS else {})


def _firsts_in(name: str) -> Collection[tuple[_Rest, str]]:
    """The words for a first side in a name; columns that are numbered for want of one have none."""
    return () if _parts(name)[:1] == ("column",) else _sides_in(name).items()


@cache
def _parts(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z]+|\d+", name.casefold()))


def are_opponents(first: str, second: str) -> bool:
    """Whether two columns are named for a system and the one that it was compared with."""
    return all(
        "".join(words(n)) in names for n, names in zip((first, second), OPPONENTS, strict=True)
    )


def is_order(name: str) -> bool:
    """Whether a column is named for the order in which two systems were shown.

    >>> is_order("Reihenfolge"), is_order("is_swapped"), is_order("winner")
    (True, True, False)
    >>> is_order("a_left"), is_order("left_is_b"), is_order("a_better")
    (True, True, False)
    """
    return bool({*words(name)} & ORDERS) or _side_at_place(name) is not None


_SYSTEM_LETTERS = {"a": 1, "b": -1, "x": 1, "y": -1}
_PLACES = {
    **dict.fromkeys(("left", "links", "1", "top", "oben"), 1),
    **dict.fromkeys(("right", "rechts", "2", "bottom", "unten"), -1),
}


def _side_at_place(name: str) -> int | None:
    """1 where a column says whether the first side was at the first place, -1 at the second.

    >>> _side_at_place("a_left"), _side_at_place("b_first"), _side_at_place("left")
    (1, -1, None)
    """
    parts = [word for word in words(name) if word not in _BESIDE_PLACES]
    letters = [_SYSTEM_LETTERS[word] for word in parts if word in _SYSTEM_LETTERS]
    places = [_PLACES[word] for word in parts if word in _PLACES]
    is_place = len(letters) == len(places) == 1 and len(parts) == len(letters) + len(places)
    return letters[0] * places[0] if is_place else None


def _has_first_place(name: str) -> bool:
    """Whether a column may have the system at the first place: left_system."""
    return not sense_of(name) and any(_PLACES.get(word) == 1 for word in words(name))


_BESIDE_PLACES = frozenset({"is", "was", "on", "at", "the", "model", "answer", "system", "shown"})


def are_orders(first: str, second: str) -> bool:
    """Whether two names are those of the outcomes of both orders, in this order.

    >>> are_orders("winner_ab", "winner_ba"), are_orders("g1_winner", "g2_winner")
    (True, True)
    >>> are_orders("verdict", "verdict_swapped"), are_orders("winner_order1", "winner_order2")
    (True, True)
    >>> are_orders("rater1", "rater2"), are_orders("winner_ba", "winner_ab")
    (False, False)
    """
    ours, theirs = words(first), words(second)
    if len(theirs) == len(ours) + 1 and {*theirs} - {*ours} <= ORDERS and {*ours} <= {*theirs}:
        return len({*theirs}) > len({*ours})
    pairs = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]]
    if len(ours) != len(theirs) or len(pairs) != 1:
        return False
    is_game = {"g", "game"} & {*ours}
    is_numbered = pairs[0] in _NUMBERED and (is_game or {*ours} & ORDERS)
    return pairs[0] in ORDER_PAIRS or bool(is_numbered)


_NUMBERED = (("1", "2"), ("first", "second"))
_LATER = ORDERS | {second for _, second in (*ORDER_PAIRS, *_NUMBERED)}
"""Words of which the name of the outcomes of the later order has one."""


def pairs_of_orders(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs of names that are those of the outcomes of both orders.

    >>> [*pairs_of_orders(["winner_ab", "note", "winner_ba"])]
    [('winner_ab', 'winner_ba')]
    """
    later = [name for name in names if not _LATER.isdisjoint(words(name))]
    yield from ((a, b) for a in names for b in later if a != b and are_orders(a, b))


def are_related(first: str, second: str) -> bool:
    """Whether two columns of outcomes belong together by their names: none is left out alone.

    >>> are_related("winner_anna", "winner_ben"), are_related("winner", "winner_swapped")
    (True, True)
    >>> are_related("winner", "longer"), are_related("anna", "ben"), are_related("ab", "ba")
    (False, True, True)
    """
    if are_orders(first, second) or are_orders(second, first):
        return True
    ours, theirs = words(first), words(second)
    if min(kinds(name)["rater"] for name in (first, second)) >= RATER:
        return True
    n_differing = sum(a != b for a, b in zip(ours, theirs, strict=False))
    return len(ours) == len(theirs) > 1 and n_differing == 1


RATER = 0.8
"""How well a name fits a rater that has a column."""

_BARE = frozenset({word for side in SIDES for word in side} | {"links", "rechts"})
"""Names of columns that are the words for a side as well."""


def names_side(word: str, columns: tuple[str, str], systems: frozenset[str]) -> bool:
    """Whether an outcome names a side and no system, whose side may be another in another order.

    >>> sides, systems = ("model_a", "model_b"), frozenset({"gpt"})
    >>> [names_side(word, sides, systems) for word in ("left", "A", "model_a", "gpt", "tie")]
    [True, True, False, False, False]
    """
    low = word.strip().casefold()
    is_column = low in {name.strip().casefold() for name in columns} - _BARE
    return not is_column and low not in systems and bool(low) and known_step(low, columns) != 0


def swapped_sides(table: Table, reading: TableReading, stated: StatedRoles) -> str:
    """Where words for a side may be for the other order, as it would be stated; empty: nowhere.

    Names of systems are the same in both orders. In a table that has each pair of systems in both
    columns, the columns are in the order shown.
    """
    if reading.sides is None or stated.swapped is not None or not reading.outcomes:
        return ""
    first, second = (table.by_name[name] for name in reading.sides)
    systems = first.folded | second.folded

    def has_sides(name: str) -> bool:
        column = table.by_name[name]
        return any(names_side(word, reading.sides or ("", ""), systems) for word in column.folded)

    if reading.second_outcome:
        if not has_sides(reading.second_outcome):
            return ""
        return reading.second_outcome if _are_more_often_opposite(table, reading) else "-"
    if not has_sides(reading.outcomes[0]):
        return ""
    return next(_order_columns(table, reading, systems), "")


def _are_more_often_opposite(table: Table, reading: TableReading) -> bool:
    """Whether the words of the two orders name different sides more often than the same one."""
    columns = [table.by_name[name] for name in reading.outcomes]
    words = {word for column in columns for word in column.distinct}
    numbers = [number for number in own_numbers([*words]) if number is not None]
    if len(numbers) == len(words):
        middle = sum(ends_of_numbers(numbers)) / 2
        side = dict(zip(words, np.sign(np.array(numbers) - middle), strict=True))
    else:
        steps = {word: known_step(word) for word in words}
        side = {w: np.sign(step_of_label(w) or 0 if n is None else n) for w, n in steps.items()}
    both = zip(*(column.cells for column in columns), strict=True)
    return bool(sum(side.get(a, 0) * side.get(b, 0) for a, b in both) <= 0)


def _order_columns(table: Table, reading: TableReading, systems: frozenset[str]) -> Iterator[str]:
    """Unused columns of the order: with the value of the other order, or the system shown first."""
    for column in table.columns:
        is_open = column.name in reading.unused and (
            is_order(column.name) or (_has_first_place(column.name) and column.folded <= systems)
        )
        if not is_open or _are_as_shown(table, reading, column):
            continue
        if column.folded <= systems:
            yield column.name
        elif len(column.distinct) == 2:
            yield f"{column.name}={_other_order(column)}"


def _other_order(column: Column) -> str:
    """The value that is probably the other order: the later one, such as BA, swapped, true or 2."""
    swapped = [word for word in column.distinct if {*words(word)} & ORDERS]
    side, pair = _side_at_place(column.name), known_pair(column.distinct)
    if pair is not None:
        # Of the first side at the first place, the other order is the one in which it is not.
        other = pair[0 if side == 1 else 1]
        return next(word for word in column.distinct if word.casefold() == other)
    return swapped[0] if len(swapped) == 1 else max(column.distinct)


def _are_as_shown(table: Table, reading: TableReading, order: Column) -> bool:
    """Whether the systems are in the columns in the order shown, which a column of it repeats.

    Some comparison then occurs with its systems in both columns, and none in one order with both.
    """
    names = [*reading.units, *(reading.sides or ())]
    *units, first, second = (table.by_name[n].cells for n in names if n in table.by_name)
    exchanged: dict[object, set[str]] = {}
    in_order: dict[object, set[str]] = {}
    for *unit, a, b, value in zip(*units, first, second, order.cells, strict=True):
        pair = (*unit, frozenset((a, b)))
        exchanged.setdefault(pair, set()).add(a)
        in_order.setdefault((pair, value), set()).add(a)
    is_exchanged = any(len(systems) > 1 for systems in exchanged.values())
    return is_exchanged and all(len(systems) == 1 for systems in in_order.values())


def swapped_question(reading: TableReading) -> TranslatableMessage:
    """What is asked of words for a side where systems were shown in both orders."""
    return message(
        "Outcomes name sides, and the systems were shown in two orders: if these are the sides as"
        " shown, state {swapped}; if the first side is the system of the first column in both"
        " orders, state {fixed}.",
        message_id="roles.sides_of_orders",
        swapped=option("swapped", reading.second_outcome or reading.swapped),
        fixed=option("swapped", "-"),
    )


def order_question(column: str) -> TranslatableMessage:
    """What is asked of the order of comparisons that were made in both orders."""
    return message(
        "{column} has the order in which the systems were shown, and each comparison was made in"
        " both: pool both orders with {unused}, or analyse each by itself with {by}.",
        message_id="roles.order",
        column=column,
        unused=option("unused", column, several=True),
        by=option("by", column),
    )
