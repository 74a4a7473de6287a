"""Differences of two proportions: score intervals, and square-and-add for outcomes in clusters.

Interval and p value come from one test: p <= 1 - level exactly where the interval of that level
excludes zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import scipy

from konsil.stats.engine.contract import Array
from konsil.stats.engine.roots import root
from konsil.stats.shares.clustered_share import ClusteredShare, correlation

_ROUNDING = 1e-12
_EM_STEPS = 2000


class ShareDifference(NamedTuple):
    """A difference of two proportions with the interval and the two-sided p value of one test."""

    value: float
    low: float
    high: float
    p: float
    method: Literal["tango", "miettinen-nurminen", "score", "square-and-add", "undefined"]


_UNDEFINED = ShareDifference(math.nan, math.nan, math.nan, math.nan, "undefined")


class Outcomes(NamedTuple):
    """Yes-or-no outcomes of two groups, some of them of the same clusters."""

    both: float
    """Pairs with a yes in both groups."""
    first: float
    """Pairs with a yes in the first group alone."""
    second: float
    """Pairs with a yes in the second group alone."""
    neither: float
    """Pairs with a yes in neither."""
    hits_a: float = 0.0
    """A yes of the first group where the second has no outcome."""
    trials_a: float = 0.0
    """Outcomes of the first group where the second has none."""
    hits_b: float = 0.0
    """A yes of the second group where the first has no outcome."""
    trials_b: float = 0.0
    """Outcomes of the second group where the first has none."""

    @property
    def pairs(self) -> float:
        """How many clusters have an outcome in both groups."""
        return self.both + self.first + self.second + self.neither

    @property
    def n_a(self) -> float:
        """All outcomes of the first group."""
        return self.pairs + self.trials_a

    @property
    def n_b(self) -> float:
        """All outcomes of the second group."""
        return self.pairs + self.trials_b

    @property
    def difference(self) -> float:
        """The first share minus the second."""
        return (self.both + self.first + self.hits_a) / self.n_a - (
            self.both + self.second + self.hits_b
        ) / self.n_b


def score_difference(outcomes: Outcomes, level: float = 0.95) -> ShareDifference:
    """The score interval of p_a - p_b and the score test of p_a = p_b, for pairs, groups or both.

    z(D) = (p_a - p_b - D) / sqrt(v(D)), v(D) = p_a q_a / n_a + p_b q_b / n_b - 2 n (p_11 - p_a p_b)
    / (n_a n_b), at the maximum-likelihood probabilities with difference D, with n pairs among n_a
    and n_b outcomes. The interval contains each D with |z(D)| below the normal quantile; p is that
    of |z(0)|. With pairs alone it is Tango's interval and McNemar's test (without a continuity
    correction). Without pairs, and where only some outcomes are paired, v has the factor N / (N -
    1), N = n_a + n_b: Miettinen and Nurminen's interval. Undefined where a group has no outcome.

    Source: Tango (1998), Equivalence test and confidence interval for the difference in proportions
    for the paired-sample design; Miettinen and Nurminen (1985), Comparative analysis of two rates.

    >>> difference = score_difference(Outcomes(43, 0, 1, 0))
    >>> round(difference.low, 4), round(difference.high, 4), difference.method
    (-0.1181, 0.0594, 'tango')
    """
    if min(outcomes.n_a, outcomes.n_b) <= 0:
        return _UNDEFINED
    value = outcomes.difference
    limit = float(scipy.special.ndtri((1 + level) / 2))
    z = _score(outcomes)
    low = _root(lambda at: z(at) - limit, -1.0, value)
    high = _root(lambda at: z(at) + limit, value, 1.0)
    if not outcomes.trials_a and not outcomes.trials_b:
        method: Literal["tango", "miettinen-nurminen", "score"] = "tango"
    else:
        method = "score" if outcomes.pairs else "miettinen-nurminen"
    return ShareDifference(
        value, low, high, _never_zero(2 * float(scipy.special.ndtr(-abs(z(0.0))))), method
    )


def _score(outcomes: Outcomes) -> Callable[[float], float]:
    """z(D); falls as D rises."""
    n, n_a, n_b, value = outcomes.pairs, outcomes.n_a, outcomes.n_b, outcomes.difference
    alone = bool(outcomes.trials_a or outcomes.trials_b)
    factor = (n_a + n_b) / (n_a + n_b - 1) if alone and n_a + n_b > 1 else 1.0

    def z(at: float) -> float:
        # Where the difference equals the one tested, 0 / 0 is no evidence.
        if abs(value - at) <= _ROUNDING:
            return 0.0
        p_both, p_a, p_b = _restricted(outcomes, at)
        variance = (
            p_a * (1 - p_a) / n_a
            + p_b * (1 - p_b) / n_b
            - 2 * n * (p_both - p_a * p_b) / (n_a * n_b)
        )
        if variance * factor <= _ROUNDING**2:
            return math.copysign(math.inf, value - at)
        return (value - at) / math.sqrt(variance * factor)

    return z


def _restricted(outcomes: Outcomes, at: float) -> tuple[float, float, float]:
    """The maximum-likelihood p_11, p_a and p_b with p_a - p_b = at."""
    if not outcomes.pairs:
        p_a = _independent(outcomes, at)
        return 0.0, p_a, p_a - at
    both, first, second, neither = outcomes[:4]
    table = _paired(both, first, second, neither, at)
    if not outcomes.trials_a and not outcomes.trials_b:
        p11, p10, p01, _ = table
        return p11, p11 + p10, p11 + p01
    yes_a, yes_b = outcomes.hits_a, outcomes.hits_b
    no_a, no_b = outcomes.trials_a - yes_a, outcomes.trials_b - yes_b
    # Half an observation in each cell keeps the iteration away from corners that it cannot leave.
    table = _paired(both + 0.5, first + 0.5, second + 0.5, neither + 0.5, at)
    for _ in range(_EM_STEPS):
        # Each single outcome counts as a pair whose other half is as likely as the table says.
        p11, p10, p01, _ = table
        a, b = p11 + p10, p11 + p01
        with_b, with_a = (p11 / a if a > 0 else 0.0), (p11 / b if b > 0 else 0.0)
        without_b, without_a = (p01 / (1 - a) if a < 1 else 0.0), (p10 / (1 - b) if b < 1 else 0.0)
        after = _paired(
            both + yes_a * with_b + yes_b * with_a,
            first + yes_a * (1 - with_b) + no_b * without_a,
            second + no_a * without_b + yes_b * (1 - with_a),
            neither + no_a * (1 - without_b) + no_b * (1 - without_a),
            at,
        )
        moved = max(abs(x - y) for x, y in zip(after, table, strict=True))
        table = after
        if moved < 1e-10:
            break
    p11, p10, p01, _ = table
    return p11, p11 + p10, p11 + p01


def _paired(
    both: float, first: float, second: float, neither: float, at: float
) -> tuple[float, float, float, float]:
    """The four probabilities of pairs with p_10 - p_01 = at: a root of a quadratic."""
    n = both + first + second + neither
    b = -first - second + (2 * n - first + second) * at
    c = -second * at * (1 - at)
    p01 = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
    p01 = min(max(p01, 0.0, -at), (1 - at) / 2)
    p10 = p01 + at
    alike = max(1 - p10 - p01, 0.0)
    share = both / (both + neither) if both + neither > 0 else 0.5
    return alike * share, p10, p01, alike * (1 - share)


def _independent(outcomes: Outcomes, at: float) -> float:
    """p_a of two independent groups with p_a - p_b = at: a root of a cubic in p_b."""
    n_a, n_b, x_a, x_b = outcomes.trials_a, outcomes.trials_b, outcomes.hits_a, outcomes.hits_b
    n = n_a + n_b
    c2 = (n_a + 2 * n_b) * at - n - x_a - x_b
    c1 = (n_b * at - n - 2 * x_b) * at + x_a + x_b
    c0 = x_b * at * (1 - at)
    v = (c2 / (3 * n)) ** 3 - c1 * c2 / (6 * n * n) + c0 / (2 * n)
    # Rounding may leave an argument a little outside of what root and arc cosine take.
    u = math.copysign(math.sqrt(max((c2 / (3 * n)) ** 2 - c1 / (3 * n), 0.0)), v)
    w = (math.pi + math.acos(min(max(v / u**3, -1.0), 1.0))) / 3 if u else 0.0
    p_b = 2 * u * math.cos(w) - c2 / (3 * n)
    return min(max(p_b + at, at, 0.0), 1 + at, 1.0)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function of low .. high is zero; the end that it does not cross."""
    inside = 1 - _ROUNDING
    low, high = max(low, -inside), min(high, inside)
    if low >= high or falling(low) <= 0:
        return round(low) if abs(low) == inside else low
    if falling(high) >= 0:
        return round(high) if abs(high) == inside else high
    return root(_finite(falling), low, high, tolerance=1e-12)


