"""Blinding indices from raters' guesses of the answer's system, or of their own arm."""

from __future__ import annotations

import math

import numpy as np

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, IntArray

JAMES = "James, Bloch, Lee, Kraemer and Fuller, Stat Med 15:1421, 1996"
BANG = "Bang, Ni and Davis, Control Clin Trials 25:143, 2004"


def blinding_sums(truth: IntArray, guess: IntArray, clusters: IntArray, n_treatments: int) -> Array:
    """Tally guesses by truth: for each of k treatments its k guesses, then no guess.

    Returns (n_clusters, k (k + 1)).

    `truth` (n_guesses,) is 0 .. k - 1, `guess` (n_guesses,) 0 .. k - 1, or k for "cannot tell";
    `clusters` (n_guesses,) 0 .. n_clusters - 1.

    >>> blinding_sums(np.array([0, 0, 1]), np.array([0, 2, 0]), np.array([0, 0, 1]), 2)
    array([[1., 0., 1., 0., 0., 0.],
           [0., 0., 0., 1., 0., 0.]])
    """
    width = n_treatments * (n_treatments + 1)
    n = int(clusters.max()) + 1 if clusters.size else 0
    place = clusters * width + truth * (n_treatments + 1) + guess
    return np.bincount(place, minlength=n * width).reshape(n, width).astype(np.float64)


def _tables(totals: Array) -> Array:
    """Totals (..., k (k + 1)) as tables (..., k, k + 1)."""
    k = (math.isqrt(4 * totals.shape[-1] + 1) - 1) // 2
    return np.asarray(totals, dtype=np.float64).reshape(*totals.shape[:-1], k, k + 1)


def james_index(totals: Array) -> Array:
    """James' blinding index of all treatments together, from 0 to 1; 0.5 is guessing by chance.

    1: no rater identifies the treatment; 0: all raters do. (1 + d + (1 - d) K) / 2 with d the
    proportion of "cannot tell" and K = (O - E) / E among those who guess: O is half the proportion
    of wrong guesses, E half of that expected if guesses did not depend on the truth. `totals` (...,
    k (k + 1)) of `blinding_sums`, values (..., 1). 1 where no rater guesses; nan without raters,
    and where only one treatment was given and guessed, so that no guess could be wrong.

    Source: James, Bloch, Lee, Kraemer and Fuller (1996), An index for assessing blindness in a
    multi-centre clinical trial.

    >>> james_index(np.array([82.0, 25, 170, 27, 29, 83])).round(2)
    array([0.75])
    """
    tables = _tables(totals)
    everybody = tables.sum((-2, -1))
    guessed = tables[..., :-1]
    n = guessed.sum((-2, -1))
    wrong = n - np.trace(guessed, axis1=-2, axis2=-1)
    agree_by_chance = (guessed.sum(-1) * guessed.sum(-2)).sum(-1)
    chance = n - ratio(agree_by_chance, n)
    unable = ratio(everybody - n, everybody)
    k = ratio(wrong - chance, chance)
    # Where nobody guessed, blinding is complete by definition, and not undefined.
    index = np.where(n > 0, (1 + unable + (1 - unable) * k) / 2, 1.0)
    return np.where(everybody > 0, index, np.nan)[..., None]


def bang_index(totals: Array) -> Array:
    """Bang's blinding index of each treatment, from -1 to 1; 0 is guessing by chance.

    1: all raters identify the treatment; below 0: raters tend to guess another one. (right - wrong
    / (k - 1)) / n over all n raters of the treatment, "cannot tell" included: for k = 2 the
    published right minus wrong; with more treatments wrong guesses are divided by the number of
    wrong treatments. `totals` (..., k (k + 1)) of `blinding_sums`, values (..., k). nan for a
    treatment without raters, and for k = 1.

    Source: Bang, Ni and Davis (2004), Assessment of blinding in clinical trials.

    >>> bang_index(np.array([82.0, 25, 170, 27, 29, 83])).round(2)
    array([0.21, 0.01])
    """
    tables = _tables(totals)
    k = tables.shape[-2]
    if k < 2:
        return np.full(tables.shape[:-1], np.nan)
    guessed = tables[..., :-1]
    right = np.diagonal(guessed, axis1=-2, axis2=-1)
    wrong = guessed.sum(-1) - right
    return ratio(right - wrong / (k - 1), tables.sum(-1))
