"""Division and means that leave out what is undefined, and finalises with more than their values.

Some average over parts, others have their gradient in closed form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.engine.contract import Array


def ratio(above: ArrayLike, below: ArrayLike) -> Array:
    """Divide; nan where the divisor is not positive.

    Example:
        >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
        array([0.5, nan])
    """
    divisor = np.asarray(below, dtype=np.float64)
    quotient: Array = np.divide(
        above, divisor, out=np.full(divisor.shape, np.nan), where=divisor > 0
    )
    return quotient


def mean_defined(values: Array) -> Array:
    """The mean over the last axis without the undefined values, (..., m) to (..., 1).

    nan where nothing is defined.

    Example:
        >>> mean_defined(np.array([[0.5, np.nan], [np.nan, np.nan]]))
        array([[0.5],
               [nan]])
    """
    total = values.sum(-1, keepdims=True)
    # Without nan no mask is made: this runs for every resample.
    if values.shape[-1] and not np.isnan(total).any():
        return np.asarray(total / values.shape[-1], dtype=np.float64)
    defined = ~np.isnan(values)
    n_defined = defined.sum(-1, keepdims=True).astype(np.float64)
    return ratio(np.where(defined, values, 0.0).sum(-1, keepdims=True), n_defined)


class MeanOfParts(ABC):
    """A finalise: the mean of a measure over the parts for which it is defined.

    The parts have equal size.

    What one part adds depends on its own sums alone, which `wald.linearised` uses.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """How many sums a part has."""

    @abstractmethod
    def each(self, totals: Array) -> Array:
        """Compute every part's value, (..., n_parts * size) to (..., n_parts)."""

    def __call__(self, totals: Array) -> Array:
        """Compute their mean, (..., n_parts * size) to (..., 1)."""
        return mean_defined(self.each(totals))


class WithGradient(ABC):
    """A finalise with its gradient in closed form, whose cost is that of a few values.

    `wald.linearised` then moves no sum and no cluster, however many there are.
    """

    @abstractmethod
    def __call__(self, totals: Array) -> Array:
        """Compute the value, (..., k) to (..., 1)."""

    @abstractmethod
    def gradient(self, totals: Array) -> Array:
        """The value's derivatives by the sums at some totals, (k,) to (k, 1); nan: undefined."""
