"""Rows of the results from what was told of a number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from konsil.analysis.contrast import contrast
from konsil.analysis.estimate import Told, estimate
from konsil.analysis.kinds import Context
from konsil.analysis.measure import Measure
from konsil.analysis.results import Row, RowKind


def told_rows(context: Context, keys: dict[str, str], told: Told, measure: Measure | None) -> Iterator[Row]:
    """A number's row and, below it, its companions."""
    yield row(context, keys, told, measure)
    for companion in told.companions:
        yield row(context, keys, Told(companion), measure, kind="companion")


def row(
    context: Context,
    keys: dict[str, str],
    told: Told,
    measure: Measure | None = None,
    *,
    kind: RowKind = "estimate",
    versus: dict[str, str] | None = None,
    detail: bool = False,
) -> Row:
    """One row of the results."""
    analysis = context.analysis
    if kind == "difference":
        told = _with_margin(told, analysis.margin)
    return Row(
        analysis=analysis.name,
        statistic=analysis.statistic,
        criterion=analysis.criterion,
        raters=analysis.raters,
        estimate=told.headline,
        group=keys,
        kind=kind,
        versus=versus or {},
        n_units=measure.n_units if measure is not None else 0,
        n_raters=measure.n_raters if measure is not None else 0,
        n_undefined_pairs=measure.n_undefined_pairs if measure is not None else 0,
        prespecified=analysis.prespecified,
        warnings=told.warnings,
        detail=detail,
    )


def _with_margin(told: Told, margin: float | None) -> Told:
    """Say whether a difference's interval lies within the margin of equivalence."""
    low, high = told.headline.low, told.headline.high
    if margin is None or not (math.isfinite(low) and math.isfinite(high)):
        return told
    inside = -margin < low and high < margin
    note = (
        f"The interval lies within ±{margin:g}: equivalent at this margin."
        if inside
        else f"The interval does not lie within ±{margin:g}: equivalence at this margin is not shown."
    )
    return replace(told, notes=(*told.notes, note))


def estimate_of(context: Context, measure: Measure) -> Told:
    """A measure's number with its intervals."""
    return estimate(measure, key=context.key, resampling=context.resampling, cluster=context.cluster)


def difference_of(context: Context, measure: Measure) -> Told:
    """A measure that is a difference already: its p value inverts its own interval."""
    zero = replace(measure, finalise=lambda totals: np.zeros_like(measure.finalise(totals)))
    return contrast(measure, zero, key=context.key, resampling=context.resampling, cluster=context.cluster)
