"""Statistics of ranks on long scales, as functions of the units' weights.

Mid-ranks change with every resample, so that no few sums of a cluster decide them. The sums are
each cluster's units, of which there is one column each, and a resample's totals are the units'
weights. Their derivatives have closed forms: a unit moves the ranks of the labels above its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from konsil.stats.engine.arithmetic import WithGradient, mean_defined, ratio
from konsil.stats.engine.cluster_sums import Sparse
from konsil.stats.engine.contract import Array, Codes, IntArray

_MATRIX_UNITS = 1024
"""Up to this many units concordance is a product with the signs of every two units (8 MB)."""


def compared(codes: Codes) -> Codes:
    """The units with at least two labels.

    >>> compared(Codes(np.array([[0, 1], [2, -1]]), np.array([0, 1]), 3)).labels.tolist()
    [[0, 1]]
    """
    units = np.flatnonzero((codes.labels >= 0).sum(axis=1) >= 2)
    return replace(codes, labels=codes.labels[units], clusters=codes.clusters[units])


def unit_members(codes: Codes) -> Sparse:
    """Tally which clusters the compared units are in, (n_clusters, n_units), one 1 a column.

    >>> unit_members(Codes(np.array([[0, 1], [2, -1], [1, 1]]), np.array([0, 1, 0]), 3)).toarray()
    array([[1., 1.],
           [0., 0.]])
    """
    clusters = compared(codes).clusters
    places = np.arange(len(clusters))
    shape = (codes.n_clusters, len(clusters))
    return scipy.sparse.csr_matrix((np.ones(len(clusters)), (clusters, places)), shape=shape)


def label_weights(labels: IntArray, n_labels: int, weights: Array) -> Array:
    """The weight of each label (..., n_labels), of labels (n_units, m), weights (..., n_units).

    >>> label_weights(np.array([[0, 1], [1, -1]]), 2, np.array([2.0, 1.0]))
    array([2., 3.])
    """
    units, places = np.nonzero(labels >= 0)
    member = scipy.sparse.csr_matrix(
        (np.ones(len(units)), (units, labels[units, places])), shape=(len(labels), n_labels)
    )
    flat = np.reshape(weights, (-1, np.shape(weights)[-1]))
    counts = np.asarray((member.T @ flat.T).T, dtype=np.float64)
    return counts.reshape(*np.shape(weights)[:-1], n_labels)


def centred_ranks(counts: Array) -> Array:
    """Mid-ranks of the labels around their mean, (..., n_labels).

    >>> centred_ranks(np.array([1.0, 2.0]))
    array([-1. ,  0.5])
    """
    return np.asarray(np.cumsum(counts, -1) - counts / 2 - counts.sum(-1, keepdims=True) / 2)


def through_ranks(slopes: Array) -> Array:
    """Derivatives by the labels' counts from those by their mid-ranks, (n_labels,) each.

    A label's rank is the counts below it and half its own.

    >>> through_ranks(np.array([1.0, 2.0, 4.0]))
    array([6.5, 5. , 2. ])
    """
    above = np.cumsum(slopes[::-1])[::-1]
    return np.asarray(above - slopes / 2)


def _squares(counts: Array, ranks: Array) -> Array:
    """The sum of squares of ranks, (..., n_labels) to (...,)."""
    return np.asarray((counts * ranks * ranks).sum(-1))


def _squares_slopes(counts: Array, ranks: Array) -> Array:
    """Its derivatives by the counts, (n_labels,)."""
    return np.asarray(ranks * ranks + through_ranks(2 * counts * ranks))


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
        flat = np.reshape(totals, (-1, np.shape(totals)[-1]))
        columns = []
        for first, second, units in self._pairs():
            pair = _PairRanks(first, second, self.n_labels)
            some = flat[:, units]
            columns.append(pair.tau(some) if self.tau else pair.rho(some))
        values = np.stack(columns, axis=-1) if columns else np.zeros((len(flat), 0))
        return values.reshape(*np.shape(totals)[:-1], -1)

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
        return _divide_root(joint, _squares(a, ranks_a), _squares(b, ranks_b))

    def rho_slopes(self, weights: Array) -> Array:
        """The derivatives of rho by the units' weights, (n_units,)."""
        a, b = self._counts(weights)
        ranks_a, ranks_b = centred_ranks(a), centred_ranks(b)
        of_a, of_b = ranks_a[self.first], ranks_b[self.second]
        pulled_a = np.bincount(self.first, weights * of_b, self.n_labels)
        pulled_b = np.bincount(self.second, weights * of_a, self.n_labels)
        joint = of_a * of_b
        joint += through_ranks(pulled_a)[self.first] + through_ranks(pulled_b)[self.second]
        squares_a, squares_b = _squares(a, ranks_a), _squares(b, ranks_b)
        slopes_a, slopes_b = _squares_slopes(a, ranks_a), _squares_slopes(b, ranks_b)
        root = np.sqrt(squares_a) * np.sqrt(squares_b)
        value = (weights * of_a * of_b).sum() / root
        own = slopes_a[self.first] / squares_a + slopes_b[self.second] / squares_b
        return np.asarray(joint / root - value / 2 * own)

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
        own = (n - a[self.first]) / untied_a + (n - b[self.second]) / untied_b
        return np.asarray(2 * concordant / root - value * own)


