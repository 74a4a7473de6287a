"""Estimates with their intervals as a picture: the positions of its marks, without any words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

LEFT, RIGHT = 20.0, 320.0
"""Between which places of a drawing of the width 340 the axis runs."""
TOP, ROW = 4.0, 36.0
"""Where the first row begins, and how high each is: a name, and the interval under it."""
STEP = 0.25
"""Between two ticks, and twice as much on an axis from below LOWEST, whose labels need the room."""
LOWEST = -0.5


class WithInterval(Protocol):
    """An estimate with its interval; what is undefined is nan."""

    @property
    def value(self) -> float:
        """The estimate."""
        ...

    @property
    def low(self) -> float:
        """The lower end of its interval."""
        ...

    @property
    def high(self) -> float:
        """The upper end."""
        ...


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """An estimate as a mark."""

    name: str
    """What is estimated."""
    y: float
    """Where its row begins."""
    at: float | None
    """Where the estimate is; None: it is undefined."""
    low: float | None
    """Where its interval begins; None: it has none."""
    high: float | None
    """Where its interval ends."""


@dataclass(frozen=True, slots=True)
class IntervalPicture:
    """A picture of estimates on one axis."""

    marks: tuple[IntervalMark, ...]
    """The estimates, from above."""
    ticks: tuple[tuple[float, float], ...]
    """Value and place of each tick."""
    height: float
    """Of the drawing."""


def interval_picture(estimates: Sequence[tuple[str, WithInterval]]) -> IntervalPicture | None:
    """Named estimates up to 1 on one axis that begins at 0, or at a tick below the least of them.

    None where no estimate is defined.

    >>> from types import SimpleNamespace as Values
    >>> nothing = Values(value=math.nan, low=math.nan, high=math.nan)
    >>> half = Values(value=0.5, low=0.25, high=0.75)
    >>> picture = interval_picture([("all", half), ("A", nothing)])
    >>> picture.marks[0].at, picture.marks[0].low, picture.marks[1].at
    (170.0, 95.0, None)
    """
    numbers = [x for _, e in estimates for x in (e.value, e.low, e.high) if math.isfinite(x)]
    if not any(math.isfinite(e.value) for _, e in estimates):
        return None
    start = min(0.0, math.floor(min(numbers) / STEP) * STEP)

    def place(number: float) -> float | None:
        if not math.isfinite(number):
            return None
        return round(LEFT + (RIGHT - LEFT) * (number - start) / (1 - start), 1)

    marks = tuple(
        IntervalMark(name, TOP + n * ROW, place(e.value), place(e.low), place(e.high))
        for n, (name, e) in enumerate(estimates)
    )
    step = STEP if start >= LOWEST else 2 * STEP
    values = [1 - n * step for n in range(int((1 - start) / step), -1, -1)]
    ticks = tuple((value, place(value) or 0.0) for value in values)
    return IntervalPicture(marks, ticks, TOP + len(marks) * ROW + 22)
