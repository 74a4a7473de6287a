"""Estimates of agreement: with textbook intervals, by chance, and several of one sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from konsil.analysis.agreement.agreement_limits import computed_from_margins
from konsil.analysis.agreement.agreement_statistics import (
    Tallied,
    agreement,
    entering,
    reason,
    totals_of,
)
from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.estimate import EstimateSummary, estimate, estimates
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.own_weights import PairWeights, Weights
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import AsPublished, Resampling
from konsil.errors.message import message
from konsil.stats.agreement import kappa
from konsil.stats.agreement.alpha import Level
from konsil.stats.agreement.icc import ICC_FORMS, ONE_WAY, has_no_gaps, icc_test, oneway_icc_test
from konsil.stats.agreement.long_scales.coefficients import Chance
from konsil.stats.agreement.long_scales.disagreement import Disagreement
from konsil.stats.agreement.long_scales.margins import label_sums
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array, Codes, Finalise
from konsil.stats.engine.parts import Compute
from konsil.stats.engine.tables import by_cluster, unit_counts
from konsil.stats.inference.both_ways import tallied_both_ways


def with_textbook_interval(
    sample: Sample,
    name: str,
    level: Level,
    *,
    key: int,
    resampling: Resampling,
    cluster: str,
    weights: str = "",
) -> tuple[EstimateSummary, Measure]:
    """An agreement statistic with its CIs; for ICC also the textbook's F interval."""
    measure = agreement(sample, name, level, weights)
    summary = estimate(
        measure, key=key, resampling=resampling, cluster=cluster, reason=reason(sample, name)
    )
    summary = _completed(summary, measure, sample, name, resampling)
    return (
        with_chance(summary, sample, name, key=key, resampling=resampling, cluster=cluster),
        measure,
    )


def _label_counts(codes: Codes) -> Array:
    """How often each label was given in each cluster, (n_clusters, n_labels)."""
    return by_cluster(unit_counts(codes), codes)


def with_chance(
    summary: EstimateSummary,
    sample: Sample,
    name: str,
    *,
    key: int,
    resampling: Resampling,
    cluster: str,
) -> EstimateSummary:
    """Agreement within one step, with its chance level on the same resamples as a companion.

    Other statistics as they are.

    The chance level is that of two labels drawn from all the labels given: sum over labels at most
    one step apart of p_i p_j, p the shares of the labels.
    """
    if name != "within_one" or not np.isfinite(summary.headline.value):
        return summary
    sample = entering(sample, STATISTICS[name].uses)
    sums, finalise = _chance_level(sample.codes)
    measure = Measure(
        sums, finalise, sample.clusters, sample.n_units, sample.n_raters, sample.n_ratings
    )
    chance = estimate(measure, key=key, resampling=resampling, cluster=cluster).headline
    method = message(
        "chance level (two ratings drawn at random from all ratings), {method}",
        message_id="method.chance_level",
        method=chance.method,
    )
    companion = replace(chance, method=method)
    return replace(summary, companions=(*summary.companions, companion))


def _chance_level(codes: Codes) -> tuple[Sums, Finalise]:
    """The sums and the finalise of agreement within one step by chance."""
    if computed_from_margins(codes, "within_one"):
        return label_sums(codes), Chance(Disagreement("within_one", codes.n_labels))
    # Of comparisons both directions count, as in the statistic itself.
    counts = tallied_both_ways(_label_counts)(codes)
    near = 1 - kappa.measure_disagreements("within_one", codes.n_labels)

    def finalise(totals: Array) -> Array:
        shares = ratio(totals, np.broadcast_to(totals.sum(-1, keepdims=True), totals.shape))
        return np.asarray(((shares @ near) * shares).sum(-1, keepdims=True), dtype=np.float64)

    return counts, finalise


