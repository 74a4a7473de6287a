"""Agreement of units in clusters of very unequal size, with a bias-reduced variance.

A cluster with many of the units pulls the number towards itself, so that its part of the variance
is too small, and a sum of few large parts is less certain than the number of clusters suggests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from konsil.stats.engine.arithmetic import WithGradient
from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array, Codes, Finalise
from konsil.stats.inference import wald
from konsil.stats.inference.cluster_variance import effective_number
from konsil.stats.shares.shares import uneven

VERY_UNEVEN = 4.0
"""Where the effective number of clusters is below this part of their number, the posterior of
patterns has fewer degrees of freedom.

Less uneven clusters need not, because the posterior's priors have the weight of a cluster, which is
much where clusters are few."""

_MOST_SUMS = 50_000_000
"""The largest number of sums of single units for which the influences of units are computed."""


@dataclass(frozen=True)
class UnevenClusters:
    """The variance of one number over clusters of very unequal size."""

    variance: float
    """The bias-reduced variance."""
    df: float
    """Its effective degrees of freedom."""
    n_clusters: int
    """Clusters with units that two raters labelled."""
    effective: float
    """The effective number of clusters: as many of one size have the same variance."""

    @property
    def is_extreme(self) -> bool:
        """Whether the effective number is below a fourth of the number of clusters."""
        return self.effective * VERY_UNEVEN < self.n_clusters


def sizes(codes: Codes) -> Array:
    """How many units with at least two labels each cluster has, (n_clusters,)."""
    compared = (codes.labels >= 0).sum(axis=1) >= 2
    return np.bincount(codes.clusters, weights=compared, minlength=codes.n_clusters).astype(
        np.float64
    )


def uneven_clusters(
    codes: Codes, tally: Callable[[Codes], Sums], finalise: Finalise
) -> UnevenClusters | None:
    """Bias-reduced variance and degrees of freedom by the influences of single units.

    V = sum over clusters of u^2 / (1 - h), u the sum of the influences of a cluster's units and h
    its share of the units. The degrees of freedom lie between those for independent units and those
    for units that are alike within clusters, 1 / (sum of h^2) - 1, depending on what clusters add
    to the variance of single units. None where the clusters are not `shares.uneven` or the number
    is undefined.

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with
    multi-stage samples.

    >>> from konsil.stats.agreement.kappa import percent_agreement
    >>> statistic, labels = percent_agreement(2, 2), np.array([[0, 0], [0, 1], [1, 1]] * 4)
    >>> uneven_clusters(
    ...     Codes(labels, np.repeat(np.arange(4), 3), 2), statistic.tally, statistic.finalise
    ... )
    >>> of_units = uneven_clusters(
    ...     Codes(labels, np.minimum(np.arange(12), 4), 2), statistic.tally, statistic.finalise
    ... )
    >>> round(of_units.variance, 4), round(of_units.df, 2), round(of_units.effective, 2)
    (0.0082, 1.81, 2.12)
    """
    of_clusters = sizes(codes)
    if not uneven(of_clusters):
        return None
    compared = np.flatnonzero((codes.labels >= 0).sum(axis=1) >= 2)
    units = replace(codes, labels=codes.labels[compared], clusters=np.arange(len(compared)))
    rows = tally(units)
    # Linearising tables of very many cells would take too long.
    is_closed = isinstance(finalise, WithGradient)
    if not is_closed and rows.shape[0] * rows.shape[1] > _MOST_SUMS:
        return None
    influence = wald.linearised(rows, finalise)
    if influence.shape[1] != 1 or not np.isfinite(influence).all():
        return None
    interval = wald.by_cluster(influence, codes.clusters[compared], np.zeros(1))
    n_clusters = int(np.count_nonzero(of_clusters))
    worth = effective_number(of_clusters.astype(np.int64))
    variance = float(interval.se[0] ** 2)
    # Without any variation there is nothing to weigh the two degrees of freedom by.
    df = float(interval.df[0]) if variance > 0 else max(worth - 1, 1.0)
    return UnevenClusters(variance, df, n_clusters, worth)
