"""Whole numbers of clusters, raters or units numbered anew without gaps."""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.contract import IntArray

_SPARSE = 8
"""Up to this many times as many possible numbers as rows they are counted and not sorted."""


def renumbered(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """The different numbers in their order, and each number's place among them, (n,).

    The same as `np.unique(numbers, return_inverse=True)`: numbers that are few compared with their
    rows are counted, which takes a tenth of the time of sorting them.

    >>> renumbered(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]))
    """
    if len(numbers) and numbers.min() >= 0 and numbers.max() < _SPARSE * len(numbers):
        occurs = np.zeros(int(numbers.max()) + 1, dtype=bool)
        occurs[numbers] = True
        return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[numbers]
    different, places = np.unique(numbers, return_inverse=True)
    return different, places.ravel()
