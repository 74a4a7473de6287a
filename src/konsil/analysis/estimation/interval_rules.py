"""Which interval a number has: the first rule of RULES that applies, and its alternatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.raters.posterior_intervals import from_posterior, of_thin_pairs
from konsil.errors.message import message
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.inference import infer, wald


@dataclass(frozen=True)
class ResampledNumber:
    """A number of some clusters with all that its intervals are made of."""

    bootstrap: Estimate
    """The number with the BCa interval of its resamples."""
    inference: infer.Inference
    """Of it and of others that were resampled with it."""
    column: int
    """Its column among them."""
    measure: Measure
    """What it is made of."""
    cluster: str
    """What its clusters are called."""
    posterior_draws: Array | None
    """(2, draws, 1) of the posterior of its rating patterns; None: labels are not sparse."""
    is_published: bool
    """Whether a paper's numbers are reproduced as it made them."""

    @cached_property
    def linearised(self) -> Estimate | None:
        """The linearised interval; None of a number without a slope, such as a median."""
        return linearised_interval(self) if self.measure.is_smooth else None


class IntervalChoice(NamedTuple):
    """The intervals of a number."""

    first: Estimate
    """The primary interval, or none and the reason."""
    alternatives: list[Estimate]
    """Further intervals."""
    is_resampled: bool
    """Whether what is known of the resamples concerns the reader."""


Alternatives = Callable[[ResampledNumber], Sequence[Estimate | None]]
"""Further intervals of a number; None: it has none of that kind."""


def _no_alternatives(_: ResampledNumber) -> Sequence[Estimate | None]:
    return ()


def _bootstrap(number: ResampledNumber) -> Sequence[Estimate | None]:
    return (number.bootstrap,)


def _linearised(number: ResampledNumber) -> Sequence[Estimate | None]:
    return (number.linearised,)


def _second_opinion(number: ResampledNumber) -> Sequence[Estimate | None]:
    """Resamples that lack what is rare are no second opinion on agreement."""
    is_agreement = number.measure.share is not None or number.measure.uneven is not None
    return () if is_agreement else (number.bootstrap,)


@dataclass(frozen=True)
class IntervalRule:
    """One kind of interval."""

    interval: Callable[[ResampledNumber], Estimate | None]
    """The number with it, or with the reason for none; None where the rule does not apply."""
    alternatives: Alternatives = field(default=_no_alternatives)
    """Further intervals that are reported with it."""
    is_resampled: bool = False
    """Whether what is known of the resamples concerns the reader."""


def _thin_pair_rule(number: ResampledNumber) -> Estimate | None:
    """The labels say too little of the variance for another interval to be reported."""
    thin = number.measure.thin
    if thin is None:
        return None
    draws, measure = number.posterior_draws, number.measure
    return of_thin_pairs(number.bootstrap, draws, measure, thin, number.cluster)


def _posterior_rule(number: ResampledNumber) -> Estimate | None:
    draws = number.posterior_draws
    if draws is None:
        return None
    return from_posterior(number.bootstrap, draws, number.cluster, number.measure.uneven)


def _uneven_cluster_rule(number: ResampledNumber) -> Estimate | None:
    is_coefficient = number.measure.uneven is not None and number.measure.share is None
    return number.linearised if is_coefficient else None


def _rare_event_rule(number: ResampledNumber) -> Estimate | None:
    return number.linearised if number.measure.is_rare else None


def _rare_outcome_rule(number: ResampledNumber) -> Estimate | None:
    return rare_events.rare_outcome_interval(number.bootstrap, number.measure, number.cluster)


def _jackknife_rule(number: ResampledNumber) -> Estimate | None:
    if not number.measure.is_smooth:
        return None
    return few_cluster_interval(number.bootstrap, number.inference, number.column, number.cluster)


def _bootstrap_rule(number: ResampledNumber) -> Estimate | None:
    return number.bootstrap


RULES: tuple[IntervalRule, ...] = (
    IntervalRule(_thin_pair_rule),
    IntervalRule(_posterior_rule, _linearised),
    IntervalRule(_uneven_cluster_rule),
    IntervalRule(_rare_event_rule, _second_opinion, is_resampled=True),
    IntervalRule(_rare_outcome_rule, lambda number: (*_second_opinion(number), number.linearised)),
    IntervalRule(_jackknife_rule, _bootstrap),
    IntervalRule(_bootstrap_rule, _linearised, is_resampled=True),
)
"""In this order: each rule is for numbers that the ones before it do not fit. Their coverage is
measured in docs/coverage.md."""


