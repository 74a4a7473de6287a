"""Estimates with intervals from sums over clusters: one call for every statistic.

Differences of values of one call are paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args

import numpy as np
import scipy

from konsil.stats.engine.blocks import in_draws
from konsil.stats.engine.cluster_sums import Rows, Sums, prepare
from konsil.stats.engine.contract import Array, Finalise, IntArray
from konsil.stats.engine.resample import bootstrap, evaluate, jackknife
from konsil.stats.engine.weights import BLOCK
from konsil.stats.inference import intervals, wald

_STEP = float(np.finfo(np.float64).eps) ** (1 / 3)


FEW_CLUSTERS = 50
"""Below it neither the bootstrap nor the linearised interval keeps its level reliably."""

Method = Literal["bca", "percentile", "studentised", "wald"]


@dataclass(frozen=True, eq=False)
class Inference:
    """Values with their intervals; arrays have the shape (m,) of the statistic's values."""

    value: Array
    """The statistic over all clusters; nan where undefined."""
    low: Array
    """Lower end of the primary interval, by `method`."""
    high: Array
    """Upper end of the primary interval."""
    se: Array
    """The linearised cluster standard error."""
    wald_low: Array
    """Lower end of the linearised interval, by t with n_clusters - 1 degrees of freedom on `scale`,
    without resampling."""
    wald_high: Array
    """Upper end of the linearised interval."""
    n_undefined: IntArray
    """Resamples in which the value was undefined; the primary interval is computed from the
    others."""
    n_clusters: int
    """Clusters with information: those whose row is not all zero."""
    draws: int
    """The number of resamples; 0 for the linearised method."""
    level: float
    """The intervals' nominal coverage."""
    method: Method
    """The method of the primary interval."""
    scale: wald.Scale
    """The scale of the linearised interval."""
    replicates: Array | None
    """(draws, m) the statistic in every resample; None unless requested."""
    ordered: intervals.Ordered | None
    """The replicates sorted, for further intervals; None unless requested."""
    influence: Array
    """(n_clusters, m) each cluster's influence on each value."""
    jackknife_influence: Array | None
    """(n_clusters, m) each cluster's influence by leaving it out, with which `without_resampling`
    makes an interval for few clusters; None unless the method is BCa."""


@dataclass(frozen=True, eq=False)
class Difference(Inference):
    """Paired differences with two-sided p values for a difference of zero."""

    p: Array
    """(m,) two-sided, by inverting the primary interval, so that p < 1 - level where the interval
    excludes zero, up to the grid of the draws; never 0."""
    wald_p: Array
    """(m,) by the t test of the linearised interval on the identity scale."""


def infer(
    sums: Sums | Rows,
    finalise: Finalise,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    key: int = 0,
    method: Method = "bca",
    scale: wald.Scale = "identity",
    keep_draws: bool = False,
) -> Inference:
    """Estimates, primary intervals and linearised intervals of finalise(sums.sum(0)).

    `sums` (n_clusters, k), dense or sparse rows; `finalise` (..., k) -> (..., m). Clusters are
    resampled whole. All values of one call are computed on the same resamples; two calls are paired
    only if their sums are the same.

    Undefined: a value that is nan at the totals has nan intervals. With one cluster there is no
    interval (nan). Undefined resamples are counted and excluded. If all defined resamples are
    equal, low = high = that value; the linearised interval then has no width either. This shows
    that nothing varied in the data, not that the value is certain (see `cautions`).

    Source: Efron (1987) for BCa; Davison and Hinkley (1997) for the studentised; Binder (1983) for
    the linearised.

    >>> rows = np.array([[3.0, 5], [4, 5], [1, 5], [2, 5], [5, 5], [4, 5]])
    >>> share = infer(rows, lambda totals: totals[..., :1] / totals[..., 1:], draws=500, key=1)
    >>> share.value.round(3), bool(share.low[0] < share.value[0] < share.high[0])
    (array([0.633]), True)
    """
    return _infer(prepare(sums), finalise, draws, level, key, method, scale, keep_draws)[0]


