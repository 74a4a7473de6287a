"""The mean over pairs of raters, weighted by the number of units that the two share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from konsil.stats.agreement.kappa import MeanOfTables
from konsil.stats.engine import ranks
from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Finalise, Statistic


@dataclass(frozen=True)
class MeanBySize:
    """A finalise: each pair's value, averaged with the units that the pair shares as weights.

    sum(n_p v_p)/sum(n_p) over the pairs p for which the value v_p is defined, n_p the units both
    raters labelled. For percent agreement it is the share of agreeing pairs of labels among all.
    """

    each: Finalise
    """Totals (..., n_pairs * size) to the pairs' values (..., n_pairs)."""
    size: int
    """How many sums a pair has."""

    def __call__(self, totals: Array) -> Array:
        """Totals (..., n_pairs * size) to (..., 1); nan where no pair is defined."""
        values = self.each(totals)
        n = np.asarray(totals, dtype=np.float64).reshape(*values.shape, self.size).sum(-1)
        # A pair without a value must not weigh in the denominator either.
        n = np.where(np.isnan(values), 0.0, n)
        total = (n * np.where(np.isnan(values), 0.0, values)).sum(-1, keepdims=True)
        return ratio(total, n.sum(-1, keepdims=True))


def by_shared_units(statistic: Statistic, n_raters: int, n_labels: int) -> Statistic:
    """A statistic that is a mean over pairs of raters, with pairs weighted by the units they share.

    Sums: those of the statistic, pair_tables. Values: (..., 1). Without it each pair has the same
    weight, so that a pair with three common units counts as much as one with fifty. Source:
    convention.

    Example:
        >>> from konsil.stats.agreement.kappa import percent_agreement
        >>> tables = np.array([1.0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0])
        >>> by_shared_units(percent_agreement(3, 2), 3, 2).finalise(tables)
        array([0.5])
    """
    if isinstance(statistic.finalise, MeanOfTables):
        each: Finalise = statistic.finalise.each
    elif statistic.name in {"spearman", "kendall_tau_b"}:
        make = ranks.spearman if statistic.name == "spearman" else ranks.kendall_tau_b
        each = make(n_raters, n_labels, per_pair=True).finalise
    else:
        raise ValueError(f"{statistic.name}: expected a mean over pairs of raters")
    return Statistic(
        statistic.name, statistic.tally, MeanBySize(each, n_labels**2), statistic.source
    )
