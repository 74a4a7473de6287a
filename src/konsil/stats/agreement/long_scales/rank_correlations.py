"""Rank correlations of two raters on long scales, averaged over the pairs of raters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from konsil.stats.agreement.long_scales.ranks import (
    centred_ranks,
    label_weights,
    squares,
    squares_slopes,
    through_ranks,
)
from konsil.stats.engine.arithmetic import WithGradient, mean_defined, ratio
from konsil.stats.engine.contract import Array, IntArray

_MATRIX_UNITS = 1024
"""Up to this many units concordance is a product with the signs of every two units (8 MB)."""


def _divide_root(above: Array, a: Array, b: Array) -> Array:
    return ratio(above, np.sqrt(np.maximum(a, 0)) * np.sqrt(np.maximum(b, 0)))


@dataclass(frozen=True, eq=False)
class RankCorrelation(WithGradient):
    """Spearman's rho or Kendall's tau-b, averaged over the pairs of raters; totals (..., n_units).

    Spearman: the correlation of mid-ranks. Tau-b: (C - D)/sqrt((N - ties of a)(N - ties of b)).
    The same numbers as `engine.ranks.spearman` and `kendall_tau_b`. Values (..., 1), nan where no
    pair is defined. Source: Spearman 1904; Kendall 1945.
    """

    labels: IntArray
    """(n_units, n_raters) of the compared units."""
    n_labels: int
    """Labels of the scale."""
    tau: bool
    """Whether it is tau-b."""
    by_units: bool = False
    """Whether a pair weighs as many units as it shares."""

    def __call__(self, totals: Array) -> Array:
        """Compute the mean over the pairs, (..., n_units) to (..., 1)."""
        values, sizes = self.each(totals), self._sizes(totals)
        if not self.by_units:
            return mean_defined(values)
        n = np.where(np.isnan(values), 0.0, sizes)
        weighted = (n * np.where(np.isnan(values), 0.0, values)).sum(-1, keepdims=True)
        return ratio(weighted, n.sum(-1, keepdims=True))

    def each(self, totals: Array) -> Array:
        """Compute every pair's value, (..., n_units) to (..., n_pairs)."""
        *leading, n_units = np.shape(totals)
        flat = np.reshape(totals, (math.prod(leading), n_units))
        columns = []
        for first, second, units in self._pairs():
            pair = _PairRanks(first, second, self.n_labels)
            some = flat[:, units]
            columns.append(pair.tau(some) if self.tau else pair.rho(some))
        values = np.stack(columns, axis=-1) if columns else np.zeros((len(flat), 0))
        return values.reshape(*leading, values.shape[-1])

    def gradient(self, totals: Array) -> Array:
        """The derivatives by the units' weights, (n_units,) to (n_units, 1)."""
        out, values = np.zeros(len(totals)), self.each(totals)
        is_defined = np.isfinite(values)
        if not is_defined.any():
            return np.full((len(totals), 1), np.nan)
        n = self._sizes(totals)
        size = n[is_defined].sum() if self.by_units else float(is_defined.sum())
        mean = float(self(totals)[0])
        for number, (first, second, units) in enumerate(self._pairs()):
            if not is_defined[number]:
                continue
            pair = _PairRanks(first, second, self.n_labels)
            slopes = (pair.tau_slopes if self.tau else pair.rho_slopes)(totals[units])
            weight = n[number] if self.by_units else 1.0
            out[units] += weight * slopes / size
            if self.by_units:
                out[units] += (values[number] - mean) / size
        return out[:, None]

    def _sizes(self, totals: Array) -> Array:
        sizes = [totals[..., units].sum(-1) for _, _, units in self._pairs()]
        return np.stack(sizes, axis=-1) if sizes else np.zeros((*np.shape(totals)[:-1], 0))

    def _pairs(self) -> list[tuple[IntArray, IntArray, IntArray]]:
        """The labels of every two raters on the units that both labelled, and these units."""
        pairs = []
        for a, b in zip(*np.triu_indices(self.labels.shape[1], 1), strict=True):
            units = np.flatnonzero((self.labels[:, a] >= 0) & (self.labels[:, b] >= 0))
            pairs.append((self.labels[units, a], self.labels[units, b], units))
        return pairs


