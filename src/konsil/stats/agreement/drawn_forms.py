"""Forms of coefficients whose draws of a posterior have no error of their own.

The chance term of some coefficients depends on how unequal the shares of labels are. Shares of a
sample are more unequal than those of its population, and shares of a draw are so a second time: all
draws of the coefficient are too high where raters agree by chance.

Cohen's and Conger's kappa take chance from each rater's own shares. Raters with one and the same
distribution differ in theirs by chance; the same sums give the coefficient with common shares,
whose draws are moved to the coefficient itself. Gwet's AC1 and AC2 take chance from p (1 - p) of
the shares p: the variance of the shares is added to it twice, for the sample and for the draw, up
to p (1 - p) of equal shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from konsil.stats.agreement.kappa import MeanOfTables, scott_pi_of
from konsil.stats.agreement.long_scales.coefficients import OverPairs, OverUnits
from konsil.stats.agreement.multirater import conger_of, fleiss_of, gwet_of
from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array, Finalise


@dataclass(frozen=True, eq=False)
class PooledTables:
    """A finalise: Scott's pi of the sum of all pairs' tables, weighted by disagreements.

    For raters who all labelled all units it is Fleiss' kappa.
    """

    d: Array
    """(n_labels, n_labels) disagreements."""

    def __call__(self, totals: Array) -> Array:
        """Compute the coefficient, (..., n_pairs * n_labels^2) to (..., 1)."""
        tables = np.asarray(totals, dtype=np.float64)
        summed = tables.reshape(*tables.shape[:-1], -1, self.d.size).sum(axis=-2)
        return scott_pi_of(summed, self.d)[..., None]


@dataclass(frozen=True, eq=False)
class PooledPairs:
    """The same from the margins of the pairs, `margins.pair_sums`, of a long scale."""

    pairs: OverPairs
    """The coefficient of each pair with the raters' own margins."""

    def __call__(self, totals: Array) -> Array:
        """Compute the coefficient, (..., k) to (..., 1)."""
        n, k = self.pairs.n_pairs, self.pairs.kind.n_labels
        summed = np.asarray(totals, dtype=np.float64)
        head, margins = np.split(summed, [n * (1 + self.pairs.n_kinds)], axis=-1)
        parts = [
            part.reshape(*summed.shape[:-1], -1, n, size).sum(axis=-2)
            for part, size in ((head, 1), (margins, k))
        ]
        flat = [part.reshape(*summed.shape[:-1], -1) for part in parts]
        alone = replace(self.pairs, measure="scott", n_pairs=1, by_units=False)
        return alone(np.concatenate(flat, axis=-1))


@dataclass(frozen=True, eq=False)
class Moved:
    """A finalise and a constant."""

    finalise: Finalise
    """Totals (..., k) to (..., 1)."""
    by: float
    """What is added."""

    def __call__(self, totals: Array) -> Array:
        """Compute the values, (..., k) to (..., 1)."""
        return np.asarray(self.finalise(totals) + self.by)


@dataclass(frozen=True, eq=False)
class WithSpread:
    """Gwet's AC with something added to sum(p (1 - p)), up to that of equal shares.

    1 - (1 - AC) (1 - f u) / (1 - f min(u + spread, 1 - 1/k)), u = sum(p (1 - p)) of the shares p of
    k labels, f the chance agreement of the weights for each u, k (1 - mean(d)) / (k - 1).
    """

    finalise: Finalise
    """AC1 or AC2: totals (..., k) to (..., 1)."""
    shares: slice
    """Where the totals of the labels' shares are."""
    mean: float
    """The mean disagreement of all pairs of labels."""
    spread: float
    """What is added."""

    def __call__(self, totals: Array) -> Array:
        """Compute the coefficient, (..., k) to (..., 1)."""
        counts = np.asarray(totals, dtype=np.float64)[..., self.shares]
        k = counts.shape[-1]
        p = ratio(counts, np.broadcast_to(counts.sum(-1, keepdims=True), counts.shape))
        unequal = (p * (1 - p)).sum(-1, keepdims=True)
        factor = k * (1 - self.mean) / (k - 1)
        raised = factor * np.minimum(unequal + self.spread, 1 - 1 / k)
        return np.asarray(1 - (1 - self.finalise(totals)) * (1 - factor * unequal) / (1 - raised))


def drawn_form(finalise: Finalise, sums: Sums, value: float) -> Finalise | None:
    """The form of a coefficient that a posterior draws; None: the coefficient itself.

    `sums` (n_clusters, k) are those of the sample, and `value` is the estimate, to which the draws
    are moved.

    >>> from konsil.stats.agreement.kappa import cohen_kappa, percent_agreement
    >>> table = np.array([[20.0, 5.0, 10.0, 15.0]])
    >>> drawn_form(cohen_kappa(2, 2).finalise, table, 0.4)(table[0]).round(6)
    array([0.4])
    >>> drawn_form(percent_agreement(2, 2).finalise, table, 0.7)
    """
    if isinstance(finalise, partial) and finalise.func is gwet_of:
        d = finalise.keywords["d"]
        shares = slice(d.size, d.size + len(d))
        return WithSpread(finalise, shares, float(d.mean()), 2 * _variance(sums[:, shares]))
    if isinstance(finalise, OverUnits) and finalise.measure == "gwet":
        start = 1 + finalise.n_kinds
        shares = slice(start, start + finalise.kind.n_labels)
        mean = float(finalise.kind.mean())
        return WithSpread(finalise, shares, mean, 2 * _variance(sums[:, shares]))
    common = _with_common_shares(finalise)
    if common is None:
        return None
    totals = np.asarray(sums.sum(axis=0), dtype=np.float64).ravel()
    return Moved(common, value - float(common(totals)[0]))


def _with_common_shares(finalise: Finalise) -> Finalise | None:
    if isinstance(finalise, MeanOfTables) and finalise.measure == "cohen_kappa":
        return PooledTables(finalise.d)
    if isinstance(finalise, OverPairs) and finalise.measure == "cohen":
        return PooledPairs(finalise)
    if isinstance(finalise, OverUnits) and finalise.measure == "conger":
        return replace(finalise, measure="fleiss")
    if isinstance(finalise, partial) and finalise.func is conger_of:
        return partial(fleiss_of, d=finalise.keywords["d"])
    return None


def _variance(sums: Sums) -> float:
    """The sum over labels of the variances of their shares, from (n_clusters, n_labels)."""
    dense = sums if isinstance(sums, np.ndarray) else sums.toarray()
    rows = dense[dense.any(axis=1)]
    n = len(rows)
    if n < 2:
        return 0.0
    sizes = rows.sum(axis=1, keepdims=True)
    residuals = (rows - sizes * (rows.sum(axis=0) / sizes.sum())) / sizes.mean()
    return float((residuals**2).sum() / (n * (n - 1)))
