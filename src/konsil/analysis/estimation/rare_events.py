"""CIs where few clusters have the rarer outcome.

Of proportions, of numbers that are linear in a proportion, and of other agreement.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from konsil.analysis.estimation.measure import Measure
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.engine.contract import Codes, Estimate
from konsil.stats.engine.resample import by_cluster
from konsil.stats.engine.tables import label_counts
from konsil.stats.inference import wald
from konsil.stats.shares import shares
from konsil.stats.shares.shares import FEW_HITS
from konsil.stats.shares.uneven_clusters import UnevenClusters

FEW_DISAGREEMENTS = 20
"""Where raters disagree in fewer clusters, a bootstrap of chance-corrected agreement covers too
seldom."""

DIRECT = (0.0, 1.0)
"""A share itself, as a + b times a share."""


def is_sparse(codes: Codes) -> bool:
    """Whether too few clusters have a label other than the most frequent one for a bootstrap.

    Fewer than FEW_HITS clusters have such a label, or fewer than FEW_DISAGREEMENTS have a unit on
    which two raters disagree.
    """
    is_rated = codes.labels >= 0
    if not codes.n_labels or not len(codes.labels):
        return False
    n_ratings = is_rated.sum(axis=1)
    compared = n_ratings >= 2
    most_frequent, other = int(label_counts(codes).argmax()), compared
    # Counted both ways round, a unit on which all prefer the first answer holds the label that
    # prefers the second, too.
    if codes.reverse is None or codes.reverse[most_frequent] == most_frequent:
        other = compared & ((codes.labels == most_frequent).sum(axis=1) < n_ratings)
    least = np.where(is_rated, codes.labels, codes.n_labels).min(axis=1, initial=codes.n_labels)
    disagree = compared & (codes.labels.max(axis=1, initial=-1) > least)
    n_other, n_disagree = (
        np.count_nonzero(np.bincount(codes.clusters[units])) for units in (other, disagree)
    )
    return bool(n_other < FEW_HITS or n_disagree < FEW_DISAGREEMENTS)


def holding(measure: Measure) -> int | None:
    """Number of clusters with the rarer outcome of a proportion.

    None where the number is linear in no proportion.
    """
    if measure.hits is not None and measure.trials is not None:
        some, others = measure.hits > 0, measure.hits < measure.trials
    elif measure.share is not None:
        start, step = measure.share
        each = (by_cluster(measure.sums, measure.finalise)[:, 0] - start) / step
        some, others = each > 1e-9, each < 1 - 1e-9
    else:
        return None
    return min(int(some.sum()), int(others.sum()))


def rare_outcome_interval(headline: Estimate, measure: Measure, cluster: str) -> Estimate | None:
    """The CI of a proportion with a rarer outcome in few clusters, or with uneven clusters.

    None for other numbers.
    """
    rarer = holding(measure)
    is_uneven = (
        measure.hits is not None and measure.trials is not None and shares.uneven(measure.trials)
    )
    if rarer is None or (rarer >= FEW_HITS and not is_uneven and measure.uneven is None):
        return None
    if measure.uneven is not None:
        return _of_uneven_share(headline, measure, measure.uneven, cluster, is_extreme=not rarer)
    if measure.hits is None or measure.trials is None:
        df = None if measure.sizes is None else shares.degrees_of_freedom(measure.sizes)
        return of_rare_outcomes(
            headline,
            measure.share or DIRECT,
            n_outcomes=measure.n_ratings,
            is_extreme=not rarer,
            cluster=cluster,
            df=df,
        )
    start, step = measure.share or DIRECT
    low, high = shares.clustered_interval(measure.hits, measure.trials, headline.level)
    return replace(
        headline,
        low=start + step * low,
        high=start + step * high,
        se=headline.se if rarer else float("nan"),
        n_undefined=0,
        method=of_the_share(_effective_method(cluster, is_extreme=not rarer), measure.share),
    )


def of_rare_outcomes(
    headline: Estimate,
    scale: tuple[float, float],
    *,
    n_outcomes: int,
    is_extreme: bool,
    cluster: str,
    df: float | None = None,
) -> Estimate:
    """The interval of a + b times a share by its standard error; `is_extreme`: the share is 0 or 1.

    `df`: degrees of freedom, the clusters less one where None.
    """
    start, step = scale
    share, variance = (headline.value - start) / step, (headline.se / step) ** 2
    # At the end but for rounding.
    share = float(round(share)) if is_extreme else share
    freedom = headline.n_clusters - 1 if df is None else df
    low, high = shares.effective_interval(share, variance, n_outcomes, freedom, headline.level)
    return replace(
        headline,
        low=start + step * low,
        high=start + step * high,
        se=float("nan") if is_extreme else headline.se,
        n_undefined=0,
        method=of_the_share(_effective_method(cluster, is_extreme=is_extreme), scale),
    )


def _effective_method(cluster: str, *, is_extreme: bool) -> TranslatableMessage:
    if is_extreme:
        return message(
            "Clopper-Pearson, each {cluster} counted once",
            message_id="method.exact_of_clusters",
            cluster=cluster,
        )
    return message(
        "Wilson with the effective sample size ({cluster} clusters)",
        message_id="method.wilson_of_clusters",
        cluster=cluster,
    )


def _of_uneven_share(
    headline: Estimate, measure: Measure, uneven: UnevenClusters, cluster: str, *, is_extreme: bool
) -> Estimate:
    """The interval of a share of agreement in clusters of very unequal size.

    `is_extreme`: the share is 0 or 1.
    """
    start, step = measure.share or DIRECT
    share = (headline.value - start) / step
    share = float(round(share)) if is_extreme else share
    low, high = shares.effective_interval(
        share, uneven.variance / step**2, measure.n_ratings, uneven.df, headline.level
    )
    if is_extreme:
        method = message(
            "Clopper-Pearson at {n:.3g} effective {cluster} clusters",
            message_id="edges.uneven_exact",
            n=uneven.df + 1,
            cluster=cluster,
        )
    else:
        method = message(
            (
                "Wilson with the effective sample size ({cluster} clusters), bias-reduced"
                " variance, t with {df:.3g} effective degrees of freedom"
            ),
            message_id="edges.uneven_wilson",
            cluster=cluster,
            df=uneven.df,
        )
    return replace(
        headline,
        low=start + step * low,
        high=start + step * high,
        se=float("nan") if is_extreme else float(np.sqrt(uneven.variance)),
        n_undefined=0,
        method=of_the_share(method, measure.share),
    )


def of_uneven_clusters(
    headline: Estimate, measure: Measure, uneven: UnevenClusters, cluster: str
) -> Estimate:
    """The linearised CI of agreement in clusters of very unequal size.

    On the atanh scale; for a proportion on its logit scale.
    """
    se = float(np.sqrt(uneven.variance))
    if measure.share is not None:
        low, high = wald_bounds(measure, headline.value, se, uneven.df, headline.level)
        method = message(
            (
                "cluster-robust Wald ({cluster}-clustered) on the logit scale of the"
                " proportion, bias-reduced variance, t with {df:.3g} effective degrees of"
                " freedom"
            ),
            message_id="edges.uneven_wald_logit",
            cluster=cluster,
            df=uneven.df,
        )
    else:
        interval = wald.with_test(
            np.array([headline.value]),
            np.array([se]),
            np.array([uneven.df]),
            level=headline.level,
            scale=measure.scale,
        )
        low, high = float(interval.low[0]), float(interval.high[0])
        method = message(
            (
                "cluster-robust Wald ({cluster}-clustered) on the atanh scale, bias-reduced"
                " variance, t with {df:.3g} effective degrees of freedom"
            ),
            message_id="edges.uneven_wald",
            cluster=cluster,
            df=uneven.df,
        )
    return replace(headline, low=low, high=high, se=se, n_undefined=0, method=method)


def uneven_note(uneven: UnevenClusters, cluster: str) -> TranslatableMessage:
    """What a reader must know of clusters of very unequal size."""
    return message(
        (
            "The {n} {cluster} clusters are of very unequal size; the effective number of"
            " clusters is {effective:.1f}."
        ),
        message_id="edges.uneven_note",
        n=uneven.n_clusters,
        cluster=cluster,
        effective=uneven.effective,
    )


def plain(measure: Measure, value: float, n_clusters: float, level: float) -> Estimate:
    """The interval of a share with one outcome a cluster, or of a number that is linear in it."""
    start, step = measure.share or DIRECT
    share = (value - start) / step
    hits = round(share * n_clusters)
    low, high = shares.interval(hits, n_clusters, level)
    extreme = hits in (0, n_clusters)
    return Estimate(
        value,
        start + step * float(low),
        start + step * float(high),
        level,
        # As the linearised one, C / (C - 1); where all outcomes are alike they say nothing of their
        # spread.
        (
            float("nan")
            if extreme
            else step * float(np.sqrt(share * (1 - share) / max(n_clusters - 1, 1)))
        ),
        n_clusters=int(n_clusters),
        n_ratings=measure.n_ratings,
        method=of_the_share(
            message("Clopper-Pearson", message_id="method.exact")
            if extreme
            else message("Wilson", message_id="method.wilson"),
            measure.share,
        ),
    )


def wald_bounds(
    measure: Measure, value: float, se: float, df: float, level: float
) -> tuple[float, float]:
    """The linearised CI on the logit scale of a proportion, always within its range."""
    start, step = measure.share or DIRECT
    # logit(p) = 2 atanh(2 p - 1)
    centred = np.array([2 * (value - start) / step - 1])
    low, high = wald.interval(centred, np.array([2 * se / step]), df, level=level, scale="atanh")
    return start + step * (1 + float(low[0])) / 2, start + step * (1 + float(high[0])) / 2


def has_width(estimate: Estimate) -> bool:
    """Whether the limits differ by more than rounding and the error of numerical derivatives."""
    return estimate.high - estimate.low > 1e-7


def with_width(estimate: Estimate) -> Estimate:
    """The estimate, without equal limits and without a standard error of 0.

    Neither of them is evidence of precision.
    """
    nothing = float("nan")
    if not np.isfinite(estimate.low) or has_width(estimate):
        return replace(estimate, se=nothing) if estimate.se == 0 else estimate
    reason = message("no CI: all resamples gave the same value", message_id="edges.no_width")
    return replace(estimate, low=nothing, high=nothing, se=nothing, method="", reason=reason)


def of_the_share(
    method: TranslatableMessage, scale: tuple[float, float] | None
) -> TranslatableMessage:
    """The method of a share's interval, for a number that is linear in the share."""
    if scale in (None, DIRECT):
        return method
    return message(
        "{method}, from the proportion of agreement", message_id="edges.by_share", method=method
    )
