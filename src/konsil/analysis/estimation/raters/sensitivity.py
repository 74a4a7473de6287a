"""Sensitivity analysis with raters as clusters (generalisation to other raters)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.estimation.interval_rules import without_limits
from konsil.analysis.estimation.measure import Measure, pair
from konsil.analysis.estimation.raters.two_way import cell_influence
from konsil.errors.message import message
from konsil.stats.engine.contract import Estimate
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.inference import infer, wald


def leave_one_rater_out(values: Sequence[float], headline: Estimate) -> Estimate:
    """The sensitivity analysis with raters as clusters: a delete-one-rater jackknife, t with R - 1.

    se^2 = (R - 1) / R * sum over raters of (value without the rater - mean of these)^2. nan with an
    undefined value or fewer than three raters: without one of two raters there is no agreement.

    Source: Efron and Stein (1981), The jackknife estimate of variance.
    """
    values_without = np.asarray(values, dtype=np.float64)
    n = len(values_without)
    blank = replace(
        headline,
        low=float("nan"),
        high=float("nan"),
        se=float("nan"),
        n_clusters=n,
        n_undefined=0,
        raters="like these",
    )
    if n < 3 or not np.isfinite(values_without).all():
        reason = (
            message("fewer than three raters")
            if n < 3
            else message("not estimable without one of the raters")
        )
        return replace(
            blank,
            method=message("leave-one-rater-out jackknife", message_id="method.no_jackknife"),
            reason=reason,
        )
    se = np.sqrt((n - 1) / n * ((values_without - values_without.mean()) ** 2).sum())
    low, high = wald.interval(
        np.array([headline.value]), np.array([se]), n - 1, level=headline.level
    )
    return replace(
        blank,
        low=float(low[0]),
        high=float(high[0]),
        se=float(se),
        method=message(
            "leave-one-rater-out jackknife, t with {df} degrees of freedom",
            message_id="method.jackknife",
            df=n - 1,
        ),
    )


def rater_clusters(headline: Estimate, measure: Measure) -> Estimate:
    """The sensitivity analysis with raters as clusters, for sums of single ratings: linearised."""
    if measure.cell is None:
        raise ValueError("no single ratings: expected a measure with cells")
    used = len(renumbered(measure.cell.raters)[0])
    interval = wald.by_cluster(
        cell_influence(measure),
        measure.cell.raters,
        np.array([headline.value]),
        strata=measure.cell.groups,
        level=headline.level,
    )
    return replace(
        headline,
        low=float(interval.low[0]),
        high=float(interval.high[0]),
        se=float(interval.se[0]),
        p=float(interval.p[0]) if np.isfinite(headline.p) else float("nan"),
        n_clusters=used,
        n_undefined=0,
        method=message(
            "cluster-robust Wald (rater-clustered), t with {df:.3g} degrees of freedom",
            message_id="two_way.by_rater",
            df=float(interval.df[0]) if used > 1 else 0.0,
        ),
        reason=message("no CI from a single rater") if used < 2 else "",
        raters="like these",
    )


def rater_contrast(
    headline: Estimate,
    a: Measure,
    b: Measure,
    left_a: Mapping[str, float],
    left_b: Mapping[str, float],
) -> Estimate:
    """A difference of two groups with raters as clusters.

    Linearised for single ratings, else the jackknife. `left_a` and `left_b` are the numbers without
    each rater, where they are not sums of single ratings.
    """
    both = pair(a, b)
    if both.cell is not None:
        return rater_clusters(
            headline,
            replace(both, finalise=infer.contrasted(both.finalise, np.array([[1.0, -1.0]]))),
        )
    if set(left_a) != set(left_b):
        return without_limits(headline, message("the groups have different raters"))
    jackknife = leave_one_rater_out([left_a[r] - left_b[r] for r in left_a], headline)
    if np.isnan(headline.p):  # no test was asked for
        return jackknife
    p = infer.t_p_value(
        np.array([headline.value]), np.array([jackknife.se]), jackknife.n_clusters - 1
    )
    return replace(jackknife, p=float(p[0]))
