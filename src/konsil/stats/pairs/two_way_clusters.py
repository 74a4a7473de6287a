"""Intervals of preference statistics with clusters of questions, raters or both.

No resampling is needed. The module is long because it is one calculation: influences, variances by
either clustering and by both, degrees of freedom, and the intervals of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from konsil.stats.engine.cluster_sums import Sparse, Sums
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.inference.cluster_variance import (
    EXACT_STRATA,
    LEAST_RATERS,
    Tally,
    by_strata,
    tally,
    two_ways,
)
from konsil.stats.inference.wald import with_test
from konsil.stats.pairs.votes import MANY, Both, Clusterings, Votes, clusterings, totals
from konsil.stats.pairs.wins import VoteStatistic
from konsil.stats.shares.vote_limits import effective_votes, unanimous_limits, wilson_limits

_CHUNK = 1 << 22
"""Influences in memory at once."""

_ROUNDING = 1e-24
"""Variances up to this value are rounding errors of zero."""


@dataclass(frozen=True, eq=False)
class Interval:
    """An interval of each value; every field has the shape (m,)."""

    se: Array
    """The standard error."""
    df: Array
    """Degrees of freedom of t: effective clusters less one, so fractions too."""
    low: Array
    """Lower end."""
    high: Array
    """Upper end."""
    p: Array
    """Two-sided p value of t for a value of zero; never 0."""
    method: NDArray[np.str_]
    """'wald': linearised; 'wilson': of a share; 'exact': of votes that are all alike, as if of df +
    1 votes."""


@dataclass(frozen=True, eq=False)
class Crossed:
    """A statistic's values with three intervals: by question, by rater and two-way."""

    value: Array
    """(m,) the values."""
    two_way: Interval
    """Questions and raters as clusters: for other questions and other raters."""
    question: Interval
    """Questions as clusters: for these raters."""
    rater: Interval
    """Raters as clusters: for these questions."""
    n_questions: IntArray
    """(m,) questions with a vote that the value is computed from."""
    n_raters: IntArray
    """(m,) raters with such a vote."""
    n_votes: IntArray
    """(m,) such votes."""
    n_thinnest: IntArray
    """(m,) votes on the pair with the fewest, pairs without votes excluded."""
    busiest: IntArray
    """(m,) the rater with the most votes."""
    largest_share: Array
    """(m,) that rater's proportion of the votes; nan without votes."""
    effective_raters: Array
    """(m,) 1 / (sum of the raters' squared proportions of the votes): n for n raters with equally
    many; nan without votes."""


