"""What each comparison supports: a claim needs an interval and an adjusted p value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from konsil.analysis import Analysis, Row
from konsil.analysis.model.catalogue.known import OF_ZERO
from konsil.analysis.model.verdicts import weakness
from konsil.report.material.translate import message_of

Support = Literal["shown", "not shown", "equivalent", "not judged", "described"]
"""What a comparison supports: a difference; none; equivalence within the margin of the protocol;
nothing, for want of an interval; or nothing, because it was not tested or is exploratory."""


@dataclass(frozen=True)
class Comparison:
    """Two groups in the order of their row, or one group against zero."""

    row: Row
    """The row of the estimates."""
    support: Support
    """What it supports."""
    value: float
    """The difference with the sign that the row has, as tables and figures have it."""
    low: float
    """The lower end of its interval."""
    high: float
    """The upper end."""


def support(row: Row, spec: Analysis, draws: int) -> Support:
    """What a difference supports by itself.

    A difference is shown only by a p value that is adjusted over the declared family, with an
    interval that carries a verdict and excludes 0. Without an adjusted p value, as in exploratory
    analyses, the numbers are described. A group sequential analysis below its critical value shows
    none, whatever its p value. Equivalence is shown where the analysis itself says so.
    """
    e = row.estimate
    if weakness(e, draws) is not None:
        return "not judged"
    # The row has the analysis' own verdict, which also weighs cautions that no row carries.
    verdicts = {message_of(warning) for warning in row.warnings}
    if "interim.not_reached_row" in verdicts and "verdict.equivalent" not in verdicts:
        return "not shown"
    if math.isfinite(row.p_adjusted):
        if row.p_adjusted <= 1 - e.level and not e.low <= 0 <= e.high:
            return "shown"
    elif spec.margin is None:
        return "described"
    if spec.margin is not None and "verdict.equivalent" in verdicts:
        return "equivalent"
    return "not shown" if math.isfinite(row.p_adjusted) else "described"


def comparisons(rows: Sequence[Row], spec: Analysis, draws: int) -> list[Comparison]:
    """All comparisons of an analysis: between its groups, or of each group with zero.

    Estimates are compared with zero where the statistic is a difference already or was tested.
    """
    differences = [r for r in rows if r.kind == "difference"]
    if differences:
        return [_compared(r, spec, draws) for r in differences if _is_number(r)]
    tested = [r for r in rows if r.kind == "estimate" and _is_number(r)]
    if spec.statistic in OF_ZERO or any(math.isfinite(r.p_adjusted) for r in tested):
        return [_compared(r, spec, draws) for r in tested]
    return []


def main_comparison(compared: Sequence[Comparison]) -> Comparison:
    """The comparison that the answer names: the largest difference of the strongest support."""
    order: tuple[Support, ...] = ("shown", "equivalent", "not shown", "described", "not judged")
    strongest = next(s for s in order if any(c.support == s for c in compared))
    return max((c for c in compared if c.support == strongest), key=lambda c: abs(c.value))


def _compared(row: Row, spec: Analysis, draws: int) -> Comparison:
    e = row.estimate
    return Comparison(row, support(row, spec, draws), e.value, e.low, e.high)


def _is_number(row: Row) -> bool:
    return math.isfinite(row.estimate.value)
