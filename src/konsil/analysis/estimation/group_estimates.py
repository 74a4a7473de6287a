"""One group's estimate, with raters as the clusters where the analysis requests that."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from konsil.analysis.estimation.estimate import EstimateSummary, estimate
from konsil.analysis.estimation.measure import Measure, without_each_rater
from konsil.analysis.estimation.raters.sensitivity import leave_one_rater_out, rater_clusters
from konsil.analysis.model.context import Context
from konsil.analysis.model.sample import Sample
from konsil.errors.message import message
from konsil.stats.engine.contract import Estimate
from konsil.stats.shares.deviation import log_jackknife


@dataclass(frozen=True)
class Group:
    """One group's measure and its estimates."""

    keys: dict[str, str]
    """Column -> value."""
    measure: Measure
    """The number as a measure, for differences."""
    summary: EstimateSummary
    """The number with its intervals."""
    left_out: Mapping[str, float] = field(default_factory=dict)
    """Rater -> the number without them, where raters are the clusters and the number is no sum of
    single ratings."""


def group_of(
    context: Context, keys: dict[str, str], sample: Sample, make: Callable[[Sample], Measure]
) -> Group:
    """A group's number, with raters as clusters where the analysis requests that."""
    measure = make(sample)
    if not context.has_known_raters:
        # Without single raters nothing can be clustered by them.
        measure = replace(measure, cell=None)
    reason = "" if sample.n_ratings else message("no ratings available")
    return with_rater_clusters(
        context, Group(keys, measure, estimate_of(context, measure, reason)), sample, make
    )


def with_rater_clusters(
    context: Context, group: Group, sample: Sample, make: Callable[[Sample], Measure]
) -> Group:
    """The group with an interval by rater first, where the analysis has raters as clusters."""
    if context.analysis.cluster != "rater" or not sample.n_ratings:
        return group
    if group.measure.cell is not None and context.analysis.consensus == "none":
        return replace(
            group,
            summary=with_headline(
                group.summary, rater_clusters(group.summary.headline, group.measure)
            ),
        )
    # Without one of two raters a single one is left, with nobody to agree with.
    left_out = without_each_rater(sample, make) if len(sample.raters) > 2 else {}
    by_rater = leave_one_rater_out(tuple(left_out.values()), group.summary.headline)
    return replace(group, summary=with_headline(group.summary, by_rater), left_out=left_out)


def with_headline(summary: EstimateSummary, headline: Estimate) -> EstimateSummary:
    """The summary with this estimate first and the one before it as a companion."""
    return replace(summary, headline=headline, companions=(summary.headline, *summary.companions))


def estimate_of(context: Context, measure: Measure, reason: str = "") -> EstimateSummary:
    """A measure's number with its intervals; `reason`: why it would not be estimable."""
    summary = estimate(
        measure,
        key=context.key,
        resampling=context.resampling,
        cluster=context.cluster,
        reason=reason,
    )
    if context.analysis.statistic == "standard_deviation":
        return with_log_interval(context, summary, measure)
    return summary


def with_log_interval(
    context: Context, summary: EstimateSummary, measure: Measure
) -> EstimateSummary:
    """The summary with the jackknife's interval first and the bootstrap's beside it.

    As published, and where there is no such interval, it stays as it is.
    """
    headline = summary.headline
    if context.analysis.mode == "paper" or not isinstance(measure.sums, np.ndarray):
        return summary
    low, high, se, df = log_jackknife(measure.sums, headline.level)
    if not math.isfinite(low):
        return summary
    method = message(
        "jackknife on the log scale ({cluster}-clustered), t with {df:.3g} degrees of freedom",
        message_id="method.log_jackknife",
        cluster=context.cluster,
        df=df,
    )
    first = replace(
        headline, low=low, high=high, se=headline.value * se, n_undefined=0, method=method
    )
    # What is noted of the bootstrap is no longer about the first interval.
    cautions = tuple(c for c in summary.cautions if c.code == "few-clusters")
    return replace(
        summary, headline=first, companions=(headline, *summary.companions), cautions=cautions
    )
