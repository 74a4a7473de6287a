"""Chance-corrected agreement of several raters: Fleiss, Conger, Randolph, Gwet.

Missing labels follow Gwet: observed agreement comes from units with at least two labels, label
proportions from units with at least one, and every unit has the same weight.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Statistic
from konsil.stats.engine.distances import Weights, disagreements
from konsil.stats.engine.tables import unanimity_sums, unit_agreement, unit_agreement_and_margins

GWET = (
    "Gwet, Br J Math Stat Psychol 61:29, 2008; missing labels and weights: Handbook, 4th ed. 2014"
)


FLEISS = (
    "Fleiss, Psychol Bull 76:378, 1971; missing labels and weights: Gwet 2014, chapters 2 and 3"
)
CONGER = (
    "Conger, Psychol Bull 88:322, 1980; missing labels and weights: Gwet 2014, chapters 2 and 3"
)
RANDOLPH = "Randolph, Free-marginal multirater kappa, 2005"
BRENNAN = "Brennan and Prediger, Educ Psychol Meas 41:687, 1981; many raters: Gwet 2014, chapter 2"
GWET_PERCENT = "Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, chapter 2"


def observed_disagreement(totals: Array, d: Array) -> Array:
    """Mean weighted disagreement within units, (..., k * k + ...) to (...,).

    nan without a unit labelled twice.
    """
    k2 = d.size
    both = np.asarray(totals, dtype=np.float64)[..., :k2] @ np.stack(
        [d.ravel(), np.ones(k2)], axis=1
    )
    return ratio(both[..., 0], both[..., 1])


def label_shares(totals: Array, n_labels: int) -> Array:
    """Mean share of each label over the labelled units, (..., k); nan where there are none."""
    shares = np.asarray(totals, dtype=np.float64)[..., n_labels**2 : n_labels**2 + n_labels]
    return ratio(shares, np.broadcast_to(shares.sum(-1, keepdims=True), shares.shape))


def multirater_percent_agreement(
    n_labels: int, weights: Weights = "unweighted", values: ArrayLike | None = None
) -> Statistic:
    """Proportion of agreeing pairs of raters within a unit, averaged over the units.

    Units with at least two labels count.

    Differs from percent_agreement where labels are missing: there every pair of raters weighs the
    same, here a unit. Sums: unit_agreement. Values: (..., 1). nan if no unit has two labels.
    Source: Gwet 2014.

    Example:
        >>> multirater_percent_agreement(2).finalise(np.array([2.0, 1.0, 1.0, 0.0, 3.0, 1.0]))
        array([0.5])
    """
    d = disagreements(weights, n_labels, values)
    return Statistic(
        "multirater_percent_agreement", unit_agreement, partial(_percent, d=d), GWET_PERCENT
    )


def unanimity(tolerance: int = 0) -> Statistic:
    """Proportion of units on which all raters agree, or differ by at most `tolerance` scale points.

    Units with a label of every rater count. Sums: unanimity_sums(tolerance). Values: (..., 1). nan
    without such units. Source: convention; R's irr::agree.

    Example:
        >>> unanimity().finalise(np.array([7.0, 20.0]))
        array([0.35])
    """
    name = "unanimity" if tolerance == 0 else f"unanimity_within_{tolerance}"
    return Statistic(
        name,
        unanimity_sums(tolerance),
        _first_over_second,
        "share of units with equal labels by all",
    )


def fleiss_kappa(
    n_labels: int, weights: Weights = "unweighted", values: ArrayLike | None = None
) -> Statistic:
    """Fleiss' kappa: chance agreement from the label shares pooled over raters.

    1 - D/sum(d p p): D the disagreement within units, p the label shares, d the disagreements of
    two labels. Sums: unit_agreement. Values: (..., 1). nan if no unit has two labels or only one
    label was used. Source: Fleiss.

    Example:
        >>> fleiss_kappa(2).finalise(np.array([4.0, 1.0, 1.0, 4.0, 5.0, 5.0]))
        array([0.6])
    """
    d = disagreements(weights, n_labels, values)
    return Statistic("fleiss_kappa", unit_agreement, partial(fleiss_of, d=d), FLEISS)


def randolph_kappa(n_labels: int) -> Statistic:
    """Randolph's free-marginal kappa: chance agreement is one over the number of labels declared.

    (PA - 1/k)/(1 - 1/k), k the labels the analysis declares, observed or not. Sums: unit_agreement.
    Values: (..., 1). nan if no unit has two labels or only one label is declared. Source: Randolph
    2005.

    Example:
        >>> randolph_kappa(2).finalise(np.array([4.0, 1.0, 1.0, 4.0, 5.0, 5.0]))
        array([0.6])
    """
    d = disagreements("unweighted", n_labels)
    return Statistic("randolph_kappa", unit_agreement, partial(_brennan_prediger, d=d), RANDOLPH)


def brennan_prediger(
    n_labels: int, weights: Weights = "unweighted", values: ArrayLike | None = None
) -> Statistic:
    """Brennan and Prediger's coefficient: all labels are equally likely by chance.

    1 - D/mean(d); unweighted it is Randolph's kappa. Sums: unit_agreement. Values: (..., 1).
    Undefined like randolph_kappa. Source: see BRENNAN.

    Example:
        >>> brennan_prediger(2).finalise(np.array([4.0, 1.0, 1.0, 4.0, 5.0, 5.0]))
        array([0.6])
    """
    d = disagreements(weights, n_labels, values)
    return Statistic("brennan_prediger", unit_agreement, partial(_brennan_prediger, d=d), BRENNAN)


def conger_kappa(
    n_raters: int, n_labels: int, weights: Weights = "unweighted", values: ArrayLike | None = None
) -> Statistic:
    """Conger's kappa: Cohen's kappa for several raters, each with an own distribution of labels.

    1 - D/E with E the disagreement expected of two different raters drawn at random, from each
    rater's shares p_g: E = (R^2 sum(d m m) - sum_g sum(d p_g p_g))/(R (R - 1)), m the mean of the
    p_g, over the R raters who gave labels. Sums: unit_agreement_and_margins. Values: (..., 1). nan
    if no unit has two labels, with fewer than two raters, or if all gave one label throughout.
    Source: Conger 1980.

    Example:
        >>> conger_kappa(2, 2).finalise(np.array([4.0, 1, 1, 4, 5, 5, 5, 5, 5, 5]))
        array([0.6])
    """
    d = disagreements(weights, n_labels, values)
    finalise = partial(conger_of, d=d, n_raters=n_raters)
    return Statistic("conger_kappa", unit_agreement_and_margins, finalise, CONGER)


def _first_over_second(totals: Array) -> Array:
    return ratio(np.asarray(totals)[..., :1], np.asarray(totals)[..., 1:2])


def _percent(totals: Array, d: Array) -> Array:
    return np.asarray(1 - observed_disagreement(totals, d)[..., None])


def fleiss_of(totals: Array, d: Array) -> Array:
    """Fleiss' kappa from the sums of `unit_agreement`, (..., k) to (..., 1)."""
    shares = label_shares(totals, len(d))
    expected = np.einsum("...i,...i->...", shares @ d, shares)
    return np.asarray(1 - ratio(observed_disagreement(totals, d), expected)[..., None])


