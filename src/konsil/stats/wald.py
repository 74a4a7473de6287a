"""Intervals without resampling: the statistic linearised around its totals, clusters one way or two ways."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy import special

from konsil.stats.contract import Array, Finalise, IntArray
from konsil.stats.kappa import MeanOfTables
from konsil.stats.resample import evaluate
from konsil.stats.rows import Rows, Sums, prepare

Scale = Literal["identity", "atanh"]

_STEP = float(np.finfo(np.float64).eps) ** (1 / 3)
"""Relative step of central differences: balances rounding and truncation."""


class WaldInterval(NamedTuple):
    """A linearised interval; every field but df has the shape of the values, (m,)."""

    se: Array
    df: int
    low: Array
    high: Array


def linearised(sums: Sums | Rows, finalise: Finalise) -> Array:
    """Each cluster's influence: the derivative of the statistic at the totals times the cluster's centred row.

    influence_c = gradient(finalise)(T) . (s_c - T / C) with T = sums.sum(0); shape (n_clusters, m), every column sums
    to zero. The gradient is taken by central differences, over the sums or over the clusters, whichever are fewer. nan
    where the statistic is undefined at T; where it is undefined a step to one side only, the other side is used.

    Source: Binder (1983), On the variances of asymptotically normal estimators from complex surveys.

    >>> linearised(np.array([[1.0, 1.0], [3.0, 1.0]]), lambda totals: totals[..., :1] / totals[..., 1:]).round(6)
    array([[-0.5],
           [ 0.5]])
    """
    rows = prepare(sums)
    value = evaluate(finalise, rows.total[None])[0]
    active = np.flatnonzero(rows.largest)
    if isinstance(finalise, MeanOfTables):
        return rows.expand(_over_tables(rows, finalise, active))
    by_sums = len(active) <= rows.patterns.shape[0]
    patterns = _over_sums(rows, finalise, value, active) if by_sums else _over_clusters(rows, finalise, value)
    return rows.expand(patterns)


def _derivatives(finalise: Finalise, value: Array, centre: Array, moves: Array, steps: Array) -> Array:
    """(n, m) derivatives of finalise at `centre` along the rows of `moves` (n, k), by central differences."""
    n = len(moves)
    values = evaluate(finalise, np.concatenate([centre + moves, centre - moves]))
    up, down = values[:n], values[n:]
    slope = (up - down) / (2 * steps[:, None])
    if np.isnan(slope).any():
        slope = np.where(np.isnan(slope) & np.isnan(down), (up - value) / steps[:, None], slope)
        slope = np.where(np.isnan(slope) & np.isnan(up), (value - down) / steps[:, None], slope)
    return np.asarray(slope)


def _over_sums(rows: Rows, finalise: Finalise, value: Array, active: IntArray) -> Array:
    steps = _STEP * np.maximum(np.abs(rows.total), rows.largest)
    gradient = np.zeros((rows.k, len(value)))
    for at in range(0, len(active), rows.group):
        some = active[at : at + rows.group]
        moves = np.zeros((len(some), rows.k))
        moves[np.arange(len(some)), some] = steps[some]
        gradient[some] = _derivatives(finalise, value, rows.total, moves, steps[some])
    influence: Array = rows.patterns @ gradient
    influence -= (rows.total / rows.n_clusters) @ gradient
    return influence


def _over_tables(rows: Rows, finalise: MeanOfTables, active: IntArray) -> Array:
    """As `_over_sums`, with one cell of every table moved at once: no table depends on another's cells."""
    steps = np.zeros(rows.k)
    steps[active] = _STEP * np.maximum(np.abs(rows.total), rows.largest)[active]
    here = evaluate(finalise.each, rows.total[None])[0]
    defined = np.isfinite(here)
    gradient = np.zeros((len(here), finalise.size))
    for cell in range(finalise.size):
        step = steps[cell :: finalise.size]
        move = np.zeros(rows.k)
        move[cell :: finalise.size] = step
        up, down = evaluate(finalise.each, np.stack([rows.total + move, rows.total - move]))
        # Where a step makes a table undefined, the step to the other side alone is taken.
        sides = np.isfinite(up) * 1.0 + np.isfinite(down)
        rise = np.where(np.isfinite(up), up, here) - np.where(np.isfinite(down), down, here)
        usable = defined & (step > 0) & (sides > 0)
        gradient[:, cell] = np.divide(rise, sides * step, out=np.zeros(len(here)), where=usable)
    mean: Array = gradient.reshape(-1, 1) / max(int(defined.sum()), 1)
    if not defined.any():
        mean[:] = np.nan
    influence: Array = rows.patterns @ mean
    influence -= (rows.total / rows.n_clusters) @ mean
    return influence


