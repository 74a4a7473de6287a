"""Rows of an analysis of labels: agreement, proportions, means, relative differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.agreement.groups import agreement_of, each_against_rest, single
from konsil.analysis.agreement.judge_vs_panel import against_panel_rows
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import Group
from konsil.analysis.estimation.measure import Measure, pair
from konsil.analysis.estimation.rows.group_differences import group_rows
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.catalogue.known import NAME_COLUMNS, RATER_PAIR, statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import ShareOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.sample import Sample, judges_and_panel
from konsil.analysis.table.encoding import groups, rater_pairs, sample_of, select
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.agreement.icc import ONE_WAY
from konsil.stats.engine.contract import Array, Estimate, IntArray
from konsil.stats.inference import wald
from konsil.stats.shares.relative_differences import relative, relative_difference

_UNIT = ["item", "answers", "span"]


def label_rows(
    context: Context,
    table: RatingTable,
    frame: pl.DataFrame,
    lineage: Lineage,  # noqa: ARG001
) -> Iterator[Row]:
    """The rows of an analysis of agreement or of shares; `frame` has its ratings."""
    analysis = context.analysis
    for panel in analysis.options.panels:
        frame = with_tiebreaks(frame, select(table, analysis, panel), analysis.collapse)
    if analysis.against not in {None, "rest"} and analysis.consensus == "none":
        yield from against_panel_rows(context, table, frame)
    elif analysis.statistic == "relative_difference":
        yield from relative_rows(context, _groups(context, table, frame))
    else:
        yield from group_rows(context, _groups(context, table, frame))


def _groups(context: Context, table: RatingTable, frame: pl.DataFrame) -> list[Group]:
    analysis = context.analysis
    raters = tuple(frame.get_column("rater").unique().sort().to_list())
    if analysis.against == "rest" and "rater" in analysis.by:
        keyed = groups(frame, [column for column in analysis.by if column != "rater"])
        return [
            group
            for keys, part in keyed
            for group in each_against_rest(context, keys, part, raters)
        ]
    if analysis.against not in {None, "rest"}:
        return average_groups(context, table, frame)
    keyed = groups(frame, [column for column in analysis.by if column != RATER_PAIR])
    if RATER_PAIR in analysis.by:
        return [single(context, keys, part, two) for keys, part, two in rater_pairs(keyed, raters)]
    parts = _with_raters(context, list(keyed), raters)
    return [single(context, keys, part, part_raters) for keys, part, part_raters in parts]


def _with_raters(
    context: Context, keyed: Sequence[tuple[dict[str, str], pl.DataFrame]], raters: tuple[str, ...]
) -> Iterator[tuple[dict[str, str], pl.DataFrame, tuple[str, ...]]]:
    """The groups with the raters whose labels they need.

    For ICC and Kendall's W, groups without a common rater have their own raters only: no rater
    labels a unit of another panel, and their tables need have no gaps.
    """
    raters_by_part = [
        tuple(part.get_column("rater").unique().sort().to_list()) for _, part in keyed
    ]
    are_apart = sum(map(len, raters_by_part)) == len(set().union(*raters_by_part))
    statistic = context.analysis.statistic
    needs_all = statistic_of(statistic).needs_complete or statistic in ONE_WAY
    for (keys, part), part_raters in zip(keyed, raters_by_part, strict=True):
        yield keys, part, part_raters if needs_all and are_apart and len(keyed) > 1 else raters


def average_groups(context: Context, table: RatingTable, frame: pl.DataFrame) -> list[Group]:
    """Each judge, or all judges averaged as one rater, with the panel's average label, by group."""
    analysis = context.analysis
    panel_frame = select(table, analysis, str(analysis.against))
    by = [column for column in analysis.by if column != "rater"]
    judged = {tuple(keys.values()): part for keys, part in groups(frame, by)}
    mean_groups = []
    for keys, part in groups(panel_frame, by) if panel_frame.height else ():
        theirs = judged.get(tuple(keys.values()))
        if theirs is None:
            continue
        panel = _sample(context, part)
        judges = _sample(context, theirs)
        codes, names = judges_and_panel(panel, judges)
        n = len(panel.raters)
        ours, halves = nearest_label(
            panel.codes.labels, np.asarray(panel.codes.values, dtype=np.float64)
        )
        columns = {name: codes.labels[:, n + m] for m, name in enumerate(names)}
        if "rater" not in analysis.by and len(names) > 1:
            columns = {
                "": nearest_label(codes.labels[:, n:], np.asarray(codes.values, dtype=np.float64))[
                    0
                ]
            }
        note = message(
            (
                "{n:,} of {all:,} units were excluded because the mean of {panel} is halfway"
                " between two labels."
            ),
            n=int(halves.sum()),
            all=len(panel.units),
            panel=repr(analysis.against),
        )
        for name, column in columns.items():
            two = replace(panel.codes, labels=np.column_stack([ours, column]).astype(np.int32))
            group_keys = {**keys, "rater": name} if "rater" in analysis.by else keys
            sample = replace(
                panel, codes=two, raters=(str(analysis.against), name or analysis.raters)
            )
            group = agreement_of(context, group_keys, sample)
            notes = (*group.summary.notes, *([note] if halves.any() else []))
            mean_groups.append(replace(group, summary=replace(group.summary, notes=notes)))
    return mean_groups


