"""Textbook standard errors of agreement: what other programs print beside the coefficients.

They take the units as independent, so they are for comparison with published figures; intervals for
clustered units come from the engine. Large-sample formulas, conditional on the raters, no
finite-population correction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.engine.contract import Array, Codes
from konsil.stats.engine.distances import Weights, agreement_weights
from konsil.stats.engine.tables import unit_counts

Coefficient = Literal[
    "percent_agreement",
    "brennan_prediger",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac",
    "krippendorff_alpha",
]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)


@dataclass(frozen=True)
class _Units:
    """The sums over labelled units that all formulas need."""

    counts: Array
    """(n_units, k) labels per unit; units without a label are left out."""
    n_labels: Array
    """(n_units,) labels of the unit."""
    agreeing: Array
    """(n_units,) weighted share of the unit's ordered pairs that agree; 0 for a unit with a single
    label."""
    w: Array
    """(k, k) agreement weights."""


def codes_of_table(table: ArrayLike) -> Codes:
    """Write out a contingency table of two raters as labels, one unit a row: (k, k) to (n, 2).

    Example:
        >>> codes_of_table([[1, 1], [0, 1]]).labels.tolist()
        [[0, 0], [0, 1], [1, 1]]
    """
    counts = _whole_table(table)
    k = len(counts)
    labels = np.repeat(
        np.array([(a, b) for a in range(k) for b in range(k)]), counts.ravel(), axis=0
    )
    return Codes(labels, np.arange(len(labels)), k)


def standard_error(
    coefficient: Coefficient,
    codes: Codes,
    weights: Weights = "unweighted",
    values: ArrayLike | None = None,
) -> float:
    """Gwet's standard error of a coefficient of several raters, missing labels allowed.

    sqrt(sum((t_i - t)^2)/(n (n - 1))) over the n labelled units, t_i the unit's linearised part of
    the coefficient t: its own agreement over chance, less what it adds to chance. A unit with a
    single label has no agreement of its own and counts as 0. nan with fewer than two units, no unit
    labelled twice, or chance agreement complete. Two raters' Cohen kappa is conger_kappa, Scott's
    pi is fleiss_kappa. Source: Gwet 2014, chapters 5 and 6.

    Example:
        >>> round(standard_error("gwet_ac", codes_of_table([[80, 10], [5, 5]])), 4)
        0.0524
    """
    if coefficient not in COEFFICIENTS:
        raise ValueError(
            f"coefficient: got {coefficient!r}; expected one of {', '.join(COEFFICIENTS)}"
        )
    w = agreement_weights(weights, codes.n_labels, codes.values if values is None else values)
    counts = unit_counts(codes).astype(np.float64)
    # Alpha knows pairs alone: units with one label are no part of it, but count for the others.
    labelled = counts.sum(1) >= (2 if coefficient == "krippendorff_alpha" else 1)
    labelled_codes = Codes(
        codes.labels[labelled], np.arange(int(labelled.sum())), codes.n_labels, codes.values
    )
    units = _units(counts[labelled], w)
    if len(units.n_labels) < 2 or not (units.n_labels >= 2).any() or codes.n_labels < 2:
        return float("nan")
    parts = (
        _krippendorff_parts(units)
        if coefficient == "krippendorff_alpha"
        else _parts(coefficient, units, labelled_codes)
    )
    n = len(parts)
    return float(np.sqrt(np.square(parts).sum() / (n * (n - 1))))


def two_rater_standard_error(
    coefficient: Coefficient,
    table: ArrayLike,
    weights: Weights = "unweighted",
    values: ArrayLike | None = None,
) -> float:
    """Return the standard error of a coefficient of a table of two raters, by the delta method.

    It is standard_error of the same units with the divisor n squared in place of n (n - 1), as
    textbooks and programs print it for tables. nan for fewer than two units or complete chance
    agreement. Source: Gwet 2014, chapter 5.

    Example:
        >>> round(two_rater_standard_error("gwet_ac", [[80, 10], [5, 5]]), 4)
        0.0521
    """
    codes = codes_of_table(table)
    n = len(codes.labels)
    if n < 2:
        return float("nan")
    # The formulas for two raters divide by n where the general ones divide by n - 1.
    return standard_error(coefficient, codes, weights, values) * float(np.sqrt((n - 1) / n))


def cohen_kappa_se(
    table: ArrayLike, weights: Weights = "unweighted", values: ArrayLike | None = None
) -> float:
    """Asymptotic standard error of Cohen's kappa, weighted or not, from a table of two raters.

    sqrt((sum p_ij (w_ij - (1 - kappa)(w_i. + w_.j))^2 - (po - 2 (1 - kappa) pe)^2)/n)/(1 - pe),
    w_i. and w_.j the weights' means over the other rater's margin; for two raters the same as
    Conger's. nan for an empty table or complete chance agreement. Source: Fleiss, Cohen and Everitt
    1969.

    Example:
        >>> round(cohen_kappa_se([[20, 5], [10, 15]]), 4)
        0.127
    """
    return two_rater_standard_error("conger_kappa", table, weights, values)


def _whole_table(table: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    counts = np.asarray(table)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"table: got shape {counts.shape}; expected a square table of two raters")
    whole_counts = counts.astype(np.int64)
    if (whole_counts != counts).any() or (whole_counts < 0).any():
        raise ValueError("table: expected whole counts of at least 0")
    return whole_counts


def _units(counts: Array, w: Array) -> _Units:
    n_labels = counts.sum(1)
    pairs = n_labels * (n_labels - 1)
    agreeing = (counts * (counts @ w - 1)).sum(1)
    return _Units(
        counts, n_labels, np.divide(agreeing, pairs, out=np.zeros_like(pairs), where=pairs > 0), w
    )


def _parts(coefficient: Coefficient, units: _Units, codes: Codes) -> Array:
    """Each unit's linearised part of a coefficient, less the coefficient; (n_units,)."""
    counts, n_labels, w = units.counts, units.n_labels, units.w
    n, k = counts.shape
    twice = n_labels >= 2
    scale = n / twice.sum()
    observed = float(scale * units.agreeing.mean())
    shares = counts / n_labels[:, None]
    p = shares.mean(0)
    # How much each unit moves chance agreement: n times its derivative.
    chance, moves = (
        0.0,
        np.zeros(n),
    )
    if coefficient == "brennan_prediger":
        chance = float(w.mean())
    elif coefficient == "fleiss_kappa":
        chance = float(p @ w @ p)
        moves = 2 * (shares @ (w @ p) - chance)
    elif coefficient == "gwet_ac":
        per_label = w.sum() / (k * (k - 1))
        chance = float(per_label * (p * (1 - p)).sum())
        moves = 2 * (per_label * shares @ (1 - p) - chance)
    elif coefficient == "conger_kappa":
        chance, moves = _conger_chance(codes, w)
    # Chance agreement of 1: nothing can be better than chance.
    if not chance < 1:
        return np.full(n, np.nan)
    value = (observed - chance) / (1 - chance)
    unit_terms = scale * (units.agreeing - chance * twice) / (1 - chance)
    return np.asarray(unit_terms - (1 - value) * moves / (1 - chance) - value, dtype=np.float64)


