"""Rows of a primary analysis that confirm nothing, before or after the last analysis."""

from __future__ import annotations

import math
from dataclasses import replace

from konsil.analysis import Results, Row
from konsil.analysis.model.catalogue.known import OF_ZERO
from konsil.analysis.model.interval_methods import name_of
from konsil.analysis.model.rows import AdjustedEstimate
from konsil.errors.message import message
from konsil.study.definition.protocol import Study
from konsil.study.interim.planned_comparison import PlannedComparison
from konsil.study.interim.withheld import withheld


def with_note(row: Row, note: str) -> Row:
    """The row with a note; an alternative interval has none of its own."""
    return replace(row, warnings=(*row.warnings, note)) if row.kind != "companion" else row


def without_unadjusted_verdict(row: Row, study: Study, adjusted: AdjustedEstimate) -> Row:
    """The row without a conclusion that the adjusted analysis does not support.

    Its own p value and CI know no looks: below the critical value no difference is shown, and
    equivalence is stated where the adjusted CI is within the margin as well.
    """
    if row.analysis != adjusted.analysis or not _is_comparison(row):
        return row
    margins = [a.margin for a in study.analyses if a.name == row.analysis and a.margin is not None]
    if any(not -margin < adjusted.low <= adjusted.high < margin for margin in margins):
        row = _without_verdict(row)
    if abs(adjusted.z) >= adjusted.critical[-1]:
        return row
    note = message(
        "Not shown: |z| does not reach the critical value of the group sequential analysis.",
        message_id="interim.not_reached_row",
    )
    return replace(with_note(row, note), p_adjusted=math.nan, p_max_t=math.nan)


def _without_verdict(row: Row) -> Row:
    warnings = tuple(w for w in row.warnings if not name_of(w).startswith("verdict."))
    return replace(row, finding="", warnings=warnings)


def before_the_last(results: Results, planned: PlannedComparison, *, is_blinded: bool) -> Results:
    """The primary analysis as exploratory, without its comparison where the study is blinded."""
    results = exploratory(results, planned)
    note = message(
        "Exploratory: before the last analysis of a study with comparative interim looks.",
        message_id="interim.early_row",
    )
    rows = []
    for row in results.rows:
        if row.analysis not in planned.analyses:
            rows.append(row)
        elif is_blinded and _is_comparison(row):
            rows.append(replace(withheld(row), warnings=(note,)))
        else:
            rows.append(replace(row, warnings=(*row.warnings, note)))
    bounds = tuple(b for b in results.bounds if not (is_blinded and b.analysis in planned.analyses))
    return replace(results, rows=tuple(rows), bounds=bounds)


def after_the_last(results: Results, planned: PlannedComparison) -> Results:
    """The primary analysis as exploratory, its comparison without test, interval and verdict.

    Whether an interval contains zero is a test at its level, so that an interval of other data than
    those of the last analysis would be a second one. The value and the groups remain.
    """
    results = exploratory(results, planned)
    note = message(
        "Exploratory and without a test: the data are not those of the last analysis.",
        message_id="interim.late_row",
    )
    rows = []
    for row in results.rows:
        if row.analysis not in planned.analyses:
            rows.append(row)
        elif not _is_comparison(row):
            rows.append(replace(row, warnings=(*row.warnings, note)))
        elif row.kind != "companion":
            rows.append(replace(_without_interval(row), warnings=(*row.warnings, note)))
    return replace(results, rows=tuple(rows))


def _without_interval(row: Row) -> Row:
    nan = math.nan
    reason = message(
        "no CI or test: the data are not those of the last analysis", message_id="interim.late"
    )
    described = replace(row.estimate, low=nan, high=nan, se=nan, p=nan, method="", reason=reason)
    return replace(row, estimate=described)


def _is_comparison(row: Row) -> bool:
    is_tested = math.isfinite(row.estimate.p) or row.statistic in OF_ZERO
    return row.kind == "difference" or bool(row.versus) or is_tested


def exploratory(results: Results, planned: PlannedComparison) -> Results:
    """The primary analysis as exploratory, without adjusted p values and verdicts."""
    rows = tuple(
        replace(_without_verdict(row), prespecified=False, p_adjusted=math.nan, p_max_t=math.nan)
        if row.analysis in planned.analyses
        else row
        for row in results.rows
    )
    plan = dict(results.plan)
    for row in rows:
        if row.analysis in planned.analyses:
            plan[row.analysis] = "exploratory"
    return replace(results, rows=rows, plan=plan)
