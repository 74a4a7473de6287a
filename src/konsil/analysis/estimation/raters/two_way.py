"""CIs of sums of single ratings that also allow for other raters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.ranges import within
from konsil.analysis.estimation.raters.rater_notes import dominated
from konsil.analysis.model.catalogue.entry import UNBOUNDED
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.inference import wald
from konsil.stats.inference.rater_jackknife import of_pairs


def two_way(
    headline: Estimate, measure: Measure, cluster: str, *, is_behind_consensus: bool = False
) -> Estimate | None:
    """The interval that also lets other raters of the kind have rated.

    None where single ratings are not summed.

    None, too, where one of several raters gave so many that nothing is estimated of how raters
    vary. Its p, by the same t, where the headline has one. `is_behind_consensus`: the single
    ratings are those behind majorities or means; their rater part has the factor of `of_pairs`,
    without which tests of five raters with tastes reject too often.
    """
    if measure.cell is None or measure.n_raters < 2 or dominated(measure):
        return None
    influence = cell_influence(measure)
    n_raters = len(renumbered(measure.cell.raters)[0])
    at = np.array([headline.value])
    interval = wald.two_way(
        influence,
        measure.cell.clusters,
        measure.cell.raters,
        at,
        strata=measure.cell.groups,
        level=headline.level,
        scale=measure.scale,
        times=of_pairs(n_raters) if is_behind_consensus else 1.0,
    )
    if not np.isfinite(interval.low[0]):
        return None
    low, high, df = float(interval.low[0]), float(interval.high[0]), float(interval.df[0])
    is_share = measure.possible == rare_events.DIRECT
    if is_share:
        low, high = rare_events.wald_bounds(
            measure, headline.value, float(interval.se[0]), df, headline.level
        )
    companion = replace(
        headline,
        low=low,
        high=high,
        se=float(interval.se[0]),
        p=float(interval.p[0]) if np.isfinite(headline.p) else float("nan"),
        n_undefined=0,
        method=_method_of_single_ratings(cluster, df)
        if is_behind_consensus
        else two_way_method(cluster, df, on_logit=is_share),
        raters="like these",
    )
    return within(companion, measure.possible or UNBOUNDED)


def _method_of_single_ratings(cluster: str, df: float) -> TranslatableMessage:
    return message(
        (
            "single ratings (mean of each unit, ties count half), two-way cluster-robust Wald"
            " ({cluster} and rater), t with {df:.3g} degrees of freedom"
        ),
        message_id="two_way.single_ratings",
        cluster=cluster,
        df=df,
    )


def two_way_method(cluster: str, df: float, *, on_logit: bool = False) -> TranslatableMessage:
    """The name of the two-way interval."""
    if on_logit:
        return message(
            (
                "two-way cluster-robust Wald ({cluster} and rater) on the logit scale of the"
                " proportion, t with {df:.3g} degrees of freedom"
            ),
            message_id="two_way.method_logit",
            cluster=cluster,
            df=df,
        )
    return message(
        ("two-way cluster-robust Wald ({cluster} and rater), t with {df:.3g} degrees of freedom"),
        message_id="two_way.method",
        cluster=cluster,
        df=df,
    )


def cell_influence(measure: Measure) -> Array:
    """Each single rating's influence: its row instead of its cluster's.

    Sums to the clusters' influence.
    """
    if measure.cell is None:
        raise ValueError("no single ratings: expected a measure with cells")
    return wald.linearised(measure.cell.rows, measure.finalise)