def _conger_chance(codes: Codes, w: Array) -> tuple[float, Array]:
    """Chance agreement of two random raters, and each unit's n-fold derivative of it."""
    labels = codes.labels
    onehot = (labels[:, :, None] == np.arange(codes.n_labels)).astype(np.float64)
    n, active = onehot.sum((0, 2)), onehot.any((0, 2))
    raters = int(active.sum())
    if raters < 2:
        return float("nan"), np.full(len(labels), np.nan)
    onehot, n = onehot[:, active], n[active]
    p = onehot.sum(0) / n[:, None]
    pooled = p.sum(0)
    chance = (pooled @ w @ pooled - np.einsum("gk,kl,gl->", p, w, p)) / (raters * (raters - 1))
    slopes = 2 * ((w @ pooled) - p @ w) / (raters * (raters - 1))  # (raters, k)
    labelled = onehot.sum(2)
    moves = np.einsum("igk,gk->ig", onehot, slopes) - labelled * (p * slopes).sum(1)
    return float(chance), np.asarray((moves * (len(labels) / n)).sum(1))


def _krippendorff_parts(units: _Units) -> Array:
    """Krippendorff's alpha by units with at least two labels, weighted by their number."""
    counts, n_labels, w = units.counts, units.n_labels, units.w
    mean = n_labels.mean()
    weight = n_labels / mean
    p = counts.mean(0) / mean
    chance = float(p @ w @ p)
    if not chance < 1:
        return np.full(len(n_labels), np.nan)
    observed = float((weight * units.agreeing).mean())
    value = (observed - chance) / (1 - chance)
    # Alpha's small-sample agreement; Gwet centres the units on it.
    with_self = observed + (1 - observed) / n_labels.sum()
    unit_terms = (weight * units.agreeing - with_self * (weight - 1) - chance) / (1 - chance)
    moves = counts @ (w @ p) / mean - chance * (weight - 1) - chance
    return np.asarray(unit_terms - 2 * (1 - value) * moves / (1 - chance) - value, dtype=np.float64)
