"""Relative difference of two proportions of outcomes in clusters: p_a / p_b - 1."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array
from konsil.stats.shares.clustered_share import ClusteredShare, correlation


class RelativeDifference(NamedTuple):
    """A relative difference with its interval."""

    value: float
    """p_a / p_b - 1; nan where p_b is 0 or a group has no outcome."""
    low: float
    """The lower limit, -1 or above; nan where there is no interval."""
    high: float
    """The upper limit; nan where there is no interval."""


def relative_difference(
    hits_a: Array, trials_a: Array, hits_b: Array, trials_b: Array, level: float = 0.95
) -> RelativeDifference:
    """p_a / p_b - 1 with the interval of a ratio of two proportions of outcomes in clusters.

    The interval contains each R - 1 for which the square-and-add interval of p_a - R p_b contains
    0 (method of variance estimates recovery for ratios). With l and u Wilson's limits of the two
    proportions at their effective sample sizes and r their correlation over clusters
    (`clustered_share`), the lower limit solves (p_a - R p_b)^2 = (p_a - l_a)^2 - 2 r R (p_a - l_a)
    (u_b - p_b) + R^2 (u_b - p_b)^2, the upper limit the same with u_a and l_b. It excludes 0
    exactly where `square_and_add` excludes a difference of 0. At p_a = 0 the value is -1 and the
    lower limit too. All arrays (n_clusters,). The value is undefined where p_b is 0 or a group has
    no outcome, the interval with fewer than two clusters in a group.

    Source: Donner and Zou (2012), Closed-form confidence intervals for functions of the normal mean
    and standard deviation; Newcombe (2016), MOVER-R confidence intervals for ratios and products of
    two independently estimated quantities.

    >>> ones, none = np.ones(20), np.zeros(20)
    >>> first, second = np.arange(20) < 5, np.arange(20) < 10
    >>> relative_difference(
    ...     np.concatenate([first, none]),
    ...     np.concatenate([ones, none]),
    ...     np.concatenate([none, second]),
    ...     np.concatenate([none, ones]),
    ... ).value
    -0.5
    """
    totals = np.array([hits_a.sum(), trials_a.sum(), hits_b.sum(), trials_b.sum()])
    value = float(relative(totals)[0])
    a, b = ClusteredShare.of(hits_a, trials_a), ClusteredShare.of(hits_b, trials_b)
    if math.isnan(value) or a is None or b is None:
        return RelativeDifference(value, math.nan, math.nan)
    (low_a, high_a), (low_b, high_b) = a.wilson(level), b.wilson(level)
    together = correlation(a, b)
    low = _limit(a.share, b.share, low_a, high_b, together, is_lower=True)
    high = _limit(a.share, b.share, high_a, low_b, together, is_lower=False)
    # The denominator's interval reaches 0: the ratio has no upper limit, and half an interval
    # misleads.
    if not math.isfinite(high):
        return RelativeDifference(value, math.nan, math.nan)
    return RelativeDifference(value, low - 1, high - 1)


def relative(totals: Array) -> Array:
    """The relative difference of the totals, (..., 4) to (..., 1).

    Columns: hits and trials of the first group, then of the second. nan where the second has no
    hit or the first no trial.

    >>> relative(np.array([1.0, 4.0, 2.0, 4.0]))
    array([-0.5])
    """
    first = ratio(totals[..., 0:1], totals[..., 1:2])
    second = ratio(totals[..., 2:3], totals[..., 3:4])
    return ratio(first, second) - 1


def _limit(
    a: float, b: float, limit_a: float, limit_b: float, together: float, *, is_lower: bool
) -> float:
    """The root R of R^2 A - 2 R B + C = 0 that is the limit of a / b.

    The lower one is written without a difference in its denominator, which may be 0: A is 0 or
    below where the upper limit of b is twice b or more.
    """
    reach_a, reach_b = abs(a - limit_a), abs(limit_b - b)
    square = b * b - reach_b * reach_b
    middle = a * b - together * reach_a * reach_b
    constant = a * a - reach_a * reach_a
    root = math.sqrt(max(middle * middle - square * constant, 0.0))
    if is_lower:
        below = middle + root
        # The other form of the root: no digits cancel where the square is small.
        return max(constant / below, 0.0) if below > 0 else 0.0
    return (middle + root) / square if square > 0 else math.inf
