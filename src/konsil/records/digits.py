"""How numbers and times are written: digits that hold on every processor, UTC to the second."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
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


def stamp(moment: datetime) -> str:
    """A time in UTC as records have it: ISO 8601, to the second.

    >>> from datetime import UTC
    >>> stamp(datetime(2025, 3, 1, 12, tzinfo=UTC))
    '2025-03-01T12:00:00Z'
    """
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
