"""Coefficients of agreement from disagreements and margins, each with its gradient.

With o the observed and E the expected disagreement every coefficient here is 1 - c o / E, c a
number that makes them comparable. The gradients follow from dE = 2 (d p) dp of E = p . (d p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from konsil.stats.agreement.long_scales.disagreement import Disagreement
from konsil.stats.engine.arithmetic import WithGradient, mean_defined, ratio
from konsil.stats.engine.contract import Array

PairMeasure = Literal["percent", "cohen", "scott", "uniform"]
UnitMeasure = Literal["percent", "fleiss", "uniform", "gwet", "conger"]


@dataclass(frozen=True, eq=False)
class OverPairs(WithGradient):
    """The mean over pairs of raters of a measure of two raters, from `margins.pair_sums`.

    With n units, o the sum of their disagreements d, and r and c the margins of a pair: percent
    1 - o/n; uniform 1 - (o/n)/mean(d); cohen 1 - n o/(r d c); scott 1 - 4 n o/(m d m), m = r + c.
    Values (..., 1), nan where no pair is defined.

    Source: Cohen 1960, 1968; Scott 1955; Byrt, Bishop and Carlin 1993.
    """

    measure: PairMeasure
    """The measure of each pair."""
    kind: Disagreement
    """The disagreement of two labels."""
    place: int
    """Which of the tally's disagreements it is."""
    n_kinds: int
    """How many these are."""
    n_pairs: int
    """Pairs of raters."""
    by_units: bool = False
    """Whether a pair weighs as many units as it shares; else all pairs weigh alike."""

    def __call__(self, totals: Array) -> Array:
        """Compute the mean over the pairs, (..., k) to (..., 1)."""
        values = self.each(totals)
        if not self.by_units:
            return mean_defined(values)
        n = np.where(np.isnan(values), 0.0, totals[..., : self.n_pairs])
        weighted = (n * np.where(np.isnan(values), 0.0, values)).sum(-1, keepdims=True)
        return ratio(weighted, n.sum(-1, keepdims=True))

    def each(self, totals: Array) -> Array:
        """Compute every pair's value, (..., k) to (..., n_pairs)."""
        pairs = [self._pair(totals, pair)[0] for pair in range(self.n_pairs)]
        return np.stack(pairs, axis=-1) if pairs else np.zeros((*np.shape(totals)[:-1], 0))

    def gradient(self, totals: Array) -> Array:
        """The derivatives of the mean, (k,) to (k, 1)."""
        out = np.zeros(len(totals))
        values = self.each(totals)
        is_defined = np.isfinite(values)
        if not is_defined.any():
            return np.full((len(totals), 1), np.nan)
        n = totals[: self.n_pairs]
        size = n[is_defined].sum() if self.by_units else float(is_defined.sum())
        mean = float(self(totals)[0])
        for pair in np.flatnonzero(is_defined).tolist():
            weight = (n[pair] if self.by_units else 1.0) / size
            parts = self._derivatives(totals, pair)
            for place, slope in zip(self._places(pair), parts, strict=True):
                out[place] += weight * slope
            if self.by_units:
                out[pair] += (values[pair] - mean) / size
        return out[:, None]

    def _places(self, pair: int) -> tuple[slice, slice, slice, slice]:
        """Where a pair's n, disagreements and two margins are."""
        k, start = self.kind.n_labels, self.n_pairs * (1 + self.n_kinds)
        observed = (1 + self.place) * self.n_pairs + pair
        rows, columns = start + pair * k, start + (self.n_pairs + pair) * k
        return (
            slice(pair, pair + 1),
            slice(observed, observed + 1),
            slice(rows, rows + k),
            slice(columns, columns + k),
        )

    def _pair(self, totals: Array, pair: int) -> tuple[Array, Array]:
        """One pair's value and expected disagreement, each (...)."""
        n, observed, rows, columns = (totals[..., place] for place in self._places(pair))
        n, observed = n[..., 0], observed[..., 0]
        if self.measure == "percent":
            return 1 - ratio(observed, n), n
        if self.measure == "uniform":
            return 1 - ratio(observed, n) / self.kind.mean(), n
        if self.measure == "scott":
            rows = columns = rows + columns
        expected = np.einsum("...i,...i->...", self.kind.times(rows), columns)
        factor = 4.0 if self.measure == "scott" else 1.0
        return 1 - ratio(factor * n * observed, _above_rounding(expected, rows, columns)), expected

    def _derivatives(self, totals: Array, pair: int) -> tuple[Array | float, ...]:
        """The slopes of one pair's value by n, its disagreements and its margins."""
        n, observed, rows, columns = (totals[place] for place in self._places(pair))
        if self.measure in {"percent", "uniform"}:
            scale = self.kind.mean() if self.measure == "uniform" else 1.0
            return observed / n**2 / scale, -1 / n / scale, 0.0, 0.0
        _, expected = self._pair(totals, pair)
        if self.measure == "scott":
            pull = 8 * n * observed / expected**2 * self.kind.times(rows + columns)
            return -4 * observed / expected, -4 * n / expected, pull, pull
        pull = n * observed / expected**2
        return (
            -observed / expected,
            -n / expected,
            pull * self.kind.times(columns),
            pull * self.kind.times(rows),
        )


