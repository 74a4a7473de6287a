"""LLM juries, agreement of rankings and of criteria, own systems, on the same comparisons."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from konsil.stats.engine.contract import Array, Codes, Finalise, IntArray
from konsil.stats.engine.ranks import spearman, tau_b
from konsil.stats.engine.tables import pair_tables
from konsil.stats.pairs.votes import pair_members
from konsil.stats.pairs.wins import system_against_others

JURY_LINE = 0.5
"""How far a jury's mean must be from zero to be a win."""

KENDALL = "Kendall, Biometrika 33:239, 1945, of the systems' win differences"


def jury(units: IntArray, values: ArrayLike, n_units: int, *, line: float = JURY_LINE) -> IntArray:
    """A jury's outcomes: 1, 0 or -1 for a mean above, within or below -line .. line.

    `units` (n_votes,): the comparison of each judge's value; `values` (n_votes,): steps in favour
    of the comparison's first system. Returns (n_units,); a unit without a value has -2, which is no
    outcome.

    >>> jury(np.array([0, 0, 0, 1, 1]), [2, 1, -1, 1, 0], 3)
    array([ 1,  0, -2])
    """
    n = np.bincount(units, minlength=n_units)
    total = np.bincount(units, np.asarray(values, dtype=np.float64), n_units)
    mean = total / np.maximum(n, 1)
    outcome = (mean > line).astype(np.int64) - (mean < -line)
    return np.asarray(np.where(n > 0, outcome, -2), dtype=np.int64)


def rank_agreement(
    n_systems: int, steps: Sequence[tuple[int, int]], threshold: int = 1
) -> Finalise:
    """Kendall's tau-b of two rankings by win difference, for each criterion, and its mean.

    `steps` contains for each criterion the largest outcomes of the first and of the second
    ranking's votes. Totals: for each criterion the cells of the first, then of the second, (...,
    sum of cells) -> (..., n_criteria + 1). All are in one array of sums, so that one bootstrap of
    questions covers all criteria. nan for a criterion in which one of the rankings puts all systems
    level; the mean is over the defined values. Few systems have few possible values: four have
    seven.

    Source: Kendall (1945).

    >>> finalise = rank_agreement(3, [(1, 1)])
    >>> cells = np.array([0.0, 0, 1, 0, 0, 1, 0, 0, 1])
    >>> finalise(np.concatenate([cells, cells[::-1]]))
    array([-1., -1.])
    """
    sides = [
        tuple(system_against_others(n_systems, s, threshold=min(threshold, s)) for s in two)
        for two in steps
    ]
    widths = [tuple(n_systems * (n_systems - 1) // 2 * (2 * s + 1) for s in two) for two in steps]

    def finalise(totals: Array) -> Array:
        at, taus = 0, []
        for (a, b), (width_a, width_b) in zip(sides, widths, strict=True):
            ours = a.finalise(totals[..., at : at + width_a])
            theirs = b.finalise(totals[..., at + width_a : at + width_a + width_b])
            at += width_a + width_b
            # Rounded, so that ties remain ties whatever the order of the sums.
            taus.append(tau_b(np.round(ours, 12), np.round(theirs, 12)))
        each = np.stack(taus, axis=-1)
        defined = np.isfinite(each)
        mean = np.where(defined, each, 0.0).sum(-1) / np.maximum(defined.sum(-1), 1)
        return np.concatenate([each, np.where(defined.any(-1), mean, np.nan)[..., None]], axis=-1)

    return finalise


def own_minus_others(
    n_systems: int,
    own_system: int,
    steps: Sequence[int],
    threshold: int = 1,
    *,
    written: Sequence[Collection[int]] = (),
) -> Finalise:
    """The win difference that a judge gives its own system, minus the other judges' mean.

    Totals: the cells of the judge, then of each other judge (or panel) on the same comparisons,
    (..., sum of cells) -> (..., 1 + n_others): the mean difference, then that to each of them. No
    adjustment for leniency is needed in pairs, because one system's gain is the other's loss.
    `written`: for each other judge, the systems of its own or its family; comparisons with these
    count neither from it nor, in the difference to it, from the judge, since its own preference
    would enter. nan where a win difference is nan.

    >>> cells = np.array([1.0, 2.0, 7.0])
    >>> own_minus_others(2, 0, [1, 1])(np.concatenate([cells, cells[::-1]])).round(6)
    array([1.2, 1.2])
    """
    sides = [system_against_others(n_systems, s, threshold=min(threshold, s)) for s in steps]
    widths = [n_systems * (n_systems - 1) // 2 * (2 * s + 1) for s in steps]
    starts = np.concatenate([[0], np.cumsum(widths)])
    first, second = pair_members(n_systems)
    excluded = [list(w) for w in written] or [[] for _ in steps[1:]]
    neutral = [~(np.isin(first, w) | np.isin(second, w)) for w in excluded]

    def finalise(totals: Array) -> Array:
        def value(n: int, pairs: NDArray[np.bool_]) -> Array:
            cells = totals[..., starts[n] : starts[n] + widths[n]] * np.repeat(
                pairs, 2 * steps[n] + 1
            )
            return np.asarray(sides[n].finalise(cells)[..., own_system])

        gaps = np.stack(
            [value(0, pairs) - value(n, pairs) for n, pairs in enumerate(neutral, 1)], axis=-1
        )
        return np.concatenate([gaps.mean(-1, keepdims=True), gaps], axis=-1)

    return finalise


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