def crossed(
    votes: Votes,
    statistic: VoteStatistic,
    *,
    level: float = 0.95,
    counts: Clusterings | None = None,
) -> Crossed:
    """Values with linearised intervals by question, by rater and two-way.

    A vote's influence on a value is the derivative of its cell. V_q = sum over the questions of
    (sum of their votes' influence)^2 / (1 - h), h the question's leverage; V_r likewise over
    raters, V_qr over the pairs of both; the two-way variance is V = max(V_q + V_r - V_qr, V_q,
    V_r). t has Satterthwaite's degrees of freedom: n - 1 for n equal clusters, few where one rater
    gave most of the votes. A cluster counts for a value only with a vote that concerns it. nan
    where a value is undefined, where fewer than two clusters concern it and where nothing varies;
    two-way and by rater also with fewer than `LEAST_RATERS` effective raters. `counts`: those of
    `clusterings`, where several statistics of the same votes share them.

    Proportions have Wilson's interval with the same V and the same degrees of freedom. Means of
    votes without any variation have the exact interval at the votes' effective number; two-way it
    is the smaller of questions and raters.

    Source: Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering; Bell and
    McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage
    samples; for the others `vote_limits`.

    >>> from konsil.stats.pairs.votes import votes
    >>> from konsil.stats.pairs.wins import system_against_others
    >>> made = votes(
    ...     [0] * 6,
    ...     [1] * 6,
    ...     [1, 1, 0, -1, 1, 1],
    ...     [0, 1, 2, 3, 4, 5],
    ...     [0, 0, 1, 1, 2, 2],
    ...     n_systems=2,
    ... )
    >>> influences = crossed(made, system_against_others(2))
    >>> influences.value, influences.two_way.df.round(2)
    (array([ 0.5, -0.5]), array([2., 2.]))
    """
    cells = totals(votes)
    value = statistic.finalise(cells)
    gradient = np.nan_to_num(statistic.gradient(cells))
    counts = clusterings(votes) if counts is None else counts
    of_pair = cells.reshape(-1, votes.n_outcomes).sum(axis=1).astype(np.int64)
    strata = _Strata(cells, gradient, of_pair, statistic)
    question, rater = (
        strata.survey(rows)
        if not strata.is_single or rows.shape[0] <= MANY
        else strata.survey_columns(
            counts.question_columns if rows is counts.by_question else counts.rater_columns
        )
        for rows in (counts.by_question, counts.by_rater)
    )
    v_both = strata.of_both(counts.by_both)
    v_two, df_two = two_ways(
        question.tally.variance(),
        question.tally.df(v_both),
        rater.tally.variance(),
        rater.tally.df(v_both),
        v_both,
    )
    # Pairs that nobody compared do not count as thin.
    used = statistic.support & (of_pair > 0)[:, None]
    thinnest = np.where(used, of_pair[:, None], votes.n_votes).min(axis=0, initial=votes.n_votes)
    n_votes = (of_pair @ statistic.support).astype(np.int64)

    # Votes that are all alike have no variance to linearise: these values get exact limits.
    alike = np.flatnonzero(np.isfinite(value) & (v_both <= _ROUNDING) & (statistic.kind != "other"))
    by_clusters = [
        _unanimous_votes(rows, statistic, of_pair, alike)
        for rows in (counts.by_question, counts.by_rater)
    ]
    effective = np.divide(
        n_votes**2.0, rater.squares, out=np.full(len(value), np.nan), where=n_votes > 0
    )
    several = effective >= LEAST_RATERS

    def interval(variance: Array, df: Array, n: IntArray, worth: Array) -> Interval:
        is_estimable = np.isfinite(value) & (n >= 2)
        varies = is_estimable & (variance > _ROUNDING)
        linearised = with_test(
            value,
            np.where(is_estimable, np.sqrt(variance), np.nan),
            np.where(varies, df, np.nan),
            level=level,
        )
        low, high = (
            np.maximum(linearised.low, statistic.limits[0]),
            np.minimum(linearised.high, statistic.limits[1]),
        )
        limited = Interval(
            linearised.se,
            linearised.df,
            low,
            high,
            linearised.p,
            np.full(len(value), "wald", dtype="<U6"),
        )
        return _at_edges(limited, value, variance, n_votes, statistic, alike, worth, level)

    return Crossed(
        value,
        interval(
            v_two,
            df_two,
            np.where(several, np.minimum(question.n, rater.n), 0),
            np.minimum(*by_clusters) * several[alike],
        ),
        interval(question.tally.variance(), question.tally.df(v_both), question.n, by_clusters[0]),
        interval(
            rater.tally.variance(),
            rater.tally.df(v_both),
            np.where(several, rater.n, 0),
            by_clusters[1] * several[alike],
        ),
        question.n,
        rater.n,
        n_votes,
        thinnest.astype(np.int64),
        rater.busiest,
        np.divide(rater.n_busiest, n_votes, out=np.full(len(value), np.nan), where=n_votes > 0),
        effective,
    )


def with_added_variance(values: Crossed, added: Array, *, level: float = 0.95) -> Crossed:
    """The values with a further variance in all their intervals, `added` (m,).

    As of estimates with a penalty, whose virtual comparisons vary, too. An interval that does not
    exist without it does not exist with it.
    """

    def widened(way: Interval) -> Interval:
        wider = with_test(values.value, np.sqrt(way.se**2 + added), way.df, level=level)
        return Interval(wider.se, way.df, wider.low, wider.high, wider.p, way.method)

    return replace(
        values,
        two_way=widened(values.two_way),
        question=widened(values.question),
        rater=widened(values.rater),
    )


def _at_edges(
    interval: Interval,
    value: Array,
    variance: Array,
    n_votes: IntArray,
    statistic: VoteStatistic,
    alike: IntArray,
    worth: Array,
    level: float,
) -> Interval:
    """The interval with Wilson's limits of proportions, exact ones where votes are `alike`."""
    # Copies: the arrays of the interval are shared with the caller.
    low, high, df, p = (
        np.array(part) for part in (interval.low, interval.high, interval.df, interval.p)
    )
    methods = interval.method.copy()
    if statistic.kind == "share":
        scores = wilson_limits(
            value,
            np.where(np.isfinite(interval.se), variance, np.nan),
            n_votes.astype(np.float64),
            df,
            level,
        )
        usable = np.isfinite(scores[0])
        low[usable], high[usable], methods[usable] = scores[0][usable], scores[1][usable], "wilson"
    if len(alike):
        exact = unanimous_limits(value[alike], worth, statistic.limits, level)
        low[alike], high[alike], p[alike] = exact
        df[alike], methods[alike] = np.where(np.isfinite(exact.low), worth - 1, np.nan), "exact"
    return Interval(interval.se, df, low, high, p, methods)


