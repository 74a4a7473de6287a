"""Preferences on a scale: the order of labels with a side and a degree, and the ends of numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence

import polars as pl

from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.outcomes import known_step, side_of, unclear_codes
from konsil.analysis.roles.reading import StatedRoles, TableReading
from konsil.analysis.roles.vocabulary import NO_CELL, known_pair
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, message
from konsil.records.numerals import own_numbers


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PAIRS = (
    *(("a", "b"), ("1", "2"), ("x", "y"), ("left", "right"), ("first", "second")),
    *(("links", "rechts"), ("linke", "rechte"), ("erste", "zweite"), ("one", "two")),
)
"""Words for the two sides in labels, which change places where the sides do."""
_COUNTERPART = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
_FIRST = frozenset(first for first, _ in _PAIRS)
_WEAK = _words("slightly somewhat marginally little bit etwas leicht geringfügig eher")
_STRONG = _words(
    "much far significantly strongly clearly considerably substantially definitely lot"
    " deutlich viel erheblich stark klar wesentlich eindeutig"
)
_VERY = _words("very sehr")
_WORSE = _words("worse schlechter")
_TIES = _words(
    "tie tied equal equally same draw similar neutral both neither identical no unsure"
    " gleich gleichwertig gleichauf unentschieden ähnlich beide keine weder"
)
_FILLING = _words(
    "better besser preferred prefer preference bevorzugt is ist are sind than als the die das"
    " answer response model system assistant output text antwort modell a b and und by good gut"
)
_PLAIN, _SIGNED = 2, re.compile(r"\s*(\w+)\s*([<>]+|=+)\s*(\w+)\s*")
_PLUS = re.compile(r"\s*(\w)\s*(\++)\s*")


def step_of_label(label: str) -> int | None:
    """How far a label prefers the first side, in ranks of degrees; None where it does not say.

    >>> [step_of_label(text) for text in ("A much better", "A is slightly better", "about equal")]
    [3, 1, 0]
    >>> [step_of_label(text) for text in ("B deutlich besser", "A>>B", "B > A", "A=B", "good")]
    [-3, 2, -1, 0, None]
    """
    low = label.casefold()
    if (signs := _SIGNED.fullmatch(low)) and {signs[1], signs[3]} <= _COUNTERPART.keys():
        degree = len(signs[2]) * ((">" in signs[2]) - ("<" in signs[2]))
        return degree if signs[1] in _FIRST else -degree
    if (plus := _PLUS.fullmatch(low)) and plus[1] in _COUNTERPART:
        return (_PLAIN + len(plus[2])) * (1 if plus[1] in _FIRST else -1)
    words = re.findall(r"[^\W\d_]+|\d+", low)
    if known_step(label) == 0 or {*words} & _TIES:
        return 0
    side = next((word for word in words if word in _COUNTERPART), None)
    degrees = _WEAK | _STRONG | _VERY | _WORSE
    if side is None or not {*words} <= _COUNTERPART.keys() | degrees | _FILLING:
        return None
    degree = 1 if {*words} & _WEAK else 3 if {*words} & _STRONG else _PLAIN
    degree += bool({*words} & _VERY)
    return degree * (1 if (side in _FIRST) != bool({*words} & _WORSE) else -1)


def _with_sides_exchanged(label: str) -> str:
    """The label that says the same of the other side.

    >>> _with_sides_exchanged("Response A is much better"), _with_sides_exchanged("A>B")
    ('Response B is much better', 'B>A')
    """

    def exchanged(match: re.Match[str]) -> str:
        word = match[0]
        other = _COUNTERPART.get(word.casefold(), word)
        if word.casefold() not in _COUNTERPART:
            return word
        return other.upper() if word.isupper() else other.title() if word.istitle() else other

    return re.sub(r"[^\W\d_]+|\d+", exchanged, label)


def scale_of_labels(labels: Collection[str]) -> tuple[str, ...]:
    """Labels in order, from the first to the second side preferred; empty where they have none.

    Each degree has a label on both sides: one that no row has is added.

    >>> scale_of_labels(["B better", "equal", "A much better", "A better"])
    ('A much better', 'A better', 'equal', 'B better', 'B much better')
    >>> scale_of_labels(["good", "bad"])
    ()
    """
    step_by_label = {label: step_of_label(label) for label in labels}
    label_by_step = {step: label for label, step in step_by_label.items() if step is not None}
    if len(label_by_step) < len(step_by_label) or not {*label_by_step} - {0}:
        return ()
    if all(known_step(label) is not None for label in labels):
        return ()  # sides alone, which need no order
    for step, label in [*label_by_step.items()]:
        label_by_step.setdefault(-step, _with_sides_exchanged(label))
    scale = tuple(label_by_step[step] for step in sorted(label_by_step, reverse=True))
    # Labels are typed with commas between them.
    return () if any("," in label for label in scale) else scale


def order_of_truth(name: str, labels: Collection[str]) -> tuple[str, ...]:
    """True and false of a side in order, from the first to the second preferred; else empty.

    >>> order_of_truth("a_better", ["no", "yes"]), order_of_truth("b_better", ["no", "yes"])
    (('yes', 'no'), ('no', 'yes'))
    """
    side, pair = side_of(name), known_pair([*labels])
    if side is None or pair is None or len(labels) != len(pair):
        return ()
    falsity, truth = sorted(labels, key=lambda label: pair.index(label.casefold()))
    return (truth, falsity) if side > 0 else (falsity, truth)


_USUAL = ((0, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7), (1, 9), (0, 10), (0, 100))
"""The first and last number of usual scales, the narrowest first."""


def ends_of_numbers(numbers: Sequence[float]) -> tuple[float, float]:
    """The numbers that full preferences probably have, the lower one first.

    >>> ends_of_numbers([-1, 2, 0]), ends_of_numbers([2, 6]), ends_of_numbers([0.2, 0.9])
    ((-2, 2), (1, 7), (0, 1))
    """
    low, high = min(numbers), max(numbers)
    if low < 0:
        largest = max(-low, high)
        return -largest, largest
    # Both ends are usual numbers. Where rows use neither, they probably leave out as many places
    # from each end of a scale that has a middle.
    fitting = [(a, b) for a, b in _USUAL if a <= low and high <= b]
    used = [ends for ends in fitting if ends == (low, high)]
    symmetric = [(a, b) for a, b in fitting if low - a == b - high and (b - a) % 2 == 0]
    exact = [ends for ends in fitting if high == ends[1] or low % 1 or high % 1]
    return next(iter([*used, *symmetric, *exact, *fitting]), (low, high))


_MOST_PLACES = 12
"""Numbers of a scale that are listed."""


def outcome_arguments(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> list[tuple[str, tuple[str, ...]]]:
    """The option that states the order of preferences on a scale, as far as it can be known."""
    if reading.shape not in {"pairs", "pairs-on-scale"} or not reading.outcomes:
        return []
    if stated.scale or reading.ends:
        return []
    aside = {*NO_CELL, *(word.casefold() for word in stated.missing)}
    cells = [
        str(cell).strip()
        for name in reading.outcomes
        for cell in frame.get_column(name).drop_nulls().unique().sort()
    ]
    words = [cell for cell in dict.fromkeys(cells) if cell.casefold() not in aside]
    if reading.shape == "pairs":
        return [("scale", order) for order in unclear_codes(words)[:1]]
    truth = order_of_truth(reading.outcomes[0], words)
    if truth:
        return [("scale", truth)]
    numbers = [number for number in own_numbers(words) if number is not None]
    if numbers and len(numbers) == len(words):
        low, high = ends_of_numbers(numbers)
        if not reading.second_outcome:
            return [("ends", (f"{low:g}", f"{high:g}"))]
        places = range(math.floor(low), math.floor(high) + 1)
        is_short = len(places) <= _MOST_PLACES and {*numbers} <= {*places}
        return [("scale", tuple(map(str, places)))] if is_short else []
    scale = scale_of_labels(words)
    return [("scale", scale)] if scale else []


def unclear_outcomes(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> Iterator[TranslatableMessage]:
    """What is asked of preferences on a scale: their order, or their ends."""
    if stated.scale or reading.ends or not reading.sides or not reading.outcomes:
        return
    values = dict(outcome_arguments(frame, reading, stated))
    column, (first, second) = shortened(reading.outcomes[0]), map(shortened, reading.sides)
    if reading.shape == "pairs":
        if "scale" in values:
            yield codes_question(column, values["scale"], (first, second))
        return
    if "ends" in values:
        low, high = values["ends"]
        yield message(
            "{column} contains numbers: state with {ends} which one is a full preference for"
            " {first} and which one for {second}; if {low} is not for {first}, exchange the two.",
            message_id="roles.ends_of_numbers",
            column=column,
            ends=option("ends", (low, high)),
            first=first,
            second=second,
            low=low,
        )
        return
    yield message(
        "{column} contains labels of a scale: state all of them in order with {scale}, from"
        " {first} preferred to {second} preferred.",
        message_id="roles.order_of_labels",
        column=column,
        scale=option("scale", example="[...]"),
        first=first,
        second=second,
    )


def codes_question(
    column: str, order: Sequence[str], sides: tuple[str, str]
) -> TranslatableMessage:
    """What is asked of outcomes that are numbers with a 0, which may be a side or a tie."""
    _, other = unclear_codes(order)
    return message(
        "{column} contains numbers with a 0, which may mean a side or a tie: state their order,"
        " from {first} preferred to {second} preferred, with {scale} or {other}.",
        message_id="roles.codes_of_outcomes",
        column=column,
        first=sides[0],
        second=sides[1],
        scale=option("scale", tuple(order)),
        other=option("scale", other),
    )
