"""Rank correlation of preferences on two criteria, the same from both sides of a comparison."""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.contract import Array, Codes, Finalise, IntArray
from konsil.stats.engine.ranks import spearman
from konsil.stats.engine.tables import pair_tables


def preference_tables(x: IntArray, y: IntArray, questions: IntArray, steps: int) -> Array:
    """Tables of preferences on two criteria by question, each comparison from both sides.

    x, y: (n_comparisons,) steps in favour of one of the two answers, -steps to steps; questions:
    (n_comparisons,). Sums (n_questions, n_outcomes^2), n_outcomes = 2 steps + 1: x in the rows.

    >>> preference_tables(np.array([1]), np.array([0]), np.array([0]), 1).reshape(3, 3)
    array([[0., 1., 0.],
           [0., 0., 0.],
           [0., 1., 0.]])
    """
    codes = Codes(np.column_stack([x, y]) + steps, questions, 2 * steps + 1)
    tables = np.asarray(pair_tables(codes))
    # Reversed, a table has both its rows and its columns turned: the view of the other answer.
    return tables + tables[:, ::-1]


def preference_correlation(steps: int) -> Finalise:
    """Spearman's correlation of preferences on two criteria, over comparisons from both sides.

    Of totals of `preference_tables`: the correlation of the mid-ranks of (x, y) and (-x, -y)
    together, so that exchanging the two answers of any comparison changes nothing; the mean
    preference on each criterion is 0 by construction. Values (..., 1). nan where all comparisons
    are ties on one of the criteria. Source: Spearman 1904.

    >>> tables = preference_tables(np.array([1, -1]), np.array([1, -1]), np.array([0, 1]), 1)
    >>> preference_correlation(1)(tables.sum(axis=0)).round(12)
    array([1.])
    """
    return spearman(2, 2 * steps + 1).finalise
