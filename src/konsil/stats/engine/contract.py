"""The contract of the engine: codes in, sums over clusters, any function of the totals out.

    tally:     codes -> sums, shape (n_clusters, k)               additive, one row per cluster
    finalise:  totals, shape (..., k) -> values, shape (..., m)   any function of the totals

`finalise` is vectorised over leading axes.

Undefined is nan, never 0 or 1, and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
Finalise = Callable[[Array], Array]
RatersTarget = Literal["these", "like these"]


@dataclass(frozen=True)
class Codes:
    """Labels as small integers, one row a unit and one column a rater.

    A unit is what is labelled once by a rater (an answer, a sentence, an item); units of one
    cluster are resampled together.
    """

    labels: NDArray[np.signedinteger[Any]]
    """(n_units, n_raters); 0 .. n_labels - 1, and -1 where a rater gave no label."""
    clusters: IntArray
    """(n_units,); 0 .. n_clusters - 1, every cluster number occurring at least once."""
    n_labels: int
    """How many labels were declared, observed or not."""
    values: tuple[float, ...] | None = None
    """The labels' numbers for interval and ratio statistics; None: 0, 1, 2, ..."""
    reverse: tuple[int, ...] | None = None
    """For comparisons: the code of each outcome with the two sides exchanged; None: no
    comparison."""

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return int(self.clusters.max()) + 1 if self.clusters.size else 0


@dataclass(frozen=True)
class Statistic:
    """A statistic: two pure functions and its source."""

    name: str
    """The field's name for it, as in an analysis."""
    tally: Callable[[Codes], Array]
    """codes -> sums of shape (n_clusters, k); the same function object is tallied once for several
    statistics."""
    finalise: Finalise
    """totals of shape (..., k) -> values of shape (..., m); m is 1 for a plain number."""
    source: str
    """Where the formula comes from."""


@dataclass(frozen=True)
class Estimate:
    """A number with its uncertainty; nan where undefined, with the reason."""

    value: float
    """The point estimate, from all clusters."""
    low: float = float("nan")
    """The interval's lower end."""
    high: float = float("nan")
    """The interval's upper end."""
    level: float = 0.95
    """The interval's nominal coverage."""
    se: float = float("nan")
    """The standard error; `method` says which."""
    p: float = float("nan")
    """The p value of `method`'s test; nan where none was requested."""
    n_clusters: int = 0
    """How many clusters carried information."""
    n_ratings: int = 0
    """How many ratings were used."""
    n_undefined: int = 0
    """Resamples in which the statistic was undefined, counted and never dropped in silence."""
    method: str = ""
    """How the interval was made, in words a methods section can use."""
    reason: str = ""
    """Why the value or the interval is undefined; empty otherwise."""
    raters: RatersTarget = "these"
    """The target of the interval and of p: these raters alone, or raters like these, of whom these
    are a sample."""
