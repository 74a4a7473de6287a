"""Worst-case bounds for missing labels: the least and greatest value with any labels."""

from __future__ import annotations

import numpy as np

from konsil.stats.agreement.consensus import Labels, leave_one_out, majority
from konsil.stats.agreement.kappa import MEASURES, MeasureName, measure_disagreements
from konsil.stats.engine.contract import Array
from konsil.stats.judges.self_preference import Bools


def share_range(hits: float, n_rated: float, missing: float) -> tuple[float, float]:
    """A proportion if all missing labels counted against it, and if all counted for it.

    hits / (given + missing) and (hits + missing) / (given + missing); nan where there is nothing to
    divide by. Source: Horowitz and Manski, Econometrica 63:281, 1995.

    >>> share_range(6, 8, 2)
    (0.6, 0.8)
    """
    n = n_rated + missing
    return (hits / n, (hits + missing) / n) if n > 0 else (float("nan"), float("nan"))


def judge_range(
    panel: Labels,
    judge: Labels,
    missing: Bools,
    n_labels: int,
    measure: MeasureName,
    *,
    valid: bool,
) -> tuple[float, float]:
    """A judge's lowest and highest agreement with a panel, whatever the missing labels.

    Every missing label disagrees with the majority at the lowest and agrees with it at the highest.

    `panel` (n_units, n_raters) and `judge` (n_units,) hold labels, -1 where there is none;
    `missing` (n_units,) marks the units whose label is not there. valid: against the majorities
    without each rater in turn, on slots that the rater labelled, averaged; otherwise against the
    whole panel's majority. For percent agreement and PABAK, and for Cohen's kappa of two labels, no
    other labels give a lower or a higher value: with the consensus fixed each rises with every
    agreement and falls with every disagreement. Where the majorities without single raters differ
    on a unit, each is met or missed for itself, so that the range is never too narrow.

    nan, nan for other measures, for kappa of more than two labels, without slots, and where kappa
    against one of the majorities would be undefined. Source: ours.

    >>> panel = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0]])
    >>> judge, missing = np.array([0, 1, 1, -1]), np.array([False, False, False, True])
    >>> judge_range(panel, judge, missing, 2, "percent_agreement", valid=True)
    (0.75, 1.0)
    """
    # Other measures depend on the margins: their extremes are not at these two fillings.
    if measure not in {"percent_agreement", "pabak"} and not (
        measure == "cohen_kappa" and n_labels == 2
    ):
        return float("nan"), float("nan")
    against = np.where(panel >= 0, leave_one_out(panel), -1) if valid else majority(panel)[:, None]
    d = measure_disagreements(measure, n_labels)
    worst, best = (
        _agreement(
            against,
            np.where(missing[:, None], _filled(against, n_labels, shift), judge[:, None]),
            measure,
            d,
        )
        for shift in (1, 0)
    )
    if not worst.size or np.isnan(worst).any() or np.isnan(best).any():
        return float("nan"), float("nan")
    return float(worst.mean()), float(best.mean())


def _filled(against: Labels, n_labels: int, shift: int) -> Labels:
    """The majority's label, or another one."""
    # The majority's label, or the next one, which is wrong whatever it is.
    return np.where(against >= 0, (against + shift) % n_labels, -1)


def _agreement(against: Labels, judge: Labels, measure: MeasureName, d: Array) -> Array:
    """The measure against each column of majorities that has a slot."""
    k = len(d)
    cells = np.where((against >= 0) & (judge >= 0), judge * k + against, -1)
    tables = np.stack(
        [np.bincount(column[column >= 0], minlength=k * k) for column in cells.T]
    ).astype(np.float64)
    return np.asarray(MEASURES[measure](tables[tables.sum(axis=1) > 0], d), dtype=np.float64)
