"""Studentised permutation tests, and the intervals that invert them.

Exchanged are units that have the same distribution under the null hypothesis: two groups within
whole clusters, the group labels of clusters of one group each, or a judge and the raters of a
panel. They are in one module because they share the studentised statistic and its inversion.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from konsil.stats.engine.blocks import in_blocks, in_draws
from konsil.stats.engine.contract import Array, Finalise, IntArray
from konsil.stats.engine.resample import evaluate
from konsil.stats.engine.weights import random_choices, random_orders, random_signs
from konsil.stats.inference.wald import linearised

Mask = NDArray[np.bool_]

_ENUMERATE = 13
"""Up to this many clusters that a swap changes, all patterns are enumerated: 8,192, no more than
the usual number of draws."""
_FEWEST = 8
"""With fewer exchangeable clusters there is a p value but no interval, because its coverage would
be too low."""
_PATTERNS = 4096
"""Enumerated patterns in memory at once."""
_TILE_BYTES = 8 << 20
_ALIKE = 2.0
"""A number and its linear part are scaled to one another where neither is more than this many times
the other."""
_SLACK = 1e-7
"""Smaller differences are rounding errors: the slopes are those of central differences."""


class Exchanged(NamedTuple):
    """A difference with its permutation p value and the interval that inverts the test."""

    value: float
    se: float
    """The standard error that studentises the difference and the draws."""
    low: float
    """nan where no exchange can be as rare as the level requires, or where fewer than eight
    clusters can be exchanged."""
    high: float
    p: float
    """Two-sided, never 0; nan where the difference is undefined."""
    draws: int
    """Exchanges in which the difference is defined."""
    exact: bool
    """Whether the draws are all possible exchanges."""
    n_undefined: int
    """Exchanges in which the difference is undefined."""
    n_moved: int
    """Clusters that an exchange can change."""


def swapped(
    first: Array,
    second: Array,
    finalise: Finalise,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    key: int = 0,
) -> Exchanged:
    """Permutation test of whether a statistic is the same in two groups.

    The null hypothesis is finalise(T_a) = finalise(T_b). Whole clusters exchange their groups, each
    with probability 1/2.

    `first`, `second` (n_clusters, k): the groups' rows on the same clusters, all zero where a group
    has nothing; finalise (..., k) -> (..., 1). Clusters with both groups are swapped; the labels of
    those with one group alone are shuffled among them. With D = finalise(T_a) - finalise(T_b) and
    u_c each cluster's influence on D by the slope of finalise at the totals of both groups
    together, which no exchange moves, t = D / se, se^2 = C / (C - 1) * sum of (u_c - mean)^2, the
    mean that of its kind of cluster. p = (b + 1) / (B + 1), b of B draws with |t*| >= |t|; with at
    most 13 clusters that can be swapped, and none else, all patterns are made and p is their share.
    The interval is D -+ q se, q the least with p > 1 - level, so that it leaves out zero exactly
    where p <= 1 - level.

    p is exact where the clusters' two rows have a law that a swap does not change, and approximate
    where only the two numbers are equal, because t is studentised. Undefined draws are counted and
    left out.

    Source: Fisher (1935); Phipson and Smyth (2010) for (b + 1) / (B + 1); Janssen (1997),
    Studentized permutation tests for non-i.i.d. hypotheses, and Chung and Romano (2013), Exact and
    asymptotically robust permutation tests.

    >>> rng = np.random.default_rng(1)
    >>> a, b = ((rng.random((40, 2)) < share) * 1.0 for share in (0.9, 0.3))
    >>> a[:, 1] = b[:, 1] = 1.0
    >>> result = swapped(a, b, lambda totals: totals[..., :1] / totals[..., 1:], draws=999)
    >>> result.p, bool(result.low > 0)
    (0.001, True)
    """
    # A cluster without labels in a group is no part of it and cannot change places.
    in_a, in_b = (np.asarray(rows.any(axis=1), dtype=np.bool_) for rows in (first, second))
    n_a, n_b = int(in_a.sum()), int(in_b.sum())
    at = evaluate(finalise, np.stack([first.sum(axis=0), second.sum(axis=0)]))[:, 0]
    value = float(at[0] - at[1])
    if math.isnan(value) or min(n_a, n_b) < 2:
        return Exchanged(value, math.nan, math.nan, math.nan, math.nan, 0, False, 0, 0)
    influence = linearised(np.concatenate([first[in_a], second[in_b]]), finalise)[:, 0]
    x, y = np.zeros((2, len(first)))
    # The slopes are those at both groups' totals; a cluster moves its own group's more, by the
    # group's share of all.
    x[in_a], y[in_b] = influence[:n_a] * (n_a + n_b), influence[n_a:] * (n_a + n_b)
    unchanged = _features(first, second, x, y, in_a, in_b, n_a, n_b)
    exchanged = _features(second, first, y, x, in_b, in_a, n_a, n_b)
    kinds = [float((in_a & in_b).sum()), float((in_a & ~in_b).sum()), float((in_b & ~in_a).sum())]
    width, n = first.shape[1], float((in_a | in_b).sum())

    def studentised(totals: Array) -> tuple[Array, Array]:
        both = evaluate(finalise, totals[:, : 2 * width].reshape(-1, width)).reshape(-1, 2)
        return both[:, 0] - both[:, 1], _spread(totals[:, 2 * width :], kinds, n)

    moves = exchanged - unchanged
    single = np.flatnonzero(in_a ^ in_b)
    pairs = np.flatnonzero((in_a & in_b) & (first != second).any(axis=1))
    # Labels of one group alone change places only with labels of the other group alone.
    alone = in_a[single]
    if alone.all() or not alone.any():
        single = single[:0]
    exact = not len(single) and len(pairs) <= _ENUMERATE
    moved = moves[np.concatenate([pairs, single])]
    size = float(np.abs(at).max())
    total = unchanged.sum(axis=0)
    alone = alone if len(single) else alone[:0]

    def exchanged_in(patterns: Array) -> tuple[Array, Array]:
        return studentised(total + patterns @ moved)

    if exact:
        starts = range(0, 1 << len(pairs), _PATTERNS)
        null = in_blocks(lambda at: exchanged_in(_all_patterns(len(pairs), at)), starts)
    else:
        step = _step(len(pairs) + len(alone))
        null = in_draws(
            lambda own, *block: exchanged_in(_patterns(len(pairs), alone, own, *block)),
            key,
            len(pairs),
            [(at, min(at + step, draws)) for at in range(0, draws, step)],
        )
    observed = studentised(total[None])
    return _exchanged(observed, null, exact, level, len(moved), size)


def _features(
    first: Array, second: Array, x: Array, y: Array, in_a: Mask, in_b: Mask, n_a: int, n_b: int
) -> Array:
    """The features of both groups' rows that a swap exchanges, (n_clusters, 2 k + 6).

    They are the rows themselves, then the influence and its square for clusters with both groups,
    with the first alone and with the second alone.

    The slope at the totals of one group is that at the totals of both times the ratio of their
    sizes.
    """
    u = np.where(in_a, x / n_a, 0.0) - np.where(in_b, y / n_b, 0.0)
    kinds = np.stack([in_a & in_b, in_a & ~in_b, in_b & ~in_a], axis=1)
    return np.concatenate([first, second, kinds * u[:, None], kinds * u[:, None] ** 2], axis=1)


def _spread(sums: Array, sizes: Sequence[float], n: float) -> Array:
    """The standard error from sums of influences and of squares, (draws, 2 * kinds) to (draws,)."""
    squares = np.zeros(len(sums))
    for kind, size in enumerate(sizes):
        if size:
            squares += sums[:, len(sizes) + kind] - sums[:, kind] ** 2 / size
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) * (n / (n - 1))))


def permuted(
    states: Sequence[Array],
    finalise: Finalise,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    key: int = 0,
) -> Exchanged:
    """Permutation test of whether a statistic is zero.

    Each cluster is in one of its states, all equally likely, independently of the other clusters.

    `states`: arrays (n_clusters, k), the first the observed one; the states are those of a group of
    exchanges, such as all turns of the columns of a judge and a panel. finalise (..., k) -> (...,
    1). With u_c the influence of a cluster in its state, by the slope of finalise at the mean of
    all states, which no exchange moves, t = sum of u_c / se, se^2 = C / (C - 1) * sum of (u_c -
    mean)^2, and p = (b + 1) / (B + 1) as in `swapped`. The interval inverts the test: the value -+
    q se, with se in the proportion of the value to its linear part where there is one.

    Source: as `swapped`.

    >>> rng = np.random.default_rng(1)
    >>> a = np.column_stack([rng.normal(1.0, 1.0, 40), np.ones(40)])
    >>> result = permuted(
    ...     [a, a * [-1, 1]], lambda totals: totals[..., :1] / totals[..., 1:], draws=999
    ... )
    >>> result.p, bool(result.low > 0)
    (0.001, True)
    """
    return permuted_together([(states, finalise)], draws=draws, level=level, key=key)[0]


def permuted_together(
    numbers: Iterable[tuple[Sequence[Array], Finalise]],
    *,
    draws: int = 10_000,
    level: float = 0.95,
    key: int = 0,
) -> list[Exchanged]:
    """Several statistics, each tested as by `permuted`, on the same exchanges.

    `numbers` are pairs of states and finalise; all have the same number of clusters and of states.

    >>> a = np.column_stack([np.arange(12.0), np.ones(12)])
    >>> mean = lambda totals: totals[..., :1] / totals[..., 1:]
    >>> [
    ...     round(result.value, 2)
    ...     for result in permuted_together([([a, -a], mean), ([a + 1, -a], mean)], draws=99)
    ... ]
    [5.5, 3.25]
    """
    linear = [_linear(states, finalise) for states, finalise in numbers]
    usable = [number for number in linear if not math.isnan(number.value)]
    moved = (
        np.any([number.moved for number in usable], axis=0)
        if usable
        else np.zeros(0, dtype=np.bool_)
    )
    null = (
        _turned(usable, np.flatnonzero(moved), draws, key)
        if moved.any()
        else np.zeros((len(usable), 2, 0))
    )
    results, at = [], 0
    for number in linear:
        if math.isnan(number.value):
            results.append(
                Exchanged(number.number, math.nan, math.nan, math.nan, math.nan, 0, False, 0, 0)
            )
            continue
        sums, squares = null[at]
        at += 1
        observed = number.studentised(
            number.influence[0].sum()[None], (number.influence[0] ** 2).sum()[None]
        )
        n_moved = int(number.moved.sum())
        exchange = _exchanged(
            observed, iter([number.studentised(sums, squares)]), False, level, n_moved
        )
        reach = _reach(number.number, exchange, level)
        results.append(
            exchange._replace(
                value=number.number, low=number.number - reach, high=number.number + reach
            )
        )
    return results


def _reach(number: float, exchange: Exchanged, level: float) -> float:
    """Half the width of the interval about a number, from that about its linear part.

    The width is scaled by the ratio of the number to its linear part, so that the interval excludes
    zero exactly where the test rejects. Where the ratio is too far from 1, the width is that of the
    linear part, and at least so large that the interval contains zero.
    """
    reach = (exchange.high - exchange.low) / 2
    times = abs(number / exchange.value) if exchange.value and number else 1.0
    if 1 / _ALIKE <= times <= _ALIKE or exchange.p <= 1 - level:
        return reach * times
    return max(reach, abs(number))


class _Linear(NamedTuple):
    """A statistic as a sum of influences, one for each cluster and state."""

    number: float
    """The number itself."""
    value: float
    """The same number; nan where it cannot be tested."""
    middle: float
    """The statistic at the mean of all states."""
    influence: Array
    """(n_states, n_clusters)."""
    moved: Mask
    """(n_clusters,) whether the states differ."""
    n: int
    """Clusters with information."""

    def studentised(self, sums: Array, squares: Array) -> tuple[Array, Array]:
        """Values and standard errors from sums of influences and of squares, (draws,) each."""
        return self.middle + sums, _spread(np.column_stack([sums, squares]), [self.n], self.n)


def _linear(states: Sequence[Array], finalise: Finalise) -> _Linear:
    informative = np.any([s.any(axis=1) for s in states], axis=0)
    number = float(evaluate(finalise, states[0].sum(axis=0)[None])[0, 0])
    n = int(informative.sum())
    influence = np.zeros((len(states), len(informative)))
    if math.isnan(number) or n < 2:
        return _Linear(
            number, math.nan, math.nan, influence, np.zeros(len(informative), dtype=np.bool_), n
        )
    every = np.concatenate([s[informative] for s in states])
    middle = float(evaluate(finalise, every.sum(axis=0)[None] / len(states))[0, 0])
    influence[:, informative] = linearised(every, finalise)[:, 0].reshape(len(states), n) * len(
        states
    )
    # Clusters whose influence is the same in every state cannot move the number.
    moved = np.ptp(influence, axis=0) > _SLACK * np.abs(influence).max(initial=0.0)
    return _Linear(number, number, middle, influence, np.asarray(moved), n)


def _turned(linear: Sequence[_Linear], moved: IntArray, draws: int, key: int) -> Array:
    """Each number's sum of influences and sum of squares in every draw, (numbers, 2, draws)."""
    n_states, n_clusters = linear[0].influence.shape
    every = np.stack([number.influence for number in linear])  # (numbers, states, clusters)
    both = np.concatenate([every, every**2])
    start = both[:, 0].sum(axis=1)
    # What another state adds.
    changes = (both[:, 1:, moved] - both[:, :1, moved]).transpose(1, 2, 0)
    step = _step(n_clusters)

    def totals(at: int) -> Array:
        chosen = random_choices(key, n_clusters, n_states, at, min(at + step, draws))[:, moved]
        total: Array = np.tile(start, (len(chosen), 1))
        for state in range(1, n_states):
            total += (chosen == state).astype(np.float64) @ changes[state - 1]
        return total

    parts = list(in_blocks(totals, range(0, draws, step)))
    return np.concatenate(parts).reshape(draws, 2, len(linear)).transpose(2, 1, 0)


