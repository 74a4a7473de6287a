"""Generalizability of ratings: reliability with more raters and sentences, and its cost.

With y[a, r, j] the number that rater r gave sentence j of answer a: y = mean + answer + sentence in
answer + rater in answer + rest. The components come from mean products, each an average over
answers, so that they are functions of sums:

    different raters, different sentences   A = mean^2 + v_answer
    different raters, the same sentence     B = A + v_sentence
    the same rater, different sentences     C = A + v_rater
    the same rater, the same sentence       D = A + v_sentence + v_rater + v_rest

A whole answer is one sentence: B = mean^2 + v_answer, D = B + v_rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, IntArray

BRENNAN = "Brennan, Generalizability Theory, 2001; mean products: Koch, Technometrics 9:93, 1967"
WIDTH = 11
"""Columns of `product_sums`, those of the seconds not counted."""


class Components(NamedTuple):
    """Variance components, none below 0; arrays of shape (...,)."""

    answer: Array
    """Between answers."""
    sentence: Array
    """Between the sentences of an answer; 0 for whole answers."""
    rater: Array
    """Between raters about an answer, whatever the sentence; 0 for whole answers."""
    rest: Array
    """The residual."""
    sentences: Array
    """The harmonic mean number of sentences of an answer."""


def product_sums(numbers: Array, clusters: IntArray, n_clusters: int) -> Array:
    """Sums of mean products over clusters, (n_clusters, WIDTH).

    `numbers` (n_answers, n_raters, n_sentences), nan where there is none; `clusters` (n_answers,).
    The columns are the sums and counts of the mean products A, B, C and D, then answers' means,
    their squares and one over their numbers of sentences.

    >>> product_sums(np.array([[[1.0], [0.0]]]), np.array([0]), 1)[0, :8]
    array([0. , 0. , 0. , 1. , 0. , 0. , 0.5, 1. ])
    """
    is_rated = np.isfinite(numbers)
    y, indicators = np.where(is_rated, numbers, 0.0), is_rated.astype(np.float64)

    def products(of: Array) -> tuple[Array, Array, Array, Array]:
        """Sums of products of two numbers of an answer.

        The products are of any two, of two of a sentence, of two of a rater, and with itself.
        """
        return (
            of.sum((1, 2)) ** 2,
            (of.sum(1) ** 2).sum(1),
            (of.sum(2) ** 2).sum(1),
            (of * of).sum((1, 2)),
        )

    values, counts = products(y), products(indicators)
    columns = []
    for pick in (_apart, _same_sentence, _same_rater, _itself):
        above, below = pick(*values), pick(*counts)
        columns += [
            np.where(below > 0, above / np.maximum(below, 1), 0.0),
            (below > 0).astype(np.float64),
        ]
    n = indicators.sum((1, 2))
    mean = np.where(n > 0, y.sum((1, 2)) / np.maximum(n, 1), 0.0)
    sentences = is_rated.any(axis=1).sum(axis=1)
    columns += [mean, mean**2, np.where(sentences > 0, 1 / np.maximum(sentences, 1), 0.0)]
    rows = np.column_stack(columns)
    return np.column_stack([np.bincount(clusters, weights=c, minlength=n_clusters) for c in rows.T])


def _apart(every: Array, sentence: Array, rater: Array, itself: Array) -> Array:
    # Pairs that share one of the two are taken off, and those that share both twice: once back.
    return every - sentence - rater + itself


def _same_sentence(
    every: Array,  # noqa: ARG001
    sentence: Array,
    rater: Array,  # noqa: ARG001
    itself: Array,
) -> Array:
    return sentence - itself


def _same_rater(
    every: Array,  # noqa: ARG001
    sentence: Array,  # noqa: ARG001
    rater: Array,
    itself: Array,
) -> Array:
    return rater - itself


def _itself(every: Array, sentence: Array, rater: Array, itself: Array) -> Array:  # noqa: ARG001
    return itself


def components(totals: Array) -> Components:
    """Variance components from totals of `product_sums`, (..., WIDTH) -> (...,) each.

    mean^2 is estimated without bias from the products of different answers' means. Negative
    estimates are 0. nan with fewer than two answers or without an answer rated twice. Source: Koch
    1967.

    >>> totals = product_sums(np.array([[[1.0], [1.0]], [[0.0], [0.0]]]), np.arange(2), 2).sum(0)
    >>> components(totals).answer, components(totals).rest
    (array(0.5), array(0.))
    """
    totals = np.asarray(totals, dtype=np.float64)
    apart, same_sentence, same_rater, itself = (
        ratio(totals[..., n], totals[..., n + 1]) for n in (0, 2, 4, 6)
    )
    n, mean, squares, inverse = totals[..., 7], totals[..., 8], totals[..., 9], totals[..., 10]
    # Of products of different answers only: the square of a mean would be too large by its
    # variance.
    square_of_mean = ratio(mean**2 - squares, np.where(n > 1, n * n - n, 0.0))
    lacks_apart = np.isnan(apart)
    zero = np.zeros_like(n)
    answer = np.where(lacks_apart, same_sentence, apart) - square_of_mean
    sentence = np.where(lacks_apart, zero, same_sentence - apart)
    rater = np.where(lacks_apart, zero, np.where(np.isnan(same_rater), 0.0, same_rater) - apart)
    rest = itself - same_sentence - np.where(lacks_apart, zero, rater)
    undefined = np.isnan(square_of_mean) | np.isnan(same_sentence)
    # Below zero is sampling error of a small component; the others were solved for before.
    answer, sentence, rater, rest = (
        np.where(undefined, np.nan, np.maximum(v, 0.0)) for v in (answer, sentence, rater, rest)
    )
    return Components(answer, sentence, rater, rest, ratio(n, inverse))


def reliability(variances: Components, raters: Array | float, sentences: Array | float) -> Array:
    """Squared correlation of a mean over some raters and sentences with the answer's true mean.

    (v_answer + v_sentence / n) / (v_answer + v_sentence / s + v_rater / m + v_rest / (m s)), m
    raters and s of the n sentences, the same ones for all raters; the true mean is over all
    sentences. For whole answers it is Spearman and Brown's formula of ICC(1,1). nan where the
    components are, or where no component differs from zero.

    Source: Brennan 2001.

    >>> one = Components(*(np.array(v) for v in (1.0, 0.0, 0.0, 1.0, 1.0)))
    >>> reliability(one, 3, 1)
    array(0.75)
    """
    # An answer has no more sentences to rate than it has.
    s = np.minimum(sentences, variances.sentences)
    true = variances.answer + variances.sentence / variances.sentences
    return ratio(
        true,
        variances.answer
        + variances.sentence / s
        + variances.rater / raters
        + variances.rest / (raters * s),
    )


def raters_needed(variances: Components, target: float, sentences: Array | float) -> Array:
    """The mean number of raters an answer needs for a target reliability.

    m = (v_rater + v_rest / s) / ((v_answer + v_sentence / n) / target - v_answer - v_sentence / s),
    at least one. nan where no number of raters reaches the target.

    >>> one = Components(*(np.array(v) for v in (1.0, 0.0, 0.0, 1.0, 1.0)))
    >>> raters_needed(one, 0.8, 1)
    array(4.)
    """
    s = np.minimum(sentences, variances.sentences)
    room = (
        (variances.answer + variances.sentence / variances.sentences) / target
        - variances.answer
        - variances.sentence / s
    )
    noise = variances.rater + variances.rest / s
    return np.asarray(
        np.where(
            np.isnan(room), np.nan, np.maximum(ratio(noise, np.where(room > 0, room, 0.0)), 1.0)
        )
    )
