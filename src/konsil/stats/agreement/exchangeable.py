"""Coefficients with each rater's own margins, as they would be if the raters were exchangeable.

Cohen's kappa takes chance from each rater's own distribution of labels. Raters with one and the
same distribution differ in theirs by chance; in the draws of a posterior they would differ by
chance a second time, so that all draws are too high where raters agree by chance. The same sums
give the coefficient with the raters' common margins, whose draws have no such error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from konsil.stats.agreement.kappa import MeanOfTables, scott_pi_of
from konsil.stats.agreement.long_scales.coefficients import OverPairs, OverUnits
from konsil.stats.agreement.multirater import conger_of, fleiss_of
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


def of_exchangeable_raters(finalise: Finalise) -> Finalise | None:
    """The coefficient of the same sums with the raters' common margins; None: it has no own ones.

    >>> from konsil.stats.agreement.kappa import cohen_kappa, percent_agreement
    >>> of_exchangeable_raters(cohen_kappa(2, 2).finalise)(np.array([20.0, 5.0, 10.0, 15.0]))
    array([0.39393939])
    >>> of_exchangeable_raters(percent_agreement(2, 2).finalise)
    """
    if isinstance(finalise, MeanOfTables) and finalise.measure == "cohen_kappa":
        return PooledTables(finalise.d)
    if isinstance(finalise, OverPairs) and finalise.measure == "cohen":
        return PooledPairs(finalise)
    if isinstance(finalise, OverUnits) and finalise.measure == "conger":
        return replace(finalise, measure="fleiss")
    if isinstance(finalise, partial) and finalise.func is conger_of:
        return partial(fleiss_of, d=finalise.keywords["d"])
    return None