def _over_clusters(rows: Rows, finalise: Finalise, value: Array) -> Array:
    scales = np.maximum(np.abs(rows.total), rows.largest)
    mean = rows.total / rows.n_clusters
    parts = []
    n_patterns = rows.patterns.shape[0]
    for at in range(0, n_patterns, rows.group):
        moves = rows.dense(at, min(at + rows.group, n_patterns)) - mean
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.nanmin(np.where(moves != 0, scales / np.abs(moves), np.inf), axis=1, initial=np.inf)
        steps = _STEP * np.where(np.isfinite(reach), reach, 1.0)
        parts.append(_derivatives(finalise, value, rows.total, moves * steps[:, None], steps))
    return np.concatenate(parts)


def interval(
    value: Array, se: Array, df: int, *, level: float = 0.95, scale: Scale = "identity"
) -> tuple[Array, Array]:
    """Value -+ t * se with `df` degrees of freedom, on the statistic's scale or on the atanh scale.

    On the atanh scale (agreement coefficients in -1 .. 1) the bounds are tanh(atanh(value) -+ t * se / (1 - value^2)),
    which never leave -1 .. 1; at a value of exactly -1 or 1 the scale is infinite and the bounds are the value itself.
    nan where value or se is nan and where df < 1.

    >>> low, high = interval(np.array([0.0]), np.array([1.0]), 10**9)
    >>> low.round(2), high.round(2)
    (array([-1.96]), array([1.96]))
    """
    if df < 1:
        return np.full_like(value, np.nan), np.full_like(value, np.nan)
    reach = float(special.stdtrit(df, (1 + level) / 2)) * se
    if scale == "identity":
        return value - reach, value + reach
    inside = np.abs(value) < 1
    centre = np.arctanh(np.where(inside, value, 0.0))
    with np.errstate(invalid="ignore"):
        width = reach / np.where(inside, 1 - value**2, 1.0)
    low, high = np.tanh(centre - width), np.tanh(centre + width)
    outside = np.abs(value) >= 1
    return np.where(outside, value, np.where(inside, low, np.nan)), np.where(
        outside, value, np.where(inside, high, np.nan)
    )


def one_way(
    influence: Array, value: Array, *, level: float = 0.95, scale: Scale = "identity", n_clusters: int | None = None
) -> WaldInterval:
    """The linearised cluster interval: V = C / (C - 1) * sum over clusters of influence^2, t with C - 1.

    `influence` (C, m), `value` (m,). `n_clusters` overrides C where some clusters carry no information. nan with fewer
    than two clusters.

    Source: Liang and Zeger (1986), Longitudinal data analysis using generalized linear models.

    >>> one_way(np.array([[-0.5], [0.5]]), np.array([2.0])).se
    array([1.])
    """
    n = len(influence) if n_clusters is None else n_clusters
    if n < 2:
        nothing = np.full_like(value, np.nan)
        return WaldInterval(nothing, n - 1, nothing, nothing)
    se = np.sqrt(np.einsum("cm,cm->m", influence, influence) * (n / (n - 1)))
    return WaldInterval(se, n - 1, *interval(value, se, n - 1, level=level, scale=scale))


def two_way(
    influence: Array,
    first: IntArray,
    second: IntArray,
    value: Array,
    *,
    level: float = 0.95,
    scale: Scale = "identity",
) -> WaldInterval:
    """The interval for rows that share clusters of two kinds, such as comparisons by question and by rater.

    V = V1 + V2 - V12, floored at max(V1, V2); V1 = G / (G - 1) * sum over the G clusters of the first kind of (sum of
    their rows' influence)^2, V2 likewise, V12 over the pairs of both; t with df = min(G1, G2) - 1. `influence`
    (n_rows, m); `first`, `second` (n_rows,) cluster numbers; `value` (m,). nan with fewer than two clusters of a kind.

    Source: Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering.

    >>> two_way(np.array([[-0.5], [0.5]]), np.array([0, 1]), np.array([0, 1]), np.array([2.0])).se
    array([1.])
    """
    _, one = np.unique(first, return_inverse=True)
    _, two = np.unique(second, return_inverse=True)
    if not len(influence) == len(one) == len(two):
        raise ValueError(f"influence of {len(influence)} rows: got {len(one)} and {len(two)} cluster numbers")
    n_one, n_two = int(one.max(initial=-1)) + 1, int(two.max(initial=-1)) + 1
    df = min(n_one, n_two) - 1
    if df < 1:
        nothing = np.full_like(value, np.nan)
        return WaldInterval(nothing, df, nothing, nothing)
    _, both = np.unique(one * n_two + two, return_inverse=True)
    v_one, v_two, v_both = (_cluster_variance(influence, groups) for groups in (one, two, both))
    se = np.sqrt(np.maximum(v_one + v_two - v_both, np.maximum(v_one, v_two)))
    return WaldInterval(se, df, *interval(value, se, df, level=level, scale=scale))


def _cluster_variance(influence: Array, groups: IntArray) -> Array:
    n = int(groups.max()) + 1
    sums = np.stack([np.bincount(groups, column, n) for column in influence.T], axis=1)
    return np.asarray(np.einsum("cm,cm->m", sums, sums) * (n / (n - 1)))