def _exchanged(
    observed: tuple[Array, Array],
    null: Iterator[tuple[Array, Array]],
    exact: bool,
    level: float,
    n_moved: int,
    size: float = 0.0,
) -> Exchanged:
    value, se = float(observed[0][0]), float(observed[1][0])
    # Numbers of this size whose influences differ by rounding alone do not vary.
    se = 0.0 if se <= _SLACK * size else se
    parts = [_ratio(*some, scale=max(abs(value), se)) for some in null]
    every = np.concatenate(parts) if parts else np.zeros(0)
    t = np.sort(every[~np.isnan(every)])[::-1]
    # Drawn patterns get the observed one beside them, so that p is never 0; all patterns have it.
    size = len(t) if exact else len(t) + 1
    t_observed = float(_ratio(*observed, scale=max(abs(value), se))[0])
    reached = int(np.count_nonzero(t >= t_observed * (1 - _SLACK) - _SLACK))
    p = (max(reached, 1) if exact else reached + 1) / max(size, 1)
    # The largest number of draws, itself included, that still has p <= 1 - level.
    alpha = (1 - level) * (1 + _SLACK)
    place = math.floor(alpha * size) + (1 if exact else 0)
    # A pattern and its mirror image are as far out, so that p is at least that of two.
    possible = 1 <= place <= len(t) and not (exact and 2 / size > alpha)
    reach = float(t[place - 1]) * se if possible else math.inf
    has_interval = se > 0 and math.isfinite(reach) and n_moved >= _FEWEST
    # Interval and test must not contradict: where the test does not reject, zero is inside.
    if has_interval and p > alpha:
        reach = max(reach, abs(value))
    low, high = (value - reach, value + reach) if has_interval else (math.nan, math.nan)
    return Exchanged(value, se, low, high, min(p, 1.0), len(t), exact, len(every) - len(t), n_moved)


