"""Gwet's agreement coefficients AC1 and AC2, for any number of raters and with missing labels."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.agreement.multirater import label_shares, observed_disagreement
from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Statistic
from konsil.stats.engine.distances import Weights, disagreements
from konsil.stats.engine.tables import unit_agreement

GWET = (
    "Gwet, Br J Math Stat Psychol 61:29, 2008; missing labels and weights: Handbook, 4th ed. 2014"
)


def gwet_ac2(
    n_labels: int, weights: Weights = "quadratic", values: ArrayLike | None = None
) -> Statistic:
    """Gwet's AC2: weighted agreement, with chance agreement from how evenly the labels were used.

    1 - D/(1 - pe), pe = sum(w)/(k (k - 1)) sum(p (1 - p)): D the disagreement within units, p the
    label shares, w the agreement weights, k the labels declared. Sums: unit_agreement. Values:
    (..., 1). nan if no unit has two labels or only one label is declared; constant labels are full
    agreement, 1. Source: Gwet 2008, 2014.

    Example:
        >>> gwet_ac2(2, "unweighted").finalise(np.array([80.0, 7.5, 7.5, 5.0, 87.5, 12.5])).round(3)
        array([0.808])
    """
    d = disagreements(weights, n_labels, values)
    return Statistic("gwet_ac2", unit_agreement, partial(_gwet, d=d), GWET)


def gwet_ac1(n_labels: int) -> Statistic:
    """Gwet's AC1: AC2 without weights.

    1 - D/(1 - pe), pe = sum(p (1 - p))/(k - 1). Sums: unit_agreement. Values: (..., 1). Undefined
    like gwet_ac2. Source: Gwet 2008.

    Example:
        >>> gwet_ac1(2).finalise(np.array([80.0, 7.5, 7.5, 5.0, 87.5, 12.5])).round(3)
        array([0.808])
    """
    return replace(gwet_ac2(n_labels, "unweighted"), name="gwet_ac1")


def gwet_chance(shares: Array, d: Array) -> Array:
    """Chance agreement from label shares, (..., k) to (...,).

    Example:
        >>> float(gwet_chance(np.array([0.5, 0.5]), 1 - np.eye(2)))
        0.5
    """
    k = len(d)
    return np.asarray((1 - d).sum() / (k * (k - 1)) * (shares * (1 - shares)).sum(-1))


def _gwet(totals: Array, d: Array) -> Array:
    # One declared label leaves nothing to disagree about: undefined, not perfect.
    if len(d) < 2:
        return np.full((*np.shape(totals)[:-1], 1), np.nan)
    chance = gwet_chance(label_shares(totals, len(d)), d)
    return np.asarray(1 - ratio(observed_disagreement(totals, d), 1 - chance)[..., None])
