"""Disagreement of labels and its expectation, without a matrix of labels by labels.

A statistic of agreement needs the disagreement d of the labels of a pair, and sums of d over the
products of two margins. The latter are p . (d q), and d q has a closed form for every named kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from konsil.stats.engine.contract import Array, Codes
from konsil.stats.engine.distances import Weights, disagreements, label_values

MOST_CELLS = 1 << 21
"""The largest matrix of labels by labels (16 MB), for weights without a closed form."""

_STEP = 0.25
"""Step of the trapezoid rule for ratios: its error is below 1e-14 of the largest value."""

_MATRIX_LABELS = 256
"""Up to this many labels a matrix product is cheaper than the trapezoid rule."""


@dataclass(frozen=True, eq=False)
class Disagreement:
    """How much two labels of a long scale disagree, from 0 to 1.

    `kind` is a name of `agreement_weights`, or `within_one`: 1 for labels more than one step apart.
    With x the labels' numbers, D their range and g = |i - j| the steps between two labels, (d q)_i
    with Q = sum q is: unweighted Q - q_i; within_one Q - q_(i-1) - q_i - q_(i+1); quadratic
    (x_i^2 Q - 2 x_i sum(x q) + sum(x^2 q)) / D^2; linear from the cumulated sums of q and x q;
    ordinal from both, as g (g + 1) = g^2 + g; ratio Q - 4 x_i integral of t exp(-t x_i)
    sum(q x exp(-t x)) dt over t > 0, since (a - b)^2 / (a + b)^2 = 1 - 4ab / (a + b)^2 and
    1 / s^2 = integral of t exp(-t s) dt. `radical` weights and own matrices have no such form: they
    keep their matrix, of MOST_CELLS cells at most.

    Source: Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, chapter 3; the closed forms:
    ours. The trapezoid rule: Trefethen and Weideman, SIAM Rev 56:385, 2014.

    >>> quadratic = Disagreement("quadratic", 3)
    >>> quadratic.between(np.array([0, 0]), np.array([1, 2])), quadratic.times(np.array([1., 2, 3]))
    (array([0.25, 1.  ]), array([3.5, 1. , 1.5]))
    """

    kind: str
    """The name of the weights, `within_one`, or `own`."""
    n_labels: int
    """How many labels the scale has."""
    values: tuple[float, ...] | None = None
    """The labels' numbers; None: 0, 1, 2, ..."""
    matrix: Array | None = None
    """(n_labels, n_labels) where it is a matrix."""

    @cached_property
    def numbers(self) -> Array:
        """The labels' numbers around the middle of their range, (n_labels,)."""
        x = self._values
        return x if self.kind == "ratio" else np.asarray(x - (x.max() + x.min()) / 2)

    @cached_property
    def _values(self) -> Array:
        # Steps count labels, whatever their numbers are.
        steps = self.kind in {"ordinal", "within_one"}
        return label_values(self.n_labels, None if steps else self.values)

    @cached_property
    def widest(self) -> float:
        """The disagreement of the two extreme labels, before it is divided by itself."""
        low, high = float(self._values.min()), float(self._values.max())
        if self.kind == "ratio":
            return ((high - low) / (high + low)) ** 2
        gap = high - low
        by_kind = {"quadratic": gap**2, "ordinal": gap * (gap + 1) / 2}
        return by_kind.get(self.kind, gap)

    def between(self, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]]) -> Array:
        """The disagreement of labels with labels, place by place."""
        if self.matrix is not None:
            return np.asarray(self.matrix[a, b])
        if self.kind == "unweighted":
            return np.asarray(a != b, dtype=np.float64)
        x = self._values
        gap = np.abs(x[a] - x[b])
        if self.kind == "within_one":
            return np.asarray(gap > 1, dtype=np.float64)
        if self.kind == "ratio":
            total = x[a] + x[b]
            gap = np.square(np.divide(gap, total, out=np.zeros_like(gap), where=total > 0))
        elif self.kind == "quadratic":
            gap = gap * gap
        elif self.kind == "ordinal":
            gap = gap * (gap + 1) / 2
        return np.asarray(gap / self.widest)

    def times(self, q: Array) -> Array:
        """The products d q of the disagreements with margins, (..., n_labels)."""
        if self.matrix is not None:
            return np.asarray(q @ self.matrix)
        total = q.sum(-1, keepdims=True)
        if self.kind == "unweighted":
            return np.asarray(total - q)
        if self.kind == "within_one":
            near = q.copy()
            near[..., 1:] += q[..., :-1]
            near[..., :-1] += q[..., 1:]
            return np.asarray(total - near)
        if self.kind == "ratio":
            return np.asarray((total - self._ratio_products(q)) / self.widest)
        if self.kind == "ordinal":
            return np.asarray((self._squares(q) + self._gaps(q)) / (2 * self.widest))
        products = self._squares(q) if self.kind == "quadratic" else self._gaps(q)
        return np.asarray(products / self.widest)

    def mean(self) -> float:
        """The mean over all ordered pairs of labels, equal ones among them."""
        return float(self.times(np.ones(self.n_labels)).sum() / self.n_labels**2)

    def _squares(self, q: Array) -> Array:
        x = self.numbers
        first, second = (q @ x)[..., None], (q @ (x * x))[..., None]
        return np.asarray(x * x * q.sum(-1, keepdims=True) - 2 * x * first + second)

    def _gaps(self, q: Array) -> Array:
        order = np.argsort(self.numbers, kind="stable")
        x, q = self.numbers[order], q[..., order]
        below, moment = np.cumsum(q, -1), np.cumsum(q * x, -1)
        sums = x * (2 * below - below[..., -1:]) + moment[..., -1:] - 2 * moment
        out = np.empty_like(sums)
        out[..., order] = sums
        return out

    def _ratio_products(self, q: Array) -> Array:
        """Sums of 4ab / (a + b)^2 over the labels b with margins q; 1 for two zeros."""
        x = self._values
        positive = x > 0
        out = np.where(positive, 0.0, q)
        x, part = x[positive], q[..., positive]
        if not x.size:
            return out
        lowest = -20.0 - np.log(2 * x.max())
        n_nodes = int((np.log(25 / x.min()) - lowest) / _STEP) + 1
        sums = np.zeros_like(part)
        for t in np.exp(lowest + _STEP * np.arange(n_nodes)):
            decay = np.exp(-t * x) * (t * x)
            sums += (part @ decay)[..., None] * decay
        out[..., positive] = 4 * _STEP * sums
        return out


def disagreement(
    weights: Weights, n_labels: int, values: tuple[float, ...] | None = None
) -> Disagreement:
    """The disagreement by agreement weights, a name or a matrix, or `within_one`.

    Raises ValueError for weights that are none, for values that are not distinct and, of ratios,
    below zero.

    >>> disagreement("linear", 3).times(np.array([1.0, 0.0, 1.0]))
    array([1., 1., 1.])
    """
    closed = isinstance(weights, str) and weights != "radical"
    if closed and weights == "ratio" and min(label_values(n_labels, values)) < 0:
        raise ValueError("values: ratios need numbers of at least 0")
    if not closed or (weights == "ratio" and n_labels <= _MATRIX_LABELS):
        kind = weights if isinstance(weights, str) else "own"
        return Disagreement(kind, n_labels, values, disagreements(weights, n_labels, values))
    scale = Disagreement(str(weights), n_labels, values)
    if scale.kind not in {"unweighted", "within_one"} and not 0 < scale.widest < np.inf:
        raise ValueError(f"weights: {scale.kind} weights need distinct values")
    return scale


def of_codes(weights: Weights, codes: Codes) -> Disagreement:
    """The disagreement on the scale of some codes."""
    return disagreement(weights, codes.n_labels, codes.values)
