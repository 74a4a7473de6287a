"""CIs from a posterior of the rating patterns: few rare labels, or raters who share few units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from konsil.analysis.estimation.measure import Measure
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.agreement.thin_pairs import ThinPairs
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.inference import posterior
from konsil.stats.shares.uneven_clusters import UnevenClusters


def from_posterior(
    headline: Estimate,
    drawn: Array,
    cluster: str,
    uneven: UnevenClusters | None = None,
    thin: ThinPairs | None = None,
) -> Estimate:
    """The interval of a number from the draws of the posterior, (2, draws, 1).

    Tails are wider where few clusters are large, or pairs of raters share few of them.
    """
    df = uneven.df if uneven is not None and uneven.is_extreme else headline.n_clusters - 1.0
    df = df if thin is None else min(df, thin.df)
    low, high = posterior.interval(drawn, np.array([headline.value]), df, headline.level)
    method = message(
        (
            "posterior of the rating patterns ({cluster} clusters), a prior for each limit,"
            " {draws:,} posterior samples"
        ),
        message_id="edges.posterior",
        cluster=cluster,
        draws=drawn.shape[1],
    )
    if thin is not None:
        method = _thin_method(thin, cluster, drawn.shape[1], df)
    elif uneven is not None and uneven.is_extreme:
        method = message(
            "{method}, tails of t with {df:.3g} effective degrees of freedom",
            message_id="edges.uneven_tails",
            method=method,
            df=df,
        )
    return replace(
        headline,
        low=float(low[0]),
        high=float(high[0]),
        se=posterior.standard_error(drawn),
        n_undefined=int((~np.isfinite(drawn)).sum(axis=1).max()),
        method=method,
    )


def _thin_method(thin: ThinPairs, cluster: str, n_draws: int, df: float) -> TranslatableMessage:
    if thin.is_of_majorities:
        return message(
            (
                "posterior of the rating patterns ({cluster} clusters), a prior for each limit and"
                " every rater, {draws:,} posterior samples, t with {df:.3g} degrees of freedom from"
                " the clusters that raters share with the others' majority"
            ),
            message_id="edges.thin_majorities",
            cluster=cluster,
            draws=n_draws,
            df=df,
        )
    return message(
        (
            "posterior of the rating patterns ({cluster} clusters), a prior for each limit and"
            " every pair of raters, {draws:,} posterior samples, t with {df:.3g} degrees of"
            " freedom from the clusters that pairs share"
        ),
        message_id="edges.thin_posterior",
        cluster=cluster,
        draws=n_draws,
        df=df,
    )


def of_thin_pairs(
    headline: Estimate, drawn: Array | None, measure: Measure, thin: ThinPairs, cluster: str
) -> Estimate:
    """The CI of a mean over rater pairs, some of which share few units, or the reason for none."""
    if drawn is not None and thin.df >= 1:
        return from_posterior(headline, drawn, cluster, measure.uneven, thin)
    reason = _thin_reason(thin, cluster)
    nothing = float("nan")
    return replace(
        headline, low=nothing, high=nothing, se=nothing, n_undefined=0, method="", reason=reason
    )


def _thin_reason(thin: ThinPairs, cluster: str) -> str:
    """Why there is no interval: what is shared is too little, or labels or raters are too many."""
    if thin.df < 1 and thin.is_of_majorities:
        return message(
            (
                "no CI: raters share too few {cluster} clusters with the others' majority"
                " (effectively {n:.1f} each; at least 2 are needed)"
            ),
            message_id="edges.too_thin_majorities",
            cluster=cluster,
            n=thin.effective,
        )
    if thin.df < 1:
        return message(
            (
                "no CI: pairs of raters share too few {cluster} clusters (effectively {n:.1f}"
                " each; at least 2 are needed)"
            ),
            message_id="edges.too_thin_pairs",
            cluster=cluster,
            n=thin.effective,
        )
    if thin.is_of_majorities:
        return message(
            (
                "no CI: a rater shares only {n:,} {cluster} {n|cluster|clusters} with the"
                " others' majority, and no method with nominal coverage is known for this"
                " number of labels or raters"
            ),
            message_id="edges.thin_majorities_without_prior",
            cluster=cluster,
            n=thin.least,
        )
    return message(
        (
            "no CI: a pair of raters shares only {n:,} {cluster} {n|cluster|clusters}, and no"
            " method with nominal coverage is known for this number of labels or raters"
        ),
        message_id="edges.thin_without_prior",
        cluster=cluster,
        n=thin.least,
    )
