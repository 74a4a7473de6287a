"""From one analysis and one group's ratings to a measure, for every kind of statistic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from konsil.analysis.agreement import agreement_estimates, agreement_statistics, consensus
from konsil.analysis.estimation.estimate import EstimateSummary, estimates, undefined_estimate
from konsil.analysis.estimation.group_estimates import (
    Group,
    estimate_of,
    group_of,
    with_headline,
    with_rater_clusters,
)
from konsil.analysis.estimation.measure import (
    Measure,
    consensus_deviation,
    consensus_mean,
    deviation,
    from_formula,
    mean,
    mean_of_units,
    share,
    share_of_units,
)
from konsil.analysis.estimation.raters.leave_one_out import each_rest, leave_one_out_measure
from konsil.analysis.estimation.raters.rater_samples import with_raters
from konsil.analysis.estimation.raters.sensitivity import rater_clusters
from konsil.analysis.model.catalogue.additions import additions
from konsil.analysis.model.catalogue.known import AGREEMENT, RATER_PAIR, statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import AgreementOptions, ShareOptions
from konsil.analysis.model.sample import Sample
from konsil.analysis.table.encoding import encode, labels_in, sample_of
from konsil.analysis.table.labels import Labels
from konsil.errors import AnalysisError
from konsil.errors.message import message
from konsil.stats.engine.contract import Estimate
from konsil.stats.inference.infer import Caution
from konsil.stats.shares.durations import median_of_cells
from konsil.stats.shares.medians import clustered_median, label_counts

_FEW_CLUSTERS_OF_MEDIANS = 10
"""Clusters below which the t quantiles do not keep the level reliably."""


_OF_LABELS = ("share", "relative_difference", "mean", "standard_deviation")
"""Statistics of all labels, of the panel's majorities or of its means."""


def single(
    context: Context, keys: dict[str, str], frame: pl.DataFrame, raters: tuple[str, ...]
) -> Group:
    """The measure of one group for a statistic of one panel."""
    analysis = context.analysis
    if analysis.statistic == "self_agreement":
        measure = consensus.self_agreement(frame, analysis, labels_in(context, frame))
        summary = estimate_of(
            context, measure, message("no rater rated anything twice (no task repeats another)")
        )
        if analysis.cluster == "rater" and measure.n_ratings:
            summary = with_headline(summary, rater_clusters(summary.headline, measure))
        return Group(keys, measure, summary)
    if analysis.statistic == "abstention":
        return group_of(
            context, keys, _abstentions(context, frame, raters), lambda s: share(s, [1])
        )
    sample = sample_of(context, frame, raters)
    if analysis.statistic == "median":
        return median_group(context, keys, sample)
    if analysis.statistic == "without_majority":
        return group_of(context, keys, sample, _without_majority)
    if analysis.against == "rest":
        group = group_of(
            context,
            keys,
            sample,
            lambda s: leave_one_out_measure(s, analysis, context.level),
        )
        summary = agreement_estimates.with_chance(
            group.summary,
            sample,
            analysis.statistic,
            key=context.key,
            resampling=context.resampling,
            cluster=context.cluster,
        )
        return replace(group, summary=summary)
    if analysis.statistic in _OF_LABELS:
        labels = labels_in(context, frame)
        group = group_of(context, keys, sample, lambda s: _proportion(context, s, labels))
        return _with_single_ratings(context, group, frame, raters)
    if statistic_of(analysis.statistic).is_among_raters and analysis.statistic not in additions():
        return agreement_of(context, keys, sample)
    if analysis.statistic in additions():
        addition = additions()[analysis.statistic]
        return group_of(
            context,
            keys,
            sample,
            lambda s: from_formula(s, addition.formula_of(s.codes, analysis.options)),
        )
    raise AnalysisError(
        f"{analysis.name}: no computation is defined for the statistic {analysis.statistic!r}"
    )


