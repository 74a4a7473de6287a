"""Differences of two groups for raters like these: of groups that share raters and of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.estimation.difference_methods import n_clusters
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure, pair, value
from konsil.analysis.estimation.raters.rater_notes import (
    dominant_of,
    dominated_of,
    rater_sampling_notes,
)
from konsil.analysis.estimation.raters.rater_samples import of_raters_like_these, without_interval
from konsil.analysis.estimation.raters.two_way import two_way
from konsil.analysis.estimation.targets import LEAST_RATERS
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.errors.message import message
from konsil.stats.engine.contract import Estimate, IntArray
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.inference import infer, wald
from konsil.stats.inference.rater_jackknife import (
    LeftOut,
    NumberOf,
    differences_without,
    items_and_raters,
    of_pairs,
    of_two_panels,
)


def of_single_ratings(headline: Estimate, a: Measure, b: Measure, cluster: str) -> Estimate | None:
    """The difference of the single ratings behind two majorities or means, two-way.

    A majority of few raters is no sum over raters, and a jackknife over them misses whoever breaks
    ties: the mean of single ratings treats all as sampled. `headline`: the difference of the
    majorities. None where a group has no single ratings or fewer than three raters, and where
    nothing is estimated of how raters vary.
    """
    first, second = a.by_single_ratings, b.by_single_ratings
    if first is None or second is None or min(map(_n_raters, (first, second))) < LEAST_RATERS:
        return None
    both = pair(first, second)
    minus = replace(both, finalise=infer.contrasted(both.finalise, np.array([[1.0, -1.0]])))
    start = Estimate(
        value(minus),
        level=headline.level,
        p=headline.p,
        n_clusters=n_clusters(both),
        n_ratings=both.n_ratings,
    )
    two = two_way(start, minus, cluster, is_behind_consensus=True)
    return two if two is not None and two.se > _ROUNDING else None


def have_other_raters(a: Measure, b: Measure) -> bool:
    """Whether the raters of two groups are known and the groups share none."""
    if a.cell is not None and b.cell is not None:
        return not np.intersect1d(a.cell.raters, b.cell.raters).size
    return bool(a.raters and b.raters) and a.raters.isdisjoint(b.raters)


def of_other_raters(
    summary: EstimateSummary, a: Measure, b: Measure, cluster: str, *, are_panels: bool
) -> EstimateSummary:
    """A difference of two groups that share no rater, with the two-way CI as primary CI.

    The groups differ by their raters. Where a panel has too few raters for that CI (fewer than two
    for proportions and means, three for agreement), the difference has no CI and no p value, and
    the CI by items is a companion; so it is for panels alone (`are_panels`), not for two raters
    whom the analysis compares by name.
    """
    if not have_other_raters(a, b) or not np.isfinite(summary.headline.value):
        return summary
    two = next((c for c in summary.companions if c.raters == "like these"), None)
    if two is None:
        two = _of_panels(summary.headline, a, b, cluster)
    least = 2 if a.cell is not None else 3
    fewest = min(_n_raters(a), _n_raters(b))
    if two is not None and fewest >= least:
        note = message(
            (
                "The two groups have different raters, so the primary CI and its p value apply"
                " to raters like these."
            ),
            message_id="two_way.other_raters",
        )
        notes = (note, *_panels_of_unequal_size(a, b))
    elif are_panels and fewest < least:
        reason = message(
            (
                "no CI: variation between raters is not estimable from {n} {n|rater|raters};"
                " at least {least} are needed"
            ),
            message_id="two_way.too_few_raters",
            n=fewest,
            least=least,
        )
        two = without_interval(summary.headline, reason)
        note = message(
            (
                "The additional CI of the difference applies to these raters only; it does not"
                " show a difference between the panels."
            ),
            message_id="two_way.panels_of_few",
        )
        notes = (note,)
    else:
        return summary
    rest = (summary.headline, *(c for c in summary.companions if c.raters != "like these"))
    return replace(summary, headline=two, companions=rest, notes=(*notes, *summary.notes))


MUCH_LARGER = 3
"""A panel with so many times the raters of the other one makes the test of two shares near 0 or 1
reject too often."""

NEAR_AN_END = 0.25
"""Up to this share, or from 1 less it on."""


def _panels_of_unequal_size(a: Measure, b: Measure) -> tuple[str, ...]:
    """A warning where the test of two proportions is known to reject too often.

    See `benchmarks/coverage_panels.py`. The mean and the spread of a few raters' proportions are
    correlated where the proportion is near 0 or 1. Between panels of similar size that cancels out.
    """
    sizes = sorted((_n_raters(a), _n_raters(b)))
    if (
        a.cell is None
        or b.cell is None
        or a.hits is None
        or b.hits is None
        or sizes[1] < MUCH_LARGER * sizes[0]
    ):
        return ()
    rarer = min(min(value(m), 1 - value(m)) for m in (a, b))
    if rarer > NEAR_AN_END:
        return ()
    return (
        message(
            (
                "The panels have {few} and {many} raters and a proportion is near 0 or 1: in"
                " simulations of such panels without a difference, p was below 0.05 in 6 to 9%"
                " of studies."
            ),
            message_id="two_way.unequal_panels",
            few=sizes[0],
            many=sizes[1],
        ),
    )


def _n_raters(measure: Measure) -> int:
    return len(measure.raters) if measure.cell is None else len(renumbered(measure.cell.raters)[0])


def _of_panels(headline: Estimate, a: Measure, b: Measure, cluster: str) -> Estimate | None:
    """The two-way interval of a difference of agreement of two panels.

    None where it is not defined.
    """
    panels = [m.left_out.by_raters() if m.left_out is not None else None for m in (a, b)]
    if panels[0] is None or panels[1] is None:
        return None
    both = pair(a, b)
    minus = infer.contrasted(both.finalise, np.array([[1.0, -1.0]]))
    interval = of_two_panels(
        np.array([headline.value]),
        wald.linearised(both.sums, minus),
        panels[0],
        panels[1],
        n_items=n_clusters(both),
        level=headline.level,
    )
    return (
        of_raters_like_these(headline, interval, cluster)
        if np.isfinite(interval.low[0]) and interval.se[0] > 0
        else None
    )


_ROUNDING = 1e-9
"""Standard errors up to here are rounding errors of zero."""

CORRECTED = frozenset(
    {
        "cohen_kappa",
        "cohen_kappa_linear",
        "cohen_kappa_quadratic",
        "conger_kappa",
        "fleiss_kappa",
        "krippendorff_alpha",
        "light_kappa",
        "scott_pi",
    }
)
"""Agreement whose difference keeps its level with the plain jackknife over raters; that of other
statistics has the rater part of means over pairs (`of_pairs`), which is wider."""


def of_common_raters(
    summary: EstimateSummary, a: Measure, b: Measure, cluster: str, statistic: str
) -> EstimateSummary:
    """A difference of agreement of two groups that share raters, with its two-way CI beside it.

    A jackknife of the difference: both groups lose the same rater, so that a rater's severity in
    both cancels out and a rater's taste for one of them does not. Without it where a group has
    fewer than three raters, where one is not defined without each rater, and where a rater gave so
    many of the ratings that nothing is estimated of how raters vary.
    """
    if a.left_out is None or b.left_out is None or not np.isfinite(summary.headline.value):
        return summary
    left_out = (a.left_out, b.left_out)
    raters = tuple(dict.fromkeys(r for each in left_out for r in each.raters))
    counts = [_counts_of(each, raters) for each in left_out]
    needs_all = statistic_of(statistic).needs_complete
    busiest = [] if needs_all else dominated_of(counts, raters)
    if busiest:
        return replace(summary, notes=(*summary.notes, *busiest))
    two = _of_common_raters(summary.headline, a, b, cluster, statistic)
    if two is None:
        return summary
    notes = (
        *summary.notes,
        *rater_sampling_notes(summary.headline, two, replace(a, n_raters=len(raters))),
        *([] if needs_all else dominant_of(counts, raters)),
    )
    return replace(summary, companions=(*summary.companions, two), notes=notes)


def _counts_of(left_out: LeftOut, raters: Sequence[str]) -> IntArray:
    """How many ratings each of some raters gave."""
    n_of = dict(zip(left_out.raters, left_out.n_ratings, strict=True))
    return np.array([n_of.get(r, 0) for r in raters], dtype=np.int64)


def _of_common_raters(
    headline: Estimate, a: Measure, b: Measure, cluster: str, statistic: str
) -> Estimate | None:
    """The two-way interval of a difference of agreement of raters in both groups.

    None where it is not defined.
    """
    both = pair(a, b)
    used = n_clusters(both)
    if used < 2 or a.left_out is None or b.left_out is None:
        return None
    each = wald.linearised(both.sums, both.finalise)
    influence = each[:, [0]] - each[:, [1]]
    without, shares = differences_without(
        NumberOf(value(a), each[:, [0]], a.left_out, _places(a, both)),
        NumberOf(value(b), each[:, [1]], b.left_out, _places(b, both)),
    )
    # Where pairs of raters share few units, the variance of the first interval counts what the
    # influences do not show.
    by_item = used / (used - 1) * float((influence**2).sum())
    if np.isfinite(headline.se):
        by_item = max(by_item, headline.se**2)
    df = min(used - 1.0, *(m.uneven.df for m in (a, b) if m.uneven is not None), np.inf)
    interval = items_and_raters(
        np.array([headline.value]),
        influence,
        without,
        shares,
        items=(by_item, df),
        times=1.0 if statistic in CORRECTED else of_pairs(len(without)),
        level=headline.level,
    )
    if not np.isfinite(interval.low[0]) or not interval.se[0] > _ROUNDING:
        return None
    return of_raters_like_these(headline, interval, cluster)


def _places(measure: Measure, both: Measure) -> IntArray:
    """Which of the clusters of two groups those of one of them are."""
    return np.searchsorted(both.clusters, measure.clusters)
