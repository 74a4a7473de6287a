"""Agreement of two raters from their contingency table, and its mean over all pairs of raters.

A measure takes tables of shape (..., n_tables, n_labels * n_labels) and disagreements of shape
(n_labels, n_labels) and returns (..., n_tables), nan where a table cannot say. The same measures
serve pairs of raters, a rater against the rest and a judge against a consensus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.engine.arithmetic import MeanOfParts, mean_defined, ratio
from konsil.stats.engine.contract import Array, Statistic
from konsil.stats.engine.distances import Weights, disagreements
from konsil.stats.engine.tables import pair_tables, table_margins

Measure = Callable[[Array, Array], Array]
MeasureName = Literal[
    "percent_agreement", "within_one", "cohen_kappa", "pabak", "scott_pi", "gwet_ac1"
]

COHEN = "Cohen, Educ Psychol Meas 20:37, 1960; weighted: Psychol Bull 70:213, 1968"
LIGHT = "Light, Psychol Bull 76:365, 1971"
BYRT = "Byrt, Bishop and Carlin, J Clin Epidemiol 46:423, 1993"
SCOTT = "Scott, Public Opin Q 19:321, 1955"
PERCENT = "proportion of units with equal labels, by pair of raters"
WITHIN_ONE = "proportion of units with equal or adjacent labels, by pair of raters"


def percent_agreement_of(tables: Array, d: Array) -> Array:
    """Observed agreement 1 - sum(d T)/n of each table; nan for an empty table."""
    both = tables @ np.stack([d.ravel(), np.ones(d.size)], axis=1)
    return 1 - ratio(both[..., 0], both[..., 1])


def cohen_kappa_of(tables: Array, d: Array) -> Array:
    """Cohen's kappa 1 - n sum(d T)/sum(d r c) of each table.

    nan for an empty table or where chance agreement is complete.
    """
    # With two labels any weight cancels: the closed form of the four counts is faster.
    if d.shape == (2, 2) and d[0, 1] > 0:
        n00, n01, n10, n11 = (tables[..., i] for i in range(4))
        chance = (n11 + n10) * (n10 + n00) + (n11 + n01) * (n01 + n00)
        return ratio(2 * (n11 * n00 - n10 * n01), chance)
    rows, columns, n = table_margins(tables, len(d))
    return 1 - ratio(n * (tables @ d.ravel()), np.einsum("...i,...i->...", rows @ d, columns))


def scott_pi_of(tables: Array, d: Array) -> Array:
    """Scott's pi: like kappa, with the mean of the two raters' margins on both sides."""
    rows, columns, n = table_margins(tables, len(d))
    margin = rows + columns
    return 1 - ratio(4 * n * (tables @ d.ravel()), np.einsum("...i,...i->...", margin @ d, margin))


def pabak_of(tables: Array, d: Array) -> Array:
    """Chance taken as all labels equally likely: 1 - D/mean(d).

    (k PA - 1)/(k - 1) if unweighted; nan for one label.
    """
    if len(d) < 2:
        return np.full(tables.shape[:-1], np.nan)
    return np.asarray(1 - (1 - percent_agreement_of(tables, d)) / d.mean(), dtype=np.float64)


def gwet_ac_of(tables: Array, d: Array) -> Array:
    """Gwet's AC1 (AC2 with weights) of each table; nan for an empty table or a single label."""
    k = len(d)
    if k < 2:
        return np.full(tables.shape[:-1], np.nan)
    rows, columns, n = table_margins(tables, k)
    margin = ratio(rows + columns, np.repeat(2 * n[..., None], k, axis=-1))
    chance = (1 - d).sum() / (k * (k - 1)) * (margin * (1 - margin)).sum(-1)
    return np.asarray(1 - ratio(1 - percent_agreement_of(tables, d), 1 - chance), dtype=np.float64)


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "percent_agreement": percent_agreement_of,
        "within_one": percent_agreement_of,
        "cohen_kappa": cohen_kappa_of,
        "pabak": pabak_of,
        "scott_pi": scott_pi_of,
        "gwet_ac1": gwet_ac_of,
    }
)
"""The measures of one table, by name."""


