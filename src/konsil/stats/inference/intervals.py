"""Intervals from resamples: percentile, bias-corrected and accelerated (BCa), studentised.

Undefined resamples are excluded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy

from konsil.stats.engine.contract import Array, IntArray


@dataclass(frozen=True, eq=False)
class Ordered:
    """Bootstrap replicates, sorted once for all intervals."""

    values: Array
    """(m, draws), each row ascending, undefined resamples last."""
    n_defined: IntArray
    """(m,) the number of defined resamples."""

    @property
    def n_undefined(self) -> IntArray:
        """(m,) the number of undefined resamples."""
        count: IntArray = self.values.shape[1] - self.n_defined
        return count

    def share_below(self, threshold: Array) -> Array:
        """The proportion of defined resamples below a threshold; both (m,).

        Resamples equal to the threshold count half. nan without resamples. Equal means equal up to
        rounding (1e-12 of the resamples' range), since values that are equal in theory, such as
        ratios of proportional totals, may differ in their last bit.
        """
        last = np.maximum(self.n_defined - 1, 0)
        largest = np.take_along_axis(self.values, last[:, None], axis=1)[:, 0]
        # Replicates that differ from the value by rounding are ties: half of them count as below.
        slack = 1e-12 * np.fmax(
            np.fmax(np.abs(self.values[:, 0]), np.abs(largest)), np.abs(threshold)
        )
        below = np.count_nonzero(self.values < (threshold - slack)[:, None], axis=1)
        not_above = np.count_nonzero(self.values <= (threshold + slack)[:, None], axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(
                (below + not_above) / (2 * np.where(self.n_defined > 0, self.n_defined, np.nan))
            )

    def quantile(self, shares: Array) -> Array:
        """Quantiles (m,) at the proportions `shares` (m,), linear between resamples.

        nan where there is no resample or where the proportion is nan.
        """
        usable = (self.n_defined > 0) & np.isfinite(shares)
        at = np.where(usable, shares * (self.n_defined - 1), 0.0)
        below = np.clip(np.floor(at).astype(np.int64), 0, np.maximum(self.n_defined - 1, 0))
        above = np.minimum(below + 1, np.maximum(self.n_defined - 1, 0))
        low = np.take_along_axis(self.values, below[:, None], axis=1)[:, 0]
        high = np.take_along_axis(self.values, above[:, None], axis=1)[:, 0]
        return np.where(usable, low + (high - low) * (at - below), np.nan)


def order(replicates: Array) -> Ordered:
    """Sort replicates (draws, m) for the intervals below."""
    # A copy, because the rows are sorted in place.
    values = np.array(replicates.T, dtype=np.float64, order="C")
    n_defined = np.count_nonzero(~np.isnan(values), axis=1)
    # nan sort to the end, where `n_defined` cuts them off.
    values.sort(axis=1)
    return Ordered(values, n_defined)


def order_parts(parts: Iterable[Array], draws: int) -> Ordered:
    """Sort replicates that come in parts of some resamples, (n, m) each.

    No second copy of all of them is held in memory.

    >>> order_parts([np.array([[3.0], [1.0]]), np.array([[2.0]])], 3).values
    array([[1., 2., 3.]])
    """
    values, at = np.empty((0, draws)), 0
    for part in parts:
        if not at:
            values = np.empty((part.shape[1], draws))
        values[:, at : (at := at + len(part))] = part.T
    n_defined = draws - np.count_nonzero(np.isnan(values), axis=1)
    values.sort(axis=1)
    return Ordered(values, n_defined)


def percentile(ordered: Ordered, *, level: float = 0.95) -> tuple[Array, Array]:
    """The percentile interval, (m,) each.

    Its ends are the (1 - level) / 2 and (1 + level) / 2 quantiles of the defined resamples. nan
    without any.

    Source: Efron (1979).

    >>> percentile(order(np.arange(101.0)[:, None]), level=0.9)
    (array([5.]), array([95.]))
    """
    m = len(ordered.values)
    return ordered.quantile(np.full(m, (1 - level) / 2)), ordered.quantile(
        np.full(m, (1 + level) / 2)
    )


def acceleration(jackknife: Array) -> Array:
    """The acceleration of BCa, which corrects for skewness; (m,).

    a = sum(d^3) / (6 sum(d^2)^1.5), d = mean - leave-one-cluster-out value. Clusters without which
    the statistic is undefined are excluded. 0 where all leave-one-out values are equal.

    Source: Efron (1987), Better bootstrap confidence intervals.
    """
    # Leaving out one cluster may leave nothing to compare: that one is not counted.
    if np.isnan(jackknife).any():
        defined = ~np.isnan(jackknife)
        mean = np.where(defined, jackknife, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
        d = np.where(defined, mean - jackknife, 0.0)
    else:
        d = jackknife.mean(axis=0) - jackknife
    squares = d * d
    spread = squares.sum(axis=0)
    cubes = np.einsum("cm,cm->m", squares, d)
    return np.where(spread > 0, cubes / (6 * np.where(spread > 0, spread, 1.0) ** 1.5), 0.0)


def bias(ordered: Ordered, value: Array) -> Array:
    """The bias correction of BCa; (m,).

    z0 is the normal quantile of the proportion of resamples below the value; it is bounded where
    all resamples lie on one side.
    """
    n = np.maximum(ordered.n_defined, 1)
    # Never 0 or 1, whose normal quantile is infinite.
    return np.asarray(
        scipy.special.ndtri(np.clip(ordered.share_below(value), 1 / (n + 1), n / (n + 1)))
    )


def bca(
    ordered: Ordered, value: Array, jackknife: Array, *, level: float = 0.95
) -> tuple[Array, Array]:
    """The bias-corrected and accelerated interval (BCa), (m,) each.

    Its ends are the quantiles at Phi(z0 + (z0 + z) / (1 - a (z0 + z))), with `acceleration` a and
    `bias` z0. `value` (m,), `jackknife` (n_clusters, m). Where all resamples are equal, low = high
    = that value. nan where the value is undefined or no resample is defined.

    Source: Efron (1987); DiCiccio and Efron (1996), Bootstrap confidence intervals.

    >>> draws = np.arange(101.0)[:, None]
    >>> bca(order(draws), np.array([50.0]), np.array([[-1.0], [0.0], [1.0]]), level=0.9)[0].round(6)
    array([5.])
    """
    z0, a = bias(ordered, value), acceleration(jackknife)
    bounds = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + scipy.special.ndtri(share)
        damping = 1 - a * z
        # Beyond the pole of the correction its limit holds: the outermost draw on that side.
        corrected = np.where(
            damping > 0, z0 + z / np.where(damping > 0, damping, 1.0), np.copysign(np.inf, z)
        )
        bounds.append(ordered.quantile(scipy.special.ndtr(corrected)))
    return bounds[0], bounds[1]


def studentised(
    pivots: Ordered, value: Array, se: Array, *, level: float = 0.95
) -> tuple[Array, Array]:
    """The studentised interval, (m,) each.

    It reaches from value - t_high * se to value - t_low * se, t_low and t_high the quantiles of
    `pivots`, the sorted (draw - value) / se(draw); resamples without spread are undefined. `value`,
    `se` (m,).

    Source: Davison and Hinkley (1997), Bootstrap Methods and their Application, 5.2.
    """
    low, high = percentile(pivots, level=level)
    return value - high * se, value - low * se


def p_value(
    ordered: Ordered, value: Array, *, null: float = 0.0, jackknife: Array | None = None
) -> Array:
    """Two-sided p value: 1 minus the level of the interval that just reaches the null.

    With `jackknife` the BCa interval is inverted, otherwise the percentile interval. The proportion
    of resamples beyond the null is at least (b + 1) / (draws + 1), so that p, (m,), is never below
    1 / (draws + 1) and never 0. nan where undefined.

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 15; (b + 1) / (B
    + 1): Phipson and Smyth (2010), Permutation p-values should never be zero.
    """
    n = np.maximum(ordered.n_defined, 1)
    share = (ordered.share_below(np.full(len(value), null)) * n + 0.5) / (n + 1)
    share = np.clip(share, 1 / (n + 1), n / (n + 1))
    if jackknife is not None:
        z0, a = bias(ordered, value), acceleration(jackknife)
        w = scipy.special.ndtri(share) - z0
        damping = 1 + a * w
        share = scipy.special.ndtr(
            np.where(
                damping > 0, w / np.where(damping > 0, damping, 1.0) - z0, np.copysign(np.inf, w)
            )
        )
    p = np.clip(2 * np.minimum(share, 1 - share), 1 / (n + 1), 1.0)
    return np.where(np.isfinite(value) & (ordered.n_defined > 0), p, np.nan)
