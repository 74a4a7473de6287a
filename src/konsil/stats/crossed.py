"""Intervals of preference statistics with questions, raters, or both as clusters; without resampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from konsil.stats.contract import Array, IntArray
from konsil.stats.rows import Sparse, Sums
from konsil.stats.votes import Votes, cell_counts, cell_rows, totals
from konsil.stats.wins import VoteStatistic

Clustering = Literal["two-way", "question", "rater"]

_CHUNK = 1 << 22
"""Numbers of influences held at once."""
_DENSE = 1 << 18
"""Up to so many counts they are held dense."""


@dataclass(frozen=True, eq=False)
class Interval:
    """A linearised interval of each value; every field has the shape (m,)."""

    se: Array
    """The standard error."""
    df: IntArray
    """Degrees of freedom of t."""
    low: Array
    """Lower end."""
    high: Array
    """Upper end."""
    p: Array
    """Two-sided p value of t for a value of zero; never 0."""


@dataclass(frozen=True, eq=False)
class Crossed:
    """A statistic's values with the three intervals that questions and raters as clusters give."""

    value: Array
    """(m,) the values."""
    two_way: Interval
    """Questions and raters both: about further questions and further raters."""
    question: Interval
    """Questions alone: about these raters."""
    rater: Interval
    """Raters alone: about these questions."""
    n_questions: IntArray
    """(m,) questions with a vote that the value is computed from."""
    n_raters: IntArray
    """(m,) raters likewise."""
    n_votes: IntArray
    """(m,) votes likewise."""
    n_thinnest: IntArray
    """(m,) votes on the one of its pairs that has fewest, pairs without any left out."""


def clusterings(made: Votes) -> tuple[Sums, Sums, Sums]:
    """The cells' counts by question, by rater and by both: what `crossed` needs of votes, whatever the statistic."""
    both = np.unique(made.questions * made.n_raters + made.raters, return_inverse=True)
    ways = [
        (made.questions, made.n_questions),
        (made.raters, made.n_raters),
        (both[1].ravel(), len(both[0])),
    ]
    # Small ones dense: a sparse product costs more to prepare than they cost to multiply.
    by_question, by_rater, by_both = (
        (cell_counts if n * made.n_cells <= _DENSE else cell_rows)(made, clusters, n) for clusters, n in ways
    )
    return by_question, by_rater, by_both


def crossed(
    made: Votes,
    statistic: VoteStatistic,
    *,
    level: float = 0.95,
    counts: tuple[Sums, Sums, Sums] | None = None,
) -> Crossed:
    """Values with linearised intervals by question, by rater and two-way, t with clusters - 1 degrees of freedom.

    Every vote's influence on a value is the derivative of its cell. V_q = G / (G - 1) * sum over the G questions of
    (sum of their votes' influence)^2, V_r likewise, V_qr over the pairs of question and rater; two-way
    V = max(V_q + V_r - V_qr, V_q, V_r) with df = min(n_questions, n_raters) - 1. Only clusters with a vote that
    concerns a value count for it. nan where a value is undefined and where fewer than two clusters concern it.
    `counts`: those of `clusterings`, where several statistics of the same votes share them.

    Source: Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering.

    >>> from konsil.stats.votes import votes
    >>> from konsil.stats.wins import one_against_rest
    >>> made = votes([0] * 6, [1] * 6, [1, 1, 0, -1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], n_systems=2)
    >>> found = crossed(made, one_against_rest(2))
    >>> found.value, found.two_way.df
    (array([ 0.5, -0.5]), array([2, 2]))
    """
    value = statistic.finalise(totals(made))
    gradient = np.nan_to_num(statistic.gradient(totals(made)))
    (v_q, n_q), (v_r, n_r), (v_b, _) = (
        _variance(rows, gradient, statistic.support) for rows in (clusterings(made) if counts is None else counts)
    )
    v_two = np.maximum(v_q + v_r - v_b, np.maximum(v_q, v_r))
    of_pair = np.bincount(made.pairs, minlength=len(statistic.support))
    used = statistic.support & (of_pair > 0)[:, None]
    thinnest = np.where(used, of_pair[:, None], made.n_votes).min(axis=0, initial=made.n_votes)
    return Crossed(
        value,
        _interval(value, v_two, np.minimum(n_q, n_r) - 1, level, statistic.limits),
        _interval(value, v_q, n_q - 1, level, statistic.limits),
        _interval(value, v_r, n_r - 1, level, statistic.limits),
        n_q,
        n_r,
        (of_pair @ statistic.support).astype(np.int64),
        thinnest.astype(np.int64),
    )


def _variance(rows: Sums, gradient: Array, support: NDArray[np.bool_]) -> tuple[Array, IntArray]:
    """Sum over clusters of squared influence times n / (n - 1), and how many clusters n concern each value."""
    all_alike = bool(support.all())  # worths: every vote concerns every value
    concerned = np.repeat(support, len(gradient) // max(len(support), 1), axis=0).astype(np.float32)
    squares, n = np.zeros(gradient.shape[1]), np.zeros(gradient.shape[1], dtype=np.int64)
    step = max(_CHUNK // max(gradient.shape[1], 1), 1)
    for at in range(0, rows.shape[0], step):
        some: Sparse = rows[at : at + step]
        influence = np.asarray(some @ gradient)
        squares += np.einsum("cm,cm->m", influence, influence)
        n += np.count_nonzero(np.asarray(some.sum(axis=1))) if all_alike else np.count_nonzero(some @ concerned, axis=0)
    return squares * (n / np.maximum(n - 1, 1)), n


def _interval(value: Array, variance: Array, df: IntArray, level: float, limits: tuple[float, float]) -> Interval:
    known = np.isfinite(value) & (df >= 1)
    se = np.where(known, np.sqrt(variance), np.nan)
    reach = special.stdtrit(np.maximum(df, 1), (1 + level) / 2) * se
    usable = se > 0
    t = np.abs(value) / np.where(usable, se, 1.0)
    p = np.where(usable, np.maximum(2 * special.stdtr(np.maximum(df, 1), -t), np.finfo(np.float64).tiny), np.nan)
    low, high = np.maximum(value - reach, limits[0]), np.minimum(value + reach, limits[1])
    return Interval(se, df, low, high, p)
