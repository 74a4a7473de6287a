"""Geometric means and medians of durations, which have a long tail, as functions of sums."""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array


def geometric_mean(totals: Array) -> Array:
    """Geometric mean exp(sum log x / n) from sums of logarithms and counts, (..., 2) -> (..., 1).

    nan where n is 0.

    >>> geometric_mean(np.array([np.log(10.0) + np.log(1000.0), 2.0])).round(6)
    array([100.])
    """
    return np.asarray(np.exp(ratio(totals[..., 0:1], totals[..., 1:2])))


def median_of_cells(totals: Array, values: Array) -> Array:
    """Median of values weighted by how often each was drawn, (..., n_values) -> (..., 1).

    `values` (n_values,) ascend. The median is the value at which half of the weight is reached;
    where it is reached exactly between two values, it is the mean of the two. nan without weight.

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