def _brennan_prediger(totals: Array, d: Array) -> Array:
    # One declared label leaves nothing to disagree about: undefined, not perfect.
    if len(d) < 2:
        return np.full((*np.shape(totals)[:-1], 1), np.nan)
    return np.asarray(1 - observed_disagreement(totals, d)[..., None] / d.mean())


def conger_of(totals: Array, d: Array, n_raters: int) -> Array:
    """Conger's kappa from the sums of `unit_agreement_and_margins`, (..., k) to (..., 1)."""
    totals = np.asarray(totals, dtype=np.float64)
    k = len(d)
    margins = totals[..., k * k + k :].reshape(*totals.shape[:-1], n_raters, k)
    n = margins.sum(-1, keepdims=True)
    shares = np.divide(margins, n, out=np.zeros_like(margins), where=n > 0)
    active = (n[..., 0] > 0).sum(-1)
    pooled = shares.sum(-2)
    # Raters who gave no label have share 0 and drop out of both sums. Below zero the difference is
    # only rounding.
    all_pairs = np.einsum("...i,...i->...", pooled @ d, pooled)
    expected = all_pairs - np.einsum("...gi,...gi->...", shares @ d, shares)
    expected = np.where(expected > 1e-12 * all_pairs, expected, 0.0)
    return np.asarray(
        1 - ratio(active * (active - 1.0) * observed_disagreement(totals, d), expected)[..., None]
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
    return Statistic("gwet_ac2", unit_agreement, partial(gwet_of, d=d), GWET)


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


def gwet_of(totals: Array, d: Array) -> Array:
    """Gwet's AC from the sums of `unit_agreement`, (..., k) to (..., 1)."""
    # One declared label leaves nothing to disagree about: undefined, not perfect.
    if len(d) < 2:
        return np.full((*np.shape(totals)[:-1], 1), np.nan)
    chance = gwet_chance(label_shares(totals, len(d)), d)
    return np.asarray(1 - ratio(observed_disagreement(totals, d), 1 - chance)[..., None])
