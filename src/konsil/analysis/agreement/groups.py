"""From one analysis and one group's ratings to a measure, for every kind of statistic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from konsil.analysis.agreement import agreement_statistics, consensus
from konsil.analysis.estimation.context import Context, Group, labels_in, sample_of
from konsil.analysis.estimation.estimate import EstimateSummary, estimate, estimates
from konsil.analysis.estimation.measure import (
    Measure,
    consensus_mean,
    from_formula,
    mean,
    share,
    without_each_rater,
)
from konsil.analysis.estimation.rater_samples import with_raters
from konsil.analysis.estimation.sensitivity import leave_one_rater_out, rater_clusters
from konsil.analysis.model.catalogue.additions import additions
from konsil.analysis.model.catalogue.known import AGREEMENT, COMPLETE, PAIRED, RATER_PAIR
from konsil.analysis.model.message import message
from konsil.analysis.table.encoding import Labels, Sample, encode
from konsil.errors import AnalysisError
from konsil.stats.engine.contract import Estimate


def single(
    context: Context, keys: dict[str, str], frame: pl.DataFrame, raters: tuple[str, ...]
) -> Group:
    """The measure of one group for a statistic of one panel."""
    analysis = context.analysis
    if analysis.statistic == "self_agreement":
        measure = consensus.self_agreement(frame, analysis, labels_in(context, frame))
        summary = _estimate(
            context, measure, message("no rater rated anything twice (no task repeats another)")
        )
        if analysis.cluster == "rater" and measure.n_ratings:
            summary = _headed(summary, rater_clusters(summary.headline, measure))
        return Group(keys, measure, summary)
    if analysis.statistic == "abstention":
        return group_of(
            context, keys, _abstentions(context, frame, raters), lambda s: share(s, [1])
        )
    sample = sample_of(context, frame, raters)
    if analysis.against == "rest":
        group = group_of(
            context,
            keys,
            sample,
            lambda s: consensus.leave_one_out_measure(s, analysis, context.level),
        )
        summary = agreement_statistics.with_chance(
            group.told,
            sample,
            analysis.statistic,
            key=context.key,
            resampling=context.resampling,
            cluster=context.cluster,
        )
        return replace(group, told=summary)
    if analysis.statistic in {"share", "mean"}:
        labels = labels_in(context, frame)
        return group_of(context, keys, sample, lambda s: _proportion(context, s, labels))
    if analysis.statistic in AGREEMENT or analysis.statistic in PAIRED:
        return agreement_of(context, keys, sample)
    if analysis.statistic in additions():
        formula = additions()[analysis.statistic].formula
        return group_of(context, keys, sample, lambda s: from_formula(s, formula(s.codes)))
    raise AnalysisError(f"{analysis.name}: the statistic {analysis.statistic!r} has no rule")


def each_against_rest(
    context: Context, keys: Mapping[str, str], frame: pl.DataFrame, raters: tuple[str, ...]
) -> list[Group]:
    """Each rater against the majority of the others: as many groups as raters."""
    groups = []
    for names, part in _by_clusters_rated(sample_of(context, frame, raters)):
        measures = dict(
            zip(raters, consensus.each_rest(part, context.analysis, context.level), strict=True)
        )
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


def group_of(
    context: Context, keys: dict[str, str], sample: Sample, make: Callable[[Sample], Measure]
) -> Group:
    """A group's number, with raters as clusters where the analysis requests that."""
    measure = make(sample)
    reason = "" if sample.n_ratings else message("no labels available")
    return _with_raters(
        context, Group(keys, measure, _estimate(context, measure, reason)), sample, make
    )


def _with_raters(
    context: Context, group: Group, sample: Sample, make: Callable[[Sample], Measure]
) -> Group:
    if context.analysis.cluster != "rater" or not sample.n_ratings:
        return group
    if group.measure.cell is not None and context.analysis.consensus == "none":
        return replace(
            group, told=_headed(group.told, rater_clusters(group.told.headline, group.measure))
        )
    left_out = without_each_rater(sample, make) if len(sample.raters) > 2 else {}
    by_rater = leave_one_rater_out(tuple(left_out.values()), group.told.headline)
    return replace(group, told=_headed(group.told, by_rater), left_out=left_out)


def _headed(summary: EstimateSummary, headline: Estimate) -> EstimateSummary:
    return replace(summary, headline=headline, companions=(summary.headline, *summary.companions))


def _estimate(context: Context, measure: Measure, reason: str) -> EstimateSummary:
    return estimate(
        measure,
        key=context.key,
        resampling=context.resampling,
        cluster=context.cluster,
        reason=reason,
    )


def _abstentions(context: Context, frame: pl.DataFrame, raters: tuple[str, ...]) -> Sample:
    """Rated and abstained as the two labels, whatever the scale."""
    plain = replace(context.analysis, collapse={}, spans="each")
    words = frame.with_columns(pl.col("state").alias("label"), pl.lit("rated").alias("state"))
    return encode(words, plain, Labels(("rated", "abstained"), (0.0, 1.0), "nominal"), raters)


def _proportion(context: Context, sample: Sample, labels: Labels) -> Measure:
    analysis = context.analysis
    if analysis.consensus == "majority":
        return _of_majority(context, sample, labels)
    if analysis.statistic == "mean":
        return consensus_mean(sample) if analysis.consensus == "mean" else mean(sample)
    return _share(context, sample, labels)


def _of_majority(context: Context, sample: Sample, labels: Labels) -> Measure:
    """The measure of a majority's labels, which are not single ratings of a rater.

    The raters behind the majority are those of the panel.
    """
    decided = consensus.majority_sample(sample, f"majority of {context.analysis.raters}")
    measure = (
        mean(decided) if context.analysis.statistic == "mean" else _share(context, decided, labels)
    )
    undefined = len(sample.units) - decided.n_units
    notes = (
        (message("Units without a majority (excluded): {n:,}.", n=undefined),) if undefined else ()
    )
    return replace(measure, n_raters=sample.n_raters, cell=None, notes=(*measure.notes, *notes))


def _share(context: Context, sample: Sample, labels: Labels) -> Measure:
    analysis = context.analysis
    if not analysis.of:
        raise AnalysisError(
            f"{analysis.name}: a share needs of = [labels that count], one or more of"
            f" {labels.names}"
        )
    codes = labels.codes()
    return share(sample, [codes[name] for name in analysis.of])


def agreement_of(context: Context, keys: dict[str, str], sample: Sample) -> Group:
    """Agreement among the raters of a sample, by the analysis' statistic."""
    analysis = context.analysis
    level = context.level
    agreement_statistics.entry(analysis.statistic, level, analysis.name)
    summary, measure = agreement_statistics.with_textbook_interval(
        sample,
        analysis.statistic,
        level,
        key=context.key,
        resampling=context.resampling,
        cluster=context.cluster,
        weights=analysis.weights,
    )
    make = partial(
        agreement_statistics.agreement,
        name=analysis.statistic,
        level=level,
        weights=analysis.weights,
    )
    if (
        analysis.cluster != "rater"
        and RATER_PAIR not in analysis.by
        and analysis.statistic in AGREEMENT
    ):
        needs_all = analysis.statistic in COMPLETE
        summary, measure = with_raters(
            summary, measure, sample, make, context.cluster, needs_all=needs_all
        )
    return _with_raters(context, Group(keys, measure, summary), sample, make)
