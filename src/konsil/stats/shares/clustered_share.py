"""A proportion of outcomes in clusters, with Wilson's limits at its effective sample size."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from konsil.stats.engine.contract import Array
from konsil.stats.shares.shares import degrees_of_freedom, reduced_variance


class ClusteredShare(NamedTuple):
    """A proportion of yes-or-no outcomes in clusters."""

    share: float
    """Hits over trials."""
    size: float
    """The effective sample size."""
    df: float
    """The degrees of freedom of its variance."""
    deviations: Array
    """(n_clusters,) hits minus the hits expected at the proportion."""

    @staticmethod
    def of(hits: Array, trials: Array) -> ClusteredShare | None:
        """The proportion of hits (n_clusters,) among trials; None with fewer than two clusters.

        The effective sample size is min(p q / v, sum(trials)), with v the bias-reduced variance of
        the proportion between clusters; at a proportion of 0 or 1, it is 1 + Satterthwaite's
        degrees of freedom of these sizes.

        Source: Korn and Graubard (1998); Bell and McCaffrey (2002) for v.

        >>> proportion = ClusteredShare.of(np.array([1.0, 0.0, 1.0]), np.ones(3))
        >>> round(proportion.share, 3), proportion.size <= 3
        (0.667, True)
        """
        total = float(trials.sum())
        if int((trials > 0).sum()) < 2:
            return None
        share = float(hits.sum()) / total
        # At 0 or 1 nothing varies: the number of clusters, not of units, bounds what is known.
        if share in (0.0, 1.0):
            df = degrees_of_freedom(trials)
            return ClusteredShare(share, df + 1, df, np.zeros(len(hits)))
        deviations = hits - share * trials
        variance, df = reduced_variance(hits, trials)
        size = min(share * (1 - share) / variance, total) if variance > 0 else total
        return ClusteredShare(share, size, df, deviations)

    def wilson(self, level: float) -> tuple[float, float]:
        """Wilson's limits at the effective sample size, with the t quantile of `df`."""
        # SciPy 1.12 has no quantile at level 1, which is infinite.
        z = -float(scipy.special.stdtrit(self.df, (1 - level) / 2)) if level < 1 else math.inf
        p, n = self.share, self.size
        if math.isinf(z):
            return 0.0, 1.0
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        reach = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        # At 0 and 1 the limit is exact; rounding would leave it a little inside.
        return (0.0 if p == 0 else max(centre - reach, 0.0)), (
            1.0 if p == 1 else min(centre + reach, 1.0)
        )


def correlation(a: ClusteredShare, b: ClusteredShare) -> float:
    """Correlation of two proportions over their common clusters; 0 where either does not vary.

    Their covariance is first moved towards zero by half the largest cluster's part, as a correction
    for continuity.
    """
    products = a.deviations * b.deviations
    spread = math.sqrt(float((a.deviations**2).sum() * (b.deviations**2).sum()))
    if spread == 0:
        return 0.0
    together = float(products.sum())
    nearer = max(abs(together) - float(np.abs(products).max()) / 2, 0.0)
    return math.copysign(nearer, together) / spread
