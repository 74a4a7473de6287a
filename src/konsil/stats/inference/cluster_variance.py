"""Variance over clusters of unequal size, with its own degrees of freedom.

The variance is bias-reduced; the degrees of freedom follow from effective numbers of clusters.

A cluster with a large share of the votes pulls the estimate towards itself, so that its residual is
too small, and a sum of few large terms is known worse than its number of terms says. Both are
corrected under the working model that votes are independent around the mean of their stratum (a
pair of systems, a group of ratings).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from konsil.stats.engine.contract import Array, IntArray

EXACT_STRATA, EXACT_CLUSTERS = 32, 4000
"""Covariances between clusters are computed with up to this many strata and clusters; with more
they are bounded from above."""

WIDER, FEW_RATERS = 1.1, 30
"""From where on raters widen the interval; below how many raters little is known."""

MUCH = 0.1
"""A rater with a larger share of the ratings, and twice an even one, is named."""

LEAST_RATERS = 1.9
"""The least number of effective raters with which the variance over raters is estimated. Two raters
with 60 and 40 % of the ratings count like 1.92.

Where one of 8 to 20 raters gave 90 % of the votes, two-way intervals covered the true value in .83
to .87 of simulated studies, with 80 % of the votes in .89 to .91; with 1.9 effective raters and
more they covered it in .93 to .94 (`docs/coverage.md`, "Raters")."""

_ALONE = 1e-9
"""A cluster with all of its strata but this proportion has no information on its own variance."""


@dataclass(eq=False)
class Tally:
    """Sums over clusters from which the variance and degrees of freedom of m values follow.

    All arrays have the shape (m,).
    """

    squares: Array
    """Squared influences, each divided by 1 - h."""
    total: Array
    """The clusters' shares of the variance under independence, before the strata's means are
    subtracted."""
    estimable: Array
    """The same, of the clusters that are not alone in their strata."""
    diagonal: Array
    """Squares of the clusters' shares."""
    reach: Array
    """What clusters share through the strata's means: share * h / (1 - h)."""
    squared_reach: Array
    """Squares of `reach`, cluster by cluster."""
    products: Array | None
    """(H, H, m) the part of the strata in `reach`, where it is computed."""

    def __add__(self, other: Tally) -> Tally:
        """The tally of two sets of clusters together."""
        both = (
            None
            if self.products is None or other.products is None
            else self.products + other.products
        )
        return Tally(
            self.squares + other.squares,
            self.total + other.total,
            self.estimable + other.estimable,
            self.diagonal + other.diagonal,
            self.reach + other.reach,
            self.squared_reach + other.squared_reach,
            both,
        )

    def variance(self) -> Array:
        """The bias-reduced variance (CR2), (m,).

        V = sum over clusters of u^2 / (1 - h), u a cluster's influence and h its leverage. Clusters
        that are alone in their strata are assumed to vary like the others. With G equal clusters V
        is G / (G - 1) * sum of u^2. nan where every cluster is alone.

        Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression
        with multi-stage samples.
        """
        scale = np.divide(
            self.total,
            self.estimable,
            out=np.full_like(self.total, np.nan),
            where=self.estimable > 0,
        )
        return np.where(self.total > 0, self.squares * scale, 0.0)

    def df(self, both: Array | None = None) -> Array:
        """Satterthwaite's degrees of freedom of the variance V, (m,), at least 1.

        They are G - 1 for G equal clusters and fewer for unequal ones. Under independence they are
        (sum of B_gg)^2 / sum of B_gk^2, with B the covariance of u_g / sqrt(1 - h_g). Where the
        votes of a cluster are correlated, large clusters count for more; if the votes of each
        cluster are all alike they are 1 / (sum of squared shares) - 1. `both` is the variance of
        the single votes, without that correlation; the reciprocals of the two are averaged with 1 -
        both / V as the weight of the second.
        """
        alone = self._independent()
        if both is None:
            return alone
        effective = np.divide(
            self.estimable**2, self.diagonal, out=np.ones_like(alone), where=self.diagonal > 0
        )
        alike = np.maximum(np.minimum(effective - 1, alone), 1.0)
        return between(alone, alike, self.variance(), both)

    def _independent(self) -> Array:
        between = (
            self.reach**2 - self.squared_reach
            if self.products is None
            else (self.products**2).sum((0, 1)) - self.squared_reach
        )
        # Rounding may leave the products a little below their own diagonal.
        down = self.diagonal + np.maximum(between, 0.0)
        degrees = np.divide(self.estimable**2, down, out=np.ones_like(down), where=down > 0)
        return np.maximum(degrees, 1.0)


def between(alone: Array, alike: Array, variance: Array, both: Array) -> Array:
    """Degrees of freedom between those for independent votes and those for like votes.

    The reciprocals are averaged; the weight is what clusters add to the variance, 1 - both /
    variance. Arrays (m,).

    >>> between(np.array([9.0]), np.array([3.0]), np.array([2.0]), np.array([1.0]))
    array([4.5])
    """
    together = np.divide(both, variance, out=np.ones_like(variance), where=variance > 0)
    share = np.clip(1 - together, 0.0, 1.0)
    return np.asarray(1 / ((1 - share) / alone + share / alike))


