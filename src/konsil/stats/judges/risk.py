"""Risk-coverage curves: the error rate of the most confident labels by the proportion retained."""

from __future__ import annotations

from functools import partial

import numpy as np

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Finalise, IntArray

RISK_COVERAGE = "Geifman, Uziel and El-Yaniv, ICLR 2019; ties in one step"


def risk_coverage(confidence: Array, wrong: Array, clusters: IntArray) -> Finalise:
    """Area under the risk-coverage curve, and the risk at full coverage.

    The units are sorted from the most to the least confident; the risk at coverage c is the
    proportion of wrong labels among the first c of them. The area is the integral of the risk over
    c from 0 to 1, with equally confident units added together at their common rate: for groups of W
    units with E wrong after N units with K wrong, sum of (K - N E/W) ln((N + W)/N) + E, over all
    units. If confidence carries no information, the area is the risk itself.

    `confidence`, `wrong` (0 or 1) and `clusters` have the shape (n_units,). The sums are the
    identity of the clusters, so that totals (..., n_clusters) are their weights; values (..., 2)
    are area and risk. nan without a unit.

    Source: Geifman, Uziel and El-Yaniv, Bias-reduced uncertainty estimation, ICLR 2019.

    >>> area = risk_coverage(
    ...     np.array([0.9, 0.8, 0.6]), np.array([0.0, 0.0, 1.0]), np.array([0, 1, 2])
    ... )
    >>> area(np.ones(3)).round(3)
    array([0.063, 0.333])
    """
    # Equal confidences are one step: their order among themselves means nothing.
    levels, place = np.unique(-np.asarray(confidence, dtype=np.float64), return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(levels.size))
    return partial(
        _area,
        wrong=np.asarray(wrong, dtype=np.float64)[order],
        clusters=clusters[order],
        starts=starts,
    )


def _area(totals: Array, wrong: Array, clusters: IntArray, starts: IntArray) -> Array:
    weights = np.asarray(totals, dtype=np.float64)[..., clusters]
    if not len(starts):
        return np.full((*weights.shape[:-1], 2), np.nan)
    units = np.add.reduceat(weights, starts, axis=-1)
    errors = np.add.reduceat(weights * wrong, starts, axis=-1)
    before, wrong_before = np.cumsum(units, -1) - units, np.cumsum(errors, -1) - errors
    # Levels that a resample left out have no rate, and add nothing.
    rate = np.divide(errors, units, out=np.zeros_like(errors), where=units > 0)
    grown = np.divide(before + units, before, out=np.ones_like(units), where=before > 0)
    area = ((wrong_before - before * rate) * np.log(grown) + errors).sum(-1)
    n = units.sum(-1)
    return np.stack([ratio(area, n), ratio(errors.sum(-1), n)], axis=-1)


def risk_curve(confidence: Array, wrong: Array) -> tuple[Array, Array]:
    """Coverage and risk where each level of confidence ends, (n_levels,) each.

    risk = wrong labels among the units at least as confident / their number; coverage = their
    proportion of all units. Empty without a unit.

    >>> coverage, risk = risk_curve(np.array([0.9, 0.6, 0.9, 0.4]), np.array([0.0, 1.0, 0.0, 1.0]))
    >>> coverage, risk.round(3)
    (array([0.5 , 0.75, 1.  ]), array([0.   , 0.333, 0.5  ]))
    """
    levels, place = np.unique(-np.asarray(confidence, dtype=np.float64), return_inverse=True)
    units = np.cumsum(np.bincount(place, minlength=levels.size))
    errors = np.cumsum(np.bincount(place, weights=wrong, minlength=levels.size))
    return ratio(units, np.full(levels.size, max(len(place), 1))), ratio(errors, units)
