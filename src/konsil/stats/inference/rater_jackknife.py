"""Variance of a coefficient over items and over raters, by leaving raters out.

It allows conclusions about the agreement of raters in general.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from konsil.stats.engine.contract import Array
from konsil.stats.inference import wald
from konsil.stats.inference.cluster_variance import between, tally, two_ways
from konsil.stats.inference.wald import Scale, WaldInterval


def items_and_raters(
    value: Array,
    influence: Array,
    without: Sequence[tuple[float, Array]],
    shares: Array,
    *,
    items: tuple[float, float] | None = None,
    level: float = 0.95,
    scale: Scale = "identity",
) -> WaldInterval:
    """The interval of a number that pairs raters, such as kappa, for other items and other raters.

    V = V_i + V_r - V_ir, at least max(V_i, V_r). V_i = C / (C - 1) * sum over items of psi_i^2; V_r
    = (R - 1) / R * sum over raters of (t_r - mean)^2, t_r the number without rater r; V_ir = (R -
    1) / R * sum over both of (psi_ir - mean over r)^2, psi_ir the item's influence on t_r; V_ir is
    part of both others. `value` (1,); `influence` psi (C, 1); `without`: t_r and psi_r (C, 1) for
    every rater; `shares` (R,) of the ratings. Degrees of freedom as in `cluster_variance`. `items`:
    V_i and its degrees of freedom, where items come in clusters of very unequal size. nan with
    fewer than three raters or two items, or where a t_r is undefined.

    Source: Efron and Stein (1981), The jackknife estimate of variance; Cameron, Gelbach and Miller
    (2011).

    >>> psi = np.array([[0.1], [-0.1], [0.05], [-0.05]])
    >>> items_and_raters(np.array([0.5]), psi, [(0.5, psi)] * 3, np.full(3, 1 / 3)).se.round(3)
    array([0.183])
    """
    n = len(influence)
    rater_part = by_raters(without, shares)
    if n < 2 or rater_part is None:
        nothing = np.full(value.shape, np.nan)
        return wald.with_test(value, nothing, nothing, level=level, scale=scale)
    by_item, df = (
        np.array([part]) for part in items or (n / (n - 1) * float((influence**2).sum()), n - 1.0)
    )
    variance, freedom = two_ways(by_item, df, rater_part.variance, rater_part.df, rater_part.both)
    return wald.with_test(value, np.sqrt(variance), freedom, level=level, scale=scale)


@dataclass(frozen=True, eq=False)
class ByRaters:
    """The jackknife variances over raters of one number; arrays (1,)."""

    variance: Array
    """V_r, of the raters."""
    df: Array
    """Its degrees of freedom."""
    both: Array
    """V_ir, of items and raters together."""


def by_raters(without: Sequence[tuple[float, Array]], shares: Array) -> ByRaters | None:
    """The variances V_r and V_ir with the degrees of freedom of V_r, as in `items_and_raters`.

    None with fewer than three raters or where a t_r is undefined.

    >>> psi = np.array([[0.1], [-0.1]])
    >>> by_raters([(0.4, psi), (0.5, psi), (0.6, psi)], np.full(3, 1 / 3)).variance.round(4)
    array([0.0133])
    """
    r = len(without)
    estimates = np.array([t for t, _ in without])
    # Two raters leave one value each: the spread of two numbers says next to nothing.
    if (
        r < 3
        or not np.isfinite(estimates).all()
        or not all(np.isfinite(p).all() for _, p in without)
    ):
        return None
    each = np.stack([psi[:, 0] for _, psi in without])
    factor = (r - 1) / r
    raters = np.array([factor * ((estimates - estimates.mean()) ** 2).sum()])
    both = np.array([factor * ((each - each.mean(axis=0)) ** 2).sum()])
    share = shares[:, None]
    alike = np.maximum(1 / (share**2).sum(axis=0) - 1, 1.0)
    df = between(tally(np.zeros_like(share), share, share**2).df(), alike, raters, both)
    return ByRaters(raters, df, both)


def of_two_panels(
    value: Array,
    influence: Array,
    first: ByRaters,
    second: ByRaters,
    *,
    n_items: int,
    level: float = 0.95,
) -> WaldInterval:
    """The interval and test of a difference of two such numbers of panels without a common rater.

    V = V_i + V_r - V_ir, at least max(V_i, V_r). V_i = C / (C - 1) * sum over items of psi_i^2,
    psi_i the item's influence on the difference; V_r and V_ir are sums over the two panels, whose
    raters are sampled independently, V_r with the degrees of freedom of Welch and Satterthwaite.
    `value` (1,); `influence` (C, 1), `n_items` of which are not zero. nan with fewer than two
    items.

    Source: Efron and Stein (1981), The jackknife estimate of variance; Welch (1947), The
    generalization of "Student's" problem when several different population variances are involved.

    >>> one = ByRaters(np.ones(1), np.full(1, 4.0), np.zeros(1))
    >>> of_two_panels(np.zeros(1), np.zeros((9, 1)), one, one, n_items=9).df
    array([8.])
    """
    if n_items < 2:
        nothing = np.full(value.shape, np.nan)
        return wald.with_test(value, nothing, nothing, level=level)
    items = n_items / (n_items - 1) * (influence**2).sum(axis=0)
    # No rater is in both panels: their variances add.
    raters = first.variance + second.variance
    down = first.variance**2 / first.df + second.variance**2 / second.df
    df = np.divide(raters**2, down, out=np.minimum(first.df, second.df), where=down > 0)
    variance, freedom = two_ways(
        items, np.full(1, n_items - 1.0), raters, df, first.both + second.both
    )
    return wald.with_test(value, np.sqrt(variance), freedom, level=level)
