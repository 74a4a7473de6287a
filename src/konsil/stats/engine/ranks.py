"""Kendall's W and tau-b and Spearman's rho, from joint tables or weighted scores."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.engine.arithmetic import mean_defined, ratio
from konsil.stats.engine.contract import Array, IntArray, Statistic
from konsil.stats.engine.tables import complete_pair_tables, identity, pair_tables

KENDALL_W = (
    "Kendall and Babington Smith, Ann Math Stat 10:275, 1939; ties: Kendall, Rank Correlation"
    " Methods, 1948"
)
KENDALL_TAU = "Kendall, Biometrika 33:239, 1945"
SPEARMAN = "Spearman, Am J Psychol 15:72, 1904; ties as the correlation of mid-ranks"


def kendall_w(n_raters: int, n_labels: int, ties: bool = True) -> Statistic:
    """Kendall's coefficient of concordance W over the units that every rater labelled.

    With S the sum of squared deviations of the units' rank sums, n units and k raters: 12 S/(k^2
    (n^3 - n) - k sum T), T = sum(t^3 - t) over each rater's groups of t tied units; `ties=False`
    leaves T out, as some published figures do. The sums need only each two raters' joint table,
    because S adds up the covariances of their ranks.

    Sums: complete_pair_tables. Values: (..., 1). nan with fewer than two units or raters, or if
    every rater gave all units one label. Source: Kendall 1948.

    Example:
        >>> kendall_w(2, 2).finalise(np.array([3.0, 0.0, 0.0, 3.0])).round(12)
        array([1.])
    """
    name = "kendall_w" if ties else "kendall_w_uncorrected"
    finalise = partial(_kendall_w, n_raters=n_raters, n_labels=n_labels, ties=ties)
    return Statistic(name, complete_pair_tables, finalise, KENDALL_W)


def spearman(n_raters: int, n_labels: int, per_pair: bool = False) -> Statistic:
    """Spearman's rank correlation of two raters on a bounded scale, averaged over the pairs.

    The correlation of mid-ranks, computed from each pair's joint table. Sums: pair_tables. Values:
    (..., 1), or (..., n_pairs). A pair is nan if it has no common units or one of the two gave a
    single label. Source: Spearman.

    Example:
        >>> spearman(2, 2).finalise(np.array([3.0, 0.0, 0.0, 3.0])).round(12)
        array([1.])
    """
    n_pairs = n_raters * (n_raters - 1) // 2
    finalise = partial(
        _over_tables, n_pairs=n_pairs, n_labels=n_labels, tau=False, mean=not per_pair
    )
    return Statistic("spearman", pair_tables, finalise, SPEARMAN)


def kendall_tau_b(n_raters: int, n_labels: int, per_pair: bool = False) -> Statistic:
    """Kendall's tau-b of two raters on a bounded scale, averaged over the pairs.

    (concordant - discordant)/sqrt((N - ties of a)(N - ties of b)) over the N pairs of units. Sums:
    pair_tables. Values: (..., 1), or (..., n_pairs). Undefined like spearman. Source: Kendall 1945.

    Example:
        >>> kendall_tau_b(2, 2).finalise(np.array([3.0, 0.0, 0.0, 3.0])).round(12)
        array([1.])
    """
    n_pairs = n_raters * (n_raters - 1) // 2
    finalise = partial(
        _over_tables, n_pairs=n_pairs, n_labels=n_labels, tau=True, mean=not per_pair
    )
    return Statistic("kendall_tau_b", pair_tables, finalise, KENDALL_TAU)


def spearman_scores(x: ArrayLike, y: ArrayLike, clusters: IntArray) -> Statistic:
    """Spearman's rank correlation of two unbounded scores, as a statistic of the clusters' weights.

    x, y: (n_units,); clusters: (n_units,). Sums: identity. Values: (..., 1). nan where the scores
    drawn are constant. A rank of unbounded scores is no function of few sums, so the weights
    themselves arrive here. Source: Spearman 1904.

    Example:
        >>> spearman_scores([1.0, 2.0, 5.0], [1.0, 3.0, 4.0], np.arange(3)).finalise(
        ...     np.ones(3)
        ... ).round(12)
        array([1.])
    """
    finalise = partial(
        _scores, x=np.asarray(x, float), y=np.asarray(y, float), clusters=clusters, tau=False
    )
    return Statistic("spearman_scores", identity, finalise, SPEARMAN)


def tau_b(x: Array, y: Array) -> Array:
    """Kendall's tau-b of x and y along the last axis, (..., n) to (...,).

    nan if either is constant or holds nan.

    Example:
        >>> round(float(tau_b(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))), 6)
        0.666667
    """
    gx, gy = (
        np.sign(v[..., :, None] - v[..., None, :])
        for v in (np.asarray(x, float), np.asarray(y, float))
    )
    axes = (-2, -1)
    return np.asarray(_divide_root((gx * gy).sum(axes), (gx * gx).sum(axes), (gy * gy).sum(axes)))


def _over_tables(totals: Array, n_pairs: int, n_labels: int, tau: bool, mean: bool) -> Array:
    shape = (*np.shape(totals)[:-1], n_pairs, n_labels, n_labels)
    tables = np.asarray(totals, dtype=np.float64).reshape(shape)
    values = _tau_of(tables) if tau else _spearman_of(tables)
    return mean_defined(values) if mean else values


def _spearman_of(tables: Array) -> Array:
    rows, columns = tables.sum(-1), tables.sum(-2)
    a, b = _table_ranks(rows), _table_ranks(columns)
    covariance = ((tables @ b[..., None])[..., 0] * a).sum(-1)
    return _divide_root(covariance, (rows * a * a).sum(-1), (columns * b * b).sum(-1))


def _tau_of(tables: Array) -> Array:
    k = tables.shape[-1]
    order = np.sign(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    difference = (tables * (order @ tables @ order.T)).sum((-2, -1))
    rows, columns, n = tables.sum(-1), tables.sum(-2), tables.sum((-2, -1))
    return _divide_root(
        difference, n * n - (rows * rows).sum(-1), n * n - (columns * columns).sum(-1)
    )


def _table_ranks(counts: Array) -> Array:
    """Mid-ranks of the labels, centred on their mean; (..., k)."""
    return np.asarray(np.cumsum(counts, -1) - counts / 2 - counts.sum(-1, keepdims=True) / 2)


def _kendall_w(totals: Array, n_raters: int, n_labels: int, ties: bool) -> Array:
    k, m = n_labels, n_raters
    if m < 2:
        return np.full((*np.shape(totals)[:-1], 1), np.nan)
    tables = np.asarray(totals, dtype=np.float64).reshape(
        *np.shape(totals)[:-1], m * (m - 1) // 2, k, k
    )
    first, second = np.triu_indices(m, 1)
    # Rater 0 is the first of the pairs (0, 1) .. (0, m - 1), whose second raters are all the
    # others.
    margins = np.concatenate(
        [tables[..., :1, :, :].sum(-1), tables[..., : m - 1, :, :].sum(-2)], axis=-2
    )
    ranks = _table_ranks(margins)
    variances = (margins * ranks * ranks).sum((-2, -1))
    joint = (tables @ ranks[..., second, :, None])[..., 0]
    covariances = (joint * ranks[..., first, :]).sum((-2, -1))
    n = margins[..., 0, :].sum(-1)
    # Without the correction for ties the widest variance is that of untied ranks.
    widest = m * (n**3 - n) / 12 if not ties else variances
    return ratio(variances + 2 * covariances, m * np.where(n > 1, widest, 0.0))[..., None]


def _scores(totals: Array, x: Array, y: Array, clusters: IntArray, tau: bool) -> Array:
    weights = np.asarray(totals, dtype=np.float64)[..., clusters]
    if not tau:
        return _correlation(_mid_ranks(x, weights), _mid_ranks(y, weights), weights)[..., None]
    gx, gy = (np.sign(v[:, None] - v) for v in (x, y))
    parts = [((weights @ g) * weights).sum(-1) for g in (gx * gy, gx * gx, gy * gy)]
    return _divide_root(*parts)[..., None]


def _mid_ranks(values: Array, weights: Array) -> Array:
    """Mid-ranks along the last axis: the weight below plus half the weight tied.

    A weight of two is two units. `values` may have leading axes with plain weights (n,), or be (n,)
    with weights that have leading axes.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim > 1:
        # Imported here: it costs a second, and few statistics rank plain scores.
        from scipy.stats import (
            rankdata,
        )

        ranks = rankdata(values, axis=-1)
        return np.where(np.isnan(values).any(-1, keepdims=True), np.nan, ranks)
    levels, place = np.unique(values, return_inverse=True)
    if np.isnan(values).any():
        return np.full(np.broadcast_shapes(values.shape, weights.shape), np.nan)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(levels.size))
    tied = np.add.reduceat(weights[..., order], starts, axis=-1)
    return np.asarray((np.cumsum(tied, -1) - tied / 2)[..., place])


def _correlation(a: Array, b: Array, weights: Array) -> Array:
    n = weights.sum(-1, keepdims=True)
    a = a - ratio((weights * a).sum(-1, keepdims=True), np.broadcast_to(n, (*a.shape[:-1], 1)))
    b = b - ratio((weights * b).sum(-1, keepdims=True), np.broadcast_to(n, (*b.shape[:-1], 1)))
    scale = np.square(n[..., 0]) * n[..., 0]
    a_squares, b_squares = ((weights * v * v).sum(-1) for v in (a, b))
    # Ranks of constant scores are equal but for rounding.
    a_squares, b_squares = (np.where(s > 1e-12 * scale, s, 0.0) for s in (a_squares, b_squares))
    return _divide_root((weights * a * b).sum(-1), a_squares, b_squares)


def _divide_root(above: Array, a: Array, b: Array) -> Array:
    """Divide by sqrt(a b); nan unless both are positive.

    The roots are computed apart, so that large sums do not overflow.
    """
    both = np.sqrt(np.maximum(a, 0)) * np.sqrt(np.maximum(b, 0))
    return ratio(above, both)
