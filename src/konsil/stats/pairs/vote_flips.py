"""Permutation tests of win differences: winner and loser are exchanged, ties stay.

Exact where the null distribution is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.inference.permutation import flip_test
from konsil.stats.pairs.votes import Clusterings, Indices, Votes, cell_counts, totals
from konsil.stats.pairs.wins import VoteStatistic

Unit = Literal["question", "comparison"]
Method = Literal["exact", "monte-carlo", "undefined"]

_POINTS = 2_000_000
"""Up to this many points the null distribution is computed; otherwise it is sampled."""
_KEPT = 50_000_000
"""Up to this many differences they are computed although nothing is sampled from them."""
_RIVALS = 8
"""Up to this many comparator systems an exact distribution is tried."""
SAMPLED = 40_000_000_000
"""Up to this many products of signs and differences the null distribution is sampled."""


@dataclass(frozen=True, eq=False)
class VoteFlips:
    """Two-sided p values; arrays have the shape (m,) of the statistic's values."""

    p: Array
    """For each value, never 0; nan where it is undefined or nothing was computed."""
    method: tuple[Method, ...]
    """The method of each p value."""
    unit: Unit
    """The unit that is flipped as a whole."""
    differences: Array
    """The parts of the values whose signs flip: (n_questions, m) by question, or (n_votes, m) by
    comparison."""


def vote_flips(
    votes: Votes,
    statistic: VoteStatistic,
    *,
    unit: Unit = "question",
    draws: int = 10_000,
    key: int = 0,
    sample: bool = True,
    counts: Clusterings | None = None,
) -> VoteFlips:
    """Test whether each value is zero, by exchanging winner and loser; p values (m,).

    All votes on a question, or each vote by itself, are exchanged with probability 1/2. p =
    P(|value with exchanged sides| >= |value|). The numbers of comparisons, and so the weights of
    comparator systems, stay as they are. With unit "question" the test is valid where raters of one
    question agree; with "comparison", the version of some papers, it is not. Exact by convolution
    where every flipped unit concerns at most one comparator of a system and the distribution has
    few points; otherwise Monte Carlo with p = (b + 1) / (draws + 1). `sample=False` leaves the
    sampling to the caller: p is then nan. `counts`: those of `clusterings`, where they are known.

    Source: Fisher (1935), The Design of Experiments, 21; (b + 1) / (B + 1): Phipson and Smyth
    (2010).

    >>> from konsil.stats.pairs.votes import votes
    >>> from konsil.stats.pairs.wins import system_against_others
    >>> made = votes([0] * 4, [1] * 4, [1, 1, 1, 0], [0, 1, 2, 3], [0, 0, 1, 1], n_systems=2)
    >>> vote_flips(made, system_against_others(2)).p
    array([0.25, 0.25])
    """
    if statistic.terms is None:
        raise ValueError(
            f"{statistic.name}: its values do not change their sign when winner and loser are"
            " exchanged"
        )
    if unit == "question":
        clusters, n_clusters = votes.questions, votes.n_questions
    else:
        clusters, n_clusters = np.arange(votes.n_votes, dtype=np.int64), votes.n_votes
    cells = totals(votes)
    value, terms = statistic.finalise(cells), statistic.terms(cells)
    m = len(value)
    p = np.full(m, np.nan)
    methods: list[Method] = ["undefined"] * m
    sampled = []
    units = _Units(votes, clusters, n_clusters, counts if unit == "question" else None)
    for j in range(m):
        if not np.isfinite(value[j]):
            continue
        exact = _exact(units, terms[:, j], float(value[j]))
        if exact is None:
            sampled.append(j)
        else:
            p[j], methods[j] = exact, "exact"
    is_feasible = n_clusters * draws * max(len(sampled), 1) <= SAMPLED
    if is_feasible or n_clusters * m <= _KEPT:
        rows = cell_counts(votes, clusters, n_clusters) if counts is None else counts.by_question
        differences = np.asarray(rows @ terms) if unit == "question" else terms[votes.cells]
    else:  # what nothing is sampled from takes no memory
        differences = np.broadcast_to(np.nan, (n_clusters, m))
    if sampled and is_feasible:
        if sample:
            p[sampled] = flip_test(differences[:, sampled], draws=draws, key=key).p
        for j in sampled:
            methods[j] = "monte-carlo"
    return VoteFlips(p, tuple(methods), unit, differences)


