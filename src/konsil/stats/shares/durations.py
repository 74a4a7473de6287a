"""Middles of durations, which have a long tail.

Geometric means and medians as functions of sums over clusters.
"""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array


def geometric_mean(totals: Array) -> Array:
    """Geometric mean from sums of logarithms and counts: exp(sum log x / n), (..., 2) -> (..., 1).

    nan where n is 0.

    >>> geometric_mean(np.array([np.log(10.0) + np.log(1000.0), 2.0])).round(6)
    array([100.])
    """
    return np.asarray(np.exp(ratio(totals[..., 0:1], totals[..., 1:2])))


def median_of_cells(totals: Array, values: Array) -> Array:
    """Median of values by how often each was drawn: (..., n_values) -> (..., 1).

    nan where nothing was.

    `values` (n_values,) rise. The median is the value at which half of the weight is reached; where
    it is reached exactly between two values, the middle of the two.

    >>> median_of_cells(np.array([1.0, 0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    array([3.5])
    """
    reached = np.cumsum(totals, axis=-1)
    half = reached[..., -1:] / 2
    # Weights of a step to the side, as derivatives take them, must not move the place.
    near = 1e-9 * np.maximum(half, 1.0)
    last = len(values) - 1
    low = np.minimum((reached < half - near).sum(axis=-1, keepdims=True), last)
    high = np.minimum((reached <= half + near).sum(axis=-1, keepdims=True), last)
    middle = (values[low] + values[high]) / 2
    return np.where(half > 0, middle, np.nan)
