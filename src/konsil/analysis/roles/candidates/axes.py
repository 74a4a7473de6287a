"""Columns of criteria: each comparison is repeated for each of their values.

Rows of one item and pair of systems that such a column distinguishes are no independent
comparisons: pooled, each criterion would count as a further rater.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CROSSED = 0.9
"""Share of the repeated comparisons that have every value of a column equally often, from which on
the column is taken for one of criteria, and not of what rows happen to have."""
_MOST_BY_CHANCE = 10
"""So many repeated comparisons can be crossed with a column by chance, unless they are half of
all rows."""
FEW_VALUES = 50
"""Columns with more values than this are no criteria."""


def is_axis(comparisons: NDArray[np.int64], values: NDArray[np.int64], n_rows: int) -> bool:
    """Whether a column has each of its values equally often in (nearly) every comparison.

    Args:
        comparisons: (n,) a number for each row, equal where item, rater and pair are equal; every
            number occurs at least twice.
        values: (n,) the rows' values of the column as numbers from 0.
        n_rows: all rows, those of comparisons that are not repeated included.

    >>> is_axis(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), 4)
    True
    >>> is_axis(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 4)
    False
    """
    n_values = len(np.unique(values))
    if not 1 < n_values <= FEW_VALUES:
        return False
    width = int(values.max()) + 1
    each, n_each = np.unique(comparisons * width + values, return_counts=True)
    _, begin, n_different = np.unique(each // width, return_index=True, return_counts=True)
    is_even = np.minimum.reduceat(n_each, begin) == np.maximum.reduceat(n_each, begin)
    if len(begin) < _MOST_BY_CHANCE and 2 * len(values) < n_rows:
        return False
    return bool(np.mean(is_even & (n_different == n_values)) >= CROSSED)
