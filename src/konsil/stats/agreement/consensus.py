"""Consensus by majority, and agreement with it: a rater against the rest, a judge against a panel.

A majority is more than half of those who did not abstain; without one the consensus is undefined,
-1, and excluded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from konsil.stats.agreement.kappa import (
    MEASURES,
    MeasureName,
    finalise_tables,
    measure_disagreements,
)
from konsil.stats.engine.arithmetic import mean_defined, ratio
from konsil.stats.engine.contract import Array, Codes, Statistic
from konsil.stats.engine.distances import Weights
from konsil.stats.engine.tables import by_cluster, table_counts

Labels = NDArray[np.integer[Any]]
CONSENSUS = (
    "agreement with a majority of raters; Krippendorff-style pairwise tables of a rater and a"
    " consensus"
)
LEAVE_ONE_OUT = "each rater against the majority of the others"


def majority(labels: Labels) -> NDArray[np.int64]:
    """Return each unit's label by strict majority, (n_units, n_raters) to (n_units,).

    -1 where there is none.

    Example:
        >>> majority(np.array([[0, 0, 1], [0, 1, -1], [-1, 1, -1]]))
        array([ 0, -1,  1])
    """
    candidate = _middle(labels)[1]
    n_given = (labels == candidate).sum(axis=1)
    # Strictly more than half of those who labelled: a tie has no majority and is -1.
    return np.where(2 * n_given > (labels >= 0).sum(axis=1), candidate[:, 0], -1).astype(np.int64)


def leave_one_out(labels: Labels) -> NDArray[np.int64]:
    """Return, for each rater, the strict majority of the others, (n_units, n_raters) to the same.

    -1 if there is none.

    Example:
        >>> leave_one_out(np.array([[0, 0, 1]]))
        array([[-1, -1,  0]])
    """
    labelled = labels >= 0
    others = labelled.sum(axis=1, keepdims=True) - labelled
    out = np.full(labels.shape, -1, dtype=np.int64)
    for candidate in _middle(labels):
        has_label = labels == candidate
        # A rater's own label is taken out of both counts: nobody is compared with themselves.
        is_majority = 2 * (has_label.sum(axis=1, keepdims=True) - has_label) > others
        out = np.where(is_majority, candidate, out)
    return out


def slots(labels: Labels) -> NDArray[np.bool_]:
    """Where a rater's label meets a majority of the others, (n_units, n_raters) to the same.

    Example:
        >>> slots(np.array([[0, 0, 1], [0, -1, 1]]))
        array([[False, False,  True],
               [ True, False,  True]])
    """
    return np.asarray((labels >= 0) & (leave_one_out(labels) >= 0))


def _middle(labels: Labels) -> tuple[Labels, Labels]:
    """The lower and the upper median of each unit's labels, (n_units, 1) each; -1 without labels.

    No other label can be a majority: more than half of the sorted labels include the upper median,
    and more than half of all but one include one of the two.
    """
    ordered = np.sort(labels, axis=1)
    n_labelled = (labels >= 0).sum(axis=1, keepdims=True)
    n_missing = labels.shape[1] - n_labelled
    last = labels.shape[1] - 1
    lower = np.minimum(n_missing + np.maximum(n_labelled - 1, 0) // 2, last)
    upper = np.minimum(n_missing + n_labelled // 2, last)
    return np.take_along_axis(ordered, lower, 1), np.take_along_axis(ordered, upper, 1)


def with_consensus(consensus: Labels, judges: Labels) -> Labels:
    """Put a consensus (n_units,) before judges' labels (n_units, n_judges), for against_first.

    Example:
        >>> with_consensus(np.array([1, 0]), np.array([[1, 1], [0, 1]]))
        array([[1, 1, 1],
               [0, 0, 1]])
    """
    return np.column_stack([consensus, judges])


def rest_tables(codes: Codes) -> Array:
    """Tally each rater (a table's rows) against the majority of the others.

    Returns (n_clusters, n_raters * k * k).

    Example:
        >>> rest_tables(Codes(np.array([[0, 0, 1]]), np.array([0]), 2))
        array([[0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 1., 0.]])
    """
    return table_counts(codes.labels, leave_one_out(codes.labels), codes)


def against_first(codes: Codes) -> Array:
    """Tally every later column of labels (a table's rows) against the first.

    Returns (n_clusters, (n_columns - 1) * k * k). For judges against a given consensus, and for a
    rater's second rating against the first.

    Example:
        >>> against_first(Codes(np.array([[1, 0]]), np.array([0]), 2))
        array([[0., 1., 0., 0.]])
    """
    later = codes.labels[:, 1:]
    return table_counts(later, np.broadcast_to(codes.labels[:, :1], later.shape), codes)


@cache
def ceiling_tables(n_panel: int) -> Callable[[Codes], Array]:
    """Return the tally of judges and panel on the same slots.

    The first n_panel columns of the codes are the panel, the others the judges. A slot counts for
    judge j and held-out rater r where both gave a label and the others have a majority. Sums:
    (n_clusters, n_judges * 2 * n_panel * k * k): for each judge, the judge against each of the
    n_panel leave-one-out majorities, then the held-out raters against theirs.
    """

    def tally(codes: Codes) -> Array:
        panel, judges = codes.labels[:, :n_panel], codes.labels[:, n_panel:]
        rest = leave_one_out(panel)
        # Judge and rater are compared on the same units: both labels go where either is missing.
        both = (judges[:, :, None] >= 0) & (panel[:, None, :] >= 0)
        # (n_units, n_judges, 2, n_panel)
        first = np.stack(
            [np.where(both, judges[:, :, None], -1), np.where(both, panel[:, None, :], -1)], axis=2
        )
        second = np.broadcast_to(rest[:, None, None, :], first.shape)
        n_tables = judges.shape[1] * 2 * n_panel
        return table_counts(first.reshape(-1, n_tables), second.reshape(-1, n_tables), codes)

    return tally


@cache
def ceiling_agreement(n_panel: int) -> Callable[[Codes], Array]:
    """Return the tally of ceiling_tables for percent agreement: three sums in place of two tables.

    Sums: (n_clusters, 3 * n_judges * n_panel), each by judge and held-out rater: slots on which the
    judge agrees with the others' majority, slots on which the rater does, and slots.
    """

    def tally(codes: Codes) -> Array:
        panel, judges = codes.labels[:, None, :n_panel], codes.labels[:, n_panel:, None]
        rest = leave_one_out(codes.labels[:, :n_panel])[:, None, :]
        slots = (judges >= 0) & ((panel >= 0) & (rest >= 0))
        rows = np.stack([slots & (judges == rest), slots & (panel == rest), slots], axis=1)
        return by_cluster(rows.reshape(len(rows), -1), codes)

    return tally


@cache
def majority_tables(n_panel: int) -> Callable[[Codes], Array]:
    """Return the papers' tally: raters against the rest, judges against the panel.

    The first n_panel columns are the panel. Sums: (n_clusters, (n_panel + n_judges) * k * k).
    """

    def tally(codes: Codes) -> Array:
        panel, judges = codes.labels[:, :n_panel], codes.labels[:, n_panel:]
        rest = leave_one_out(panel)
        panel_majority = np.broadcast_to(majority(panel)[:, None], judges.shape)
        return table_counts(codes.labels, np.hstack([rest, panel_majority]), codes)

    return tally


def leave_one_out_agreement(
    n_raters: int,
    n_labels: int,
    measure: MeasureName = "percent_agreement",
    weights: Weights = "unweighted",
    values: ArrayLike | None = None,
    per_rater: bool = False,
) -> Statistic:
    """Agreement of each rater with the majority of the others, averaged over the raters.

    Sums: rest_tables. Values: (..., 1), or (..., n_raters) with `per_rater`. A rater without a slot
    where the others have a majority is nan and left out of the mean. Source: MedQADE's ceiling.

    Example:
        >>> codes = Codes(np.array([[0, 0, 0], [1, 1, 0]]), np.arange(2), 2)
        >>> leave_one_out_agreement(3, 2).finalise(rest_tables(codes).sum(0)).round(3)
        array([0.833])
    """
    d = measure_disagreements(measure, n_labels, weights, values)
    finalise = partial(finalise_tables, measure=measure, d=d, n_tables=n_raters, mean=not per_rater)
    return Statistic(f"leave_one_out_{measure}", rest_tables, finalise, LEAVE_ONE_OUT)


def self_agreement(
    n_labels: int,
    measure: MeasureName = "percent_agreement",
    weights: Weights = "unweighted",
    values: ArrayLike | None = None,
) -> Statistic:
    """Intra-rater agreement: a rater's first and second ratings of the same units.

    The codes' two columns are the first and the second rating. Sums: against_first. Values: (...,
    1), nan without repeated ratings. Several raters' repeats are further rows. Source: CQA-Eval.

    Example:
        >>> self_agreement(2).finalise(np.array([3.0, 1.0, 0.0, 4.0]))
        array([0.875])
    """
    d = measure_disagreements(measure, n_labels, weights, values)
    finalise = partial(finalise_tables, measure=measure, d=d, n_tables=1, mean=False)
    return Statistic("self_agreement", against_first, finalise, CONSENSUS)


def judge_and_ceiling(
    n_panel: int,
    n_judges: int,
    n_labels: int,
    measure: MeasureName = "percent_agreement",
    part: Literal["difference", "judge", "ceiling"] = "difference",
    mode: Literal["valid", "paper"] = "valid",
    weights: Weights = "unweighted",
    values: ArrayLike | None = None,
) -> Statistic:
    """Each judge's agreement with a panel, the panel's own agreement, or their difference.

    The panel's own agreement is the leave-one-out agreement.

    valid: the judge is scored on the same leave-one-out majorities and the same slots as each
    held-out rater, then averaged over the raters for whom both are defined; an exchangeable judge
    has a difference of zero. paper: the judge against the whole panel's majority, which is easier
    or harder to meet than a leave-one-out majority, minus the mean of the raters against the rest;
    biased, for reproduction only.

    Codes: the first n_panel columns are the panel, the rest the judges. Sums:
    ceiling_tables(n_panel), ceiling_agreement(n_panel) or majority_tables(n_panel). Values: (...,
    n_judges). nan where judge or ceiling is undefined. Source: ours (valid), MedQADE (paper).

    Example:
        >>> codes = Codes(np.array([[0, 0, 0, 0], [1, 1, 0, 1]]), np.arange(2), 2)
        >>> statistic = judge_and_ceiling(3, 1, 2)
        >>> statistic.finalise(statistic.tally(codes).sum(0)).round(3)
        array([0.167])
    """
    d = measure_disagreements(measure, n_labels, weights, values)
    name = f"{part}_{measure}_{mode}"
    # Percent agreement needs three sums for each pair of judge and rater; tables need 2 k^2.
    if (
        mode == "valid"
        and measure == "percent_agreement"
        and isinstance(weights, str)
        and weights == "unweighted"
    ):
        shares = partial(_same_slots_agreement, part=part, n_panel=n_panel, n_judges=n_judges)
        return Statistic(name, ceiling_agreement(n_panel), shares, LEAVE_ONE_OUT)
    values_of, tally = (
        (_same_slots, ceiling_tables) if mode == "valid" else (_own_slots, majority_tables)
    )
    finalise = partial(
        values_of, measure=measure, part=part, d=d, n_panel=n_panel, n_judges=n_judges
    )
    return Statistic(name, tally(n_panel), finalise, LEAVE_ONE_OUT)


def _same_slots(
    totals: Array, measure: MeasureName, part: str, d: Array, n_panel: int, n_judges: int
) -> Array:
    lead = np.shape(totals)[:-1]
    tables = np.asarray(totals, dtype=np.float64).reshape(-1, d.size)
    values = MEASURES[measure](tables, d).reshape(*lead, n_judges, 2, n_panel)
    # A rater counts for both or for neither.
    # Otherwise the two means would be over different raters.
    values = np.where(np.isnan(values).any(-2, keepdims=True), np.nan, values)
    means = mean_defined(values)[..., 0]
    return _part(means[..., 0], means[..., 1], part)


def _same_slots_agreement(totals: Array, part: str, n_panel: int, n_judges: int) -> Array:
    sums = np.asarray(totals, dtype=np.float64).reshape(
        *np.shape(totals)[:-1], 3, n_judges, n_panel
    )
    judge, rater = (
        mean_defined(ratio(sums[..., i, :, :], sums[..., 2, :, :]))[..., 0] for i in (0, 1)
    )
    return _part(judge, rater, part)


def _own_slots(
    totals: Array, measure: MeasureName, part: str, d: Array, n_panel: int, n_judges: int
) -> Array:
    values = finalise_tables(totals, measure, d, n_panel + n_judges, mean=False)
    ceiling = mean_defined(values[..., :n_panel])
    judges = values[..., n_panel:]
    return _part(judges, np.broadcast_to(ceiling, judges.shape), part)


def _part(judge: Array, ceiling: Array, part: str) -> Array:
    if part == "judge":
        return judge
    return ceiling if part == "ceiling" else judge - ceiling
