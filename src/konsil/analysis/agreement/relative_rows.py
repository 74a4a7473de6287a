"""Relative differences: the proportion of a group divided by that of its reference, minus 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import Group
from konsil.analysis.estimation.measure import Measure, pair
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.catalogue.known import NAME_COLUMNS
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.model.options import ShareOptions
from konsil.analysis.model.rows import Row
from konsil.stats.engine.contract import Estimate
from konsil.stats.inference import wald
from konsil.stats.shares.relative_differences import relative, relative_difference


def relative_rows(context: Context, groups: Sequence[Group]) -> Iterator[Row]:
    """A row for each group but the references, in the order of the groups.

    One row without a number where blinding withholds the reference: the one name would tell whose
    code is missing.
    """
    [(column, value)] = context.analysis.options_as(ShareOptions).reference.items()
    # Every row would name the reference group.
    if context.is_blinded and column in NAME_COLUMNS:
        reason = message(
            "the reference group is not disclosed while systems and judges are blinded",
            message_id="relative.blinded",
        )
        blank = Estimate(math.nan, level=context.resampling.level, reason=reason)
        yield row(context, {}, EstimateSummary(blank))
        return
    references = {
        _other_keys(group, column): group for group in groups if group.keys.get(column) == value
    }
    for group in groups:
        if group.keys.get(column) == value:
            continue
        reference = references.get(_other_keys(group, column))
        note = message(
            "Reference group: {column} = {value}.",
            message_id="relative.reference",
            column=column,
            value=value,
        )
        if reference is None:
            reason = message(
                "there is no rating of the reference group ({column} = {value})",
                message_id="relative.no_reference",
                column=column,
                value=value,
            )
            blank = Estimate(math.nan, level=context.resampling.level, reason=reason)
            yield row(context, group.keys, EstimateSummary(blank, notes=(note,)), group.measure)
            continue
        both = pair(group.measure, reference.measure)
        estimate = _estimate(context, group.measure, reference.measure, both)
        summary = EstimateSummary(estimate, notes=(note, *_notes(group, reference, column)))
        relative_row = row(context, group.keys, summary, group.measure)
        yield replace(
            relative_row, n_raters=both.n_raters, n_units_versus=reference.measure.n_units
        )


def _notes(group: Group, reference: Group, column: str) -> tuple[str, ...]:
    """The notes on both groups; each with its group where they differ."""
    if group.measure.notes == reference.measure.notes:
        return group.measure.notes
    return tuple(
        message(
            "{column} = {value}: {note}",
            message_id="relative.note",
            column=column,
            value=each.keys[column],
            note=note,
        )
        for each in (group, reference)
        for note in each.measure.notes
    )


def _other_keys(group: Group, column: str) -> tuple[tuple[str, str], ...]:
    return tuple(item for item in group.keys.items() if item[0] != column)


def _estimate(context: Context, a: Measure, b: Measure, both: Measure) -> Estimate:
    """The relative difference with its interval, or the reason why there is none."""
    # The sums of a proportion are hits and trials: those of both groups are four columns.
    sums = np.asarray(both.sums, dtype=np.float64)
    level = context.resampling.level
    difference = relative_difference(sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3], level)
    blank = Estimate(
        difference.value,
        level=level,
        n_clusters=int(sums.any(axis=1).sum()),
        n_ratings=both.n_ratings,
    )
    if math.isnan(difference.value):
        return replace(blank, reason=_reason(a, b))
    if math.isnan(difference.low):
        return replace(blank, reason=message("no CI from a single cluster"))
    se = wald.one_way(wald.linearised(sums, relative), np.zeros(1)).se[0]
    return replace(
        blank,
        low=difference.low,
        high=difference.high,
        se=float(se) if se > 0 else math.nan,
        method=message(
            (
                "relative difference of proportions, interval of a ratio (Donner and Zou, Newcombe)"
                " with the effective sample sizes of the {cluster} clusters"
            ),
            message_id="relative.interval",
            cluster=context.cluster,
        ),
    )


def _reason(a: Measure, b: Measure) -> TranslatableMessage:
    if min(a.n_ratings, b.n_ratings) == 0:
        return message("one of the two has no labels")
    return message(
        "the proportion of the reference group is 0", message_id="relative.zero_reference"
    )
