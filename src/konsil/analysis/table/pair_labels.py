"""Meaning of a comparison's labels: number of steps in favour of the first of the two."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from konsil.errors import AnalysisError, nearest, option
from konsil.instrument import Criterion
from konsil.instrument.definition.mirror import mirrored

FIRST = ("left", "a", "first", "1", "x", "win", "model a", "system a", "answer a")
"""Words for a win of the first of the two."""

SECOND = ("right", "b", "second", "2", "y", "loss", "model b", "system b", "answer b")
"""Words for a win of the second."""

TIE = (
    "tie",
    "equal",
    "draw",
    "same",
    "about equal",
    "neither",
    "both",
    "none",
    "0",
    "tie bothbad",
    "tie both bad",
    "bothbad",
    "both bad",
    "tie bothgood",
    "both good",
)
"""Words for a tie."""

_SIGNS = str.maketrans("_()", "   ")
"""Signs between the words of an outcome."""

FIVE = {"strongly_a": 2, "slightly_a": 1, "tie": 0, "slightly_b": -1, "strongly_b": -2}
"""The five-point labels of Real-POCQi's public tables."""


def steps_of_scale(scale: Sequence[str]) -> dict[str, int]:
    """Labels in order to steps in favour of the first.

    The order is from "the first is much better" to "the second is much better". An odd number of
    labels has the tie in its middle; an even number has none.

    >>> steps_of_scale(["A", "equal", "B"])
    {'A': 1, 'equal': 0, 'B': -1}
    >>> steps_of_scale(["A++", "A+", "B+", "B++"])
    {'A++': 2, 'A+': 1, 'B+': -1, 'B++': -2}
    """
    half = len(scale) // 2
    steps = (
        [half - n for n in range(half)]
        + ([0] if len(scale) % 2 else [])
        + [-n - 1 for n in range(half)]
    )
    return dict(zip(scale, steps, strict=True))


def steps_of_criterion(criterion: Criterion, where: str) -> dict[str, int]:
    """A pair criterion's labels to steps in favour of its first answer, A.

    Labels in order favour A first; where letters contradict that, they decide. An error for a scale
    that does not tell what its labels say with A and B exchanged.
    """
    scale = criterion.scale
    if criterion.scope != "pair" or scale.kind != "choice":
        raise AnalysisError(
            f"{where}: criterion {criterion.id!r} is not a choice about a pair of answers,"
            " which comparisons need"
        )
    other = {label: mirrored(criterion, label) for label in scale.labels}
    if None in other.values():
        raise AnalysisError(
            f"{where}: the labels of {criterion.id!r} do not define their meaning with A and B"
            " exchanged; name the sides A and B in the labels, or give the scale an order"
        )
    steps = steps_of_scale(scale.labels)
    if any(steps[label] != -steps[str(reverse)] for label, reverse in other.items()):
        raise AnalysisError(
            f"{where}: the labels of {criterion.id!r} do not form a scale from A to B with the"
            " tie in the middle"
        )
    first = scale.labels[0].split()
    return {label: -n for label, n in steps.items()} if "B" in first and "A" not in first else steps


def reversed_codes(
    criterion: Criterion, collapse: Mapping[str, str], names: Sequence[str]
) -> tuple[int, ...] | None:
    """For each label after collapsing, the index of its counterpart with A and B exchanged.

    None where the scale does not define it, or where labels that are merged do not stay merged with
    the sides exchanged.

    >>> from konsil.instrument import Scale
    >>> scale = Scale(("A much", "A", "same", "B", "B much"), level="ordinal")
    >>> criterion, merged = Criterion("better", "?", scale, "pair"), {"A much": "A", "B much": "B"}
    >>> reversed_codes(criterion, merged, ("A", "same", "B"))
    (2, 1, 0)
    >>> reversed_codes(criterion, {"A much": "one", "B": "one"}, ("one", "A", "same", "B much"))
    """
    if criterion.scale.kind != "choice":
        return None
    reverse: dict[str, str] = {}
    for label in criterion.scale.labels:
        other = mirrored(criterion, label)
        if other is None:
            return None
        merged, merged_other = collapse.get(label, label), collapse.get(other, other)
        if reverse.setdefault(merged, merged_other) != merged_other:
            return None
    place = {name: n for n, name in enumerate(names)}
    if any(name not in reverse or reverse[name] not in place for name in names):
        return None
    return tuple(place[reverse[name]] for name in names)


def known_step(word: str, columns: tuple[str, str] = ("", "")) -> int | None:
    """The step of a word for a winner or a tie; None for another word.

    `columns`: those of the first and the second system, whose names stand for them.

    >>> known_step("Model_A"), known_step("tie (bothbad)"), known_step("left", ("left", "right"))
    (1, 0, 1)
    """
    low = word.strip().casefold()
    if low in (named := [column.strip().casefold() for column in columns]):
        return 1 - 2 * named.index(low)
    plain = " ".join(low.translate(_SIGNS).split())
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
        words = (*FIRST, *SECOND, *TIE, *(column.casefold() for column in columns))
        raise AnalysisError(
            f"{where}: the outcome {unknown[0]!r} is neither a winner nor a tie;"
            f" {nearest(unknown[0], words)}; give the labels in order with"
            f" {option('scale', example='[...]')}, from first to second system preferred"
        )
    return {word: step for word, step in steps.items() if step is not None}


def reach(steps: Mapping[str, int]) -> int:
    """How many steps the furthest label has, at least one."""
    return max([1, *(abs(n) for n in steps.values())])
