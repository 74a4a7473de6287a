"""Intervals without resampling: the statistic linearised around its totals.

Clusters are of one kind, or of two kinds that cross.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import scipy

from konsil.stats.engine.arithmetic import MeanOfParts, WithGradient
from konsil.stats.engine.cluster_sums import Rows, Sums, prepare
from konsil.stats.engine.contract import Array, Finalise, IntArray
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.engine.resample import evaluate
from konsil.stats.inference.cluster_variance import Tally, by_strata, two_ways

Scale = Literal["identity", "atanh", "logit"]
"""On which scale an interval is made: of numbers without ends, in -1 .. 1, or in 0 .. 1."""

_STEP = float(np.finfo(np.float64).eps) ** (1 / 3)
"""Relative step of central differences: balances rounding and truncation."""


class WaldInterval(NamedTuple):
    """A linearised interval and the test that it inverts; every field is (m,)."""

    se: Array
    """The standard error."""
    df: Array
    """Degrees of freedom of t."""
    low: Array
    """Lower end."""
    high: Array
    """Upper end."""
    p: Array
    """Two-sided p value for the hypothesis of zero, by the same t on the identity scale; never 0,
    nan where the standard error is 0."""


def linearised(sums: Sums | Rows, finalise: Finalise) -> Array:
    """Each cluster's influence on the statistic, (n_clusters, m).

    influence_c = gradient(finalise)(T) . (s_c - T / C) with T = sums.sum(0) and C the clusters with
    information, those whose sums are not all 0; the others' influence is 0, as if they were not
    there. Every column sums to zero. The gradient is the finalise's own where it has one
    (`WithGradient`); otherwise it is computed by central differences, over the sums or over the
    clusters, whichever are fewer. nan where the statistic is undefined at T; where it is undefined
    one step to one side, the other side is used.

    Source: Binder (1983), On the variances of asymptotically normal estimators from complex
    surveys.

    >>> linearised(
    ...     np.array([[1.0, 1.0], [3.0, 1.0]]), lambda totals: totals[..., :1] / totals[..., 1:]
    ... ).round(6)
    array([[-0.5],
           [ 0.5]])
    """
    rows = prepare(sums)
    if isinstance(finalise, WithGradient):
        with np.errstate(all="ignore"):
            gradient = finalise.gradient(rows.total)
        influence = np.asarray(rows.patterns @ gradient)
        # Divided last: a copy of very many totals is as large as the sums themselves.
        influence -= rows.total @ gradient / max(rows.informative, 1)
        return rows.expand(influence * rows.is_informative[:, None])
    value = evaluate(finalise, rows.total[None])[0]
    active = np.flatnonzero(rows.largest)
    if isinstance(finalise, MeanOfParts):
        return rows.expand(_over_parts(rows, finalise, active))
    by_sums = len(active) <= rows.patterns.shape[0]
    patterns = (
        _over_sums(rows, finalise, value, active)
        if by_sums
        else _over_clusters(rows, finalise, value)
    )
    return rows.expand(patterns)


def _derivatives(
    finalise: Finalise, value: Array, centre: Array, moves: Array, steps: Array
) -> Array:
    """Derivatives of finalise at `centre` along the rows of `moves` (n, k); (n, m).

    They are central differences.
    """
    n = len(moves)
    values = evaluate(finalise, np.concatenate([centre + moves, centre - moves]))
    up, down = values[:n], values[n:]
    slope = (up - down) / (2 * steps[:, None])
    # At the edge of the domain, as with a share of 1, the step to one side alone is defined.
    if np.isnan(slope).any():
        slope = np.where(np.isnan(slope) & np.isnan(down), (up - value) / steps[:, None], slope)
        slope = np.where(np.isnan(slope) & np.isnan(up), (value - down) / steps[:, None], slope)
    return np.asarray(slope)


def _over_sums(rows: Rows, finalise: Finalise, value: Array, active: IntArray) -> Array:
    # The cube root of the rounding unit balances the errors of rounding and of curvature.
    steps = _STEP * np.maximum(np.abs(rows.total), rows.largest)
    gradient = np.zeros((rows.k, len(value)))
    for at in range(0, len(active), rows.group):
        some = active[at : at + rows.group]
        moves = np.zeros((len(some), rows.k))
        moves[np.arange(len(some)), some] = steps[some]
        gradient[some] = _derivatives(finalise, value, rows.total, moves, steps[some])
    return _along(rows, gradient)


def _along(rows: Rows, gradient: Array) -> Array:
    """The influences (n_patterns, m) of a gradient (k, m)."""
    # Column by column, so that a number is the same to the last bit alone and beside others.
    mean = rows.total / max(rows.informative, 1)
    columns = [np.ascontiguousarray(column) for column in gradient.T]
    influence = np.stack([rows.patterns @ column - mean @ column for column in columns], axis=1)
    return np.asarray(influence * rows.is_informative[:, None])


def _over_parts(rows: Rows, finalise: MeanOfParts, active: IntArray) -> Array:
    """As `_over_sums`, with one sum of every part moved at once, as parts are independent."""
    steps = np.zeros(rows.k)
    steps[active] = _STEP * np.maximum(np.abs(rows.total), rows.largest)[active]
    base = evaluate(finalise.each, rows.total[None])[0]
    defined = np.isfinite(base)
    gradient = np.zeros((len(base), finalise.size))
    for cell in range(finalise.size):
        step = steps[cell :: finalise.size]
        move = np.zeros(rows.k)
        move[cell :: finalise.size] = step
        up, down = evaluate(finalise.each, np.stack([rows.total + move, rows.total - move]))
        # Where a step makes a table undefined, the step to the other side alone is taken.
        sides = np.isfinite(up) * 1.0 + np.isfinite(down)
        rise = np.where(np.isfinite(up), up, base) - np.where(np.isfinite(down), down, base)
        usable = defined & (step > 0) & (sides > 0)
        gradient[:, cell] = np.divide(rise, sides * step, out=np.zeros(len(base)), where=usable)
    mean: Array = gradient.reshape(-1, 1) / max(int(defined.sum()), 1)
    if not defined.any():
        mean[:] = np.nan
    return _along(rows, mean)


def _over_clusters(rows: Rows, finalise: Finalise, value: Array) -> Array:
    scales = np.maximum(np.abs(rows.total), rows.largest)
    mean = rows.total / max(rows.informative, 1)
    parts = []
    n_patterns = rows.patterns.shape[0]
    for at in range(0, n_patterns, rows.group):
        end = min(at + rows.group, n_patterns)
        moves = (rows.dense(at, end) - mean) * rows.is_informative[at:end, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.nanmin(
                np.where(moves != 0, scales / np.abs(moves), np.inf), axis=1, initial=np.inf
            )
        steps = _STEP * np.where(np.isfinite(reach), reach, 1.0)
        parts.append(_derivatives(finalise, value, rows.total, moves * steps[:, None], steps))
    return np.concatenate(parts)


def interval(
    value: Array, se: Array, df: float | Array, *, level: float = 0.95, scale: Scale = "identity"
) -> tuple[Array, Array]:
    """Value -+ t * se on the identity, the atanh or the logit scale; (m,) each.

    `df` is one number of degrees of freedom, or one for each value.

    On the atanh scale (agreement coefficients in -1 .. 1) the bounds are tanh(atanh(value) -+ t *
    se / (1 - value^2)), which never leave -1 .. 1; at a value of exactly -1 or 1 the scale is
    infinite and the bounds are the value itself. On the logit scale (proportions and areas in 0 ..
    1) they are those of 2 value - 1, taken back. nan where value or se is nan and where df < 1.

    >>> low, high = interval(np.array([0.0]), np.array([1.0]), 10**9)
    >>> low.round(2), high.round(2)
    (array([-1.96]), array([1.96]))
    """
    freedom = np.asarray(df, dtype=np.float64)
    t = np.where(
        freedom >= 1, scipy.special.stdtrit(np.maximum(freedom, 1), (1 + level) / 2), np.nan
    )
    reach = t * se
    if scale == "identity":
        return value - reach, value + reach
    if scale == "logit":
        # logit(p) = 2 atanh(2 p - 1)
        ends = interval(2 * value - 1, 2 * se, freedom, level=level, scale="atanh")
        return (1 + ends[0]) / 2, (1 + ends[1]) / 2
    inside = np.abs(value) < 1
    centre = np.arctanh(np.where(inside, value, 0.0))
    with np.errstate(invalid="ignore"):
        width = reach / np.where(inside, 1 - value**2, 1.0)
    low, high = np.tanh(centre - width), np.tanh(centre + width)
    # At 1 and -1 atanh is infinite: both limits are the value there.
    outside = (np.abs(value) >= 1) & (freedom >= 1)
    return np.where(outside, value, np.where(inside, low, np.nan)), np.where(
        outside, value, np.where(inside, high, np.nan)
    )


def p_value(value: Array, se: Array, df: float | Array) -> Array:
    """Two-sided p of value / se under t with `df` degrees of freedom.

    Never 0; nan where se is 0 or undefined, or where df < 1.

    >>> p_value(np.array([1.96, 0.0]), np.ones(2), 10**9).round(3)
    array([0.05, 1.  ])
    """
    freedom = np.asarray(df, dtype=np.float64)
    usable = (se > 0) & (freedom >= 1)
    t = np.abs(value) / np.where(usable, se, 1.0)
    p = 2 * scipy.special.stdtr(np.maximum(freedom, 1), -t)
    # A p value of exactly 0 is an underflow, and would claim too much.
    return np.where(usable, np.maximum(p, np.finfo(np.float64).tiny), np.nan)


def with_test(
    value: Array, se: Array, df: Array, *, level: float = 0.95, scale: Scale = "identity"
) -> WaldInterval:
    """The interval and the test of values (m,) with these standard errors and degrees of freedom.

    >>> with_test(np.zeros(1), np.ones(1), np.array([10.0])).p
    array([1.])
    """
    return WaldInterval(
        se, df, *interval(value, se, df, level=level, scale=scale), p_value(value, se, df)
    )


def jackknife_influence(without: Array, informative: Array) -> Array:
    """Each cluster's influence by the jackknife, (C, m) from the values without it (C, m).

    influence_c = (C - 1) / C * (mean - T_c) over the clusters with information, those whose
    `informative` (C,) is 1 and not 0, so that C / (C - 1) * sum of influence^2 is the jackknife's
    variance, (C - 1) / C * sum of (T_c - mean)^2; 0 for the others. A column is nan where one of
    its T_c is.

    Source: Efron and Stein (1981), The jackknife estimate of variance.

    >>> jackknife_influence(np.array([[3.0], [1.0]]), np.ones(2))
    array([[-0.5],
           [ 0.5]])
    """
    n, used = max(int(np.count_nonzero(informative)), 1), informative[:, None] > 0
    mean = np.where(used, without, 0.0).sum(axis=0) / n
    return np.asarray(np.where(used, (mean - without) * ((n - 1) / n), 0.0))


def effective_degrees(influence: Array) -> Array:
    """Satterthwaite's degrees of freedom from the clusters' influences u (C, m); (m,).

    (sum of u^2)^2 / sum of u^4 - 1, at least 0: C - 1 where all influences have the same size, few
    where few clusters have all the variation, as with rare events. nan without any variation.

    Source: Satterthwaite (1946), with each cluster's own squared influence for its part of the
    variance.

    >>> effective_degrees(np.array([[1.0, 0.0], [-1.0, 2.0], [1.0, 0.0], [-1.0, 0.0]]))
    array([3., 0.])
    """
    squares = np.square(np.ascontiguousarray(influence.T))
    fourth = (squares**2).sum(axis=1)
    total = squares.sum(axis=1) ** 2
    clusters: Array = np.divide(total, fourth, out=np.full_like(total, np.nan), where=fourth > 0)
    return np.maximum(clusters - 1, 0.0)


def variance_degrees(influence: Array, n_clusters: int) -> Array:
    """Degrees of freedom of the variance from the clusters' influences u (C, m); (m,).

    2 V^2 / Var(V) = 2 C / (kurtosis - 1), kurtosis = C sum of u^4 / (sum of u^2)^2, rounded down
    and at most C - 1: that many where the influences are normal or do not vary, few where a few of
    them make the variance. `n_clusters` is C, which leaves out clusters without information. Nearer
    to the nominal coverage on measured values than `effective_degrees`, which takes every cluster
    to have a variance of its own (docs/coverage.md).

    Source: Satterthwaite (1946), with the variance of a sum of squares from its fourth moment.

    >>> variance_degrees(np.array([[1.0, 0.0], [-1.0, 2.0], [1.0, 0.0], [-1.0, 0.0]]), 4)
    array([3., 2.])
    """
    squares = influence**2
    total = squares.sum(axis=0) ** 2
    fourth = n_clusters * (squares**2).sum(axis=0)
    kurtosis = np.divide(fourth, total, out=np.ones_like(total), where=total > 0)
    upper = max(n_clusters - 1, 1)
    degrees = 2 * n_clusters / np.maximum(kurtosis - 1, 2 * n_clusters / upper)
    return np.asarray(np.floor(degrees + 1e-9))


def one_way(
    influence: Array,
    value: Array,
    *,
    level: float = 0.95,
    scale: Scale = "identity",
    n_clusters: int | None = None,
) -> WaldInterval:
    """The linearised interval of values with one kind of clusters.

    V = C / (C - 1) * sum over clusters of influence^2; t has C - 1 degrees of freedom. `influence`
    (C, m), `value` (m,). `n_clusters` replaces C where some clusters have no information. nan with
    fewer than two clusters.

    Source: Liang and Zeger (1986), Longitudinal data analysis using generalized linear models.

    >>> one_way(np.array([[-0.5], [0.5]]), np.array([2.0])).se
    array([1.])
    """
    n = len(influence) if n_clusters is None else n_clusters
    squares = np.square(np.ascontiguousarray(influence.T)).sum(axis=1)
    se = np.sqrt(squares * (n / max(n - 1, 1)))
    return with_test(
        value, np.where(n < 2, np.nan, se), np.full(value.shape, n - 1.0), level=level, scale=scale
    )


def by_cluster(
    influence: Array,
    groups: IntArray,
    value: Array,
    *,
    strata: IntArray | None = None,
    level: float = 0.95,
    scale: Scale = "identity",
) -> WaldInterval:
    """The linearised interval of rows in clusters of unequal size.

    The variance is bias-reduced; t has effective degrees of freedom. `influence` (n_rows, m);
    `groups` (n_rows,) cluster numbers; `strata` (n_rows,) the groups of a comparison, each with a
    mean of its own; None: one. With clusters of equal size V = C / (C - 1) * sum of influence^2 and
    df = C - 1. nan with fewer than two clusters.

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with
    multi-stage samples.

    >>> by_cluster(np.array([[-0.5], [0.5]]), np.array([0, 1]), np.array([2.0])).se
    array([1.])
    """
    tallied = tally_of_rows(influence, groups, strata)
    rows = tally_of_rows(influence, np.arange(len(influence)), strata).variance()
    df = np.where(_n_groups(groups) < 2, np.nan, tallied.df(rows))
    return with_test(
        value,
        np.where(np.isnan(df), np.nan, np.sqrt(tallied.variance())),
        df,
        level=level,
        scale=scale,
    )


def two_way(
    influence: Array,
    first: IntArray,
    second: IntArray,
    value: Array,
    *,
    strata: IntArray | None = None,
    level: float = 0.95,
    scale: Scale = "identity",
    times: float = 1.0,
) -> WaldInterval:
    """The linearised interval of rows that share clusters of two kinds.

    An example is comparisons by question and by rater. V = V1 + V2 - V12, at least max(V1, V2),
    each bias-reduced as by `by_cluster`; t has the degrees of freedom of Satterthwaite for V1 + V2
    (`cluster_variance.two_ways`). `influence` (n_rows, m); `first`, `second` (n_rows,) cluster
    numbers; `value` (m,); `strata` as in `by_cluster`; `times`: a factor of V2. nan with fewer than
    two clusters of a kind.

    Source: Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering.

    >>> two_way(np.array([[-0.5], [0.5]]), np.array([0, 1]), np.array([0, 1]), np.array([2.0])).se
    array([1.])
    """
    if not len(influence) == len(first) == len(second):
        raise ValueError(
            f"influence of {len(influence)} rows: got {len(first)} and {len(second)} cluster"
            " numbers"
        )
    first_clusters, first_codes = renumbered(first)
    second_clusters, second_codes = renumbered(second)
    # Both clusters in one whole number.
    both = first_codes * len(second_clusters) + second_codes
    a, b, ab = (
        tally_of_rows(influence, groups, strata) for groups in (first_codes, second_codes, both)
    )
    rest = ab.variance()
    variance, df = two_ways(a.variance(), a.df(rest), times * b.variance(), b.df(rest), rest)
    too_few = min(len(first_clusters), len(second_clusters)) < 2
    return with_test(
        value,
        np.where(too_few, np.nan, np.sqrt(variance)),
        np.where(too_few, np.nan, df),
        level=level,
        scale=scale,
    )


def _n_groups(groups: IntArray) -> int:
    return len(renumbered(groups)[0])


def tally_of_rows(influence: Array, groups: IntArray, strata: IntArray | None) -> Tally:
    """The tally of the clusters of rows (n_rows, m); each row counts once in its stratum.

    >>> tally_of_rows(np.array([[-0.5], [0.5]]), np.array([0, 1]), None).df()
    array([1.])
    """
    clusters, of = renumbered(groups)
    different, stratum = renumbered(np.zeros(len(of), np.int64) if strata is None else strata)
    n, n_strata = len(clusters), len(different)
    sums: Array = np.stack([np.bincount(of, column, n) for column in influence.T], axis=1).astype(
        np.float64
    )
    cells = np.bincount(of * n_strata + stratum, minlength=n * n_strata).reshape(n, n_strata)
    counts: Array = cells.astype(np.float64)
    totals: Array = counts.sum(axis=0)
    squares = np.stack(
        [np.bincount(stratum, column**2, n_strata) for column in influence.T], axis=1
    )
    return by_strata(sums, counts, squares / totals[:, None], totals)
