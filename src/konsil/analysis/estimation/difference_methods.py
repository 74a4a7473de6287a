"""CI and test of a difference of two groups: one procedure, so that they never contradict.

- proportions of yes-or-no outcomes: the score test where a cluster has one outcome of a group, else
  square-and-add;
- other numbers of groups that are alike in form: studentised permutation of whole clusters;
- slopes of rare events and a judge's risk: the linearised interval with t of the effective number
  of clusters;
- all other numbers: the linearised interval with t.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from konsil.analysis.estimation.estimate import too_long
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.rare_events import DIRECT, of_the_share
from konsil.analysis.model.spec import Resampling
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.engine.contract import Array, Estimate, Finalise, IntArray
from konsil.stats.engine.resample import evaluate
from konsil.stats.inference import infer, wald
from konsil.stats.inference.exchange import Exchanged, swapped
from konsil.stats.shares.share_differences import (
    Outcomes,
    ShareDifference,
    score_difference,
    square_and_add,
)


def of_shares(
    blank: Estimate, a: Measure, b: Measure, both: Measure, cluster: str
) -> Estimate | None:
    """The difference of two shares whose outcomes are known by cluster; None for other numbers.

    Of two numbers a + b times a share it is b times the difference of the shares.
    """
    # Shares on different scales have no common unit to subtract in.
    if a.share != b.share:
        return None
    _, times = a.share or DIRECT
    first, second = (_outcomes(m, both.clusters) for m in (a, b))
    if first is None or second is None:
        return None
    if max(first[1].max(initial=0), second[1].max(initial=0)) <= 1:
        difference = score_difference(_single(*first, *second), blank.level)
    else:
        difference = square_and_add(*first, *second, blank.level)
    if math.isnan(difference.low):
        return replace(blank, reason=message("no CI from a single cluster"))
    return replace(
        blank,
        low=times * difference.low,
        high=times * difference.high,
        p=difference.p,
        se=_se(both),
        method=of_the_share(_method_of_shares(difference, cluster), a.share),
    )


def by_exchange(
    blank: Estimate,
    a: Measure,
    b: Measure,
    both: Measure,
    cluster: str,
    key: int,
    resampling: Resampling,
) -> Estimate | None:
    """The difference by permutation of whole clusters.

    None where the groups are not alike in form.
    """
    if too_long(both.sums, resampling.draws) or not alike(a, b):
        return None
    first, second = _rows(a, both)
    exchange = swapped(
        first, second, a.finalise, draws=resampling.draws, level=resampling.level, key=key
    )
    if math.isnan(exchange.p):
        return replace(blank, reason=message("no CI from a single cluster"))
    return replace(
        blank,
        low=exchange.low,
        high=exchange.high,
        p=exchange.p,
        se=exchange.se if exchange.se > 0 else math.nan,
        n_undefined=exchange.n_undefined,
        method=_method_of_exchange(first, second, exchange, cluster),
        reason=no_interval_reason(exchange, cluster),
    )


def no_interval_reason(exchange: Exchanged, cluster: str) -> str:
    """The reason for a permutation test without an interval; empty where it has one."""
    if not math.isnan(exchange.low):
        return ""
    if exchange.se == 0 or not exchange.n_moved:
        return message(
            "the two groups do not differ in any {cluster}, so the difference has no CI",
            message_id="difference.nothing_moves",
            cluster=cluster,
        )
    return message(
        "too few {cluster} clusters differ ({n:,}) for an interval at this level",
        message_id="difference.few_move",
        cluster=cluster,
        n=exchange.n_moved,
    )


def by_linearisation(
    blank: Estimate, both: Measure, difference: Finalise, cluster: str
) -> Estimate:
    """The difference by its linearised standard error.

    t with the clusters of the smaller group, less 1, as degrees of freedom.
    """
    value = np.array([blank.value])
    influence = wald.linearised(both.sums, difference)
    df = blank.n_clusters - 1
    interval = wald.one_way(influence, value, level=blank.level, n_clusters=blank.n_clusters)
    if not interval.se[0] > _ROUNDING:
        reason = message(
            "no resample could differ from the estimate", message_id="difference.no_variation"
        )
        return replace(blank, reason=message("no CI from a single cluster") if df < 1 else reason)
    return replace(
        blank,
        low=float(interval.low[0]),
        high=float(interval.high[0]),
        se=float(interval.se[0]),
        p=float(infer.t_p_value(value, interval.se, df)[0]),
        method=message(
            (
                "difference, cluster-robust Wald ({cluster}-clustered), t with {df} degrees of"
                " freedom"
            ),
            message_id="difference.linearised",
            cluster=cluster,
            df=df,
        ),
    )


def by_rare_events(blank: Estimate, both: Measure, difference: Finalise, cluster: str) -> Estimate:
    """The difference by its linearised standard error, for rare events.

    t with the number of clusters that contain the variation, less 1, as degrees of freedom. Where
    few clusters have an event, a bootstrap has too little to resample, and exchanging a few labels
    of one group for many of another is no studentised permutation: both detect a difference between
    equal slopes in 11 to 22 % of studies.
    """
    value = np.array([blank.value])
    influence = wald.linearised(both.sums, difference)
    n = blank.n_clusters
    se = np.sqrt((influence**2).sum(axis=0) * (n / max(n - 1, 1)))
    df = np.maximum(wald.effective_degrees(influence), 1.0)
    if n < 2 or not se[0] > _ROUNDING:
        reason = message(
            "no resample could differ from the estimate", message_id="difference.no_variation"
        )
        return replace(blank, reason=message("no CI from a single cluster") if n < 2 else reason)
    interval = wald.with_test(value, se, df, level=blank.level)
    return replace(
        blank,
        low=float(interval.low[0]),
        high=float(interval.high[0]),
        se=float(interval.se[0]),
        p=float(interval.p[0]),
        method=message(
            (
                "difference, cluster-robust Wald ({cluster}-clustered), t with {df:.3g}"
                " effective degrees of freedom"
            ),
            message_id="difference.rare_events",
            cluster=cluster,
            df=float(df[0]),
        ),
    )


_ROUNDING = 1e-12
"""Standard errors up to here are rounding errors of zero."""


def alike(a: Measure, b: Measure) -> bool:
    """Whether one group's sums mean in the other's place what they mean in their own."""
    if not (a.is_smooth and b.is_smooth) or a.sums.shape[1] != b.sums.shape[1]:
        return False
    totals = np.stack([np.asarray(m.sums.sum(axis=0), dtype=np.float64).ravel() for m in (a, b)])
    totals = np.concatenate([totals, totals.sum(axis=0)[None]])
    return bool(
        np.array_equal(evaluate(a.finalise, totals), evaluate(b.finalise, totals), equal_nan=True)
    )


def _rows(a: Measure, both: Measure) -> tuple[Array, Array]:
    dense = both.sums if isinstance(both.sums, np.ndarray) else both.sums.toarray()
    half = a.sums.shape[1]
    return dense[:, :half], dense[:, half:]


def _outcomes(measure: Measure, clusters: tuple[str, ...]) -> tuple[Array, Array] | None:
    """Hits and trials of each of the clusters, where the number is the share of hits; else None."""
    if measure.trials is None:
        return None
    trials, hits = measure.trials, measure.hits
    if hits is None:
        if not (trials <= 1).all():
            return None
        dense = measure.sums if isinstance(measure.sums, np.ndarray) else measure.sums.toarray()
        start, times = measure.share or DIRECT
        # A cluster without a comparison has no share, and counts with no trials.
        hits = np.nan_to_num((evaluate(measure.finalise, dense)[:, 0] - start) / times) * trials
    place = np.searchsorted(clusters, measure.clusters)
    out = np.zeros((2, len(clusters)))
    out[0, place], out[1, place] = hits, trials
    return out[0], out[1]


def _single(hits_a: Array, trials_a: Array, hits_b: Array, trials_b: Array) -> Outcomes:
    pair = (trials_a > 0) & (trials_b > 0)
    x, y = hits_a[pair] > 0, hits_b[pair] > 0
    only_a, only_b = (trials_a > 0) & ~pair, (trials_b > 0) & ~pair
    counts = (
        x & y,
        x & ~y,
        ~x & y,
        ~x & ~y,
        hits_a[only_a],
        trials_a[only_a],
        hits_b[only_b],
        trials_b[only_b],
    )
    return Outcomes(*(float(np.sum(c)) for c in counts))


def _se(both: Measure) -> float:
    influence = wald.linearised(both.sums, infer.contrasted(both.finalise, np.array([[1.0, -1.0]])))
    se = wald.one_way(influence, np.zeros(1)).se[0]
    return float(se) if se > 0 else math.nan


def _method_of_shares(difference: ShareDifference, cluster: str) -> TranslatableMessage:
    match difference.method:
        case "tango":
            return message(
                "paired difference of proportions, score interval and test (Tango)",
                message_id="difference.tango",
            )
        case "miettinen-nurminen":
            return message(
                "difference of independent proportions, score interval and test (Miettinen and"
                " Nurminen)",
                message_id="difference.independent_shares",
            )
        case "score":
            return message(
                "difference of partly paired proportions, score interval and test",
                message_id="difference.partly_paired_shares",
            )
        case _:
            return message(
                (
                    "difference of proportions, square-and-add interval (Newcombe) with the"
                    " effective sample sizes of the {cluster} clusters"
                ),
                message_id="difference.square_and_add",
                cluster=cluster,
            )


def _method_of_exchange(
    first: Array, second: Array, exchange: Exchanged, cluster: str
) -> TranslatableMessage:
    in_a, in_b = first.any(axis=1), second.any(axis=1)
    if not (in_a & in_b).any():
        return message(
            "difference of independent groups, studentised permutation of whole {cluster} clusters,"
            " {draws:,} permutations",
            message_id="difference.shuffled",
            cluster=cluster,
            draws=exchange.draws,
        )
    if exchange.exact:
        return message(
            "paired difference, studentised permutation of the groups within {cluster} clusters,"
            " all {draws:,} permutations",
            message_id="difference.swapped_exactly",
            cluster=cluster,
            draws=exchange.draws,
        )
    return message(
        "paired difference, studentised permutation of the groups within {cluster} clusters,"
        " {draws:,} permutations",
        message_id="difference.swapped",
        cluster=cluster,
        draws=exchange.draws,
    )


def n_clusters(both: Measure) -> int:
    """Clusters with information on one of the groups at least."""
    dense = both.sums if isinstance(both.sums, np.ndarray) else both.sums.toarray()
    used: IntArray = np.flatnonzero(dense.any(axis=1))
    return len(used)