def each_against_rest(
    context: Context, keys: Mapping[str, str], frame: pl.DataFrame, raters: tuple[str, ...]
) -> list[Group]:
    """Each rater against the majority of the others: as many groups as raters."""
    groups = []
    for names, part in _by_clusters_rated(sample_of(context, frame, raters)):
        measures = dict(zip(raters, each_rest(part, context.analysis, context.level), strict=True))
        summaries = estimates(
            [measures[name] for name in names],
            key=context.key,
            resampling=context.resampling,
            cluster=context.cluster,
            reasons=[""] * len(names),
        )
        groups += [
            Group({**keys, "rater": name}, measures[name], summary)
            for name, summary in zip(names, summaries, strict=True)
        ]
    return sorted(groups, key=lambda group: raters.index(group.keys["rater"]))


def _by_clusters_rated(sample: Sample) -> list[tuple[list[str], Sample]]:
    """Raters of all clusters together; each other rater alone, with the units that they rated.

    A rater of a few clusters provides information on these clusters only, however many the other
    raters rated.
    """
    rated = sample.codes.labels >= 0
    clusters = sample.clusters_rated()
    every = frozenset[int]().union(*clusters)
    complete = [rater for rater, of in zip(sample.raters, clusters, strict=True) if of == every]
    partial = [
        ([rater], sample.part(np.flatnonzero(rated[:, n])))
        for n, (rater, of) in enumerate(zip(sample.raters, clusters, strict=True))
        if of and of != every
    ]
    return [*([(complete, sample)] if complete and every else []), *partial]


def _abstentions(context: Context, frame: pl.DataFrame, raters: tuple[str, ...]) -> Sample:
    """Rated and abstained as the two labels, whatever the scale."""
    # Only whether a label was given matters: collapsing and spans are about which.
    plain = replace(context.analysis, collapse={}, spans="each")
    words = frame.with_columns(pl.col("state").alias("label"), pl.lit("rated").alias("state"))
    return encode(words, plain, Labels(("rated", "abstained"), (0.0, 1.0), "nominal"), raters)


def _proportion(context: Context, sample: Sample, labels: Labels) -> Measure:
    analysis = context.analysis
    if analysis.consensus == "majority":
        return _of_majority(context, sample, labels)
    if analysis.consensus == "mean" and analysis.statistic == "mean":
        return consensus_mean(sample)
    if analysis.consensus == "mean" and analysis.statistic == "standard_deviation":
        return consensus_deviation(sample)
    return _of_sample(context, sample, labels)


def _with_single_ratings(
    context: Context, group: Group, frame: pl.DataFrame, raters: tuple[str, ...]
) -> Group:
    """The group with the single ratings behind its majorities or means, for raters like these.

    Without the labels that break ties: their few givers would each count for far more of the
    majorities than a rater of the panel, which nothing estimates. A tie counts half.
    """
    analysis = context.analysis
    if (
        context.target != "like these"
        or not analysis.compare
        or analysis.consensus == "none"
        or analysis.statistic not in {"share", "mean"}
        or not context.has_known_raters
    ):
        return group
    own = frame.filter(pl.col("purpose").ne_missing("tiebreak"))
    # All raters of the analysis, so that their numbers are the same in all of its groups.
    sample = sample_of(context, own, raters)
    single_ratings = (
        mean_of_units(sample)
        if analysis.statistic == "mean"
        else share_of_units(sample, _successes(context, labels_in(context, own)))
    )
    return replace(group, measure=replace(group.measure, by_single_ratings=single_ratings))


def _of_sample(context: Context, sample: Sample, labels: Labels) -> Measure:
    if context.analysis.statistic == "mean":
        return mean(sample)
    if context.analysis.statistic == "standard_deviation":
        return deviation(sample)
    return _share(context, sample, labels)


def _of_majority(context: Context, sample: Sample, labels: Labels) -> Measure:
    """The measure of a majority's labels, which are not single ratings of a rater.

    The raters behind the majority are those of the panel.
    """
    decided = consensus.majority_sample(sample, f"majority of {context.analysis.raters}")
    measure = _of_sample(context, decided, labels)
    undefined = len(sample.units) - decided.n_units
    notes = (
        (message("Units without a majority (excluded): {n:,}.", n=undefined),) if undefined else ()
    )
    # A majority has no single ratings left to cluster by rater.
    return replace(measure, n_raters=sample.n_raters, cell=None, notes=(*measure.notes, *notes))