def _finite(function: Callable[[float], float]) -> Callable[[float], float]:
    # The search for a root needs finite numbers; their size beyond the limits does not matter.
    return lambda at: min(max(function(at), -1e9), 1e9)


def square_and_add(
    hits_a: Array, trials_a: Array, hits_b: Array, trials_b: Array, level: float = 0.95
) -> ShareDifference:
    """The interval of a difference of two proportions of outcomes in clusters.

    It combines the limits of the two proportions and their correlation: low = D - sqrt((p_a -
    l_a)^2 - 2 r (p_a - l_a) (u_b - p_b) + (u_b - p_b)^2), high likewise with u_a and l_b. l and u
    are Wilson's limits at the group's effective sample size n = min(p q / v, sum(trials)), with v
    the bias-reduced variance of the proportion between clusters and the t quantile of its effective
    degrees of freedom: C - 1 for C clusters of one size, fewer where one cluster has many of the
    outcomes (`cluster_variance`). At a proportion of 0 or 1, n is 1 + Satterthwaite's degrees of
    freedom of these sizes. r is the correlation of the two proportions over clusters; their
    covariance is first moved towards zero by half the largest cluster's part, as a correction for
    continuity. p is 1 minus the highest level at which the interval excludes zero. All arrays
    (n_clusters,). Undefined with fewer than two clusters in a group.

    Source: Newcombe (1998), Improved confidence intervals for the difference between binomial
    proportions based on paired data (method 10); Korn and Graubard (1998) for the sample size; Bell
    and McCaffrey (2002) for v.

    >>> ones = np.ones(30)
    >>> difference = square_and_add(np.eye(30)[0], ones, np.eye(30)[1], ones)
    >>> round(difference.low, 2), round(difference.high, 2), difference.p > 0.5
    (-0.15, 0.15, True)
    """
    a, b = ClusteredShare.of(hits_a, trials_a), ClusteredShare.of(hits_b, trials_b)
    if a is None or b is None:
        return _UNDEFINED
    value = a.share - b.share
    together = correlation(a, b)

    def limits(level: float) -> tuple[float, float]:
        (low_a, high_a), (low_b, high_b) = a.wilson(level), b.wilson(level)
        below = _sides(a.share - low_a, high_b - b.share, together)
        above = _sides(high_a - a.share, b.share - low_b, together)
        return max(value - below, -1.0), min(value + above, 1.0)

    def beyond(tail: float) -> float:
        low, high = limits(1 - math.exp(tail))
        return low if value > 0 else -high

    low, high = limits(level)
    # In logarithms of the tail: p values differ by hundreds of orders of magnitude.
    smallest = math.log(1e-300)
    if value == 0:
        p = 1.0
    elif beyond(smallest) > 0:
        p = math.exp(smallest)
    elif beyond(-_ROUNDING) <= 0:
        p = 1.0
    else:
        p = math.exp(root(beyond, smallest, -_ROUNDING, tolerance=1e-12))
    return ShareDifference(value, low, high, p, "square-and-add")


def _sides(first: float, second: float, correlation: float) -> float:
    return math.sqrt(max(first**2 - 2 * correlation * first * second + second**2, 0.0))


def _never_zero(p: float) -> float:
    return min(max(p, float(np.finfo(np.float64).tiny)), 1.0)
