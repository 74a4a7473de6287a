"""A measure: one number of one group, as sums over named clusters and a function of their totals.

Measures of different groups have the same clusters by name, so that a difference of two is
again a measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from konsil.analysis.model.catalogue.entry import NOT_NEGATIVE
from konsil.analysis.model.sample import Sample
from konsil.stats.agreement.thin_pairs import ThinPairs
from konsil.stats.engine.arithmetic import WithGradient, ratio
from konsil.stats.engine.cluster_sums import Sums, prepare
from konsil.stats.engine.contract import Array, Finalise, Statistic
from konsil.stats.inference.infer import concatenate
from konsil.stats.inference.posterior import Prior
from konsil.stats.inference.rater_jackknife import LeftOut
from konsil.stats.inference.wald import Scale, linearised
from konsil.stats.shares.deviation import standard_deviation
from konsil.stats.shares.uneven_clusters import UnevenClusters

LINEARISED_CLUSTERS = 200
"""Number of clusters from which on long scales have the linearised interval alone."""

LINEARISED_RATINGS = 1_000
"""Number of ratings from which on they have it, however few the clusters."""


@dataclass(frozen=True)
class Measure:
    """Sums over clusters, what to make of their totals, and what was used."""

    sums: Sums
    """(n_clusters, k), dense or sparse."""
    finalise: Finalise
    """Totals (..., k) -> values (..., 1)."""
    clusters: tuple[str, ...]
    """The rows' clusters, sorted."""
    n_units: int
    """Units with a label."""
    n_raters: int
    """Raters with a label."""
    n_ratings: int
    """Labels used."""
    n_undefined_pairs: int = 0
    """Pairs of raters for which a pairwise statistic is undefined."""
    possible: tuple[float, float] | None = None
    """The least and the greatest value that it can have, where its two-way interval must keep to
    them."""
    scale: Scale = "identity"
    """On which scale intervals are made: 'atanh' for coefficients that end at 1, 'logit' for areas
    in 0 .. 1."""
    trials: Array | None = None
    """(n_clusters,) how many yes-or-no outcomes the number is a share of; None where it is no share
    of such."""
    hits: Array | None = None
    """(n_clusters,) how many of these outcomes are a yes; None where that is not known by
    cluster."""
    share: tuple[float, float] | None = None
    """(a, b) where the number is a + b times a share of outcomes, whose interval it then has; (0,
    1): that share."""
    sizes: Array | None = None
    """(n_clusters,) how many units each cluster has, where clusters of unequal size have fewer
    degrees of freedom."""
    uneven: UnevenClusters | None = None
    """Variance and degrees of freedom of agreement in clusters of very unequal size; None: they are
    not such."""
    prior: Prior | None = None
    """What a posterior of the rating patterns adds to the sums, where labels are too sparse for a
    bootstrap."""
    drawn_as: Finalise | None = None
    """The form of the coefficient that the posterior draws; None: the coefficient itself."""
    thin: ThinPairs | None = None
    """What pairs of raters share, where some share few units and the number is a mean over pairs
    with equal weight."""
    is_rare: bool = False
    """Whether the number rests on rare events, for which the linearised interval covers better than
    the bootstrap."""
    is_smooth: bool = True
    """Whether a small change of the sums changes the number a little: not so of medians, which have
    no slope."""
    cell: Cells | None = None
    """Units by rater, where the number is a ratio of sums over single ratings."""
    left_out: LeftOut | None = None
    """The number without each rater, where it pairs raters with one another and groups are
    compared; None: not known."""
    raters: frozenset[str] = frozenset()
    """The raters who gave its ratings, where `left_out` matters; empty: not recorded here."""
    by_single_ratings: Measure | None = None
    """Of a majority or mean of several raters: the mean of the units' own means of single ratings,
    which a comparison that treats raters as sampled is made from; None for other numbers."""
    notes: tuple[str, ...] = field(default=())
    """What a reader must know."""
    commonest: float = math.nan
    """The share of the commonest label, of statistics of agreement; nan where not recorded."""