def _infer(
    rows: Rows,
    finalise: Finalise,
    draws: int,
    level: float,
    key: int,
    method: Method,
    scale: wald.Scale,
    keep_draws: bool,
) -> tuple[Inference, intervals.Ordered | None, Array | None]:
    """The inference, its sorted replicates and, where needed, its leave-one-out values."""
    if not 0 < level < 1:
        raise ValueError(f"level {level}: expected a number between 0 and 1, such as 0.95")
    if method not in ("bca", "percentile", "studentised", "wald"):
        raise ValueError(
            f"method {method!r}: expected 'bca', 'percentile', 'studentised' or 'wald'"
        )
    if scale not in get_args(wald.Scale):
        raise ValueError(
            f"scale {scale!r}: expected {' or '.join(map(repr, get_args(wald.Scale)))}"
        )
    value = evaluate(finalise, rows.total[None])[0]
    influence = wald.linearised(rows, finalise)
    n_clusters = rows.informative
    linear = wald.one_way(influence, value, level=level, scale=scale, n_clusters=n_clusters)
    low, high = linear.low, linear.high
    ordered, without, replicates = None, None, None
    if method == "wald":
        draws = 0
    elif rows.n_clusters > 1 or keep_draws:
        replicates = bootstrap(rows, finalise, draws=draws, key=key)
        ordered = intervals.order(replicates)
        if method == "bca":
            without = jackknife(rows, finalise)
            low, high = intervals.bca(ordered, value, without, level=level)
        elif method == "percentile":
            low, high = intervals.percentile(ordered, level=level)
        else:
            roots = intervals.order(pivots(rows, finalise, value, draws=draws, key=key))
            low, high = intervals.studentised(roots, value, linear.se, level=level)
    # A single cluster never varies: its interval would have no width.
    is_estimable = np.isfinite(value) & (n_clusters > 1)
    inference = Inference(
        value=value,
        low=np.where(is_estimable, low, np.nan),
        high=np.where(is_estimable, high, np.nan),
        se=np.where(is_estimable, linear.se, np.nan),
        wald_low=np.where(is_estimable, linear.low, np.nan),
        wald_high=np.where(is_estimable, linear.high, np.nan),
        n_undefined=np.zeros(len(value), np.int64) if ordered is None else ordered.n_undefined,
        n_clusters=n_clusters,
        draws=draws,
        level=level,
        method=method,
        scale=scale,
        replicates=replicates if keep_draws else None,
        ordered=ordered if keep_draws else None,
        influence=influence,
        jackknife_influence=None
        if without is None
        else wald.jackknife_influence(
            without, rows.expand(rows.is_informative[:, None].astype(np.float64))[:, 0]
        ),
    )
    return inference, ordered, without


def jackknife_interval(inference: Inference) -> wald.WaldInterval | None:
    """The jackknife interval of values whose bootstrap has few clusters to resample.

    None for `FEW_CLUSTERS` and more, and where nothing was left out. Each value -+ t se on the
    inference's scale, with se^2 = (C - 1) / C * sum over clusters of (T_c - mean)^2, T_c the value
    without cluster c, and the degrees of freedom of `wald.variance_degrees`, at most C - 1. Fields
    are (m,); nan where a value is undefined without one of the clusters, or does not vary.

    BCa of 8 to 20 clusters covers .78 to .95 (docs/coverage.md, "Few clusters").

    Source: Tukey (1958); Efron and Stein (1981), The jackknife estimate of variance; Satterthwaite
    (1946) for the degrees of freedom.

    >>> rows = np.array([[3.0, 5], [4, 5], [1, 5], [2, 5], [5, 5], [4, 5]])
    >>> share = infer(rows, lambda totals: totals[..., :1] / totals[..., 1:], draws=500, key=1)
    >>> jackknife_interval(share).low.round(3)
    array([0.324])
    """
    n = inference.n_clusters
    if inference.jackknife_influence is None or not 1 < n < FEW_CLUSTERS:
        return None
    influence = inference.jackknife_influence
    se = np.sqrt(np.square(influence).sum(axis=0) * (n / (n - 1)))
    # Relative to the value: leaving out nothing that matters moves it by rounding.
    varies = se > 1e-9 * (1 + np.abs(inference.value))
    df = np.where(varies, wald.variance_degrees(influence, n), np.nan)
    return wald.with_test(
        inference.value,
        np.where(varies, se, np.nan),
        df,
        level=inference.level,
        scale=inference.scale,
    )