def measure_disagreements(
    measure: MeasureName,
    n_labels: int,
    weights: Weights = "unweighted",
    values: ArrayLike | None = None,
) -> Array:
    """Return a measure's disagreements: those of the weights, or of `within_one`."""
    if measure not in MEASURES:
        raise ValueError(f"measure: got {measure!r}; expected one of {', '.join(MEASURES)}")
    if measure == "within_one":
        # Positions on the scale, whatever numbers the labels have: a category is a step.
        place = np.arange(n_labels)
        beyond: Array = (np.abs(place[:, None] - place) > 1).astype(np.float64)
        return beyond
    return disagreements(weights, n_labels, values)


def finalise_tables(
    totals: Array, measure: MeasureName, d: Array, n_tables: int, mean: bool
) -> Array:
    """Apply a measure to tables (..., n_tables * k * k): (..., n_tables), or (..., 1) the mean."""
    shape = (*np.shape(totals)[:-1], n_tables)
    # Flat: one large product instead of many small.
    tables = np.asarray(totals, dtype=np.float64).reshape(-1, d.size)
    values = MEASURES[measure](tables, d).reshape(shape)
    return mean_defined(values) if mean else values


@dataclass(frozen=True)
class MeanOfTables(MeanOfParts):
    """The mean of a measure over the tables for which it is defined.

    Memory and time are proportional to the tables' size, also with a hundred thousand pairs of
    raters.
    """

    measure: MeasureName
    """The measure of each table."""
    d: Array
    """(n_labels, n_labels) disagreements."""

    @property
    def size(self) -> int:
        """How many sums a table has."""
        return int(self.d.size)

    def each(self, totals: Array) -> Array:
        """Compute every table's value, (..., n_tables * size) to (..., n_tables)."""
        return finalise_tables(
            totals, self.measure, self.d, np.shape(totals)[-1] // self.size, mean=False
        )


def _over_pairs(
    name: str, measure: MeasureName, n_raters: int, d: Array, per_pair: bool, source: str
) -> Statistic:
    n_pairs = n_raters * (n_raters - 1) // 2
    each = partial(finalise_tables, measure=measure, d=d, n_tables=n_pairs, mean=False)
    return Statistic(name, pair_tables, each if per_pair else MeanOfTables(measure, d), source)


def percent_agreement(
    n_raters: int,
    n_labels: int,
    weights: Weights = "unweighted",
    values: ArrayLike | None = None,
    per_pair: bool = False,
) -> Statistic:
    """Proportion of units on which two raters agree, averaged over the pairs of raters.

    1 - sum(d T)/n for each pair's table T, d the disagreements. Sums: pair_tables. Values: (...,
    1), or (..., n_pairs) with `per_pair`. A pair without common units is nan and left out of the
    mean; nan if all are. Source: convention.

    Example:
        >>> statistic = percent_agreement(2, 2)
        >>> statistic.finalise(np.array([20.0, 5.0, 10.0, 15.0]))
        array([0.7])
    """
    d = disagreements(weights, n_labels, values)
    return _over_pairs("percent_agreement", "percent_agreement", n_raters, d, per_pair, PERCENT)


def within_one(n_raters: int, n_labels: int, per_pair: bool = False) -> Statistic:
    """Proportion of units on which two raters differ by at most one scale point; mean of pairs.

    It is averaged over the pairs of raters. Sums: pair_tables. Values: (..., 1), or (..., n_pairs)
    with `per_pair`. Undefined like percent_agreement. Its chance level is high, so report it
    together with a chance-corrected coefficient. Source: convention.

    Example:
        >>> within_one(2, 3).finalise(np.array([1.0, 1, 1, 0, 0, 0, 0, 0, 1]))
        array([0.75])
    """
    return _over_pairs(
        "within_one",
        "within_one",
        n_raters,
        measure_disagreements("within_one", n_labels),
        per_pair,
        WITHIN_ONE,
    )