def _unanimous_votes(
    rows: Sums, statistic: VoteStatistic, of_pair: IntArray, values: IntArray
) -> Array:
    """The effective number of votes where all votes of a value are alike, (len(values),).

    It is at most the effective number of the clusters' parts in the value, and at most the number
    of pairs times the votes of the pair with the fewest.
    """
    if not len(values):
        return np.zeros(0)
    support = statistic.support[:, values] & (of_pair > 0)[:, None]
    pairs = np.flatnonzero(support.any(axis=1))
    width = rows.shape[1] // len(of_pair)
    counts = np.column_stack(
        [
            np.asarray(rows[:, pair * width : (pair + 1) * width].sum(axis=1)).ravel()
            for pair in pairs
        ]
    )
    inside = support[pairs]
    fewest = np.where(inside, effective_votes(counts)[:, None], np.inf).min(axis=0)
    together = effective_votes(counts @ (inside / of_pair[pairs][:, None]))
    return np.asarray(np.minimum(together, inside.sum(axis=0) * fewest))


def covariance(
    votes: Votes, statistics: Sequence[VoteStatistic], counts: Clusterings
) -> tuple[Array, float]:
    """The two-way covariance of all values of some statistics, (m, m), and its degrees of freedom.

    Source: Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering.

    >>> from konsil.stats.pairs.votes import votes
    >>> from konsil.stats.pairs.wins import system_against_others
    >>> made = votes(
    ...     [0] * 6,
    ...     [1] * 6,
    ...     [1, 1, 0, -1, 1, 1],
    ...     [0, 1, 2, 3, 4, 5],
    ...     [0, 0, 1, 1, 2, 2],
    ...     n_systems=2,
    ... )
    >>> spread, df = covariance(made, [system_against_others(2)], clusterings(made))
    >>> bool(np.isclose(spread[0, 0], -spread[0, 1])), round(df, 2)
    (True, 2.0)
    """
    cells = totals(votes)
    gradient = np.nan_to_num(np.hstack([s.gradient(cells) for s in statistics]))
    by_both = counts.by_both
    if by_both is None or isinstance(by_both, Both):
        alone = cells if by_both is None else by_both.single
        single = (gradient * alone[:, None]).T @ gradient
        if isinstance(by_both, Both):
            single = single + _products(by_both.rows, gradient)
    else:
        single = _products(by_both, gradient)
    shares = [np.bincount(of) / max(votes.n_votes, 1) for of in (votes.questions, votes.raters)]
    # The fewest effective clusters of both ways bound the degrees of freedom.
    df = min(1 / max(float((s**2).sum()), 1e-300) for s in shares) - 1
    spread = _products(counts.by_question, gradient) + _products(counts.by_rater, gradient)
    return spread - single, max(df, 1.0)


