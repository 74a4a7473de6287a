"""Agreement of raters who compared the same two answers: within one step, and quadratic kappa."""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.arithmetic import ratio
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
    width = votes.n_outcomes
    if votes.n_questions * width**2 > DENSE_CELLS:
        raise ValueError(
            f"{votes.n_questions:,} questions: expected at most {DENSE_CELLS // width**2:,}"
        )
    kind = (
        np.zeros(votes.n_votes, dtype=np.int64)
        if apart is None
        else np.unique(apart, return_inverse=True)[1]
    )
    unit = (votes.questions * (votes.n_cells // width) + votes.pairs) * (
        int(kind.max(initial=0)) + 1
    ) + kind
    _, first_votes, place = np.unique(unit, return_index=True, return_inverse=True)
    cell_questions = votes.questions[first_votes]
    counts = np.zeros((len(cell_questions), width))
    np.add.at(counts, (place, votes.outcomes + votes.steps), 1)
    tables = counts[:, :, None] * counts[:, None]
    at = np.arange(width)
    # Nobody is compared with themselves.
    tables[:, at, at] -= counts
    # Which answer is named first is arbitrary: every pair of votes counts both ways.
    tables += tables[:, ::-1, ::-1]
    sums = np.zeros((votes.n_questions, width * width))
    np.add.at(sums, cell_questions, tables.reshape(len(cell_questions), -1))
    return sums


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
