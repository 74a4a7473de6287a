"""What the comparisons of an analysis support, before they become sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from konsil.analysis import Analysis, Row
from konsil.analysis.estimation.targets import BY_SINGLE_RATINGS, ONLY_THESE
from konsil.analysis.model.catalogue.known import OF_ZERO
from konsil.analysis.model.interval_methods import leads
from konsil.analysis.model.verdicts import is_order_shown, weakness
from konsil.report.material.table_rows import Joined, join
from konsil.report.material.translate import message_of

Support = Literal["shown", "equivalent", "these only", "not shown", "described", "not judged"]
"""What a comparison supports, the strongest first: a difference; equivalence within the margin of
the protocol; a difference of these raters' judgement, where the report is about raters like these;
no difference; nothing, because it was not tested or is exploratory; nothing, for want of an
interval."""


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
    by_single_ratings: Row | None = None
    """The difference of the single ratings behind majorities, for raters like these."""


def support(row: Row, spec: Analysis, draws: int, by_single_ratings: Row | None = None) -> Support:
    """What a difference supports by itself.

    A difference is shown only by a p value that is adjusted over the declared family, with an
    interval that carries a verdict and excludes 0. In a report about raters like these it is one of
    these raters only where its interval is, unless the single ratings behind it show the same
    (`by_single_ratings`). Without an adjusted p value, as in exploratory analyses, the numbers are
    described. A group sequential analysis below its critical value shows none, whatever its p
    value. Equivalence is shown where the analysis itself says so.
    """
    e = row.estimate
    if weakness(e, draws) is not None:
        return "not judged"
    # The row has the analysis' own verdict, which also weighs cautions that no row carries.
    verdicts = {message_of(warning) for warning in row.warnings}
    if "interim.not_reached_row" in verdicts and "verdict.equivalent" not in verdicts:
        return "not shown"
    if math.isfinite(row.p_adjusted):
        if _excludes_zero(row):
            is_of_these = verdicts & {ONLY_THESE, BY_SINGLE_RATINGS} and not (
                by_single_ratings is not None
                and _excludes_zero(by_single_ratings)
                and by_single_ratings.estimate.value * e.value > 0
            )
            return "these only" if is_of_these else "shown"
    elif spec.margin is None:
        return "described"
    if spec.margin is not None and "verdict.equivalent" in verdicts:
        return "equivalent"
    return "not shown" if math.isfinite(row.p_adjusted) else "described"


def _excludes_zero(row: Row) -> bool:
    """Whether a difference has an adjusted p value below the level, and an interval without 0."""
    e = row.estimate
    return is_order_shown(row.p_adjusted, e.level) and not e.low <= 0 <= e.high


def comparisons(rows: Sequence[Row], spec: Analysis, draws: int) -> list[Comparison]:
    """All comparisons of an analysis: between its groups, or of each group with zero.

    Estimates are compared with zero where the statistic is a difference already or was tested.
    """
    lines = [line for line in join(rows) if math.isfinite(line.row.estimate.value)]
    kind = "difference" if any(r.kind == "difference" for r in rows) else "estimate"
    of_kind = [line for line in lines if line.row.kind == kind]
    is_tested = any(math.isfinite(line.row.p_adjusted) for line in of_kind)
    if kind == "difference" or spec.statistic in OF_ZERO or is_tested:
        return [_compared(line, spec, draws) for line in of_kind]
    return []


def main_comparison(compared: Sequence[Comparison]) -> Comparison:
    """The comparison that the answer names: the largest difference of the strongest support."""
    strongest = next(s for s in get_args(Support) if any(c.support == s for c in compared))
    return max((c for c in compared if c.support == strongest), key=lambda c: abs(c.value))


def _compared(line: Joined, spec: Analysis, draws: int) -> Comparison:
    row, e = line.row, line.row.estimate
    single = next((c for c in line.companions if leads(c.estimate.method, "single_ratings")), None)
    return Comparison(row, support(row, spec, draws, single), e.value, e.low, e.high, single)
