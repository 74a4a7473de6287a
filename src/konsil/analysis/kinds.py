"""From one analysis and one group's ratings to a measure, for every kind of statistic."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from konsil.analysis import agree, panels
from konsil.analysis.catalogue import AGREEMENT, PAIRED
from konsil.analysis.coding import Labels, Sample, averaged, encode, labels_of
from konsil.analysis.estimate import Told, estimate, leave_one_rater_out, rater_clusters
from konsil.analysis.measure import Measure, consensus_mean, mean, share
from konsil.analysis.spec import Analysis, Resampling
from konsil.errors import AnalysisError
from konsil.instrument import Criterion
from konsil.stats.alpha import Level


@dataclass(frozen=True)
class Context:
    """What every group of one analysis shares."""

    analysis: Analysis
    """The analysis."""
    criterion: Criterion
    """Its criterion."""
    key: int
    """The seed of its resamples."""
    resampling: Resampling
    """How intervals are made."""

    @property
    def level(self) -> Level:
        """The level of measurement of the labels that are compared."""
        return "interval" if self.criterion.scale.kind == "number" else self.criterion.scale.level


@dataclass(frozen=True)
class Group:
    """One group's measure and what was told of it."""

    keys: dict[str, str]
    """Column -> value."""
    measure: Measure
    """The number as a measure, for differences."""
    told: Told
    """The number with its intervals."""


def single(context: Context, keys: dict[str, str], frame: pl.DataFrame, raters: tuple[str, ...]) -> Group:
    """The measure of one group for a statistic of one panel."""
    analysis = context.analysis
    if analysis.statistic == "self_agreement":
        measure = panels.self_agreement(frame, analysis)
        return Group(keys, measure, _told(context, measure, None))
    if analysis.statistic == "abstention":
        sample = _abstentions(context, frame, raters)
        measure = share(sample, [1])
        return Group(keys, measure, _told(context, measure, sample))
    sample = sample_of(context, frame, raters)
    if analysis.against == "rest":
        measure = panels.rest(sample, analysis)
        return Group(keys, measure, _told(context, measure, sample))
    if analysis.statistic in {"share", "mean"}:
        measure = _proportion(context, sample, labels_in(context, frame))
        return Group(keys, measure, _told(context, measure, sample))
    if analysis.statistic in AGREEMENT or analysis.statistic in PAIRED:
        return _agreement(context, keys, sample)
    raise AnalysisError(f"{analysis.name}: the statistic {analysis.statistic!r} has no rule")


def labels_in(context: Context, frame: pl.DataFrame) -> Labels:
    """The labels of the analysis; for numbers and means of sentences those observed."""
    observed = frame.filter(pl.col("state") == "rated").get_column("label").drop_nulls().unique().to_list()
    return labels_of(context.analysis, context.criterion, observed)


def sample_of(context: Context, frame: pl.DataFrame, raters: tuple[str, ...] | None) -> Sample:
    """The group's ratings as codes."""
    analysis, labels = context.analysis, labels_in(context, frame)
    if analysis.spans == "mean":
        if analysis.statistic != "mean":
            raise AnalysisError(f"{analysis.name}: spans = 'mean' gives numbers; only the statistic 'mean' takes them")
        frame, labels = averaged(frame, analysis, labels)
        return encode(frame, replace(analysis, collapse={}), labels, raters)
    return encode(frame, analysis, labels, raters)


def _abstentions(context: Context, frame: pl.DataFrame, raters: tuple[str, ...]) -> Sample:
    """Rated and abstained as the two labels, whatever the scale."""
    plain = replace(context.analysis, collapse={}, spans="each")
    words = frame.with_columns(pl.col("state").alias("label"), pl.lit("rated").alias("state"))
    return encode(words, plain, Labels(("rated", "abstained"), (0.0, 1.0), "nominal"), raters)


def _proportion(context: Context, sample: Sample, labels: Labels) -> Measure:
    analysis = context.analysis
    if analysis.consensus == "majority":
        sample = panels.majority_sample(sample, f"majority of {analysis.raters}")
    if analysis.statistic == "mean":
        return consensus_mean(sample) if analysis.consensus == "mean" else mean(sample)
    if not analysis.of:
        raise AnalysisError(f"{analysis.name}: a share needs of = [labels that count], one or more of {labels.names}")
    codes = labels.codes()
    measure = share(sample, [codes[name] for name in analysis.of])
    undefined = len(sample.units) - sample.n_units
    if analysis.consensus == "majority" and undefined:
        measure = replace(measure, notes=(f"{undefined} units have no strict majority and are left out.",))
    return measure


def _agreement(context: Context, keys: dict[str, str], sample: Sample) -> Group:
    analysis = context.analysis
    level = context.level
    agree.entry(analysis.statistic, level, analysis.name)
    told, measure = agree.told(
        sample,
        analysis.statistic,
        level,
        key=context.key,
        resampling=context.resampling,
        cluster=_cluster_word(analysis),
        weights=analysis.weights,
    )
    if analysis.cluster == "rater":
        by_rater = agree.by_rater(sample, analysis.statistic, level, told.headline, analysis.weights)
        told = replace(told, headline=by_rater, companions=(told.headline, *told.companions))
    return Group(keys, measure, told)


def _cluster_word(analysis: Analysis) -> str:
    return "case" if analysis.cluster == "case" else "item"


def _told(context: Context, measure: Measure, sample: Sample | None) -> Told:
    analysis = context.analysis
    told = estimate(
        measure, key=context.key, resampling=context.resampling, cluster=_cluster_word(analysis), why=_why(sample)
    )
    if analysis.cluster != "rater":
        return told
    if measure.cell is not None:
        by_rater = rater_clusters(told.headline, measure)
    else:
        by_rater = leave_one_rater_out((), told.headline)
    return replace(told, headline=by_rater, companions=(told.headline, *told.companions))


def _why(sample: Sample | None) -> str:
    if sample is not None and sample.n_ratings == 0:
        return "no labels to compute it from"
    return ""