@dataclass(frozen=True, eq=False)
class OverUnits(WithGradient):
    """A coefficient of several raters, from `margins.unit_sums`.

    With D the mean disagreement within units, p the label shares, s_g the shares of rater g and m
    their mean, k labels: percent 1 - D; uniform 1 - D/mean(d); fleiss 1 - D/(p d p); gwet
    1 - D/(1 - pe), pe = sum(1 - d)/(k (k - 1)) sum p (1 - p); conger 1 - D/E,
    E = (R^2 m d m - sum_g s_g d s_g)/(R (R - 1)) over the R raters who gave labels. Values
    (..., 1).

    Source: Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, chapters 2 and 3.
    """

    measure: UnitMeasure
    """The coefficient."""
    kind: Disagreement
    """The disagreement of two labels."""
    place: int
    """Which of the tally's disagreements it is."""
    n_kinds: int
    """How many these are."""
    n_raters: int
    """Raters, whose margins are the last columns."""

    def __call__(self, totals: Array) -> Array:
        """Compute the coefficient, (..., k) to (..., 1)."""
        observed = ratio(totals[..., 1 + self.place], totals[..., 0])
        return np.asarray(1 - ratio(observed, self._expected(totals))[..., None])

    def gradient(self, totals: Array) -> Array:
        """The derivatives, (k,) to (k, 1)."""
        out = np.zeros(len(totals))
        n = totals[0]
        observed, expected = totals[1 + self.place] / n, self._expected(totals)
        if not (n > 0 and expected > 0):
            return np.full((len(totals), 1), np.nan)
        out[1 + self.place] = -1 / (n * expected)
        out[0] = observed / (n * expected)
        pull = observed / expected**2
        k, start = self.kind.n_labels, 1 + self.n_kinds
        shares, size = self._shares(totals), totals[start : start + k].sum()
        if self.measure in {"fleiss", "gwet"}:
            slope = (
                2 * self.kind.times(shares)
                if self.measure == "fleiss"
                else -self._gwet_factor() * (1 - 2 * shares)
            )
            out[start : start + k] = pull * (slope - slope @ shares) / size
        elif self.measure == "conger":
            out[start + k :] = pull * self._conger_slopes(totals).ravel()
        return out[:, None]

    def _shares(self, totals: Array) -> Array:
        start = 1 + self.n_kinds
        counts = totals[..., start : start + self.kind.n_labels]
        return ratio(counts, np.broadcast_to(counts.sum(-1, keepdims=True), counts.shape))

    def _gwet_factor(self) -> float:
        k = self.kind.n_labels
        return k * (1 - self.kind.mean()) / (k - 1)

    def _expected(self, totals: Array) -> Array:
        if self.measure == "percent":
            return np.ones(np.shape(totals)[:-1])
        if self.measure == "uniform":
            return np.full(np.shape(totals)[:-1], self.kind.mean())
        if self.measure == "conger":
            return self._conger_expected(totals)
        p = self._shares(totals)
        if self.measure == "gwet":
            return np.asarray(1 - self._gwet_factor() * (p * (1 - p)).sum(-1))
        expected = np.einsum("...i,...i->...", self.kind.times(p), p)
        return _above_rounding(expected, p, p)

    def _by_rater(self, totals: Array) -> tuple[Array, Array]:
        """Raters' shares (..., n_raters, n_labels) and numbers of labels (..., n_raters, 1)."""
        k = self.kind.n_labels
        margins = totals[..., 1 + self.n_kinds + k :]
        margins = margins.reshape(*margins.shape[:-1], self.n_raters, k)
        n = margins.sum(-1, keepdims=True)
        return np.divide(margins, n, out=np.zeros_like(margins), where=n > 0), n

    def _conger_expected(self, totals: Array) -> Array:
        shares, n = self._by_rater(totals)
        pooled = shares.sum(-2)
        active = (n[..., 0] > 0).sum(-1)
        everyone = np.einsum("...i,...i->...", self.kind.times(pooled), pooled)
        themselves = np.einsum("...gi,...gi->...", self.kind.times(shares), shares)
        # Below zero the difference is only rounding.
        expected = np.where(everyone - themselves > 1e-12 * everyone, everyone - themselves, 0.0)
        pairs = active * (active - 1.0)
        return np.asarray(np.divide(expected, pairs, out=np.zeros_like(expected), where=active > 1))

    def _conger_slopes(self, totals: Array) -> Array:
        """The derivatives of the expected disagreement by the raters' margins."""
        shares, n = self._by_rater(totals)
        active = float((n > 0).sum())
        slopes = 2 * (self.kind.times(shares.sum(0)) - self.kind.times(shares))
        slopes = slopes / (active * (active - 1))
        centred = slopes - (slopes * shares).sum(-1, keepdims=True)
        return np.asarray(np.divide(centred, n, out=np.zeros_like(centred), where=n > 0))