def difference(
    sums: Sums | Rows,
    finalise: Finalise,
    contrast: Array,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    key: int = 0,
    method: Method = "bca",
    keep_draws: bool = False,
) -> Difference:
    """Paired differences, `contrast` (m', m) times the values, with intervals and p values.

    All values are computed on the same resamples. p inverts the primary interval
    (`intervals.p_value`: BCa or percentile; t for "wald" and "studentised"), so that a difference
    whose interval excludes zero has p < 1 - level; it is never 0. A value with coefficient zero
    does not enter its difference, even where it is undefined.

    >>> rows = np.array([[3.0, 2, 5], [4, 2, 5], [1, 1, 5], [2, 3, 5], [5, 3, 5], [4, 4, 5]])
    >>> shares = lambda totals: totals[..., :2] / totals[..., 2:]
    >>> difference(rows, shares, np.array([[1, -1]]), draws=500, key=1).value.round(3)
    array([0.133])
    """
    rows = prepare(sums)
    inference, ordered, without = _infer(
        rows, contrasted(finalise, contrast), draws, level, key, method, "identity", keep_draws
    )
    wald_p = t_p_value(inference.value, inference.se, inference.n_clusters - 1)
    # The test belongs to the interval that is shown, so that they do not contradict.
    if ordered is None or method in ("wald", "studentised") or inference.n_clusters < 2:
        p = wald_p
    else:
        p = intervals.p_value(ordered, inference.value, jackknife=without)
    shared = {field.name: getattr(inference, field.name) for field in fields(inference)}
    return Difference(**shared, p=p, wald_p=wald_p)


def t_p_value(value: Array, se: Array, df: int) -> Array:
    """Two-sided p of value / se under t with `df` degrees of freedom.

    Never 0; nan where se is 0 or undefined, or where df < 1.
    """
    if df < 1:
        return np.full_like(value, np.nan)
    usable = se > 0
    t = np.abs(value) / np.where(usable, se, 1.0)
    # A p value of exactly 0 is an underflow, and would claim too much.
    return np.where(
        usable, np.maximum(2 * scipy.special.stdtr(df, -t), np.finfo(np.float64).tiny), np.nan
    )


def contrasted(finalise: Finalise, contrast: Array) -> Finalise:
    """A finalise whose values are `contrast` (m', m) times those of another.

    Values with coefficient zero are excluded, so that they may be undefined.
    """
    matrix = np.atleast_2d(np.asarray(contrast, dtype=np.float64))
    terms = [[(int(j), float(row[j])) for j in np.flatnonzero(row)] for row in matrix]

    def finalise_contrasts(totals: Array) -> Array:
        values = np.asarray(finalise(totals), dtype=np.float64)
        if values.shape[-1] != matrix.shape[1]:
            raise ValueError(
                f"contrast: got {matrix.shape[1]} columns, expected {values.shape[-1]}, one for"
                " each value"
            )
        out = np.zeros((*values.shape[:-1], len(matrix)))
        # Not a matrix product: 0 times nan would spoil contrasts that do not use the value.
        for i, row in enumerate(terms):
            for j, coefficient in row:
                out[..., i] += coefficient * values[..., j]
        return out

    return finalise_contrasts


def concatenate(parts: Sequence[tuple[Array, Finalise]]) -> tuple[Array, Finalise]:
    """Several statistics as one: their sums side by side and one finalise, on the same resamples.

    The values are in the order given. Parts with the same sums array (the same object) share its
    columns. All parts have one row for each of the same clusters, in the same order.

    >>> rows = np.array([[3.0, 5], [4, 5], [1, 5]])
    >>> share = lambda totals: totals[..., :1] / totals[..., 1:]
    >>> sums, finalise = concatenate([(rows, share), (rows, lambda totals: 1 - share(totals))])
    >>> sums.shape, finalise(sums.sum(0)).round(2)
    ((3, 2), array([0.53, 0.47]))
    """
    if not parts:
        raise ValueError("no statistics: expected at least one")
    places: dict[int, slice] = {}
    columns: list[Array] = []
    width = 0
    for number, (sums, _) in enumerate(parts):
        if len(sums) != len(parts[0][0]):
            raise ValueError(
                f"statistic {number}: got {len(sums)} clusters, expected {len(parts[0][0])} like"
                " the first"
            )
        # Statistics that share an array share its columns, which are resampled once.
        if id(sums) not in places:
            places[id(sums)] = slice(width, width + sums.shape[1])
            columns.append(sums)
            width += sums.shape[1]
    jobs = [(places[id(sums)], finalise) for sums, finalise in parts]

    def finalise_all(totals: Array) -> Array:
        return np.concatenate([finalise(totals[..., place]) for place, finalise in jobs], axis=-1)

    return columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1), finalise_all


@dataclass(frozen=True)
class Caution:
    """A limitation of an interval that readers should know."""

    code: Literal["few-clusters", "widths-differ", "one-width", "undefined-draws", "no-variation"]
    """Which limitation it is; `analysis` makes the sentence."""
    numbers: tuple[float, ...] = ()
    """The numbers in the sentence: clusters and limit, the ratio of the widths, or undefined and
    all resamples."""


