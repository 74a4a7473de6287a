"""How numbers are written to files: with as many digits as hold on every processor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

DIGITS = 12
"""Significant digits. The last ones of a double differ with the processor and the order of a
sum."""


def written(data: Any) -> Any:  # noqa: ANN401 - plain data of any shape, as JSON has it
    """Plain data with every number at 12 significant digits.

    None for what is not finite, which JSON does not know.

    >>> written({"value": 2 / 3, "low": float("nan"), "n": 3, "of": [0.1 + 0.2]})
    {'value': 0.666666666667, 'low': None, 'n': 3, 'of': [0.3]}
    """
    if isinstance(data, float):
        return float(f"{data:.{DIGITS}g}") if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {key: written(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [written(value) for value in data]
    return data