def cohen_kappa(
    n_raters: int,
    n_labels: int,
    weights: Weights = "unweighted",
    values: ArrayLike | None = None,
    per_pair: bool = False,
) -> Statistic:
    """Cohen's kappa, weighted or not, averaged over the pairs of raters.

    1 - n sum(d T)/sum(d r c): T a pair's table, r and c its margins, d the disagreements. Sums:
    pair_tables. Values: (..., 1), or (..., n_pairs) with `per_pair`. A pair is nan without common
    units or if both raters gave one and the same label throughout; it is left out of the mean; nan
    if all are. Source: Cohen 1960, 1968.

    Example:
        >>> cohen_kappa(2, 2).finalise(np.array([20.0, 5.0, 10.0, 15.0]))
        array([0.4])
    """
    name = "cohen_kappa" + (
        f"_{weights}" if isinstance(weights, str) and weights != "unweighted" else ""
    )
    return _over_pairs(
        name, "cohen_kappa", n_raters, disagreements(weights, n_labels, values), per_pair, COHEN
    )


def light_kappa(n_raters: int, n_labels: int) -> Statistic:
    """Light's kappa: the unweighted Cohen kappas of all pairs of raters, averaged.

    The same number as cohen_kappa(n_raters, n_labels), under the name for more than two raters.
    Source: Light 1971.

    Example:
        >>> light_kappa(2, 2).finalise(np.array([20.0, 5.0, 10.0, 15.0]))
        array([0.4])
    """
    return replace(cohen_kappa(n_raters, n_labels), name="light_kappa", source=LIGHT)


def pabak(n_raters: int, n_labels: int, per_pair: bool = False) -> Statistic:
    """Prevalence- and bias-adjusted kappa, averaged over the pairs of raters.

    (k PA - 1)/(k - 1), k the labels declared, observed or not. Sums: pair_tables. Values: (..., 1),
    or (..., n_pairs). nan without common units or with a single declared label. Source: Byrt,
    Bishop and Carlin 1993.

    Example:
        >>> pabak(2, 2).finalise(np.array([80.0, 10.0, 5.0, 5.0]))
        array([0.7])
    """
    return _over_pairs(
        "pabak", "pabak", n_raters, disagreements("unweighted", n_labels), per_pair, BYRT
    )


def scott_pi(
    n_raters: int,
    n_labels: int,
    weights: Weights = "unweighted",
    values: ArrayLike | None = None,
    per_pair: bool = False,
) -> Statistic:
    """Scott's pi, averaged over the pairs of raters.

    1 - n sum(d T)/sum(d m m) with m the mean of a table's two margins. Sums: pair_tables. Values:
    (..., 1), or (..., n_pairs). Undefined like cohen_kappa. Source: Scott 1955.

    Example:
        >>> scott_pi(2, 2).finalise(np.array([10.0, 0.0, 0.0, 10.0]))
        array([1.])
    """
    return _over_pairs(
        "scott_pi", "scott_pi", n_raters, disagreements(weights, n_labels, values), per_pair, SCOTT
    )


def undefined_pairs(per_pair: Statistic) -> Statistic:
    """Count the tables for which a statistic is undefined.

    `per_pair` is a statistic with one value a pair (a rater, a judge); the same sums, values (...,
    1). Source: ours.

    Example:
        >>> undefined_pairs(cohen_kappa(2, 2, per_pair=True)).finalise(
        ...     np.array([4.0, 0.0, 0.0, 0.0])
        ... )
        array([1.])
    """
    finalise = partial(_count_undefined, finalise=per_pair.finalise)
    return Statistic(f"undefined_pairs({per_pair.name})", per_pair.tally, finalise, per_pair.source)


def _count_undefined(totals: Array, finalise: Callable[[Array], Array]) -> Array:
    return np.asarray(np.isnan(finalise(totals)).sum(-1, keepdims=True), dtype=np.float64)
