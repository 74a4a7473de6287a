"""Agreement of raters like these: a two-way CI in addition to that for these raters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.difference_methods import n_clusters
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure, pair, value
from konsil.analysis.estimation.raters.rater_notes import (
    dominant_of,
    dominated_of,
    rater_sampling_notes,
)
from konsil.analysis.estimation.raters.two_way import two_way_method
from konsil.analysis.model.sample import Sample
from konsil.errors.message import message
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.inference import infer, wald
from konsil.stats.inference.rater_jackknife import by_raters, items_and_raters, of_two_panels
from konsil.stats.inference.wald import WaldInterval

MOST_RATERS = 100
"""Up to this number of raters, each is left out in turn."""

_SUMS = 100_000_000
"""Largest number of sums over all raters left out."""


def with_raters(
    summary: EstimateSummary,
    measure: Measure,
    sample: Sample,
    make: Callable[[Sample], Measure],
    cluster: str,
    *,
    needs_all: bool = False,
) -> tuple[EstimateSummary, Measure]:
    """The number with its two-way CI, and what a comparison of panels needs of its raters.

    Two raters get a note that nothing is known of other raters; another note names a rater with
    many of the ratings. `needs_all`: the number uses the units that every rater labelled, of which
    all raters gave equally many ratings.
    """
    if not np.isfinite(summary.headline.value) or measure.cell is not None:
        return summary, measure
    n_ratings = (sample.codes.labels >= 0).sum(axis=0)
    measure = replace(
        measure, raters=frozenset(r for r, n in zip(sample.raters, n_ratings, strict=True) if n)
    )
    if (n_ratings > 0).sum() == 2:
        note = message(
            (
                "The CI applies to these two raters only: variation between raters is not"
                " estimable from two."
            ),
            message_id="two_way.two_raters",
        )
        return replace(summary, notes=(*summary.notes, note)), measure
    without = _without_each(measure, sample, make)
    if without is None:
        return summary, measure
    shares = n_ratings[n_ratings > 0] / n_ratings.sum()
    measure = replace(measure, by_raters=by_raters(without, shares))
    busiest = [] if needs_all else dominated_of([n_ratings], sample.raters)
    if busiest:
        return replace(summary, notes=(*summary.notes, *busiest)), measure
    uneven, thin = measure.uneven, measure.thin
    items = None if uneven is None else (uneven.variance, uneven.df)
    if thin is not None:
        # The variance of the items is that of the first interval, which counts pairs that agree in
        # all of few units.
        if not np.isfinite(summary.headline.se):
            return summary, measure
        items = (summary.headline.se**2, thin.df if uneven is None else min(thin.df, uneven.df))
    interval = items_and_raters(
        np.array([summary.headline.value]),
        wald.linearised(measure.sums, measure.finalise),
        without,
        shares,
        items=items,
        level=summary.headline.level,
        scale=measure.scale,
    )
    # Where raters and items differ in nothing there is no spread to make an interval from.
    if not np.isfinite(interval.low[0]) or not interval.se[0] > 0:
        return summary, measure
    is_share = measure.share is not None and measure.scale == "atanh"
    if is_share:
        # As by items alone, so that no number that is linear in a share contradicts that share.
        se, df = float(interval.se[0]), float(interval.df[0])
        low, high = rare_events.wald_bounds(
            measure, summary.headline.value, se, df, summary.headline.level
        )
        interval = interval._replace(low=np.array([low]), high=np.array([high]))
    two = _of_raters_like_these(summary.headline, interval, cluster, on_logit=is_share)
    notes = (
        *summary.notes,
        *rater_sampling_notes(summary.headline, two, measure),
        *([] if needs_all else dominant_of([n_ratings], sample.raters)),
    )
    return replace(summary, companions=(*summary.companions, two), notes=notes), measure


def _without_each(
    measure: Measure, sample: Sample, make: Callable[[Sample], Measure]
) -> list[tuple[float, Array]] | None:
    """The number and the clusters' influences without each rater in turn.

    None where that is not defined, or long.
    """
    rating = np.flatnonzero((sample.codes.labels >= 0).sum(axis=0))
    size = measure.sums.shape[0] * measure.sums.shape[1] * len(rating)
    if not measure.is_smooth or not 3 <= len(rating) <= MOST_RATERS or size > _SUMS:
        return None
    without = []
    for n in rating:
        labels = np.delete(sample.codes.labels, n, axis=1)
        others = tuple(r for m, r in enumerate(sample.raters) if m != n)
        reduced = make(replace(sample, codes=replace(sample.codes, labels=labels), raters=others))
        # Without this rater a cluster has no comparison left: the influences are not of the same
        # clusters.
        if reduced.clusters != measure.clusters:
            return None
        without.append((value(reduced), wald.linearised(reduced.sums, reduced.finalise)))
    return without


def _of_raters_like_these(
    headline: Estimate, interval: WaldInterval, cluster: str, *, on_logit: bool = False
) -> Estimate:
    """The two-way interval of a number, with the p value of its t where the number is tested."""
    return replace(
        headline,
        low=float(interval.low[0]),
        high=float(interval.high[0]),
        se=float(interval.se[0]),
        p=float(interval.p[0]) if np.isfinite(headline.p) else float("nan"),
        n_undefined=0,
        method=two_way_method(cluster, float(interval.df[0]), on_logit=on_logit),
        reason="",
        raters="like these",
    )


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
    if two is None and a.by_raters is not None and b.by_raters is not None:
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
        nothing = float("nan")
        two = replace(
            summary.headline,
            low=nothing,
            high=nothing,
            se=nothing,
            p=nothing,
            method="",
            reason=reason,
            raters="like these",
        )
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
    if a.by_raters is None or b.by_raters is None:
        return None
    both = pair(a, b)
    influence = wald.linearised(both.sums, infer.contrasted(both.finalise, np.array([[1.0, -1.0]])))
    interval = of_two_panels(
        np.array([headline.value]),
        influence,
        a.by_raters,
        b.by_raters,
        n_items=n_clusters(both),
        level=headline.level,
    )
    return (
        _of_raters_like_these(headline, interval, cluster)
        if np.isfinite(interval.low[0]) and interval.se[0] > 0
        else None
    )