def first_interval(number: ResampledNumber) -> IntervalChoice:
    """The interval of the first rule that applies, with a width or without limits."""
    for rule in RULES:
        first = rule.interval(number)
        if first is None or not (np.isfinite(first.low) or first.reason):
            continue
        if not np.isfinite(first.low):
            return IntervalChoice(replace(first, method=""), [], is_resampled=False)
        alternatives = [
            rare_events.with_width(e)
            for e in rule.alternatives(number)
            if e is not None and rare_events.has_width(e)
        ]
        return IntervalChoice(rare_events.with_width(first), alternatives, rule.is_resampled)
    return IntervalChoice(number.bootstrap, [], is_resampled=True)


def as_published(number: ResampledNumber) -> IntervalChoice:
    """The bootstrap whatever the number is, also without a width."""
    alternatives = [] if number.linearised is None else [number.linearised]
    return IntervalChoice(number.bootstrap, alternatives, is_resampled=True)


def linearised_interval(number: ResampledNumber) -> Estimate:
    """The Taylor-linearised interval of a number."""
    headline, measure = number.bootstrap, number.measure
    inference, n = number.inference, number.column
    if measure.uneven is not None and not number.is_published:
        return rare_events.of_uneven_clusters(headline, measure, measure.uneven, number.cluster)
    df = inference.n_clusters - 1
    low, high = float(inference.wald_low[n]), float(inference.wald_high[n])
    if measure.share is not None and measure.scale == "atanh":
        low, high = rare_events.wald_bounds(
            measure, headline.value, headline.se, df, headline.level
        )
    return replace(
        headline, low=low, high=high, n_undefined=0, method=wald_method(measure, number.cluster, df)
    )


def few_cluster_interval(
    headline: Estimate, inference: infer.Inference, n: int, cluster: str
) -> Estimate | None:
    """The jackknife interval and p value where there are too few clusters for a bootstrap.

    None where there are enough of them. Without limits where the number does not vary, or is
    undefined, without one of them: resamples would hide that it rests on so few.
    """
    interval = infer.jackknife_interval(inference)
    if interval is None or not rare_events.has_width(headline):
        return None
    if not np.isfinite(interval.low[n]):
        reason = message(
            "no CI: the estimate is not estimable without one of the clusters, or is the same"
            " without any of them",
            message_id="interval.no_jackknife",
        )
        return replace(without_limits(headline, reason), method="")
    return replace(
        headline,
        low=float(interval.low[n]),
        high=float(interval.high[n]),
        se=float(interval.se[n]),
        # Of estimates that are differences; the others' value of 0 means nothing.
        p=float(interval.p[n]) if np.isfinite(headline.p) else headline.p,
        n_undefined=0,
        method=_jackknife_method(inference.scale, cluster, int(interval.df[n])),
    )


def _jackknife_method(scale: wald.Scale, cluster: str, df: int) -> str:
    match scale:
        case "identity":
            return message(
                "{cluster}-cluster jackknife, t with {df} degrees of freedom",
                message_id="method.cluster_jackknife",
                cluster=cluster,
                df=df,
            )
        case "atanh":
            return message(
                "{cluster}-cluster jackknife on the atanh scale, t with {df} degrees of freedom",
                message_id="method.cluster_jackknife_atanh",
                cluster=cluster,
                df=df,
            )
        case "logit":
            return message(
                "{cluster}-cluster jackknife on the logit scale, t with {df} degrees of freedom",
                message_id="method.cluster_jackknife_logit",
                cluster=cluster,
                df=df,
            )


def wald_method(measure: Measure, cluster: str, df: int) -> str:
    """The name of the linearised interval, with its scale."""
    if measure.scale == "atanh" and measure.share is not None:
        return message(
            (
                "cluster-robust Wald ({cluster}-clustered) on the logit scale of the"
                " proportion, t with {df} degrees of freedom"
            ),
            message_id="edges.wald_logit",
            cluster=cluster,
            df=df,
        )
    if measure.scale == "logit":
        return message(
            (
                "cluster-robust Wald ({cluster}-clustered) on the logit scale, t with {df}"
                " degrees of freedom"
            ),
            message_id="method.wald_logit",
            cluster=cluster,
            df=df,
        )
    if measure.scale == "atanh":
        return message(
            (
                "cluster-robust Wald ({cluster}-clustered) on the atanh scale, t with {df}"
                " degrees of freedom"
            ),
            message_id="method.wald_atanh",
            cluster=cluster,
            df=df,
        )
    return message(
        "cluster-robust Wald ({cluster}-clustered), t with {df} degrees of freedom",
        message_id="method.wald",
        cluster=cluster,
        df=df,
    )


def without_limits(headline: Estimate, reason: str) -> Estimate:
    """The number without an interval and without a p value, with the reason."""
    nothing = float("nan")
    return replace(headline, low=nothing, high=nothing, se=nothing, p=nothing, reason=reason)


def no_interval_reason(inference: infer.Inference) -> str:
    """The reason for a value without an interval; empty where it has one."""
    if inference.n_clusters < 2:
        return message("no CI from a single cluster")
    return ""
