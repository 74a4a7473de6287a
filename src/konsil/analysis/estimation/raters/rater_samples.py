"""Agreement of raters like these: a two-way CI in addition to that for these raters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.interval_rules import without_limits
from konsil.analysis.estimation.measure import Measure, value
from konsil.analysis.estimation.raters.rater_notes import (
    dominant_of,
    dominated_of,
    rater_sampling_notes,
)
from konsil.analysis.estimation.raters.two_way import two_way_method
from konsil.analysis.model.sample import Sample
from konsil.errors.message import message
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.inference import wald
from konsil.stats.inference.rater_jackknife import LeftOut, items_and_raters
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
    is_compared: bool = False,
) -> tuple[EstimateSummary, Measure]:
    """The number with its two-way CI, and what a comparison of groups needs of its raters.

    Two raters get a note that nothing is known of other raters; another note names a rater with
    many of the ratings. `needs_all`: the number uses the units that every rater labelled, of which
    all raters gave equally many ratings. `is_compared`: groups are compared, for which the numbers
    without each rater are kept.
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
    if _is_too_large(measure, int((n_ratings > 0).sum())):
        note = message(
            (
                "Because of the size of the data, raters were not left out one at a time; the CI"
                " applies to these raters only."
            ),
            message_id="two_way.too_large",
        )
        # A difference from another group has the notes of the measure.
        measure = replace(measure, notes=(*measure.notes, note))
        return replace(summary, notes=(*summary.notes, note)), measure
    without = _without_each(measure, sample, make)
    if without is None:
        return summary, measure
    raters = tuple(r for r, n in zip(sample.raters, n_ratings, strict=True) if n)
    left_out = LeftOut(raters, n_ratings[n_ratings > 0], without)
    shares = left_out.shares
    if is_compared:
        measure = replace(measure, left_out=left_out)
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
    two = of_raters_like_these(summary.headline, interval, cluster, on_logit=is_share)
    notes = (
        *summary.notes,
        *rater_sampling_notes(summary.headline, two, measure),
        *([] if needs_all else dominant_of([n_ratings], sample.raters)),
    )
    return replace(summary, companions=(*summary.companions, two), notes=notes), measure


def _is_too_large(measure: Measure, n_raters: int) -> bool:
    """Whether leaving out each rater in turn would take too long."""
    size = measure.sums.shape[0] * measure.sums.shape[1] * n_raters
    return n_raters > MOST_RATERS or size > _SUMS


def _without_each(
    measure: Measure, sample: Sample, make: Callable[[Sample], Measure]
) -> list[tuple[float, Array]] | None:
    """The number and the clusters' influences without each rater in turn.

    None where that is not defined.
    """
    rating = np.flatnonzero((sample.codes.labels >= 0).sum(axis=0))
    if not measure.is_smooth or len(rating) < 3:
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


def without_interval(headline: Estimate, reason: str) -> Estimate:
    """The number for raters like these where no interval and no p value of it exists."""
    blank = without_limits(headline, reason)
    return replace(blank, n_undefined=0, method="", raters="like these")


def of_raters_like_these(
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
