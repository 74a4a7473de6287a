"""Words for the outcomes of comparisons: number of steps in favour of the first of the two."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from konsil.errors import AnalysisError, nearest, option

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
        )
    return {word: step for word, step in steps.items() if step is not None}