@dataclass(frozen=True)
class Cells:
    """One row a rating, for two-way clustered CIs: its sums, its cluster and its rater."""

    rows: Array
    """(n_ratings, k)."""
    clusters: np.ndarray[tuple[int], np.dtype[np.int64]]
    """(n_ratings,)."""
    raters: np.ndarray[tuple[int], np.dtype[np.int64]]
    """(n_ratings,)."""
    groups: np.ndarray[tuple[int], np.dtype[np.int64]] | None = None
    """(n_ratings,) which of two compared groups a rating is of; None: there is one group."""
    names: tuple[str, ...] = ()
    """The raters' names by number; empty: not known."""


def clusters_used(measure: Measure) -> frozenset[str]:
    """The clusters that carry information."""
    used = np.asarray(abs(measure.sums).sum(axis=1)).ravel() > 0
    return frozenset(name for name, says in zip(measure.clusters, used, strict=True) if says)


def quotient(totals: Array) -> Array:
    """First column over second: a share or a mean; nan where there is nothing to divide by."""
    return ratio(totals[..., 0:1], totals[..., 1:2])


def share(sample: Sample, successes: Sequence[int]) -> Measure:
    """Share of the labels that are among the successes: sum of hits over sum of labels."""
    hit = np.isin(sample.codes.labels, list(successes)).astype(np.float64)
    measure = _ratio_measure(sample, hit)
    sums = np.asarray(measure.sums)
    return replace(measure, trials=sums[:, 1], hits=sums[:, 0], possible=(0.0, 1.0))


def mean(sample: Sample) -> Measure:
    """Mean of the labels' numbers over all labels."""
    return _ratio_measure(sample, _numbers(sample))


def deviation(sample: Sample) -> Measure:
    """Standard deviation of the labels' numbers over all labels."""
    is_labelled = sample.codes.labels >= 0
    unit, rater = np.nonzero(is_labelled)
    rows = _moments(_numbers(sample)[is_labelled])
    cluster = sample.codes.clusters[unit]
    return _of_moments(sample, cluster, rows, Cells(rows, cluster, rater, names=sample.raters))


def consensus_deviation(sample: Sample) -> Measure:
    """Standard deviation over units of the raters' mean number."""
    of_unit, is_rated = _unit_means(sample)
    return _of_moments(sample, sample.codes.clusters[is_rated], _moments(of_unit[is_rated]), None)


def _moments(numbers: Array) -> Array:
    """Count, number and square of each number, from their mean: no digit is lost on the way."""
    # Centred, so that no digits cancel where the spread is small beside the numbers.
    centred = numbers - numbers.mean() if len(numbers) else numbers
    return np.column_stack([np.ones(len(numbers)), centred, centred * centred])


def _of_moments(
    sample: Sample,
    cluster: np.ndarray[tuple[int], np.dtype[np.int64]],
    rows: Array,
    cell: Cells | None,
) -> Measure:
    return Measure(
        sums=_by(cluster, rows, len(sample.clusters)),
        finalise=standard_deviation,
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
        possible=NOT_NEGATIVE,
        cell=cell,
    )


def _numbers(sample: Sample) -> Array:
    """The number of every label; any number where there is none."""
    values = np.asarray(sample.codes.values, dtype=np.float64)
    # Missing labels (-1) get some number, which the callers leave out.
    numbers: Array = values[np.maximum(sample.codes.labels, 0)]
    return numbers


def from_formula(sample: Sample, formula: Statistic) -> Measure:
    """The measure of a statistic of labels: sums by cluster, and the function of their totals."""
    return Measure(
        sums=formula.tally(sample.codes),
        finalise=formula.finalise,
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
    )


def share_of_units(sample: Sample, successes: Sequence[int]) -> Measure:
    """Mean over units of the share of their own labels that are among the successes.

    With two labels a unit that is their majority, with a tie as a half.
    """
    hit = np.isin(sample.codes.labels, list(successes)).astype(np.float64)
    return _ratio_measure(sample, hit, are_units_alike=True)


def mean_of_units(sample: Sample) -> Measure:
    """Mean over units of the raters' mean number, with its single ratings."""
    return _ratio_measure(sample, _numbers(sample), are_units_alike=True)


def _ratio_measure(sample: Sample, numbers: Array, *, are_units_alike: bool = False) -> Measure:
    """Sum of numbers over the number of labels; or units, of which each counts once."""
    is_labelled = sample.codes.labels >= 0
    unit, rater = np.nonzero(is_labelled)
    rows = np.column_stack([numbers[is_labelled], np.ones(int(is_labelled.sum()))])
    if are_units_alike:
        rows /= is_labelled.sum(axis=1)[unit, None]
    cluster = sample.codes.clusters[unit]
    return Measure(
        sums=_by(cluster, rows, len(sample.clusters)),
        finalise=quotient,
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
        cell=Cells(rows, cluster, rater, names=sample.raters),
    )


