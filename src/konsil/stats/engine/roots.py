"""Where a function of one number is zero: Brent's method, as SciPy's `brentq` to the bit.

SciPy's own comes with all of its optimisers, whose loading takes a fifth of a second of every
command that needs one root.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_RELATIVE = 4 * float(np.finfo(np.float64).eps)
_MOST_STEPS = 100

_Point = tuple[float, float]
"""A number and the function's value there."""


def root(function: Callable[[float], float], low: float, high: float, *, tolerance: float) -> float:
    """A number between low and high at which the function is zero, at most `tolerance` away.

    The function has different signs at low and high.

    Source: Brent (1973), Algorithms for minimization without derivatives, chapters 3 and 4.

    >>> round(root(lambda x: x * x - 2, 0.0, 2.0, tolerance=1e-12), 10)
    1.4142135624
    """
    before, now = (low, function(low)), (high, function(high))
    if before[1] == 0 or now[1] == 0:
        return before[0] if before[1] == 0 else now[0]
    if (before[1] < 0) == (now[1] < 0):
        raise ValueError(f"expected different signs at {low} and {high}, got one sign")
    other, last, step = before, 0.0, 0.0
    for _ in range(_MOST_STEPS):
        if now[1] != 0 and (before[1] < 0) != (now[1] < 0):
            other = before
            last = step = now[0] - before[0]
        if abs(other[1]) < abs(now[1]):
            before, now, other = now, other, now
        delta = (tolerance + _RELATIVE * abs(now[0])) / 2
        half = (other[0] - now[0]) / 2
        if now[1] == 0 or abs(half) < delta:
            return now[0]
        last, step = _steps(before, now, other, (last, step, half, delta))
        moved = step if abs(step) > delta else (delta if half > 0 else -delta)
        before = now
        now = (now[0] + moved, function(now[0] + moved))
    raise RuntimeError(f"no root between {low} and {high} after {_MOST_STEPS} steps")


def _steps(
    before: _Point, now: _Point, other: _Point, sizes: tuple[float, float, float, float]
) -> tuple[float, float]:
    """The last step and the next one: by interpolation where that is good, else half the way.

    `sizes` are the last two steps, half the way to the other side, and the tolerance.
    """
    last, step, half, delta = sizes
    if abs(last) <= delta or abs(now[1]) >= abs(before[1]):
        return half, half
    if before[0] == other[0]:
        attempt = -now[1] * (now[0] - before[0]) / (now[1] - before[1])
    else:
        to_before = (before[1] - now[1]) / (before[0] - now[0])
        to_other = (other[1] - now[1]) / (other[0] - now[0])
        attempt = (
            -now[1]
            * (other[1] * to_other - before[1] * to_before)
            / (to_other * to_before * (other[1] - before[1]))
        )
    is_short = 2 * abs(attempt) < min(abs(last), 3 * abs(half) - delta)
    return (step, attempt) if is_short else (half, half)