@dataclass(frozen=True, eq=False)
class Concordance(WithGradient):
    """Kendall's W over the units that every rater labelled; totals (..., n_units).

    sum of squared rank sums over raters times the raters' sums of squared ranks, all around their
    means: the same number as `engine.ranks.kendall_w` with ties. Values (..., 1). Source: Kendall
    1948.
    """

    labels: IntArray
    """(n_units, n_raters) of the compared units."""
    n_labels: int
    """Labels of the scale."""

    def __call__(self, totals: Array) -> Array:
        """Compute W, (..., n_units) to (..., 1)."""
        units = self._complete()
        weights = totals[..., units]
        sums, within = np.zeros(weights.shape), np.zeros(weights.shape[:-1])
        for column in self.labels[units].T:
            counts = label_weights(column[:, None], self.n_labels, weights)
            ranks = centred_ranks(counts)
            sums += ranks[..., column]
            within += _squares(counts, ranks)
        n_raters = self.labels.shape[1]
        enough = (weights.sum(-1) > 1) & (n_raters > 1)
        above = (weights * sums * sums).sum(-1)
        return ratio(above, n_raters * np.where(enough, within, 0.0))[..., None]

    def gradient(self, totals: Array) -> Array:
        """The derivatives by the units' weights, (n_units,) to (n_units, 1)."""
        value = float(self(totals)[0])
        out = np.zeros((len(totals), 1))
        units = self._complete()
        weights, labels = totals[units], self.labels[units]
        counts = [label_weights(c[:, None], self.n_labels, weights) for c in labels.T]
        ranks = [centred_ranks(c) for c in counts]
        sums = np.sum([r[column] for r, column in zip(ranks, labels.T, strict=True)], axis=0)
        above, within = sums * sums, np.zeros(len(units))
        for column, of_label, rank in zip(labels.T, counts, ranks, strict=True):
            pulled = np.bincount(column, 2 * weights * sums, self.n_labels)
            above += through_ranks(pulled)[column]
            within += _squares_slopes(of_label, rank)[column]
        n_raters = self.labels.shape[1]
        squares = sum(float(_squares(c, r)) for c, r in zip(counts, ranks, strict=True))
        out[units, 0] = (above / n_raters - value * within) / squares
        return out if np.isfinite(value) else np.full_like(out, np.nan)

    def _complete(self) -> IntArray:
        return np.flatnonzero((self.labels >= 0).all(axis=1))


@dataclass(frozen=True, eq=False)
class OrdinalAlpha(WithGradient):
    """Krippendorff's ordinal alpha: interval alpha of the pooled mid-ranks; totals (..., n_units).

    1 - (n - 1) O/(n V): v the mid-ranks of the labels among those of units with two and more, V
    their sum of squares around their mean, O = sum over units (m sum v^2 - (sum v)^2)/(m - 1), m
    the unit's number of labels. Values (..., 1). Source: Krippendorff 2011.
    """

    labels: IntArray
    """(n_units, n_raters) of the compared units."""
    n_labels: int
    """Labels of the scale."""

    def __call__(self, totals: Array) -> Array:
        """Compute alpha, (..., n_units) to (..., 1)."""
        counts = label_weights(self.labels, self.n_labels, totals)
        ranks, n = centred_ranks(counts), counts.sum(-1)
        observed = (totals * self._within(ranks)).sum(-1)
        defined = (n > 1) & ((counts > 0).sum(-1) > 1)
        expected = n * _squares(counts, ranks)
        return np.asarray(
            1 - ratio((n - 1) * observed, np.where(defined, expected, 0.0))[..., None]
        )

    def gradient(self, totals: Array) -> Array:
        """The derivatives by the units' weights, (n_units,) to (n_units, 1)."""
        counts = label_weights(self.labels, self.n_labels, totals)
        ranks, n = centred_ranks(counts), counts.sum()
        within, squares = self._within(ranks), float(_squares(counts, ranks))
        observed = float(totals @ within)
        if not np.isfinite(self(totals)[0]):
            return np.full((len(totals), 1), np.nan)
        is_given = self.labels >= 0
        m = is_given.sum(axis=1, keepdims=True)
        v = np.where(is_given, ranks[self.labels], 0.0)
        pull = 2 * (totals[:, None] / (m - 1)) * (m * v - v.sum(axis=1, keepdims=True))
        pulled = np.bincount(self.labels[is_given], pull[is_given], self.n_labels)
        by_label = through_ranks(pulled)
        more = np.where(is_given, by_label[self.labels], 0.0).sum(axis=1) + within
        own = _squares_slopes(counts, ranks)
        spread = np.where(is_given, own[self.labels], 0.0).sum(axis=1)
        factor = (n - 1) / n
        slopes = factor * (more / squares - observed / squares**2 * spread)
        slopes += m[:, 0] / n**2 * observed / squares
        return np.asarray(-slopes[:, None])

    def _within(self, ranks: Array) -> Array:
        """Each unit's disagreement, (..., n_units)."""
        is_given = self.labels >= 0
        m = is_given.sum(axis=1)
        v = np.where(is_given, ranks[..., self.labels], 0.0)
        return np.asarray((m * (v * v).sum(-1) - v.sum(-1) ** 2) / np.maximum(m - 1, 1))


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
            mine = upper == is_upper
            sums[by_prefix[mine]] += signs[mine] if is_upper else -signs[mine]
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