def _without_majority(sample: Sample) -> Measure:
    """Share of units without a majority, of all units that were rated or abstained on."""
    codes = sample.codes
    is_decided = consensus.majority_sample(sample, "majority").codes.labels >= 0
    undecided = np.where(is_decided, 0, 1).astype(np.int32)
    measure = share(replace(sample, codes=replace(codes, labels=undecided)), [1])
    return replace(measure, n_raters=sample.n_raters, cell=None)


def _share(context: Context, sample: Sample, labels: Labels) -> Measure:
    return share(sample, _successes(context, labels))


def _successes(context: Context, labels: Labels) -> list[int]:
    """The codes of the labels that a share counts."""
    analysis = context.analysis
    counted = analysis.options_as(ShareOptions).of
    if not counted:
        raise AnalysisError(
            f"{analysis.name}: a proportion needs of = [categories of interest], one or more of"
            f" {labels.names}"
        )
    codes = labels.codes()
    return [codes[name] for name in counted]


def agreement_of(context: Context, keys: dict[str, str], sample: Sample) -> Group:
    """Agreement among the raters of a sample, by the analysis' statistic."""
    analysis = context.analysis
    level, weights = context.level, analysis.options_as(AgreementOptions).weights
    agreement_statistics.entry(analysis.statistic, level, analysis.name)
    summary, measure = agreement_estimates.with_textbook_interval(
        sample,
        analysis.statistic,
        level,
        key=context.key,
        resampling=context.resampling,
        cluster=context.cluster,
        weights=weights,
    )
    make = partial(
        agreement_statistics.agreement_alone,
        name=analysis.statistic,
        level=level,
        weights=weights,
    )
    if (
        context.has_known_raters
        and analysis.cluster != "rater"
        and RATER_PAIR not in analysis.by
        and analysis.statistic in AGREEMENT
    ):
        needs_all = statistic_of(analysis.statistic).needs_complete
        summary, measure = with_raters(
            summary,
            measure,
            sample,
            make,
            context.cluster,
            needs_all=needs_all,
            is_compared=bool(analysis.compare),
        )
    return with_rater_clusters(context, Group(keys, measure, summary), sample, make)


def median_group(context: Context, keys: dict[str, str], sample: Sample) -> Group:
    """A group's median; as published too, since there is no other interval of it."""
    codes = sample.codes
    is_labelled = codes.labels >= 0
    unit, _ = np.nonzero(is_labelled)
    labels, clusters = codes.labels[is_labelled].astype(np.int64), codes.clusters[unit]
    values = np.asarray(codes.values, dtype=np.float64)
    measure = Measure(
        sums=label_counts(labels, clusters, (len(sample.clusters), len(values))),
        finalise=partial(median_of_cells, values=values),
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
        is_smooth=False,
    )
    n_clusters = len(np.unique(clusters))
    resampling = context.resampling
    value, low, high = clustered_median(labels, clusters, values, resampling.level)
    if not math.isfinite(value):
        reason = message("no ratings available")
        return Group(
            keys,
            measure,
            EstimateSummary(undefined_estimate(measure, resampling, n_clusters, reason)),
        )
    headline = Estimate(
        value,
        low,
        high,
        resampling.level,
        n_clusters=n_clusters,
        n_ratings=sample.n_ratings,
        method=message(
            "median by inverting cluster-robust tests of proportions ({cluster}-clustered)",
            message_id="method.median",
            cluster=context.cluster,
        ),
        reason="" if n_clusters > 1 else message("no CI from a single cluster"),
    )
    cautions: tuple[Caution, ...] = ()
    if n_clusters < _FEW_CLUSTERS_OF_MEDIANS:
        cautions = (Caution("few-clusters", (n_clusters, _FEW_CLUSTERS_OF_MEDIANS)),)
    return Group(keys, measure, EstimateSummary(headline, cautions=cautions))