def estimate_jointly(
    sample: Sample,
    names: Sequence[str],
    level: Level,
    *,
    key: int,
    resampling: Resampling,
    cluster: str,
    weights: Weights = "",
    pair_weights: PairWeights = "alike",
) -> dict[str, EstimateSummary]:
    """Several agreement statistics of one sample, each kind of sums resampled once.

    The numbers are the same as those computed one by one. `weights` are those of partial agreement,
    for the statistics that take some.
    """
    tallied = Tallied()
    measures = {
        name: agreement(sample, name, level, weights_of(name, weights), tallied, pair_weights)
        for name in names
    }
    # Statistics of the same sums share the resamples of one pass.
    together: dict[int, list[str]] = {}
    for name, measure in measures.items():
        together.setdefault(id(measure.sums), []).append(name)
    summaries: dict[str, EstimateSummary] = {}
    for members in together.values():
        reasons = [reason(sample, name, weights_of(name, weights)) for name in members]
        member_summaries = estimates(
            [measures[name] for name in members],
            key=key,
            resampling=resampling,
            cluster=cluster,
            reasons=reasons,
        )
        for name, summary in zip(members, member_summaries, strict=True):
            summary = _completed(summary, measures[name], sample, name, resampling)
            summary = with_chance(
                summary, sample, name, key=key, resampling=resampling, cluster=cluster
            )
            summaries[name] = replace(
                summary, notes=(*summary.notes, *_pairs_note(measures[name], sample))
            )
    return {name: summaries[name] for name in names}


@dataclass(frozen=True)
class JointSample:
    """A sample, and what its statistics are estimated with."""

    sample: Sample
    """The ratings as codes."""
    level: Level
    """The level of measurement."""
    key: int
    """The seed of the resamples."""
    resampling: Resampling
    """How intervals are made."""
    cluster: str
    """What the clusters are, in words."""
    weights: Weights = ""
    """Those of partial agreement."""
    pair_weights: PairWeights = "alike"
    """How a mean over pairs of raters weighs them."""

    def estimates(self, names: Sequence[str]) -> dict[str, EstimateSummary]:
        """Several statistics."""
        return estimate_jointly(
            self.sample,
            names,
            self.level,
            key=self.key,
            resampling=self.resampling,
            cluster=self.cluster,
            weights=self.weights,
            pair_weights=self.pair_weights,
        )


def estimate_in_parts(
    joint: JointSample, names: Sequence[str], compute: Compute
) -> dict[str, EstimateSummary]:
    """The same numbers as together, in parts: the statistics of each kind of sums are one."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(STATISTICS[name].needs, []).append(name)
    summaries: dict[str, EstimateSummary] = {}
    for part in compute(JointSample.estimates, joint, list(kinds.values())):
        summaries |= part
    return {name: summaries[name] for name in names}


def weights_of(name: str, weights: Weights) -> Weights:
    """The weights of partial agreement for a statistic; empty where it takes none.

    Krippendorff's alpha, whose level of measurement determines the weights, takes own weights only.
    """
    is_own = not isinstance(weights, str)
    return weights if STATISTICS[name].weighted and (is_own or name != "krippendorff_alpha") else ""


def _pairs_note(measure: Measure, sample: Sample) -> tuple[str, ...]:
    undefined, n_raters = measure.n_undefined_pairs, sample.codes.labels.shape[1]
    pairs = n_raters * (n_raters - 1) // 2
    if not 0 < undefined < pairs:
        return ()
    return (
        message(
            (
                "not estimable for {n:,} of {all:,} pairs of raters, which are excluded from"
                " the mean"
            ),
            n=undefined,
            all=pairs,
        ),
    )


def _completed(
    summary: EstimateSummary, measure: Measure, sample: Sample, name: str, resampling: Resampling
) -> EstimateSummary:
    """The summary with the textbook CI of an ICC, and the number of complete units.

    The number is given where other units are left out.
    """
    if name in ICC_FORMS and np.isfinite(summary.headline.value):
        sums = totals_of(measure.sums)
        if name in ONE_WAY and not has_no_gaps(sample.codes):
            form = oneway_icc_test(name, sums, resampling.level)
        else:
            form = icc_test(name, sums, sample.codes.labels.shape[1], resampling.level)
        textbook = replace(
            summary.headline,
            low=form.low,
            high=form.high,
            se=float("nan"),
            p=form.p,
            n_undefined=0,
            method=message(
                "F interval of Shrout and Fleiss: independent, normal units",
                message_id="method.shrout_fleiss",
            ),
        )
        # An interval without width is shown only where a paper is reproduced.
        if rare_events.has_width(textbook) or isinstance(resampling, AsPublished):
            summary = replace(summary, companions=(*summary.companions, textbook))
    complete = int((sample.codes.labels >= 0).all(axis=1).sum())
    if STATISTICS[name].uses == "complete" and complete < sample.n_units:
        note = message(
            "Based on the {n:,} of {all:,} units that every rater rated.",
            all=sample.n_units,
            n=complete,
        )
        summary = replace(summary, notes=(note, *summary.notes))
    return summary
