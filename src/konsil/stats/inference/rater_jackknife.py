"""Variance of a coefficient over items and over raters, by leaving raters out.

It allows conclusions about the agreement of raters in general.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from konsil.stats.engine.contract import Array, IntArray
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
    times: float = 1.0,
    level: float = 0.95,
    scale: Scale = "identity",
) -> WaldInterval:
    """The interval of a number that pairs raters, such as kappa, for other items and other raters.

    Also of the difference of two such numbers whose raters are the same (`differences_without`).

    V = V_i + V_r - V_ir, at least max(V_i, V_r). V_i = C / (C - 1) * sum over items of psi_i^2; V_r
    = (R - 1) / R * sum over raters of (t_r - mean)^2, t_r the number without rater r; V_ir = (R -
    1) / R * sum over both of (psi_ir - mean over r)^2, psi_ir the item's influence on t_r; V_ir is
    part of both others. `value` (1,); `influence` psi (C, 1); `without`: t_r and psi_r (C, 1) for
    every rater; `shares` (R,) of the ratings. Degrees of freedom as in `cluster_variance`. `items`:
    V_i and its degrees of freedom, where items come in clusters of very unequal size; `times`: a
    factor of V_r (`of_pairs`). nan with fewer than three raters or two items, or where a t_r is
    undefined.

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
    by_rater = times * rater_part.variance
    variance, freedom = two_ways(by_item, df, by_rater, rater_part.df, rater_part.both)
    return wald.with_test(value, np.sqrt(variance), freedom, level=level, scale=scale)


def of_pairs(n_raters: int) -> float:
    """The factor of V_r for means over pairs of raters without correction for chance.

    (R - 1) / (R - 2): without one of R raters R - 1 are left, and what a rater adds to the pairs
    is estimated from the spread of these with R - 2 degrees of freedom. Without the factor, tests
    of differences of percent agreement reject up to .075 instead of .05.

    >>> of_pairs(6)
    1.25
    """
    return (n_raters - 1) / (n_raters - 2) if n_raters > 2 else 1.0


@dataclass(frozen=True, eq=False)
class LeftOut:
    """One number of some raters, without each of them in turn."""

    raters: tuple[str, ...]
    """The raters who gave its ratings."""
    n_ratings: IntArray
    """(R,) how many ratings each gave."""
    without: Sequence[tuple[float, Array]]
    """The number and the items' influences on it, (C, 1), without each rater."""

    @property
    def shares(self) -> Array:
        """Each rater's share of the ratings, (R,)."""
        return np.asarray(self.n_ratings / self.n_ratings.sum())

    def by_raters(self) -> ByRaters | None:
        """The variances over these raters, as of `by_raters`."""
        return by_raters(self.without, self.shares)


@dataclass(frozen=True, eq=False)
class NumberOf:
    """A number with what leaving out its raters makes of it, on the items of two groups."""

    value: float
    """The number."""
    influence: Array
    """(C, 1) the items' influences on it."""
    left_out: LeftOut
    """The same without each rater, on the number's own items."""
    items: IntArray
    """Which of the C items its own items are."""


def differences_without(
    first: NumberOf, second: NumberOf
) -> tuple[list[tuple[float, Array]], Array]:
    """The difference of two numbers without each rater of either, and the raters' shares.

    Without a rater both numbers are computed again, so that what a rater brings to both of them
    cancels out; a rater of one group alone leaves the other number as it is. The shares are means
    of those in the two groups. As `items_and_raters` takes them.

    >>> psi = np.zeros((2, 1))
    >>> of_three = LeftOut(("a", "b", "c"), np.full(3, 2), [(n / 10, psi) for n in (4, 5, 6)])
    >>> one = NumberOf(0.5, psi, of_three, np.arange(2))
    >>> [difference for difference, _ in differences_without(one, one)[0]]
    [0.0, 0.0, 0.0]
    """
    raters = dict.fromkeys((*first.left_out.raters, *second.left_out.raters))
    each = [_without(number, tuple(raters)) for number in (first, second)]
    without = [(a[0] - b[0], a[1] - b[1]) for a, b in zip(*each, strict=True)]
    shares = [
        dict(zip(number.left_out.raters, number.left_out.shares, strict=True))
        for number in (first, second)
    ]
    return without, np.array([sum(s.get(r, 0.0) for s in shares) / 2 for r in raters])


def _without(number: NumberOf, raters: Sequence[str]) -> list[tuple[float, Array]]:
    """The number without each of some raters, on the items of both groups."""
    of_rater = dict(zip(number.left_out.raters, number.left_out.without, strict=True))
    out = []
    for rater in raters:
        if rater in of_rater:
            value, own = of_rater[rater]
            influence = np.zeros_like(number.influence)
            influence[number.items] = own
            out.append((value, influence))
        else:
            out.append((number.value, number.influence))
    return out


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
