"""Words for the outcomes of comparisons: number of steps in favour of the first of the two."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from konsil.analysis.roles.names import kinds, words
from konsil.analysis.roles.vocabulary import (
    BESIDE_VERDICTS,
    CRITERIA,
    LEAST,
    LOSERS,
    NO_CELL,
    ORDERS,
    OUTCOMES,
    SIDES,
    SKIPPED,
    VERDICTS,
)
from konsil.errors import AnalysisError, nearest, option
from konsil.records.numerals import own_numbers

FIRST = (
    *("left", "a", "first", "1", "x", "win", "model a", "system a", "answer a", ">"),
    *("links", "erste", "erster", "erstes", "modell a", "antwort a"),
)
"""Words for a win of the first of the two."""

SECOND = (
    *("right", "b", "second", "2", "y", "loss", "model b", "system b", "answer b", "<"),
    *("rechts", "zweite", "zweiter", "zweites", "modell b", "antwort b"),
)
"""Words for a win of the second."""

TIE = (
    *("tie", "equal", "draw", "same", "about equal", "neither", "both", "none", "0", "="),
    *("tie bothbad", "tie both bad", "bothbad", "both bad", "tie bothgood", "both good"),
    *("unentschieden", "gleich", "gleich gut", "gleichwertig", "gleichstand", "beide", "keine"),
)
"""Words for a tie."""

_SIGNS = re.compile(r"[\s_()]+")
"""Signs between the words of an outcome."""

FIVE = {"strongly_a": 2, "slightly_a": 1, "tie": 0, "slightly_b": -1, "strongly_b": -2}
"""The five-point labels of Real-POCQi's public tables."""


def known_step(word: str, columns: tuple[str, str] = ("", "")) -> int | None:
    """The step of a word for a winner or a tie; None for another word.

    `columns`: those of the first and the second system, whose names stand for them.

    >>> known_step("Model_A"), known_step("tie (bothbad)"), known_step("left", ("left", "right"))
    (1, 0, 1)
    >>> [known_step(word) for word in ("Links", "rechts", "Unentschieden", "<", "=")]
    [1, -1, 0, -1, 0]
    """
    low = word.strip().casefold()
    if low in (named := [column.strip().casefold() for column in columns]):
        return 1 - 2 * named.index(low)
    plain = _SIGNS.sub(" ", low).strip()
    steps = ((FIRST, 1), (SECOND, -1), (TIE, 0))
    return next((step for words, step in steps if plain in words), None)


@cache
def sense_of(name: str) -> int:
    """What a column of outcomes is named for: 1 winners, -1 losers, 0 something else.

    >>> [sense_of(name) for name in ("Sieger", "preferredAnswer", "winner_gpt-4", "gpt4_verdict")]
    [1, 1, 1, 1]
    >>> losers = ("loser", "least_preferred", "Schlechtere Antwort", "loser_dr_a", "loser_anna")
    >>> {sense_of(name) for name in losers}
    {-1}
    >>> [sense_of(name) for name in ("baseline", "a_better", "choice_confidence", "longer")]
    [0, 0, 0, 0]
    """
    if name.strip().casefold() in OUTCOMES:
        return 1
    parts = {word for word in words(name) if not word.isdigit()}
    verdicts, losers = parts & VERDICTS, parts & LOSERS
    rest = parts - verdicts - losers - BESIDE_VERDICTS - ORDERS - LEAST
    rest -= CRITERIA - {"harm", "strength"}
    is_named = bool(verdicts) != bool(losers) and side_of(name) is None
    # In their order: "dr a" is a person.
    kind = kinds(" ".join(word for word in words(name) if word in rest))
    if not is_named or (rest and max(kind["rater"], kind["system"]) < _RATER):
        return 0
    return -1 if bool(losers) != bool(parts & LEAST) else 1


def name_results(names: Sequence[str]) -> bool:
    """Whether two columns are named for the systems that won and for those that lost.

    >>> name_results(["chosen", "rejected"]), name_results(["loser", "winner"])
    (True, False)
    """
    return [sense_of(name) for name in names] == [1, -1] and names[0].casefold() not in _ANY_LABEL


_ANY_LABEL = {"label", "rating"}

_RATER = 0.8
"""How well the other words of a name fit a rater, or a model that judges."""

_TRUE_OF = VERDICTS | {"win", "wins", "gewinnt"}
_SIDE_WORDS = {
    **dict.fromkeys((*SIDES[0], "links"), 1),
    **dict.fromkeys((*SIDES[1], "rechts"), -1),
}