@dataclass(frozen=True, eq=False)
class _PairRanks:
    """Two raters' labels of the same units."""

    first: IntArray
    second: IntArray
    n_labels: int

    def _counts(self, weights: Array) -> tuple[Array, Array]:
        a = label_weights(self.first[:, None], self.n_labels, weights)
        return a, label_weights(self.second[:, None], self.n_labels, weights)

    def rho(self, weights: Array) -> Array:
        """Spearman's rho, (n, n_units) to (n,)."""
        a, b = self._counts(weights)
        ranks_a, ranks_b = centred_ranks(a), centred_ranks(b)
        joint = (weights * ranks_a[:, self.first] * ranks_b[:, self.second]).sum(-1)
        return _divide_root(joint, squares(a, ranks_a), squares(b, ranks_b))

    def rho_slopes(self, weights: Array) -> Array:
        """The derivatives of rho by the units' weights, (n_units,)."""
        a, b = self._counts(weights)
        ranks_a, ranks_b = centred_ranks(a), centred_ranks(b)
        of_a, of_b = ranks_a[self.first], ranks_b[self.second]
        pulled_a: Array = np.bincount(self.first, weights * of_b, self.n_labels).astype(np.float64)
        pulled_b: Array = np.bincount(self.second, weights * of_a, self.n_labels).astype(np.float64)
        joint = of_a * of_b
        joint += through_ranks(pulled_a)[self.first] + through_ranks(pulled_b)[self.second]
        squares_a, squares_b = squares(a, ranks_a), squares(b, ranks_b)
        slopes_a, slopes_b = squares_slopes(a, ranks_a), squares_slopes(b, ranks_b)
        root = np.sqrt(squares_a) * np.sqrt(squares_b)
        value = (weights * of_a * of_b).sum() / root
        spread = slopes_a[self.first] / squares_a + slopes_b[self.second] / squares_b
        return np.asarray(joint / root - value / 2 * spread)

    def tau(self, weights: Array) -> Array:
        """Kendall's tau-b, (n, n_units) to (n,)."""
        a, b = self._counts(weights)
        n = weights.sum(-1)
        if len(self.first) <= _MATRIX_UNITS:
            signs = np.sign(np.subtract.outer(self.first, self.first))
            signs = signs * np.sign(np.subtract.outer(self.second, self.second))
            joint = ((weights @ signs.astype(np.float64)) * weights).sum(-1)
        else:
            joint = np.array([(w * concordance(self.first, self.second, w)).sum() for w in weights])
        return _divide_root(joint, n * n - (a * a).sum(-1), n * n - (b * b).sum(-1))

    def tau_slopes(self, weights: Array) -> Array:
        """The derivatives of tau-b by the units' weights, (n_units,)."""
        a, b = self._counts(weights)
        n = weights.sum()
        concordant = concordance(self.first, self.second, weights)
        untied_a, untied_b = n * n - a @ a, n * n - b @ b
        root = np.sqrt(untied_a) * np.sqrt(untied_b)
        value = (weights * concordant).sum() / root
        spread = (n - a[self.first]) / untied_a + (n - b[self.second]) / untied_b
        return np.asarray(2 * concordant / root - value * spread)


def concordance(a: IntArray, b: IntArray, weights: Array) -> Array:
    """Each unit's weight of concordant units less that of discordant ones, (n,).

    sum_j w_j sign(a_i - a_j) sign(b_i - b_j), in n log^2 n steps: two units that differ in a do so
    first in one binary digit, so that for each digit those with a 0 are below those with a 1 that
    share the digits before; among them, sorted by b, cumulated weights give the signs of b.

    >>> concordance(np.array([0, 1, 2]), np.array([0, 2, 1]), np.ones(3))
    array([2., 0., 0.])
    """
    order = np.argsort(b, kind="stable")
    a, b, weights = a[order].astype(np.int64), b[order].astype(np.int64), weights[order]
    sums = np.zeros(len(a))
    for digit in range(int(a.max(initial=0)).bit_length()):
        prefix = a >> (digit + 1)
        by_prefix = np.argsort(prefix, kind="stable")
        group, level = prefix[by_prefix], b[by_prefix]
        upper = ((a[by_prefix] >> digit) & 1).astype(bool)
        some = weights[by_prefix]
        starts, ends = _runs(group)
        tie_starts, tie_ends = _runs(level, group)
        for is_upper in (True, False):
            cumulated = np.concatenate([[0.0], np.cumsum(np.where(upper == is_upper, 0.0, some))])
            signs = cumulated[tie_starts] - cumulated[starts]
            signs -= cumulated[ends] - cumulated[tie_ends]
            of_rater = upper == is_upper
            sums[by_prefix[of_rater]] += signs[of_rater] if is_upper else -signs[of_rater]
    out = np.empty_like(sums)
    out[order] = sums
    return out


def _runs(*keys: IntArray) -> tuple[IntArray, IntArray]:
    """Where each entry's run of equal keys starts and ends, of keys in order."""
    n = len(keys[0])
    is_new = np.ones(n, dtype=bool)
    is_new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    starts = np.flatnonzero(is_new)
    run = np.cumsum(is_new) - 1
    return starts[run], np.append(starts, n)[1:][run]
