"""Slopes of a proportion on a number of the item: how much abstention rises with difficulty."""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.contract import Array


def slope_sums(x: Array, events: Array, trials: Array) -> Array:
    """Tally a regression of single yes-or-no labels on a number of their cluster, (n_clusters, 5).

    `x` (n_clusters,) the number, nan where unknown; `events`, `trials` (n_clusters,) labels that
    say yes, and all. The columns are trials, trials x, trials x^2, events, events x; a cluster
    without x is zero throughout.

    >>> slope_sums(np.array([0.0, 2.0]), np.array([1.0, 3.0]), np.array([5.0, 5.0]))
    array([[ 5.,  0.,  0.,  1.,  0.],
           [ 5., 10., 20.,  3.,  6.]])
    """
    is_known = np.isfinite(x)
    at = np.where(is_known, x, 0.0)
    n = np.where(is_known, trials, 0.0)
    yes = np.where(is_known, events, 0.0)
    return np.column_stack([n, n * at, n * at * at, yes, yes * at])


def slope(totals: Array) -> Array:
    """Least-squares slope of a share on a number: change of the share per unit of the number.

    (N sum(yx) - sum(x) sum(y)) / (N sum(x^2) - sum(x)^2) over single labels y in {0, 1}; totals
    (..., 5) of slope_sums, values (..., 1). nan without labels or if x does not vary.

    Source: ordinary least squares; a linear probability model, whose slope is a difference of
    shares.

    >>> slope(np.array([10.0, 10.0, 20.0, 4.0, 6.0]))
    array([0.2])
    """
    n, nx, nxx, y, yx = (totals[..., i : i + 1] for i in range(5))
    below = n * nxx - nx * nx
    with np.errstate(divide="ignore", invalid="ignore"):
        # Relative to the sums: equal x have no slope, but their spread is seldom exactly 0.
        return np.asarray(
            np.where(below > 1e-12 * np.maximum(n * nxx, 1), (n * yx - nx * y) / below, np.nan)
        )
