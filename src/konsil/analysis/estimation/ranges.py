"""Between which values a statistic can lie, and intervals that do not leave them."""

from __future__ import annotations

import math
from dataclasses import replace

from konsil.analysis.estimation.own_weights import Weights
from konsil.analysis.model.catalogue.entry import UNBOUNDED, Range
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.composite.definition import ends_of
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import message
from konsil.instrument import Criterion
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.engine.contract import Estimate

_ROUNDING = 1e-9
"""A value that leaves its limits by no more does so by rounding."""


def range_of(analysis: Analysis, criterion: Criterion, *, of_two: bool = False) -> Range:
    """The least and the greatest value of a statistic, or of a difference `of_two`.

    Infinite where there is no end.

    >>> from konsil.instrument import Scale
    >>> correct = Criterion("correct", "?", Scale(("no", "yes")))
    >>> range_of(Analysis("a", "share", "correct", "p"), correct)
    (0.0, 1.0)
    >>> range_of(Analysis("a", "cohen_kappa", "correct", "p"), correct, of_two=True)
    (-2.0, 2.0)
    """
    low, high = statistic_of(analysis.statistic).range
    if analysis.statistic == "mean" and not (analysis.collapse or analysis.labels):
        ends = ends_of(criterion.scale) if analysis.abstain == "missing" else (None, None)
        low, high = (
            unbounded if end is None else end
            for end, unbounded in zip(ends, UNBOUNDED, strict=True)
        )
    return (low - high, high - low) if of_two else (low, high)


def within_statistic(
    estimate: Estimate, name: str, weights: Weights = "", *, of_two: bool = False
) -> Estimate:
    """An agreement statistic's estimate within the range of the statistic.

    `of_two`: the estimate is a difference of two statistics. With own weights for every two labels
    a coefficient can lie anywhere below 1.

    >>> within_statistic(Estimate(-0.5, -2.909, 1.909), "cohen_kappa", of_two=True).low
    -2.0
    """
    low, high = STATISTICS[name].range
    if not isinstance(weights, str) and low < 0:
        low = -math.inf
    return within(estimate, (low - high, high - low) if of_two else (low, high))


def within(estimate: Estimate, bounds: Range) -> Estimate:
    """The estimate with limits that do not leave its range.

    Its method states where they would have.

    A value beyond the range shows that the range is not that of these labels: Fleiss' kappa can be
    below -1 where labels are missing. Its limits are left as they are. Limits that do not contain
    the value are no interval for it.

    >>> cut = within(Estimate(0.01, -0.02, 0.04, method="Wald, t"), (0.0, 1.0))
    >>> cut.low, cut.high, cut.method
    (0.0, 0.04, 'Wald, t, truncated at the smallest possible value')
    """
    estimate = _with_value_inside(estimate)
    below = estimate.low < bounds[0] <= estimate.value
    above = estimate.high > bounds[1] >= estimate.value
    if not (below or above):
        return estimate
    if below and above:
        method = message(
            "{method}, truncated at the smallest and the largest possible value",
            message_id="range.cut_at_both",
            method=estimate.method,
        )
    elif below:
        method = message(
            "{method}, truncated at the smallest possible value",
            message_id="range.cut_below",
            method=estimate.method,
        )
    else:
        method = message(
            "{method}, truncated at the largest possible value",
            message_id="range.cut_above",
            method=estimate.method,
        )
    low = max(estimate.low, bounds[0]) if below else estimate.low
    high = min(estimate.high, bounds[1]) if above else estimate.high
    return replace(estimate, low=low, high=high, method=method)


def _with_value_inside(estimate: Estimate) -> Estimate:
    """The estimate, without limits and p value where the limits do not contain it."""
    if (
        not math.isfinite(estimate.low)
        or estimate.low - _ROUNDING <= estimate.value <= estimate.high + _ROUNDING
    ):
        return estimate
    reason = message(
        "no CI: the method's limits do not contain the estimate",
        message_id="edges.value_outside",
    )
    nothing = math.nan
    return replace(
        estimate, low=nothing, high=nothing, se=nothing, p=nothing, method="", reason=reason
    )