def nearest_label(
    labels: IntArray | np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]], values: Array
) -> tuple[IntArray, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """The label nearest to the mean of each unit's labels, -1 if none; and if it is halfway.

    `labels` (n_units, n_raters), -1 where a rater gave none; `values` rise. A mean halfway between
    two labels has no nearest label.

    >>> nearest_label(np.array([[0, 0, 1], [0, 1, -1]]), np.array([0.0, 1.0]))
    (array([ 0, -1]), array([False,  True]))
    """
    is_labelled = labels >= 0
    n = is_labelled.sum(axis=1)
    mean = np.where(is_labelled, values[np.maximum(labels, 0)], 0.0).sum(axis=1) / np.maximum(n, 1)
    far = np.abs(mean[:, None] - values)
    best = far.argmin(axis=1)
    # Halfway but for rounding is halfway.
    halfway = (n > 0) & ((far <= far.min(axis=1, keepdims=True) + 1e-9).sum(axis=1) > 1)
    return np.where((n > 0) & ~halfway, best, -1).astype(np.int64), halfway


def _sample(context: Context, frame: pl.DataFrame) -> Sample:
    return sample_of(context, frame, tuple(frame.get_column("rater").unique().sort().to_list()))


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


def with_tiebreaks(
    frame: pl.DataFrame, ties: pl.DataFrame, collapse: Mapping[str, str]
) -> pl.DataFrame:
    """Add the tie-break labels of conflicting units to a panel's ratings.

    A unit conflicts where the panel gave different labels and none has more than half. Where the
    tie-breaker abstains the unit stays without a majority; tie-break labels of other units of the
    same item stay out.
    """
    label = (
        pl.col("label").replace_strict(dict(collapse), default=pl.col("label"))
        if collapse
        else pl.col("label")
    )
    counts = (
        frame.filter(pl.col("state") == "rated")
        .with_columns(label.alias("label"))
        .group_by([*_UNIT, "label"])
        .len()
        .group_by(_UNIT)
        .agg(
            pl.col("len").sum().alias("n"),
            pl.col("len").max().alias("most"),
            pl.len().alias("different"),
        )
    )
    conflicts = counts.filter(
        (pl.col("different") > 1) & (2 * pl.col("most") <= pl.col("n"))
    ).select(_UNIT)
    joined = ties.filter(pl.col("purpose") == "tiebreak").join(
        conflicts, on=_UNIT, how="semi", nulls_equal=True
    )
    return pl.concat([frame, joined])