def _ratio(value: Array, se: Array, *, scale: float) -> Array:
    """|value| / se.

    Infinite where clusters do not vary about a difference, 0 where there is no difference, nan
    where the value is undefined.
    """
    none = np.abs(value) <= _SLACK * scale
    flat = se <= _SLACK * scale
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(none, 0.0, np.where(flat, np.inf, np.abs(value) / np.where(flat, 1.0, se)))
    return np.asarray(np.where(np.isnan(value), np.nan, t))


def _all_patterns(n: int, at: int) -> Array:
    patterns = np.arange(at, min(at + _PATTERNS, 1 << n), dtype=np.uint32)[:, None]
    return ((patterns >> np.arange(n, dtype=np.uint32)) & 1).astype(np.float64)


def _patterns(pairs: int, alone: Mask, key: int, start: int, stop: int) -> Array:
    """Which clusters exchange their groups in each draw, (n, pairs + single).

    Clusters with both groups change with probability 1/2; the labels of the others are shuffled.
    """
    out = np.zeros((stop - start, pairs + len(alone)))
    if pairs:
        out[:, :pairs] = random_signs(key, pairs, start, stop) < 0
    if len(alone):
        out[:, pairs:] = random_orders(key, alone, start, stop) != alone
    return out


def _step(width: int) -> int:
    # A multiple of the streams' blocks: no block is drawn twice.
    return max(_TILE_BYTES // (8 * max(width, 1)) // 64, 1) * 64
