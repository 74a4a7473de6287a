"""Each rater against the majority of the other raters of the panel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from konsil.analysis.estimation.agreement_scales import share_of, spaced
from konsil.analysis.estimation.measure import Column, Measure
from konsil.analysis.estimation.prevalence import label_notes
from konsil.analysis.estimation.rare_events import is_sparse
from konsil.analysis.estimation.raters.consensus_rules import PAIR
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Analysis
from konsil.errors import AnalysisError, nearest
from konsil.errors.message import message, placed
from konsil.stats.agreement import consensus
from konsil.stats.agreement.alpha import Level
from konsil.stats.agreement.kappa import MeasureName
from konsil.stats.agreement.thin_pairs import slots_of, thin_majorities
from konsil.stats.engine.contract import Codes, Statistic
from konsil.stats.engine.distances import Weights
from konsil.stats.inference.both_ways import both_ways
from konsil.stats.inference.posterior import of_defined_tables, prior
from konsil.stats.shares.uneven_clusters import sizes, uneven_clusters

MEASURE_BY_STATISTIC: dict[str, tuple[MeasureName, Weights]] = {
    "percent_agreement": ("percent_agreement", "unweighted"),
    "within_one": ("within_one", "unweighted"),
    "cohen_kappa": ("cohen_kappa", "unweighted"),
    "cohen_kappa_linear": ("cohen_kappa", "linear"),
    "cohen_kappa_quadratic": ("cohen_kappa", "quadratic"),
    "pabak": ("pabak", "unweighted"),
    "scott_pi": ("scott_pi", "unweighted"),
    "gwet_ac1": ("gwet_ac1", "unweighted"),
}
"""The statistics of one table of two raters, which can therefore be computed of a rater and a
consensus."""


def table_measure(analysis: Analysis) -> tuple[MeasureName, Weights]:
    """The measure of tables that an analysis requests, or an error that names all measures."""
    if analysis.statistic not in MEASURE_BY_STATISTIC:
        hint = nearest(analysis.statistic, MEASURE_BY_STATISTIC)
        raise AnalysisError(
            f"{analysis.name}: {analysis.statistic!r} does not compare a rater with a consensus"
            f" (against = {analysis.against!r}); {hint}"
        )
    return MEASURE_BY_STATISTIC[analysis.statistic]


MOST_SUMS = 1 << 27
"""Numbers of a gradient, half a minute: sums of a cluster times clusters or sums, the fewer."""


def refuse_many_labels(analysis: Analysis, codes: Codes, n_sums: int) -> None:
    """Refuse tables of labels by labels whose intervals would take minutes.

    A majority counts equal labels: of measured values there is almost none. `n_sums`: those of a
    cluster.
    """
    if n_sums * min(n_sums, codes.n_clusters) > MOST_SUMS:
        raise AnalysisError(
            placed(
                analysis.name,
                message(
                    "{n:,} different {n|label|labels}: a majority needs equal labels; combine"
                    " labels by collapse, or compute agreement among the raters without against",
                    message_id="refused.many_labels",
                    n=codes.n_labels,
                ),
            )
        )


def leave_one_out_measure(sample: Sample, analysis: Analysis, level: Level) -> Measure:
    """Each rater against the majority of the others, averaged over the raters."""
    measure, weights = table_measure(analysis)
    notes = without_majority(sample)
    sample = sample.with_labels_of(np.asarray(consensus.slots(sample.codes.labels).any(axis=1)))
    codes = spaced(sample.codes, analysis.statistic, level)
    refuse_many_labels(analysis, codes, codes.labels.shape[1] * codes.n_labels**2)
    statistic = consensus.leave_one_out_agreement(
        codes.labels.shape[1], codes.n_labels, measure, weights, codes.values
    )
    notes = (*notes, *label_notes(sample, analysis.statistic))
    return _measure(sample, codes, statistic, notes, share_of(analysis.statistic, "", codes))


def each_rest(sample: Sample, analysis: Analysis, level: Level) -> list[Measure]:
    """Each rater against the majority of the others, one measure a rater, all on the same sums."""
    measure, weights = table_measure(analysis)
    codes = spaced(sample.codes, analysis.statistic, level)
    n_raters, n_labels = codes.labels.shape[1], codes.n_labels
    refuse_many_labels(analysis, codes, n_raters * n_labels**2)
    statistic = consensus.leave_one_out_agreement(
        n_raters, n_labels, measure, weights, codes.values, per_rater=True
    )
    notes = (
        *without_majority(sample),
        *label_notes(sample, analysis.statistic),
    )
    overall = _measure(
        sample, codes, statistic, notes, share_of(analysis.statistic, "", codes), is_mean=False
    )
    slots = consensus.slots(codes.labels)
    # By rater, each rater's labels of the units on which the former meets a majority: the others'
    # decide what that is, so that they enter as well.
    n_entering = slots.T.astype(np.float64) @ (codes.labels >= 0)
    return [
        replace(
            overall,
            finalise=Column(statistic.finalise, n),
            n_units=int(slots[:, n].sum()),
            n_raters=int(np.count_nonzero(n_entering[n])),
            n_ratings=int(n_entering[n].sum()),
            uneven=uneven_clusters(
                codes, both_ways(statistic, codes).tally, Column(statistic.finalise, n)
            ),
        )
        for n in range(n_raters)
    ]


def without_majority(sample: Sample) -> tuple[str, ...]:
    """A note on the number of units without a strict majority, if any.

    Two raters need none: each is compared with the other's label.
    """
    codes = sample.codes
    if codes.labels.shape[1] == PAIR:
        return ()
    no_majority = int((consensus.majority(codes.labels) < 0).sum())
    if not no_majority:
        return ()
    return (
        message(
            "{n:,} of {all:,} units have no panel majority; they count only where the"
            " majority exists without one of the raters.",
            message_id="majority.without_one",
            n=no_majority,
            all=len(sample.units),
        ),
    )


def _measure(
    sample: Sample,
    codes: Codes,
    statistic: Statistic,
    notes: tuple[str, ...],
    share: tuple[float, float] | None,
    *,
    is_mean: bool = True,
) -> Measure:
    """`is_mean`: the statistic is a mean over the raters with equal weight."""
    statistic = both_ways(statistic, codes)
    sums, size = statistic.tally(codes), codes.n_labels**2
    thin = thin_majorities(slots_of(sums, size)) if is_mean else None
    sparse = None
    if thin is not None:
        sparse = prior(codes, statistic.tally, defined=of_defined_tables(sums, size))
    elif share is None and is_sparse(codes):
        sparse = prior(codes, statistic.tally)
    return Measure(
        sums=sums,
        finalise=statistic.finalise,
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
        scale="atanh",
        notes=notes,
        share=share,
        sizes=sizes(codes),
        uneven=uneven_clusters(codes, statistic.tally, statistic.finalise),
        prior=sparse,
        thin=thin,
    )
