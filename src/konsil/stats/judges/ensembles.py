"""Every odd-sized ensemble of judges, by majority vote, against a consensus."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from konsil.stats.agreement.kappa import MeasureName, finalise_tables, measure_disagreements
from konsil.stats.engine.contract import Array, Codes, Finalise, IntArray, Statistic
from konsil.stats.engine.tables import by_cluster


def odd_subsets(n_judges: int) -> tuple[tuple[int, ...], ...]:
    """List all odd-sized subsets of the judges, by size: 256 of nine.

    Example:
        >>> odd_subsets(3)
        ((0,), (1,), (2,), (0, 1, 2))
    """
    sizes = range(1, n_judges + 1, 2)
    return tuple(subset for size in sizes for subset in combinations(range(n_judges), size))


def ensemble_labels(judges: NDArray[np.integer[Any]]) -> NDArray[np.int8]:
    """Return odd ensembles' majorities, (n_units, n_judges) to (n_units, n_ensembles).

    Votes are +1 and -1 and abstentions 0, so that a majority is the sign of a matrix product; a tie
    is -1, undefined.

    Example:
        >>> ensemble_labels(np.array([[1, 1, 0], [1, 0, -1]]))
        array([[ 1,  1,  0,  1],
               [ 1,  0, -1, -1]], dtype=int8)
    """
    # An abstaining judge votes for neither side.
    votes = np.where(judges < 0, 0, 2 * judges - 1).astype(np.float32)
    sums = votes @ _members(judges.shape[1])
    return np.where(sums > 0, np.int8(1), np.where(sums < 0, np.int8(0), np.int8(-1)))


def ensemble_tables(codes: Codes) -> Array:
    """Tally every odd ensemble of judges against the consensus in the first column.

    Returns (n_clusters, n_ensembles * 4). Labels are binary; each ensemble is tallied on the slots
    where it and the consensus are defined.
    """
    consensus, votes = _binary(codes)
    cells = [(votes == vote) & (consensus == label) for vote in (0, 1) for label in (0, 1)]
    return by_cluster(np.stack(cells, axis=-1).reshape(len(votes), -1), codes)


def common_ensemble_sums(codes: Codes) -> Array:
    """Tally like ensemble_tables, on the slots where every ensemble is defined.

    The consensus then has one distribution for all ensembles, and two cells of a table give the
    other two. Returns (n_clusters, 2 + 2 * n_ensembles): slots with consensus 0 and with 1, then on
    each of the two the votes for 1.
    """
    consensus, votes = _binary(codes)
    # All ensembles on the same units: otherwise the best may be the one with the easiest.
    usable = (votes >= 0).all(1)
    labels = [usable & (consensus[:, 0] == label) for label in (0, 1)]
    votes_for = [(votes == 1) & label[:, None] for label in labels]
    return by_cluster(np.hstack([np.column_stack(labels), *votes_for]), codes)


@dataclass(frozen=True, eq=False)
class Entering:
    """What enters the agreement of each ensemble with the consensus; arrays (n_ensembles,)."""

    n_slots: IntArray
    """Slots on which it is scored: those with a consensus where it has a majority."""
    n_clusters: IntArray
    """Their clusters."""
    n_raters: IntArray
    """Its members and the panel's raters with a label there."""
    n_labels: IntArray
    """The labels of all of these there."""


def entering(codes: Codes, panel: NDArray[np.integer[Any]], common: bool = True) -> Entering:
    """Count what enters each ensemble's agreement, in the order of odd_subsets.

    `panel`: (n_units, n_panel) the labels behind the consensus. common: ensembles are scored where
    every ensemble has a majority; which judges these are does not make their labels enter.

    Example:
        >>> codes = Codes(np.array([[1, 1, 1, 0], [0, 1, -1, 0]]), np.arange(2), 2)
        >>> counts = entering(codes, np.array([[1, 1, 0], [0, -1, -1]]), common=False)
        >>> counts.n_slots, counts.n_raters, counts.n_labels
        (array([2, 1, 2, 1]), array([4, 4, 4, 6]), array([6, 4, 6, 6]))
    """
    consensus, votes = _binary(codes)
    usable = (votes >= 0) & (consensus >= 0)
    if common:
        usable &= usable.all(1, keepdims=True)
    used = usable.astype(np.float32)
    members = _members(codes.labels.shape[1] - 1)
    # Labels of each judge, and of each rater of the panel, on the slots of each ensemble.
    by_judge = members * ((codes.labels[:, 1:] >= 0).astype(np.float32).T @ used)
    by_rater = (panel >= 0).astype(np.float32).T @ used
    n_by_cluster = by_cluster(used, codes)
    return Entering(
        usable.sum(0),
        (n_by_cluster > 0).sum(0),
        (by_judge > 0).sum(0) + (by_rater > 0).sum(0),
        (by_judge.sum(0) + by_rater.sum(0)).astype(np.int64),
    )


def ensembles(
    n_judges: int, measure: MeasureName = "percent_agreement", common: bool = True
) -> Statistic:
    """Agreement of every odd ensemble of judges with the consensus in the first column.

    An ensemble votes by majority. Ensembles are in the order of odd_subsets. common: all on the
    slots where every ensemble has a majority; otherwise each on its own. Sums: common_ensemble_sums
    or ensemble_tables. Values: (..., n_ensembles). nan for an ensemble without slots; binary labels
    only. Source: MedQADE.

    Example:
        >>> codes = Codes(np.array([[1, 1, 1, 0], [0, 1, 0, 0]]), np.arange(2), 2)
        >>> statistic = ensembles(3)
        >>> statistic.finalise(statistic.tally(codes).sum(0))
        array([0.5, 1. , 0.5, 1. ])
    """
    d = measure_disagreements(measure, 2)
    n_tables = len(odd_subsets(n_judges))
    values_of = partial(finalise_tables, measure=measure, d=d, n_tables=n_tables, mean=False)
    finalise = partial(_complete_tables, finalise=values_of) if common else values_of
    tally = common_ensemble_sums if common else ensemble_tables
    return Statistic(
        f"ensembles_{measure}", tally, finalise, "majority votes of odd-sized ensembles of judges"
    )


def _members(n_judges: int) -> NDArray[np.float32]:
    """Which judge belongs to which ensemble, (n_judges, n_ensembles) of 0 and 1."""
    subsets = odd_subsets(n_judges)
    member = np.zeros((n_judges, len(subsets)), dtype=np.float32)
    for column, subset in enumerate(subsets):
        member[list(subset), column] = 1
    return member


def _binary(codes: Codes) -> tuple[NDArray[np.integer[Any]], NDArray[np.int8]]:
    """The consensus (n_units, 1) and every ensemble's vote (n_units, n_ensembles)."""
    if codes.n_labels != 2:
        raise ValueError(f"ensembles: got {codes.n_labels} labels; expected two")
    return codes.labels[:, :1], ensemble_labels(codes.labels[:, 1:])


def _complete_tables(totals: Array, finalise: Finalise) -> Array:
    """Fill in the cells that common_ensemble_sums leaves out, then finalise."""
    totals = np.asarray(totals, dtype=np.float64)
    n_ensembles = (totals.shape[-1] - 2) // 2
    tables = np.empty((*totals.shape[:-1], n_ensembles, 4))
    for label, votes_for in enumerate(
        (totals[..., 2 : 2 + n_ensembles], totals[..., 2 + n_ensembles :])
    ):
        np.subtract(totals[..., label, None], votes_for, out=tables[..., label])
        tables[..., 2 + label] = votes_for
    return finalise(tables.reshape(*totals.shape[:-1], -1))
