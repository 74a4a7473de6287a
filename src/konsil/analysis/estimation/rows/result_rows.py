"""Rows of the results from the summary of a number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from konsil.analysis.estimation.differences import differences
from konsil.analysis.estimation.estimate import EstimateSummary, estimates
from konsil.analysis.estimation.group_estimates import estimate_of
from konsil.analysis.estimation.measure import Measure, joint
from konsil.analysis.estimation.ranges import range_of, within
from konsil.analysis.estimation.targets import answering, is_about_these, scope_note
from konsil.analysis.model.catalogue.known import OF_ZERO
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row, RowKind
from konsil.analysis.model.verdicts import equivalence_sentence
from konsil.stats.engine.contract import Estimate


def estimate_rows(
    context: Context, keys: dict[str, str], summary: EstimateSummary, measure: Measure | None
) -> Iterator[Row]:
    """A number's row and, below it, its companions; the interval of the report's target first."""
    if measure is not None:
        summary = answering(
            summary,
            context.target,
            measure.n_raters,
            is_exempt=is_about_these(context.analysis, has_known_raters=context.has_known_raters),
            measure=measure,
        )
    yield row(context, keys, summary, measure)
    for companion in summary.companions:
        yield row(context, keys, EstimateSummary(companion), measure, kind="companion")


def row(
    context: Context,
    keys: dict[str, str],
    summary: EstimateSummary,
    measure: Measure | None = None,
    *,
    kind: RowKind = "estimate",
    versus: dict[str, str] | None = None,
    detail: bool = False,
    finding: str = "",
) -> Row:
    """One row of the results; outside paper mode no interval leaves the statistic's range."""
    analysis = context.analysis
    if analysis.mode == "valid":
        possible = range_of(
            analysis, context.criterion, of_two=kind == "difference" or bool(versus)
        )
        summary = replace(summary, headline=within(summary.headline, possible))
    is_difference = kind == "difference" or (
        kind == "estimate" and analysis.statistic in OF_ZERO and not analysis.compare
    )
    if analysis.margin is not None and is_difference and math.isfinite(summary.headline.value):
        draws = context.resampling.draws
        verdict = equivalence_sentence(summary.headline, analysis.margin, draws, summary.cautions)
        summary = replace(summary, notes=(*summary.notes, verdict))
    is_concluded = is_difference or bool(finding) or math.isfinite(summary.headline.p)
    if kind != "companion" and is_concluded:
        target = context.target or context.panel_target
        summary = replace(summary, notes=(*summary.notes, *scope_note(summary, target)))
    return Row(
        analysis=analysis.name,
        statistic=analysis.statistic,
        criterion=analysis.criterion,
        raters=analysis.raters,
        estimate=summary.headline,
        group=keys,
        kind=kind,
        versus=versus or {},
        n_units=measure.n_units if measure is not None else 0,
        n_raters=measure.n_raters if measure is not None else 0,
        n_undefined_pairs=measure.n_undefined_pairs if measure is not None else 0,
        prespecified=analysis.prespecified,
        commonest=measure.commonest if measure is not None else math.nan,
        warnings=summary.warnings,
        detail=detail,
        finding=finding,
    )


def no_result(context: Context, reason: str) -> Row:
    """The one row of an analysis whose ratings give no result, with the reason."""
    nothing = Estimate(math.nan, level=context.resampling.level, reason=reason)
    return replace(row(context, {}, EstimateSummary(nothing)), is_made=False)


def cannot_be_made(context: Context, problem: str) -> Row:
    """The one row of an analysis that the ratings cannot provide, with the reason."""
    prefix = f"{context.analysis.name}: "
    # A sentence without the prefix stays the message that reports translate.
    return no_result(
        context, problem.removeprefix(prefix) if problem.startswith(prefix) else problem
    )


def estimates_of(
    context: Context, measures: Sequence[Measure], reasons: Sequence[str] = ()
) -> list[EstimateSummary]:
    """Several measures' numbers, as `estimate_of` gives each.

    Those on the same clusters are resampled once. `reasons` are why each would not be estimable.
    """
    if not measures:
        return []
    reasons = reasons or [""] * len(measures)
    joined = joint(measures)
    if any(m.sums is not joined[0].sums for m in joined):
        return [estimate_of(context, *each) for each in zip(measures, reasons, strict=True)]
    return estimates(
        joined,
        key=context.key,
        resampling=context.resampling,
        cluster=context.cluster,
        reasons=reasons,
    )


def differences_of(context: Context, measures: Sequence[Measure]) -> list[EstimateSummary]:
    """Measures that are differences already, on one array of sums.

    Their p values invert their own intervals.
    """
    return differences(
        measures, key=context.key, resampling=context.resampling, cluster=context.cluster
    )
