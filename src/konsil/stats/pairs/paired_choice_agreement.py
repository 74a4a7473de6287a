"""Agreement of raters who compared the same two answers: within one step, and quadratic kappa.

Quadratic kappa has chance of its own for each pair of systems: that both raters prefer the better
system is no agreement beyond chance. Over both sides at once, a favourite that all share is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.engine.tables import DENSE_CELLS
from konsil.stats.pairs.votes import Votes

CHOICE_KAPPA = "Cohen, Psychol Bull 70:213, 1968; raters interchangeable"

WITHIN, CHANCE, KAPPA = 0, 1, 2
"""Positions of the values of `choice_agreement`."""


def choice_tables(votes: Votes, apart: IntArray | None = None) -> Array:
    """Tables of outcomes by outcomes of every two votes on one pair of systems and one question.

    Sums (n_questions, n_outcomes^2): ordered pairs of different votes, so that neither rater is the
    first, each counted from the side of both systems, so that names and positions do not matter.
    `apart` (n_votes,): only votes with the same number are compared, such as those of one arm.

    >>> from konsil.stats.pairs.votes import votes
    >>> made = votes([0, 1], [1, 0], [1, -1], [0, 0], [0, 1], n_systems=2)
    >>> choice_tables(made).reshape(3, 3)
    array([[2., 0., 0.],
           [0., 0., 0.],
           [0., 0., 2.]])
    """
    return _tables(votes, _units(votes, apart))


def _tables(votes: Votes, units: _Units) -> Array:
    width, counts = votes.n_outcomes, units.counts
    if votes.n_questions * width**2 > DENSE_CELLS:
        raise ValueError(
            f"{votes.n_questions:,} questions: expected at most {DENSE_CELLS // width**2:,}"
        )
    tables = counts[:, :, None] * counts[:, None]
    at = np.arange(width)
    # Nobody is compared with themselves.
    tables[:, at, at] -= counts
    # Which answer is named first is arbitrary: every pair of votes counts both ways.
    tables += tables[:, ::-1, ::-1]
    sums = np.zeros((votes.n_questions, width * width))
    np.add.at(sums, units.questions, tables.reshape(len(counts), -1))
    return sums


@dataclass(frozen=True, eq=False)
class _Units:
    """Votes on one pair of systems and one question (and arm), counted."""

    counts: Array
    """(n_units, n_outcomes) votes of each outcome."""
    questions: IntArray
    """(n_units,) the question of each."""
    pairs: IntArray
    """(n_units,) the pair of systems of each."""


def are_shared(votes: Votes, apart: IntArray | None = None) -> NDArray[np.bool_]:
    """(n_votes,) whether there is another vote on the same answers; `apart` as in `choice_tables`.

    >>> from konsil.stats.pairs.votes import votes
    >>> are_shared(votes([0, 1, 0], [1, 0, 1], [1, 0, 1], [0, 0, 1], [0, 1, 0], n_systems=2))
    array([ True,  True, False])
    """
    units = _unit_of_vote(votes, apart)
    _, place, n = np.unique(units, return_inverse=True, return_counts=True)
    return np.asarray(n[place] > 1)


def _unit_of_vote(votes: Votes, apart: IntArray | None) -> IntArray:
    kind = (
        np.zeros(votes.n_votes, dtype=np.int64)
        if apart is None
        else np.unique(apart, return_inverse=True)[1]
    )
    n_pairs = votes.n_cells // votes.n_outcomes
    units = (votes.questions * n_pairs + votes.pairs) * (int(kind.max(initial=0)) + 1) + kind
    return np.asarray(units, dtype=np.int64)


def _units(votes: Votes, apart: IntArray | None) -> _Units:
    _, first_votes, place = np.unique(
        _unit_of_vote(votes, apart), return_index=True, return_inverse=True
    )
    counts = np.zeros((len(first_votes), votes.n_outcomes))
    np.add.at(counts, (place, votes.outcomes + votes.steps), 1)
    return _Units(counts, votes.questions[first_votes], votes.pairs[first_votes])


def tables_by_pair(votes: Votes, apart: IntArray | None = None) -> Sums:
    """The tables of `choice_tables`, and beside them what each pair of systems adds.

    Sums (n_questions, n_outcomes^2 + n_pairs (n_outcomes + 2)), n_pairs those of which two votes
    are on one question; sparse where they are many. For each pair of systems: how often each
    outcome is one of two votes, the squared steps between two votes, and the sum of the squares of
    how often each vote is one of two. `apart` as in `choice_tables`.

    >>> from konsil.stats.pairs.votes import votes
    >>> made = votes([0, 1], [1, 0], [1, 0], [0, 0], [0, 1], n_systems=2)
    >>> tables_by_pair(made)[:, 9:]
    array([[0., 1., 1., 2., 2.]])
    """
    width, units = votes.n_outcomes, _units(votes, apart)
    tables = _tables(votes, units)
    is_shared = units.counts.sum(axis=1) > 1
    counts, questions = units.counts[is_shared], units.questions[is_shared]
    used, pairs = np.unique(units.pairs[is_shared], return_inverse=True)
    others = counts.sum(axis=1, keepdims=True) - 1
    apart_by = ((counts @ _squares(width)) * counts).sum(axis=1, keepdims=True)
    parts = np.hstack([counts * others, apart_by, (others + 1) * others**2])
    columns = pairs[:, None] * (width + 2) + np.arange(width + 2)
    rows = np.broadcast_to(questions[:, None], columns.shape)
    shape = (votes.n_questions, len(used) * (width + 2))
    by_pair = scipy.sparse.csr_array((parts.ravel(), (rows.ravel(), columns.ravel())), shape=shape)
    if votes.n_questions * (width**2 + shape[1]) > DENSE_CELLS:
        return scipy.sparse.hstack([scipy.sparse.csr_array(tables), by_pair], format="csr")
    return np.hstack([tables, by_pair.toarray()])


def _squares(width: int) -> Array:
    """(width, width) squared steps between outcomes."""
    return np.asarray(np.subtract.outer(np.arange(width), np.arange(width)) ** 2, dtype=np.float64)


@dataclass(frozen=True)
class KappasOfChoices:
    """Quadratic kappa with the chance of each pair of systems, and over both sides at once.

    Totals (..., k) of `tables_by_pair`, values (..., 2).

    kappa = 1 - sum over pairs p of D_p / sum over pairs of N_p e_p: D the squared steps between
    every two votes on the same answers, N their number, and e_p the mean squared steps between
    every two votes on the systems of p, whatever the question. It does not depend on the order of
    the systems, and a favourite that all share is chance. With one pair of systems and two votes a
    question it is Krippendorff's alpha of interval labels. nan where no two votes are on the same
    answers, and where all votes on each pair of systems are the same.

    Source: Krippendorff, Content Analysis, 2004, ch. 11, within strata; Cohen, Psychol Bull 70:213,
    1968, over both sides (`choice_agreement`).

    >>> import numpy as np
    >>> from konsil.stats.pairs.votes import votes
    >>> q = np.repeat(np.arange(4), 2)
    >>> made = votes([0] * 8, [1] * 8, [1, 1, 1, 0, 1, 1, 1, 1], q, [0, 1] * 4, n_systems=2)
    >>> KappasOfChoices(made.n_outcomes)(tables_by_pair(made).sum(axis=0)).round(3)
    array([0.   , 0.857])
    """

    width: int
    """The number of outcomes that a vote can have."""

    def __call__(self, totals: Array) -> Array:
        """The two values."""
        totals = np.asarray(totals, dtype=np.float64)
        tables, by_pair = np.split(totals, [self.width**2], axis=-1)
        parts = by_pair.reshape(*by_pair.shape[:-1], -1, self.width + 2)
        margins, apart, squares = parts[..., : self.width], parts[..., -2], parts[..., -1]
        n = margins.sum(axis=-1)
        all_apart = ((margins @ _squares(self.width)) * margins).sum(axis=-1)
        expected = n * np.nan_to_num(ratio(all_apart, n**2 - squares))
        kappa = 1 - ratio(apart.sum(axis=-1), expected.sum(axis=-1))
        return np.stack([kappa, choice_agreement(tables)[..., KAPPA]], axis=-1)


WITHIN_PAIRS, OVER_SIDES = 0, 1
"""Positions of the values of `KappasOfChoices`."""


def choice_agreement(totals: Array) -> Array:
    """Agreement within one step, its chance level, and quadratic kappa.

    Totals (..., n_outcomes^2), values (..., 3).

    within = share of pairs of votes at most one step apart; chance = sum over outcomes at most one
    step apart of p_i p_j, p the shares of the outcomes in those pairs; kappa = 1 - sum of (i - j)^2
    observed / expected from p. nan where no two votes were on the same answers; kappa also where
    all outcomes are the same.

    Source: Cohen, Psychol Bull 70:213, 1968, for raters who are not told apart: Scott, Public Opin
    Q 19:321, 1955.

    >>> choice_agreement(np.array([2.0, 0, 0, 0, 0, 0, 0, 0, 2.0]))
    array([1. , 0.5, 1. ])
    """
    width = round(np.shape(totals)[-1] ** 0.5)
    table = np.asarray(totals, dtype=np.float64).reshape(*np.shape(totals)[:-1], width, width)
    n = table.sum((-2, -1))
    steps = np.abs(np.subtract.outer(np.arange(width), np.arange(width)))
    near, far = (steps <= 1).astype(np.float64), (steps**2).astype(np.float64)
    margin = table.sum(-1)
    shares = ratio(margin, np.broadcast_to(n[..., None], margin.shape))
    within, apart = ratio((table * near).sum((-2, -1)), n), ratio((table * far).sum((-2, -1)), n)
    chance = ((shares @ near) * shares).sum(-1)
    expected = ((shares @ far) * shares).sum(-1)
    return np.stack(
        [within, chance, 1 - ratio(apart, np.where(np.isfinite(expected), expected, 0.0))], axis=-1
    )