def cautions(
    inference: Inference, index: int = 0, *, min_clusters: int = FEW_CLUSTERS, ratio: float = 0.15
) -> tuple[Caution, ...]:
    """The limitations of the interval of value `index`.

    Reported are too few clusters, intervals that disagree, undefined resamples and values without
    variation. The limits follow from the coverage simulations: below 50 clusters, or where the
    widths of the primary and the linearised interval differ by more than 15 %, neither has its
    nominal coverage reliably.
    """
    notes: list[Caution] = []
    if not np.isfinite(inference.value[index]):
        return ()
    if inference.n_clusters < min_clusters:
        notes.append(Caution("few-clusters", (inference.n_clusters, min_clusters)))
    width = float(inference.high[index] - inference.low[index])
    other = float(inference.wald_high[index] - inference.wald_low[index])
    if inference.n_clusters > 1 and max(width, other) == 0:
        notes.append(Caution("no-variation"))
    elif (
        inference.method != "wald"
        and min(width, other) >= 0
        and abs(width - other) > ratio * min(width, other)
    ):
        notes.append(
            Caution("widths-differ", (width / other,)) if other > 0 else Caution("one-width")
        )
    undefined = int(inference.n_undefined[index])
    if undefined:
        notes.append(Caution("undefined-draws", (undefined, inference.draws)))
    return tuple(notes)


def pivots(sums: Sums | Rows, finalise: Finalise, value: Array, *, draws: int, key: int) -> Array:
    """The studentised deviations (finalise(T*) - value) / se*, (draws, m).

    They are computed on the resamples of `resample.bootstrap` with the same key. se*^2 = C / (C -
    1) * sum over clusters of weight * (gradient at T* . (s_c - T* / C))^2 is the linearised
    variance in the resample. nan where the statistic is undefined in the resample or the resample
    has no spread. The cost is draws x clusters x sums x values operations, so that it suits
    statistics of few sums.

    Source: Davison and Hinkley (1997), 2.7 and 5.2.
    """
    rows = prepare(sums)
    n_patterns = rows.patterns.shape[0]
    m = len(value)
    steps = _STEP * np.maximum(np.abs(rows.total), rows.largest)
    active = np.flatnonzero(steps)
    tile = max((1 << 21) // max(n_patterns * m, 2 * rows.k * max(len(active), 1)), 1)

    def block(key: int, at: int, stop: int) -> Array:
        weights = rows.draw(key, at, at + BLOCK)[: stop - at]
        totals = rows.product(rows.draw(key, at, at + BLOCK))[: stop - at]
        tiles = [slice(low, low + tile) for low in range(0, len(totals), tile)]
        return np.concatenate(
            [
                _pivots(
                    rows, finalise, value, totals[some], weights[some].astype(np.float64), steps
                )
                for some in tiles
            ]
        )

    blocks = [(at, min(at + BLOCK, draws)) for at in range(0, draws, BLOCK)]
    return np.concatenate(list(in_draws(block, key, rows.n_clusters, blocks)))


def _pivots(
    rows: Rows, finalise: Finalise, value: Array, totals: Array, weights: Array, steps: Array
) -> Array:
    """The pivots of a tile of draws, (n, m).

    `totals` (n, k), `weights` (n, n_patterns), `steps` (k,).
    """
    n, k = totals.shape
    active = np.flatnonzero(steps)
    moves = np.zeros((len(active), k))
    moves[np.arange(len(active)), active] = steps[active]
    around = np.concatenate(
        [totals[:, None, :] + moves, totals[:, None, :] - moves, totals[:, None, :]], axis=1
    )
    values = evaluate(finalise, around.reshape(-1, k)).reshape(n, 2 * len(active) + 1, -1)
    up, down, at_totals = values[:, : len(active)], values[:, len(active) : -1], values[:, -1]
    slopes = (up - down) / (2 * steps[active][:, None])
    # At the edge of the domain one of the two steps is undefined: the other one alone is taken.
    one_sided = (
        np.where(np.isnan(down), up - at_totals[:, None], at_totals[:, None] - down)
        / steps[active][:, None]
    )
    slopes = np.where(np.isnan(slopes), one_sided, slopes)
    gradient = np.zeros((n, k, len(value)))
    gradient[:, active] = slopes
    pushed = np.asarray(rows.patterns @ gradient.transpose(1, 0, 2).reshape(k, -1)).reshape(
        -1, n, len(value)
    )
    centred = pushed - np.einsum("nk,nkm->nm", totals, gradient) / rows.n_clusters
    variance = np.einsum("nc,cnm->nm", weights, centred**2) * (
        rows.n_clusters / (rows.n_clusters - 1)
    )
    # Relative to the value: a resample without variation has no t, not an infinite one.
    spread = variance > 1e-24 * (1 + at_totals**2)
    return np.where(spread, (at_totals - value) / np.sqrt(np.where(spread, variance, 1.0)), np.nan)
