"""From one analysis and one group's ratings to a measure, for every kind of statistic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import polars as pl

from konsil.analysis import agree, panels
from konsil.analysis.catalogue import AGREEMENT, PAIRED
from konsil.analysis.coding import Labels, Sample, averaged, encode, labels_of
from konsil.analysis.estimate import Told, estimate, estimates
from konsil.analysis.measure import Measure, consensus_mean, mean, share, without_each_rater
from konsil.analysis.said import say
from konsil.analysis.sensitivity import leave_one_rater_out, rater_clusters
from konsil.analysis.spec import Analysis, Resampling
from konsil.errors import AnalysisError
from konsil.instrument import Criterion
from konsil.stats.alpha import Level
from konsil.stats.contract import Estimate


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
    also: tuple[Criterion, ...] = ()
    """Further criteria that the analysis names."""

    def of(self, criterion: Criterion) -> Context:
        """The same of another criterion."""
        return replace(self, analysis=replace(self.analysis, criterion=criterion.id), criterion=criterion)

    @property
    def level(self) -> Level:
        """The level of measurement of the labels that are compared."""
        scale = self.criterion.scale
        if scale.kind == "number":
            return scale.level if scale.level in {"ordinal", "ratio"} else "interval"
        # An abstention has no place in an order, so with it as a label there is none.
        own = self.analysis.abstain == "label" and scale.abstain is not None
        return "nominal" if own else scale.level

    @property
    def cluster(self) -> str:
        """What the resampled clusters are called; with raters as clusters the items are resampled beside."""
        return say("case") if self.analysis.cluster == "case" else say("item")


@dataclass(frozen=True)
class Group:
    """One group's measure and what was told of it."""

    keys: dict[str, str]
    """Column -> value."""
    measure: Measure
    """The number as a measure, for differences."""
    told: Told
    """The number with its intervals."""
    left_out: Mapping[str, float] = field(default_factory=dict)
    """Rater -> the number without them, where raters are the clusters and the number is no sum of single ratings."""


def single(context: Context, keys: dict[str, str], frame: pl.DataFrame, raters: tuple[str, ...]) -> Group:
    """The measure of one group for a statistic of one panel."""
    analysis = context.analysis
    if analysis.statistic == "self_agreement":
        measure = panels.self_agreement(frame, analysis, labels_in(context, frame))
        told = _estimate(context, measure, say("no rater rated anything twice (no task repeats another)"))
        if analysis.cluster == "rater" and measure.n_ratings:
            told = _headed(told, rater_clusters(told.headline, measure))
        return Group(keys, measure, told)
    if analysis.statistic == "abstention":
        return group_of(context, keys, _abstentions(context, frame, raters), lambda s: share(s, [1]))
    sample = sample_of(context, frame, raters)
    if analysis.against == "rest":
        group = group_of(context, keys, sample, lambda s: panels.rest(s, analysis, context.level))
        told = agree.with_chance(
            group.told,
            sample,
            analysis.statistic,
            key=context.key,
            resampling=context.resampling,
            cluster=context.cluster,
        )
        return replace(group, told=told)
    if analysis.statistic in {"share", "mean"}:
        labels = labels_in(context, frame)
        return group_of(context, keys, sample, lambda s: _proportion(context, s, labels))
    if analysis.statistic in AGREEMENT or analysis.statistic in PAIRED:
        return agreement_of(context, keys, sample)
    raise AnalysisError(f"{analysis.name}: the statistic {analysis.statistic!r} has no rule")


def each_against_rest(
    context: Context, keys: Mapping[str, str], frame: pl.DataFrame, raters: tuple[str, ...]
) -> list[Group]:
    """Each rater against the majority of the others: as many groups as raters."""
    every = panels.each_rest(sample_of(context, frame, raters), context.analysis, context.level)
    found = [(rater, measure) for rater, measure in zip(raters, every, strict=True) if measure.n_ratings]
    tolds = estimates(
        [measure for _, measure in found],
        key=context.key,
        resampling=context.resampling,
        cluster=context.cluster,
        whys=[""] * len(found),
    )
    return [Group({**keys, "rater": rater}, measure, told) for (rater, measure), told in zip(found, tolds, strict=True)]


def group_of(context: Context, keys: dict[str, str], sample: Sample, make: Callable[[Sample], Measure]) -> Group:
    """A group's number, with raters as clusters where the analysis asks for that."""
    measure = make(sample)
    why = "" if sample.n_ratings else say("no labels to compute it from")
    return _with_raters(context, Group(keys, measure, _estimate(context, measure, why)), sample, make)


def _with_raters(context: Context, group: Group, sample: Sample, make: Callable[[Sample], Measure]) -> Group:
    if context.analysis.cluster != "rater" or not sample.n_ratings:
        return group
    if group.measure.cell is not None and context.analysis.consensus == "none":
        return replace(group, told=_headed(group.told, rater_clusters(group.told.headline, group.measure)))
    left_out = without_each_rater(sample, make) if len(sample.raters) > 2 else {}
    by_rater = leave_one_rater_out(tuple(left_out.values()), group.told.headline)
    return replace(group, told=_headed(group.told, by_rater), left_out=left_out)


def _headed(told: Told, headline: Estimate) -> Told:
    return replace(told, headline=headline, companions=(told.headline, *told.companions))


def _estimate(context: Context, measure: Measure, why: str) -> Told:
    return estimate(measure, key=context.key, resampling=context.resampling, cluster=context.cluster, why=why)


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
        measure = replace(measure, notes=(say("Units without a strict majority, left out: {n:,}.", n=undefined),))
    return measure


def agreement_of(context: Context, keys: dict[str, str], sample: Sample) -> Group:
    """Agreement among the raters of a sample, by the analysis' statistic."""
    analysis = context.analysis
    level = context.level
    agree.entry(analysis.statistic, level, analysis.name)
    told, measure = agree.told(
        sample,
        analysis.statistic,
        level,
        key=context.key,
        resampling=context.resampling,
        cluster=context.cluster,
        weights=analysis.weights,
    )
    make = partial(agree.agreement, name=analysis.statistic, level=level, weights=analysis.weights)
    return _with_raters(context, Group(keys, measure, told), sample, make)
