"""Cases answered at several information levels, from all information to the least: a number a case.

`right` has one row a case and one column a level, from the fullest on: 1 correct, 0 incorrect, nan
where there is no answer. Every statistic here is the mean of one number a case over the cases that
have one, so that cases are the clusters.
"""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.contract import Array

CLEXEVAL = "CLExEval, appendix D"
"""Where the statistics of masked cases are defined."""


def drop(scores: Array) -> Array:
    """The score at the first level minus that at the last, (n_cases, n_levels) to (n_cases,).

    scores[:, 0] - scores[:, -1]; its mean over the cases is information sensitivity for correct and
    incorrect answers, and the reasoning gap for scores of reasoning. nan where one of the two
    levels is missing.

    Source: CLExEval's ISS and reasoning gap.

    >>> drop(np.array([[1.0, 1, 0], [1, 0, 1], [1, 1, np.nan]]))
    array([ 1.,  0., nan])
    """
    return np.asarray(scores[:, 0] - scores[:, -1])


def violated(right: Array, *, recovered: bool = False) -> Array:
    """Whether some level is correct after a fuller one was incorrect, (n_cases,) of 0 and 1.

    1 where right[i] = 0 and right[j] = 1 for some i < j. With `recovered` only cases with a correct
    last level count: the others are nan. nan where a level is missing.

    Source: CLExEval's MVR; its text names both denominators.

    >>> cases = np.array([[1.0, 0, 1], [1, 1, 0], [0, 1, 0], [1, np.nan, 1]])
    >>> violated(cases), violated(cases, recovered=True)
    (array([ 1.,  0.,  1., nan]), array([ 1., nan, nan, nan]))
    """
    is_violated = recovered_at(right).max(axis=1)
    return np.where(right[:, -1] == 1, is_violated, np.nan) if recovered else is_violated


def recovered_at(right: Array) -> Array:
    """Whether each level is correct after some fuller one was incorrect; same shape.

    1 where right[j] = 1 and right[i] = 0 for some i < j; the first level is never so. nan where a
    level is missing.

    Source: the parts of CLExEval's MVR, level by level.

    >>> recovered_at(np.array([[1.0, 0, 1, 1], [0, 1, 0, 0]])).tolist()
    [[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]]
    """
    wrong_before = np.maximum.accumulate(1 - right, axis=1)[:, :-1]
    recoveries = np.column_stack([np.zeros(len(right)), wrong_before * right[:, 1:]])
    return np.where(_complete(right)[:, None], recoveries, np.nan)


def potential(right: Array) -> Array:
    """Whether any level is correct, (n_cases, n_levels) to (n_cases,) of 0 and 1.

    max over the levels; nan where a level is missing, since it might have been right.

    Source: CLExEval's MDA.

    >>> potential(np.array([[0.0, 0, 1], [0, 0, 0], [0, np.nan, 1]]))
    array([ 1.,  0., nan])
    """
    return np.where(_complete(right), right.max(axis=1), np.nan)


def hidden(right: Array) -> Array:
    """Whether another level is correct where the fullest is incorrect, (n_cases,) of 0 and 1.

    potential - right[:, 0]: a diagnosis that a system can find and misses with all the information.
    It is never negative, so that an interval above 0 is no evidence by itself. nan where a level is
    missing.

    Source: CLExEval's hidden knowledge, as a share of the cases.

    >>> hidden(np.array([[0.0, 0, 1], [1, 0, 0], [0, 0, 0]]))
    array([1., 0., 0.])
    """
    return potential(right) - right[:, 0]


def hidden_by_luck(right: Array) -> float:
    """The mean of `hidden` expected by chance, with the accuracy at each level as the probability.

    (1 - p_0) (1 - product over k > 0 of (1 - p_k)), p_k the proportion of correct answers at level
    k among the cases that have every level: several attempts find the diagnosis at times without
    any knowledge. nan without such a case.

    Source: ours.

    >>> round(hidden_by_luck(np.array([[1.0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0]])), 3)
    0.375
    """
    complete_cases = right[_complete(right)]
    if not len(complete_cases):
        return float("nan")
    wrong = 1 - complete_cases.mean(axis=0)
    return float(wrong[0] * (1 - wrong[1:].prod()))