@dataclass(frozen=True, eq=False)
class _Units:
    """What is flipped as a whole."""

    votes: Votes
    clusters: Indices
    """(n_votes,) the unit of each vote."""
    n_clusters: int
    counts: Clusterings | None
    """The cells' counts by unit, if known."""

    def multiples(self, pair: int, steps: IntArray) -> IntArray:
        """(n_clusters,) each unit's sum of the steps of its votes on a pair."""
        votes, out = self.votes, np.zeros(self.n_clusters, dtype=np.int64)
        if self.counts is None:
            in_pair = votes.pairs == pair
            np.add.at(out, self.clusters[in_pair], steps[votes.cells[in_pair] % votes.n_outcomes])
            return out
        some = self.counts.question_columns[:, pair * len(steps) : (pair + 1) * len(steps)]
        of_cell = np.repeat(steps, np.diff(some.indptr))
        np.add.at(out, some.indices, of_cell * some.data.astype(np.int64))
        return out


def _exact(units: _Units, terms: Array, value: float) -> float | None:
    """The exact p of one value; None for too many points or several comparators."""
    votes = units.votes
    table = terms.reshape(-1, votes.n_outcomes)
    sizes = table[:, votes.steps + 1 :]
    concerned = np.flatnonzero((table != 0).any(axis=1))
    if not len(concerned) or len(concerned) > _RIVALS:
        return None
    # Within a pair all terms are whole multiples of the smallest one.
    step = np.array([np.abs(sizes[p][sizes[p] != 0]).min() for p in concerned])
    multiples = np.stack(
        [
            units.multiples(int(pair), np.rint(table[pair] / step[n]).astype(np.int64))
            for n, pair in enumerate(concerned)
        ]
    )
    # A cluster that concerns two rivals moves both at once: the product of the laws would be wrong.
    if (np.count_nonzero(multiples, axis=0) > 1).any():
        return None
    reach = np.abs(multiples).sum(axis=1)
    if (reach * np.count_nonzero(multiples, axis=1)).max(initial=0) > 50 * _POINTS:
        return None
    # The longest law is searched by bisection, so that the product is of the shorter ones alone.
    *others, last = np.argsort(reach, kind="stable")
    if np.prod(reach[others] + 1.0) > _POINTS:
        return None
    values, chances = np.zeros(1), np.ones(1)
    for n in others:
        at, chance = _null(multiples[n])
        values = (values[:, None] + step[n] * at).ravel()
        chances = (chances[:, None] * chance).ravel()
    at, chance = _null(multiples[last])
    # Sums equal to the observed one but for rounding are as far out.
    limit = abs(value) - 1e-9 * max(abs(value), float(step.min()))
    # Of the last rival's values, which rise, those above `limit - values` and those below `-limit -
    # values` are far.
    rising, below = step[last] * at[::-1], np.concatenate([[0.0], np.cumsum(chance[::-1])])
    far = (
        1
        - below[np.searchsorted(rising, limit - values)]
        + below[np.searchsorted(rising, -limit - values, "right")]
    )
    return float(min(max((chances * far).sum(), np.finfo(np.float64).tiny), 1.0))


def _null(differences: IntArray) -> tuple[Array, Array]:
    """The possible sums of whole differences with fair signs, and their probabilities."""
    sizes = np.sort(np.abs(differences[differences != 0]))
    total = int(sizes.sum())
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    reached = 0
    for size in sizes:  # the sum is total - 2 * (the sum of the sizes whose sign is negative)
        reached += int(size)
        # A copy, because source and target overlap.
        chance[size : reached + 1] += chance[: reached + 1 - size].copy()
        chance[: reached + 1] *= 0.5
    possible = np.flatnonzero(chance)
    return np.asarray(total - 2.0 * possible), np.asarray(chance[possible])
