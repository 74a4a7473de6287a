"""The order in which people read identifiers."""

from __future__ import annotations

import re


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key by which item 2 comes before item 10.

    >>> sorted(["rater-10", "rater-9", "judge"], key=natural)
    ['judge', 'rater-9', 'rater-10']
    """
    return tuple(
        (0, int(p), "") if p.isdigit() and p.isascii() else (1, 0, p)
        for p in re.split(r"([0-9]+)", text)
    )