def _by(cluster: np.ndarray[tuple[int], np.dtype[np.int64]], rows: Array, n_clusters: int) -> Array:
    columns = [
        np.bincount(cluster, weights=rows[:, j], minlength=n_clusters) for j in range(rows.shape[1])
    ]
    return np.column_stack(columns)


def consensus_mean(sample: Sample) -> Measure:
    """Mean over units of the raters' mean number."""
    of_unit, is_rated = _unit_means(sample)
    rows = np.column_stack([of_unit, is_rated.astype(np.float64)])
    return Measure(
        sums=_by(sample.codes.clusters, rows, len(sample.clusters)),
        finalise=quotient,
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
    )


def _unit_means(sample: Sample) -> tuple[Array, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The raters' mean number of each unit, 0 where there is none, and where there is one."""
    is_labelled = sample.codes.labels >= 0
    numbers = np.where(is_labelled, _numbers(sample), 0.0)
    n = is_labelled.sum(axis=1)
    return np.where(n > 0, numbers.sum(axis=1) / np.maximum(n, 1), 0.0), n > 0


def value(measure: Measure) -> float:
    """The number itself, from all clusters."""
    totals = np.asarray(measure.sums.sum(axis=0), dtype=np.float64).ravel()
    return float(measure.finalise(totals)[0])


def without_each_rater(sample: Sample, make: Callable[[Sample], Measure]) -> dict[str, float]:
    """The number again without each rater in turn: what a jackknife over raters is made of."""
    value_by_rater = {}
    for n, rater in enumerate(sample.raters):
        labels = np.delete(sample.codes.labels, n, axis=1)
        others = tuple(r for r in sample.raters if r != rater)
        value_by_rater[rater] = value(
            make(replace(sample, codes=replace(sample.codes, labels=labels), raters=others))
        )
    return value_by_rater


def is_linearised(measure: Measure) -> bool:
    """Whether a number has the linearised interval by its closed form, and no resamples.

    Only numbers on long scales have a closed form; a resample of one costs as much as its estimate.
    """
    return isinstance(measure.finalise, WithGradient) and (
        len(measure.clusters) >= LINEARISED_CLUSTERS or measure.n_ratings >= LINEARISED_RATINGS
    )


def linear(measure: Measure) -> Measure:
    """The number as the mean over clusters of its linearised parts, which are one column.

    Cluster c has the part value + C influence_c, C the clusters with information: the same value
    and linearised variance as of the sums themselves, however wide these are. Source: Binder
    (1983), as in `wald.linearised`.
    """
    at = value(measure)
    used = np.asarray(abs(measure.sums).sum(axis=1)).ravel() > 0
    parts = np.zeros((len(used), 2))
    if np.isfinite(at):
        influence = linearised(measure.sums, measure.finalise)[:, 0]
        # Clusters without information have no part, so that the others' must add up to the value.
        influence = influence - influence[used].mean()
        parts = np.column_stack([at + used.sum() * influence, np.ones(len(used))])
    return replace(measure, sums=parts * used[:, None], finalise=quotient)


def pair(a: Measure, b: Measure) -> Measure:
    """Both numbers on the same clusters, a then b, so that each resample contains both."""
    a, b = (linear(m) if is_linearised(m) else m for m in (a, b))
    clusters = tuple(sorted(set(a.clusters) | set(b.clusters)))
    sums, finalise = concatenate([(_on(a, clusters), a.finalise), (_on(b, clusters), b.finalise)])
    return Measure(
        sums=sums,
        finalise=finalise,
        clusters=clusters,
        n_units=max(a.n_units, b.n_units),
        n_raters=max(a.n_raters, b.n_raters),
        n_ratings=a.n_ratings + b.n_ratings,
        is_smooth=a.is_smooth and b.is_smooth,
        cell=_cells(a, b, clusters),
        notes=tuple(dict.fromkeys(a.notes + b.notes)),
    )


def joint(measures: Sequence[Measure]) -> list[Measure]:
    """The measures on one array of sums where they share their clusters, resampled once.

    The same clusters have the same resamples, so no number changes. Measures of other clusters, or
    with another number of clusters that carry information, are left as they are.
    """
    measures = [linear(m) if is_linearised(m) else m for m in measures]
    first = measures[0]
    informative = [prepare(m.sums).informative for m in measures]
    if any(
        m.clusters != first.clusters or n != informative[0]
        for m, n in zip(measures, informative, strict=True)
    ):
        return list(measures)
    each = {id(m.sums): m.sums for m in measures}
    if len(each) == 1:
        return list(measures)
    dense = [s if isinstance(s, np.ndarray) else s.toarray() for s in each.values()]
    starts = dict(zip(each, np.cumsum([0, *(d.shape[1] for d in dense)]), strict=False))
    sums = np.concatenate(dense, axis=1)
    return [
        replace(
            m,
            sums=sums,
            finalise=_part(m.finalise, int(starts[id(m.sums)]), m.sums.shape[1]),
            # The prior belongs to the sums of one tally, not to joined ones.
            prior=None,
        )
        for m in measures
    ]


@dataclass(frozen=True)
class Column:
    """One of a statistic's values as a finalise of its own.

    `together` computes those of one statistic at once.
    """

    statistic: Finalise
    """The statistic, (..., k) to (..., m)."""
    place: int
    """Which of its values."""

    def __call__(self, totals: Array) -> Array:
        """Compute the statistic and take the value, (..., k) to (..., 1)."""
        return self.of(self.statistic(totals))

    def of(self, values: Array) -> Array:
        """Take the value from all, (..., m) to (..., 1)."""
        return values[..., self.place : self.place + 1]


def together(measures: Sequence[Measure]) -> Finalise:
    """All values of measures on one array of sums, (..., k) to (..., n_measures)."""

    def finalise(totals: Array) -> Array:
        # Columns of one statistic: it is computed once for all of them.
        statistics = {
            id(f.statistic): f.statistic
            for f in (m.finalise for m in measures)
            if isinstance(f, Column)
        }
        values = {name: statistic(totals) for name, statistic in statistics.items()}
        parts = [
            (
                m.finalise.of(values[id(m.finalise.statistic)])
                if isinstance(m.finalise, Column)
                else m.finalise(totals)
            )
            for m in measures
        ]
        return np.concatenate(parts, axis=-1)

    return finalise


def _part(finalise: Finalise, start: int, width: int) -> Finalise:
    return lambda totals: finalise(totals[..., start : start + width])


def minus(a: Measure, b: Measure) -> Measure:
    """A minus b as a measure, where both are on one array of sums."""
    if a.sums is not b.sums:
        raise ValueError("a minus b: expected both on the same sums; join them first")
    return replace(
        a,
        finalise=lambda totals: a.finalise(totals) - b.finalise(totals),
        scale="identity",
        share=None,
        prior=None,
        uneven=None,
        thin=None,
    )


def _on(measure: Measure, clusters: tuple[str, ...]) -> Array:
    """The sums with one row for each of the named clusters, zero where the measure has none."""
    position = {name: n for n, name in enumerate(clusters)}
    place = np.array([position[name] for name in measure.clusters], dtype=np.int64)
    dense = measure.sums if isinstance(measure.sums, np.ndarray) else measure.sums.toarray()
    out = np.zeros((len(clusters), dense.shape[1]))
    out[place] = dense
    return out


def _cells(a: Measure, b: Measure, clusters: tuple[str, ...]) -> Cells | None:
    if a.cell is None or b.cell is None:
        return None
    position = {name: n for n, name in enumerate(clusters)}
    place = [np.array([position[name] for name in m.clusters], dtype=np.int64) for m in (a, b)]
    k, m = a.cell.rows.shape[1], b.cell.rows.shape[1]
    rows = np.zeros((len(a.cell.rows) + len(b.cell.rows), k + m))
    rows[: len(a.cell.rows), :k] = a.cell.rows
    rows[len(a.cell.rows) :, k:] = b.cell.rows
    return Cells(
        rows,
        np.concatenate([place[0][a.cell.clusters], place[1][b.cell.clusters]]),
        np.concatenate([a.cell.raters, b.cell.raters]),
        np.repeat(np.arange(2), [len(a.cell.rows), len(b.cell.rows)]),
        a.cell.names if a.cell.names == b.cell.names else (),
    )