def _products(rows: Sums, gradient: Array) -> Array:
    """The sum over clusters of the products of their influences, (m, m)."""
    m = gradient.shape[1]
    total, step = np.zeros((m, m)), max(_CHUNK // max(m, 1), 1)
    for at in range(0, rows.shape[0], step):
        some: Sparse = rows[at : at + step]
        influence = np.asarray(some @ gradient)
        total += influence.T @ influence
    return total


@dataclass(eq=False)
class _Survey:
    """The clusters of one kind and their votes on each value; arrays (m,)."""

    tally: Tally
    n: IntArray
    """Clusters with a vote that concerns the value."""
    busiest: IntArray
    """The cluster with the most of these votes."""
    n_busiest: Array
    """Its number of these votes."""
    squares: Array
    """The sum of their squared numbers of votes."""


class _Strata:
    """The pairs of systems as strata of one statistic.

    All votes are one stratum where the values are not made of each pair's mean, or where there are
    too many pairs.
    """

    def __init__(
        self, cells: Array, gradient: Array, of_pair: IntArray, statistic: VoteStatistic
    ) -> None:
        self.gradient, self.of_pair = gradient, of_pair
        self.width = len(gradient) // max(len(of_pair), 1)
        self.apart = statistic.by_pair and len(of_pair) <= EXACT_STRATA
        self.all_alike = bool(statistic.support.all())  # worths: every vote concerns every value
        self.support = statistic.support.astype(np.float32)
        self.concerned = np.repeat(self.support, self.width, axis=0)
        self.n_votes = of_pair @ statistic.support
        self.is_single = statistic.by_pair and bool((statistic.support.sum(axis=0) == 1).all())
        self.squares = np.einsum("c,cm,cm->cm", cells, gradient, gradient)

    def survey(self, rows: Sums) -> _Survey:
        """The clusters' tally from their counts of cells (n_clusters, n_cells), in parts."""
        total: _Survey | None = None
        step = max(
            _CHUNK // max(self.gradient.size if self.apart else self.gradient.shape[1], 1), 1
        )
        # At least one turn, so that no clusters give a survey of zeros and not none.
        for at in range(0, max(rows.shape[0], 1), step):
            some = self._some(rows[at : at + step], at, rows.shape[0])
            total = some if total is None else _together(total, some)
        assert total is not None
        return total

    def survey_columns(self, columns: Sparse) -> _Survey:
        """The same from counts (n_clusters, n_cells) column after column.

        Each value is of one pair of systems: only the clusters with a vote on the pair count.
        """
        m = self.gradient.shape[1]
        sums, integers, numbers = np.zeros((6, m)), np.zeros((2, m), np.int64), np.zeros((2, m))
        squares, total, estimable, diagonal, reach, squared_reach = sums
        empty = Tally(squares, total, estimable, diagonal, reach, squared_reach, None)
        out = _Survey(empty, integers[0], integers[1], numbers[0], numbers[1])
        for pair in range(len(self.of_pair)):
            values = np.flatnonzero(self.support[pair])
            cells = slice(pair * self.width, (pair + 1) * self.width)
            some = columns[:, cells]
            clusters, rows = np.unique(some.indices, return_inverse=True)
            keys = rows * self.width + np.repeat(np.arange(self.width), np.diff(some.indptr))
            counts = np.bincount(
                keys, weights=some.data, minlength=len(clusters) * self.width
            ).reshape(-1, self.width)
            votes = counts.sum(axis=1, keepdims=True)
            share = votes / max(self.n_votes[values].max(initial=0), 1)
            part = tally(counts @ self.gradient[cells][:, values], share, share**2)
            for name in ("squares", "total", "estimable", "diagonal", "reach", "squared_reach"):
                getattr(out.tally, name)[values] = getattr(part, name)
            out.n[values] = len(clusters)
            if len(clusters):
                out.busiest[values] = clusters[votes.argmax()]
                out.n_busiest[values], out.squares[values] = votes.max(), (votes**2).sum()
        return out

    def _some(self, rows: Sparse, start: int, n_rows: int) -> _Survey:
        m = self.gradient.shape[1]
        votes = (
            np.asarray(rows.sum(axis=1), dtype=np.float64).reshape(-1, 1)
            if self.all_alike
            else self._votes(rows)
        )
        influence = np.asarray(rows @ self.gradient)
        busiest = votes.argmax(axis=0) if len(votes) else np.zeros(votes.shape[1], np.int64)
        share = votes / np.maximum(self.n_votes[: votes.shape[1]], 1)
        return _Survey(
            (
                self._in_strata(influence, rows, n_rows)
                if self.apart
                else tally(influence, share, share**2)
            ),
            np.broadcast_to(np.count_nonzero(votes, axis=0), m),
            np.broadcast_to((start + busiest).astype(np.int64), m),
            np.broadcast_to(votes.max(axis=0, initial=0.0), m),
            np.broadcast_to((votes**2).sum(axis=0), m),
        )

    def _votes(self, rows: Sparse) -> Array:
        return np.asarray(rows @ self.concerned, dtype=np.float64)

    def _in_strata(self, influence: Array, rows: Sparse, n_rows: int) -> Tally:
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        counts = dense.reshape(len(dense), len(self.of_pair), self.width).sum(axis=2)
        sums = self.squares.reshape(len(self.of_pair), self.width, -1).sum(axis=1)
        return by_strata(
            influence,
            counts,
            sums / np.maximum(self.of_pair, 1)[:, None],
            self.of_pair.astype(np.float64),
            n_rows,
        )

    def of_both(self, rows: Sums | Both | None) -> Array:
        """The variance over pairs of question and rater; of single votes where `rows` is None."""
        n = np.maximum(
            np.repeat(self.of_pair, self.width)[:, None] if self.apart else self.n_votes, 2
        )
        single = (self.squares * (n / (n - 1))).sum(axis=0)
        if rows is None:
            return np.asarray(single)
        summed, step = np.zeros(len(single)), max(_CHUNK // max(self.gradient.shape[1], 1), 1)
        several = rows
        if isinstance(rows, Both):
            summed += rows.single @ self.gradient**2
            several = rows.rows
        assert not isinstance(several, Both)
        for at in range(0, several.shape[0], step):
            some: Sparse = several[at : at + step]
            influence = np.asarray(some @ self.gradient)
            summed += np.einsum("cm,cm->m", influence, influence)
        apart = self.squares.sum(axis=0)
        return np.asarray(
            single * np.divide(summed, apart, out=np.ones_like(apart), where=apart > 0)
        )


def _together(survey: _Survey, other: _Survey) -> _Survey:
    # Ties go to the earlier part, as `argmax` has them within one.
    first = survey.n_busiest >= other.n_busiest
    return _Survey(
        survey.tally + other.tally,
        survey.n + other.n,
        np.where(first, survey.busiest, other.busiest),
        np.where(first, survey.n_busiest, other.n_busiest),
        survey.squares + other.squares,
    )
