"""Worths as ratios to the best system, with their covariance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from konsil.stats.engine.contract import Array
from konsil.stats.pairs.wins import VoteStatistic


class Ratios(NamedTuple):
    """Worths relative to the best system's; arrays (n_systems,)."""

    value: Array
    """a_i / a_best; 1 for the best itself."""
    low: Array
    """Lower end; nan for the best, which is the reference."""
    high: Array
    """Upper end."""
    best: int
    """The best system's number; -1 where the worths are undefined."""


def ratios_to_best(log_worths: Array, covariance: Array, *, level: float = 0.95) -> Ratios:
    """Worths relative to the best system's: exp(l_i - l_best), with intervals by the delta method.

    The interval is exp(l_i - l_best -+ z sqrt(V_ii + V_bb - 2 V_ib)). `log_worths` (n_systems,),
    `covariance` (n_systems, n_systems). nan where the worths are. The best system is chosen from
    the data, so that the intervals carry no information on which system that is.

    Source: the delta method; Davidson (1970).

    >>> ratios_to_best(np.array([0.5, -0.5]), np.array([[0.01, -0.01], [-0.01, 0.01]])).value.round(
    ...     4
    ... )
    array([1.    , 0.3679])
    """
    if not np.isfinite(log_worths).all():
        nothing = np.full(len(log_worths), np.nan)
        return Ratios(nothing, nothing, nothing, -1)
    best = int(np.argmax(log_worths))
    gap = log_worths - log_worths[best]
    # The worths are correlated: a ratio's variance is that of the difference of two logarithms.
    variance = np.diag(covariance) + covariance[best, best] - 2 * covariance[:, best]
    reach = float(scipy.special.ndtri((1 + level) / 2)) * np.sqrt(np.maximum(variance, 0))
    # The best system is the reference: its ratio is 1 by definition and has no interval.
    reach[best] = np.nan
    return Ratios(np.exp(gap), np.exp(gap - reach), np.exp(gap + reach), best)


def model_interval(
    log_worths: Array, covariance: Array, *, level: float = 0.95
) -> tuple[Array, Array]:
    """The normal interval of each log worth by the model's own covariance, (n_systems,) each.

    nan where undefined.

    >>> low, high = model_interval(np.array([0.5, -0.5]), np.array([[0.01, -0.01], [-0.01, 0.01]]))
    >>> low.round(3), high.round(3)
    (array([ 0.304, -0.696]), array([ 0.696, -0.304]))
    """
    reach = float(scipy.special.ndtri((1 + level) / 2)) * np.sqrt(np.diag(covariance))
    return np.asarray(log_worths - reach), np.asarray(log_worths + reach)


def against_reference(log_worths: VoteStatistic, reference: int) -> VoteStatistic:
    """The log worths minus those of one system, as a statistic with intervals of any clustering.

    Values (..., n_systems), 0 for the reference itself; nan where the worths are.

    >>> from konsil.stats.pairs.worth_designs import design
    >>> from konsil.stats.pairs.bradley_terry_davidson import worths
    >>> cells = np.array([2.0, 4.0, 4.0])
    >>> against_reference(worths(cells, design(2)), 0).finalise(cells).round(4)
    array([ 0.    , -0.6931])
    """

    def finalise(cell_totals: Array) -> Array:
        values = log_worths.finalise(cell_totals)
        return np.asarray(values - values[..., reference : reference + 1])

    def gradient(cell_totals: Array) -> Array:
        moved = log_worths.gradient(cell_totals)
        return np.asarray(moved - moved[:, reference : reference + 1])

    return VoteStatistic(
        f"{log_worths.name}_log_ratio",
        finalise,
        gradient,
        log_worths.support,
        None,
        log_worths.source,
        by_pair=False,
    )