@dataclass(frozen=True, eq=False)
class Alpha(WithGradient):
    """Krippendorff's alpha from `margins.coincidence_sums`: 1 - (n - 1) o/(c d c).

    c are the counts of the labels of units with two and more, n their sum, o the disagreement
    within units. Values (..., 1). Source: Krippendorff 2011.
    """

    kind: Disagreement
    """The disagreement of two labels."""
    place: int
    """Which of the tally's disagreements it is."""
    n_kinds: int
    """How many these are."""

    def __call__(self, totals: Array) -> Array:
        """Compute alpha, (..., k) to (..., 1)."""
        counts = totals[..., self.n_kinds :]
        n = counts.sum(-1)
        expected = np.einsum("...i,...i->...", self.kind.times(counts), counts)
        defined = (n > 1) & ((counts > 0).sum(-1) > 1)
        observed = totals[..., self.place]
        return np.asarray(
            1 - ratio((n - 1) * observed, np.where(defined, expected, 0.0))[..., None]
        )

    def gradient(self, totals: Array) -> Array:
        """The derivatives, (k,) to (k, 1)."""
        counts, observed = totals[self.n_kinds :], totals[self.place]
        n, products = counts.sum(), self.kind.times(counts)
        expected = products @ counts
        if not np.isfinite(self(totals)[0]):
            return np.full((len(totals), 1), np.nan)
        out = np.zeros(len(totals))
        out[self.place] = -(n - 1) / expected
        out[self.n_kinds :] = -observed / expected + 2 * (n - 1) * observed / expected**2 * products
        return out[:, None]


@dataclass(frozen=True, eq=False)
class Chance(WithGradient):
    """Agreement of two labels drawn from all labels given, from `margins.label_sums`.

    1 - p d p, p the shares of the labels. Values (..., 1), nan without labels. Source: convention.
    """

    kind: Disagreement
    """The disagreement of two labels."""

    def __call__(self, totals: Array) -> Array:
        """Compute the chance level, (..., n_labels) to (..., 1)."""
        p = ratio(totals, np.broadcast_to(totals.sum(-1, keepdims=True), totals.shape))
        return np.asarray(1 - np.einsum("...i,...i->...", self.kind.times(p), p)[..., None])

    def gradient(self, totals: Array) -> Array:
        """The derivatives, (n_labels,) to (n_labels, 1)."""
        p = totals / totals.sum()
        slopes = 2 * self.kind.times(p)
        return np.asarray(((slopes @ p - slopes) / totals.sum())[:, None])


def _above_rounding(expected: Array, rows: Array, columns: Array) -> Array:
    """Zero for what is only rounding: both margins have one and the same label."""
    varied = ((rows > 0) | (columns > 0)).sum(-1) > 1
    return np.where(varied, expected, 0.0)
