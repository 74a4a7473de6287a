"""Which interval a number has: the first rule of RULES that applies, and what stands beside it."""

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
class Sampled:
    """A number of some clusters with all that its intervals are made of."""

    bootstrap: Estimate
    """The number with the BCa interval of its resamples."""
    inference: infer.Inference
    """Of it and of others that were resampled with it."""
    place: int
    """Its place among them."""
    measure: Measure
    """What it is made of."""
    cluster: str
    """What its clusters are called."""
    drawn: Array | None
    """(2, draws, 1) of the posterior of its rating patterns; None: labels are not sparse."""
    is_published: bool
    """Whether a paper's numbers are reproduced as it made them."""

    @cached_property
    def taylor(self) -> Estimate | None:
        """The linearised interval; None of a number without a slope, such as a median."""
        return linearised_interval(self) if self.measure.is_smooth else None


class Chosen(NamedTuple):
    """The intervals of a number."""

    first: Estimate
    """The primary interval, or none and the reason."""
    beside: list[Estimate]
    """Further intervals."""
    is_resampled: bool
    """Whether what is known of the resamples concerns the reader."""


def _nothing(_: Sampled) -> Sequence[Estimate | None]:
    return ()


def _resamples(of: Sampled) -> Sequence[Estimate | None]:
    return (of.bootstrap,)


def _taylor(of: Sampled) -> Sequence[Estimate | None]:
    return (of.taylor,)


def _second_opinion(of: Sampled) -> Sequence[Estimate | None]:
    """Resamples that lack what is rare are no second opinion on agreement."""
    is_agreement = of.measure.share is not None or of.measure.uneven is not None
    return () if is_agreement else (of.bootstrap,)


@dataclass(frozen=True)
class IntervalRule:
    """One kind of interval."""

    interval: Callable[[Sampled], Estimate | None]
    """The number with it, or with the reason for none; None where the rule does not apply."""
    beside: Callable[[Sampled], Sequence[Estimate | None]] = field(default=_nothing)
    """What stands beside it."""
    is_resampled: bool = False
    """Whether what is known of the resamples concerns the reader."""


def _of_thin_pairs(of: Sampled) -> Estimate | None:
    """What the labels say of the variance is too little here, so nothing stands beside it."""
    thin = of.measure.thin
    if thin is None:
        return None
    return of_thin_pairs(of.bootstrap, of.drawn, of.measure, thin, of.cluster)


def _of_posterior(of: Sampled) -> Estimate | None:
    if of.drawn is None:
        return None
    return from_posterior(of.bootstrap, of.drawn, of.cluster, of.measure.uneven)


def _of_uneven_clusters(of: Sampled) -> Estimate | None:
    is_coefficient = of.measure.uneven is not None and of.measure.share is None
    return of.taylor if is_coefficient else None


def _of_rare_events(of: Sampled) -> Estimate | None:
    return of.taylor if of.measure.is_rare else None


def _of_rare_outcomes(of: Sampled) -> Estimate | None:
    return rare_events.rare_outcome_interval(of.bootstrap, of.measure, of.cluster)


def _of_few_clusters(of: Sampled) -> Estimate | None:
    if not of.measure.is_smooth:
        return None
    return of_few_clusters(of.bootstrap, of.inference, of.place, of.cluster)


def _of_resamples(of: Sampled) -> Estimate | None:
    return of.bootstrap


RULES: tuple[IntervalRule, ...] = (
    IntervalRule(_of_thin_pairs),
    IntervalRule(_of_posterior, _taylor),
    IntervalRule(_of_uneven_clusters),
    IntervalRule(_of_rare_events, _second_opinion, is_resampled=True),
    IntervalRule(_of_rare_outcomes, lambda of: (*_second_opinion(of), of.taylor)),
    IntervalRule(_of_few_clusters, _resamples),
    IntervalRule(_of_resamples, _taylor, is_resampled=True),
)
"""In this order: each rule is for numbers that the ones before it do not fit. Their coverage is
measured in docs/coverage.md."""


def first_interval(sampled: Sampled) -> Chosen:
    """The interval of the first rule that applies, with a width or without limits."""
    for rule in RULES:
        first = rule.interval(sampled)
        if first is None or not (np.isfinite(first.low) or first.reason):
            continue
        if not np.isfinite(first.low):
            return Chosen(replace(first, method=""), [], is_resampled=False)
        beside = [
            rare_events.with_width(e)
            for e in rule.beside(sampled)
            if e is not None and rare_events.has_width(e)
        ]
        return Chosen(rare_events.with_width(first), beside, rule.is_resampled)
    return Chosen(sampled.bootstrap, [], is_resampled=True)


def as_published(sampled: Sampled) -> Chosen:
    """The bootstrap whatever the number is, also without a width."""
    beside = [] if sampled.taylor is None else [sampled.taylor]
    return Chosen(sampled.bootstrap, beside, is_resampled=True)


def linearised_interval(of: Sampled) -> Estimate:
    """The Taylor-linearised interval of a number."""
    headline, measure, inference, n = of.bootstrap, of.measure, of.inference, of.place
    if measure.uneven is not None and not of.is_published:
        return rare_events.of_uneven_clusters(headline, measure, measure.uneven, of.cluster)
    df = inference.n_clusters - 1
    low, high = float(inference.wald_low[n]), float(inference.wald_high[n])
    if measure.share is not None and measure.scale == "atanh":
        low, high = rare_events.wald_bounds(
            measure, headline.value, headline.se, df, headline.level
        )
    return replace(
        headline, low=low, high=high, n_undefined=0, method=wald_method(measure, of.cluster, df)
    )


def of_few_clusters(
    headline: Estimate, inference: infer.Inference, n: int, cluster: str
) -> Estimate | None:
    """The jackknife interval and p value where there are too few clusters for a bootstrap.

    None where there are enough of them. Without limits where the number does not vary, or is
    undefined, without one of them: resamples would hide that it rests on so few.
    """
    interval = infer.of_few_clusters(inference)
    if interval is None or not rare_events.has_width(headline):
        return None
    if not np.isfinite(interval.low[n]):
        reason = message(
            "no CI: without one of the clusters the estimate stays the same or is undefined",
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