def label_dependence(right: Array) -> Array:
    """Whether the first two levels differ, (n_cases, n_levels) to (n_cases,) of 0 and 1.

    |right[:, 0] - right[:, 1]|: between the whole text and the text without the diagnosis' name.
    nan where one of the two is missing.

    Source: CLExEval's LDF.

    >>> label_dependence(np.array([[1.0, 0, 1], [1, 1, 0]]))
    array([1., 0.])
    """
    return np.asarray(np.abs(right[:, 0] - right[:, 1]))


def steps(right: Array) -> Array:
    """The number of levels from the first on that stay correct, (n_cases, n_levels) to (n_cases,).

    sum over k of right[:, 0] ... right[:, k]; between 0 and the number of levels. nan where a level
    is missing.

    Source: CLExEval prints a stability of five without its definition; this is ours.

    >>> steps(np.array([[1.0, 1, 0, 1], [0, 1, 1, 1], [1, 1, 1, 1]]))
    array([2., 0., 4.])
    """
    return np.asarray(np.cumprod(right, axis=1).sum(axis=1))


def _complete(right: Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray(np.isfinite(right).all(axis=1))


def reversal(over: Array, under: Array) -> tuple[float, tuple[int, int, int]]:
    """The size of a rank reversal of two systems between information levels.

    max over i < j of min(d_i, -d_j) and of min(-d_i, d_j), d the differences by level: above 0 if
    one system is ahead at some level and the other at a later one, by at least this much at both.
    For the differences themselves `over` and `under` are both d, (n_levels,). With simultaneous
    intervals, lower ends as `over` and upper ends as `under` give the lower end of the value's
    interval, and exchanged they give the upper end, because the value rises in one and falls in the
    other.

    Also returned: which of the two is ahead first (0 or 1), and at which two levels. nan if any
    difference is nan.

    Source: ours; CLExEval identifies rank reversals by inspection.

    Source: ours; CLExEval tells a crossover by eye.

    >>> d = np.array([0.2, 0.1, -0.15])
    >>> reversal(d, d)
    (0.15, (0, 0, 2))
    >>> round(reversal(d - 0.1, d + 0.1)[0], 2)
    0.05
    """
    if not (np.isfinite(over).all() and np.isfinite(under).all()):
        return float("nan"), (0, 0, 0)
    candidates = []
    # Either system may be the one that is ahead first.
    for ahead, (first, then) in enumerate(((over, -under), (-under, over))):
        for i in range(len(over)):
            candidates += [
                (float(min(first[i], then[j])), (ahead, i, j)) for j in range(i + 1, len(over))
            ]
    return max(candidates, key=lambda candidate: candidate[0])


def unanimous_interval(value: Array, n: Array, level: float) -> tuple[Array, Array]:
    """Interval of a mean of n equal numbers between -1 and 1, (m,) each.

    A proportion of at least L = ((1 - level) / 2)^(1/n) of all cases is like these (Clopper and
    Pearson, Biometrika 26:404, 1934, at n of n), and the others lie between -1 and 1: from L v - (1
    - L) to L v + (1 - L), within -1 and 1. A bootstrap of such data has no width and is no
    evidence. nan where n is 0.

    >>> low, high = unanimous_interval(np.array([1.0, 0.0]), np.array([32, 32]), 0.95)
    >>> low.round(3), high.round(3)
    (array([ 0.782, -0.109]), array([1.   , 0.109]))
    """
    at = np.asarray(n, dtype=np.float64)
    alike = np.where(at > 0, ((1 - level) / 2) ** (1 / np.maximum(at, 1)), np.nan)
    return np.maximum(alike * value - (1 - alike), -1.0), np.minimum(
        alike * value + (1 - alike), 1.0
    )