def tally(influence: Array, share: Array, shared: Array, factor: Array | None = None) -> Tally:
    """The tally of some clusters from their influences, shares of the variance and leverages.

    Each array is (G, m), or (G, 1) where all values share it.

    With n_gh a cluster's votes in stratum h, n_h all votes of the stratum and c_h their mean
    squared influence: share_g = sum over h of c_h n_gh, shared_g = sum over h of c_h n_gh^2 / n_h,
    leverage h_g = shared_g / share_g. factor (G, H, m) = n_gh sqrt(c_h / n_h) gives the covariances
    between clusters; without it they are bounded from above, exactly so where there is one stratum.

    >>> equal = tally(np.array([[1.0], [-1.0]]), np.full((2, 1), 5.0), np.full((2, 1), 2.5))
    >>> equal.variance(), equal.df()
    (array([4.]), array([1.]))
    """
    # In place where it can be: new arrays of this size cost as much as what is computed in them.
    rest = np.divide(shared, share, out=np.zeros_like(share), where=share > 0)
    np.subtract(1, rest, out=rest)
    usable = (share > 0) & (rest > _ALONE)
    over = np.divide(1.0, rest, out=np.zeros_like(rest), where=usable)
    reach = np.multiply(shared, over, out=rest)
    usable_share = np.where(usable, share, 0.0)
    root = np.sqrt(over, out=over)
    products = None
    if factor is not None:
        scaled = factor * root[:, None]
        products = np.einsum("ghm,gkm->hkm", scaled, scaled, optimize=True)
    sums = np.stack(
        [
            share.sum(0),
            usable_share.sum(0),
            np.square(usable_share, out=usable_share).sum(0),
            reach.sum(0),
            np.square(reach, out=reach).sum(0),
        ]
    )
    is_alike = root.shape == influence.shape
    scaled_influence = np.multiply(influence, root, out=root if is_alike else None)
    total, identified, diagonal, reached, squared_reach = np.broadcast_to(
        sums, (5, influence.shape[1])
    )
    squares = np.einsum("gm,gm->m", scaled_influence, scaled_influence)
    return Tally(squares, total, identified, diagonal, reached, squared_reach, products)


def by_strata(
    influence: Array, counts: Array, spread: Array, totals: Array, n_clusters: int | None = None
) -> Tally:
    """The tally of clusters with votes in several strata.

    `influence` (G, m); `counts` (G, H) the clusters' votes by stratum; `spread` (H, m) the mean
    squared influence c of each stratum; `totals` (H,) all votes by stratum. `n_clusters` is the
    number of all clusters, where these are some of them.

    >>> by_strata(
    ...     np.array([[1.0], [-1.0]]), np.full((2, 1), 5.0), np.ones((1, 1)), np.array([10.0])
    ... ).df()
    array([1.])
    """
    of_total = np.divide(
        spread, totals[:, None], out=np.zeros_like(spread), where=totals[:, None] > 0
    )
    exact = 1 < len(spread) <= EXACT_STRATA and (n_clusters or len(counts)) <= EXACT_CLUSTERS
    factor = counts[:, :, None] * np.sqrt(of_total)[None] if exact else None
    return tally(influence, counts @ spread, counts**2 @ of_total, factor)


def effective_number(counts: IntArray) -> float:
    """The effective number of raters or clusters: 1 / (sum of the squared shares).

    n for n raters who rated equally much; nan without ratings.

    >>> effective_number(np.array([10, 10, 10])), round(effective_number(np.array([80, 10, 10])), 2)
    (3.0, 1.52)
    """
    total = float(counts.sum())
    return (
        total**2 / float((np.asarray(counts, dtype=np.float64) ** 2).sum())
        if total
        else float("nan")
    )


def two_ways(
    first: Array, df_first: Array, second: Array, df_second: Array, both: Array
) -> tuple[Array, Array]:
    """The variance of rows that share clusters of two kinds, and its degrees of freedom.

    V = V1 + V2 - V12, at least max(V1, V2); df = V^2 / (V1^2 / df1 + V2^2 / df2), at least min(df1,
    df2). V12 is estimated far more precisely and does not enter df. Arrays (m,).

    Source: Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering;
    Satterthwaite (1946).

    >>> two_ways(np.ones(1), np.array([9.0]), np.zeros(1), np.array([3.0]), np.zeros(1))
    (array([1.]), array([9.]))
    """
    variance = np.maximum(first + second - both, np.maximum(first, second))
    down = first**2 / df_first + second**2 / df_second
    least = np.minimum(df_first, df_second)
    df = np.divide(variance**2, down, out=np.array(least, dtype=np.float64), where=down > 0)
    return variance, np.maximum(df, least)