def side_of(name: str) -> int | None:
    """The side of which a column says whether it won: 1 the first, -1 the second; None: no side.

    >>> side_of("a_better"), side_of("model_b_preferred"), side_of("winner"), side_of("1st_choice")
    (1, -1, None, None)
    """
    parts = [word for word in words(name) if word not in BESIDE_VERDICTS]
    if len(parts) != 2 or parts[1] not in _TRUE_OF or parts[0].isdigit():
        return None
    return _SIDE_WORDS.get(parts[0])


def step_of(
    word: str,
    systems: tuple[str, str],
    columns: tuple[str, str],
    outcome: str,
    order: tuple[str, ...] = (),
    ends: tuple[float, float] | None = None,
) -> float:
    """Above 0 where an outcome prefers the first of two systems, below 0 where the second.

    `outcome`: its column; `order`: all outcomes in order; `ends`: the numbers of full preferences.

    >>> step_of("birch", ("amber", "birch"), ("a", "b"), "winner")
    -1
    >>> step_of("birch", ("amber", "birch"), ("a", "b"), "loser")
    1
    >>> step_of("0", ("amber", "birch"), ("a", "b"), "winner", ("0", "1"))
    0.5
    >>> step_of("4", ("amber", "birch"), ("a", "b"), "preference", (), (1, 7))
    0.0
    """
    if ends is not None:
        number = own_numbers([word])[0]
        return 0 if number is None else ((ends[0] + ends[1]) / 2 - number) * (ends[1] - ends[0])
    if order:
        return (len(order) - 1) / 2 - order.index(word) if word in order else 0
    folded = [system.casefold() for system in systems]
    if word.casefold() in folded:
        step = 1 - 2 * folded.index(word.casefold())
    else:
        step = known_step(word, columns) or FIVE.get(word.casefold(), 0)
    return step * (sense_of(outcome) or 1)


def unclear_codes(observed: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """The possible orders of outcomes that are numbers with a 0; empty where it can only be a tie.

    The likelier one is the first.

    >>> unclear_codes(["0", "1"]), unclear_codes(["0", "1", "2"])
    ((('0', '1'), ('1', '0')), (('1', '0', '2'), ('0', '2', '1')))
    >>> unclear_codes(["1", "2"]), unclear_codes(["0", "a", "b"]), unclear_codes(["0", "1", "tie"])
    ((), (), (('0', 'tie', '1'), ('1', 'tie', '0')))
    """
    words = {word.strip().casefold() for word in observed} - NO_CELL
    ties = sorted(word for word in words if known_step(word) == 0 and word != "0")
    codes = words - {*ties}
    if "0" not in codes or not codes <= {"0", "1", "2"} or len(ties) > 1:
        return ()
    if codes <= {"0", "1"}:
        middle = tuple(ties)
        return ("0", *middle, "1"), ("1", *middle, "0")
    return () if ties else (("1", "0", "2"), ("0", "2", "1"))


def are_outcomes(observed: Collection[str]) -> bool:
    """Whether words are the labels of a scale of five that is known."""
    return {word.strip().casefold() for word in observed} <= {*FIVE}


def steps_of_words(observed: Sequence[str], columns: tuple[str, str], where: str) -> dict[str, int]:
    """Words of a winner column to steps; the caller handles systems' own names.

    >>> steps_of_words(["model_a", "tie"], ("model_a", "model_b"), "votes.csv")
    {'model_a': 1, 'tie': 0}
    """
    if are_outcomes(observed):
        return {word: FIVE[word.strip().casefold()] for word in observed}
    steps = {word: known_step(word, columns) for word in observed}
    unknown = [word for word, step in steps.items() if step is None]
    if unknown:
        # A number that is near another one by its digits is not near it.
        words = [word for word in (*FIRST, *SECOND, *TIE) if not word.isdigit()]
        words += map(str.casefold, columns)
        raise AnalysisError(
            f"{where}: the outcome {unknown[0]!r} is neither a winner nor a tie;"
            f" {nearest(unknown[0], words)}; give the labels in order with"
            f" {option('scale', example='[...]')}, from first to second system preferred"
            f"{_missing_advice(unknown)}"
        )
    orders = unclear_codes(observed)
    if orders:
        scales = " or ".join(option("scale", order) for order in orders)
        raise AnalysisError(
            f"{where}: outcomes are numbers with a 0, which may mean a side or a tie; state their"
            f" order, from first to second system preferred, with {scales}"
        )
    return {word: step for word, step in steps.items() if step is not None}


def _missing_advice(unknown: Sequence[str]) -> str:
    """How outcomes are stated that may mean that nothing was chosen."""
    skipped = [word for word in unknown if word.strip().casefold() in SKIPPED | NO_CELL]
    if not skipped:
        return ""
    return "; words for no outcome with " + " ".join(
        option("missing", word, several=True) for word in skipped
    )
