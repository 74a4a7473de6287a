"""Comparative interim analyses of one test: critical values, decisions and adjusted estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from konsil.analysis.model.rows import AdjustedEstimate, Row
from konsil.analysis.model.spec import SequentialRules
from konsil.errors import AnalysisError
from konsil.stats.designs.sequential import Bounds, bounds, inference, signed_z, tail_z
from konsil.stats.engine.contract import Estimate

LookDecision = Literal["continue", "stop for efficacy", "stop for futility"]
NEAR_ONE = 0.6
"""p values from which on the standard error follows from the interval."""


@dataclass(frozen=True, slots=True)
class LookResult:
    """A comparative look."""

    z: float
    """The test statistic."""
    critical: float
    """The critical value of |z|."""
    nominal: float
    """The two-sided p value that corresponds to it."""
    spent: float
    """The type I error spent up to this look."""
    decision: LookDecision
    """What follows by the rules."""


def check_bounds(
    rules: SequentialRules, fractions: Sequence[float], futility: Sequence[float]
) -> None:
    """Raise ValueError where these looks and a last analysis cannot be planned."""
    _bounds(rules, [*fractions, 1.0], futility)


def planned_critical_values(
    rules: SequentialRules, fractions: Sequence[float], futility: Sequence[float]
) -> tuple[float, ...]:
    """Critical values of |z| at these looks and at a last analysis of all ratings."""
    return tuple(map(float, _bounds(rules, [*fractions, 1.0], futility).critical))


def two_sided_p(critical: float) -> float:
    """The two-sided p value of a critical value of |z|.

    >>> round(two_sided_p(1.959964), 4)
    0.05
    """
    return math.erfc(critical / math.sqrt(2))


def look_result(
    rules: SequentialRules,
    fractions: Sequence[float],
    futility: Sequence[float],
    estimate: Estimate,
) -> LookResult:
    """The look at the last of the fractions, whose estimate this is; the others came before it."""
    design = _bounds(rules, fractions, futility)
    z = statistic_and_scale(estimate)[0]
    critical, inner = float(design.critical[-1]), float(design.futility[-1])
    decision: LookDecision = "continue"
    if abs(z) >= critical:
        decision = "stop for efficacy"
    elif abs(z) < inner:
        decision = "stop for futility"
    return LookResult(z, critical, float(design.nominal[-1]), float(design.spent[-1]), decision)


def adjusted_estimate(
    rules: SequentialRules,
    fractions: Sequence[float],
    futility: Sequence[float],
    row: Row,
    *,
    spends_all: bool,
    possible: tuple[float, float] = (-math.inf, math.inf),
) -> AdjustedEstimate:
    """The estimate of the last analysis, adjusted for those before it.

    `fractions` are those of all analyses, `futility` those of the looks before the last. With
    `spends_all` the last analysis spends what remains of alpha, whatever its fraction. The estimate
    and interval of the drift are multiplied by se sqrt(t), with se the effect divided by z. Without
    looks the p value and the estimate are those of the analysis itself.

    The interval is of normal theory, which knows no end of the scale: estimate and limits are
    truncated at the `possible` values, unless no interval would be left.

    Source: Jennison and Turnbull (2000), chapter 8; p values in place of a normal statistic:
    chapter 11.
    """
    times = [*fractions[:-1], 1.0] if spends_all else list(fractions)
    design = _bounds(rules, fractions, futility, times)
    z, se = statistic_and_scale(row.estimate)
    result = inference(design, z, level=1 - rules.alpha)
    scale = se * math.sqrt(fractions[-1])
    value, low, high = (x * scale for x in (result.estimate, result.low, result.high))
    ends = max(low, possible[0]), min(high, possible[1])
    is_truncated = ends != (low, high) and ends[0] < ends[1]
    if is_truncated:
        value = min(max(value, ends[0]), ends[1])
        low, high = ends
    return AdjustedEstimate(
        row.analysis,
        value,
        low,
        high,
        1 - rules.alpha,
        result.p,
        z,
        tuple(map(float, design.fractions)),
        tuple(map(float, design.critical)),
        tuple(map(float, design.spent)),
        is_truncated,
    )


def statistic_and_scale(estimate: Estimate) -> tuple[float, float]:
    """The z statistic of a test of zero, and the standard error that it implies.

    z = sign(value) Phi^-1(1 - p/2), so that the test of the analysis stays what it is, with few
    clusters too; se = value / z. For p near 1, se is that of the confidence interval and z = value
    / se. nan where the estimate has no p value.
    """
    value, p = estimate.value, estimate.p
    if not (math.isfinite(value) and math.isfinite(p)):
        return math.nan, math.nan
    if p < NEAR_ONE and value != 0:
        z = signed_z(value, p)
        return z, value / z
    se = (estimate.high - estimate.low) / 2 / tail_z(1 - estimate.level)
    return (value / se, se) if se > 0 else (math.nan, math.nan)


def primary_row(rows: Sequence[Row], analysis: str) -> Row:
    """The one difference of an analysis, or its one tested estimate; AnalysisError otherwise."""
    of_analysis = [
        r
        for r in rows
        if r.analysis == analysis and r.kind != "companion" and not r.detail and r.is_made
    ]
    tested = [r for r in of_analysis if r.kind == "difference"] or [
        r for r in of_analysis if np.isfinite(r.estimate.p)
    ]
    if len(tested) != 1:
        raise AnalysisError(
            f"{analysis}: has {len(tested)} tests; comparative interim analyses need an analysis"
            " with exactly one difference or test"
        )
    if not np.isfinite(tested[0].estimate.p):
        reason = tested[0].estimate.reason or "it has no p value"
        raise AnalysisError(f"{analysis}: the test is not estimable: {reason}")
    return tested[0]


def _bounds(
    rules: SequentialRules,
    fractions: Sequence[float],
    futility: Sequence[float],
    times: Sequence[float] = (),
) -> Bounds:
    return bounds(
        fractions,
        spending=rules.spending,
        alpha=rules.alpha,
        rho=rules.rho,
        futility=futility,
        binding=rules.binding,
        spending_times=times,
    )
