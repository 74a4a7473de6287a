"""Judges against a panel: each judge, the panel's own ceiling, their tested difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.agreement import consensus
from konsil.analysis.estimation.agreement_scales import spaced
from konsil.analysis.estimation.difference_methods import by_linearisation, no_interval_reason
from konsil.analysis.estimation.estimate import EstimateSummary, too_long
from konsil.analysis.estimation.measure import Measure, value
from konsil.analysis.estimation.raters.consensus_rules import PAIR
from konsil.analysis.estimation.raters.leave_one_out import table_measure
from konsil.analysis.estimation.rows.result_rows import (
    differences_of,
    estimate_rows,
    estimates_of,
    row,
)
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.model.sample import Sample, judges_and_panel
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.analysis.model.terms import REST, Term, both_raters
from konsil.analysis.table.encoding import groups, sample_of, select
from konsil.analysis.table.frame import RatingTable
from konsil.errors.message import message
from konsil.stats.agreement.alpha import Level
from konsil.stats.agreement.consensus import judge_and_ceiling
from konsil.stats.engine.contract import Array, Estimate, Finalise, IntArray
from konsil.stats.inference.both_ways import both_ways
from konsil.stats.inference.exchange import Exchanged, permuted_together

MOST_TURNS = 60
"""Raters of a unit by up to six, ten or twelve divide it."""


def against_panel_rows(context: Context, table: RatingTable, frame: pl.DataFrame) -> Iterator[Row]:
    """Judges against a panel: each judge (or their mean), the ceiling and the paired difference."""
    analysis = context.analysis
    panel_name = str(analysis.against)
    panel_frame = select(table, analysis, panel_name)
    if panel_frame.height == 0:
        summary = EstimateSummary(
            Estimate(
                math.nan,
                level=context.resampling.level,
                reason=message("panel {panel} has no ratings", panel=repr(panel_name)),
            )
        )
        yield row(context, {}, summary)
        return
    by = [column for column in analysis.by if column != "rater"]
    judges = dict(_keyed(frame, by))
    experts = tuple(panel_frame.get_column("rater").unique().sort().to_list())
    names = tuple(frame.get_column("rater").unique().sort().to_list())
    for keys, part in groups(panel_frame, by):
        theirs = judges.get(tuple(keys.values()))
        if theirs is None:
            continue
        panel_sample = sample_of(context, part, experts)
        judge_sample = sample_of(context, theirs, names)
        parts = (
            _parts(panel_sample, judge_sample)
            if "rater" in analysis.by
            else [(panel_sample, judge_sample)]
        )
        # By name again: the parts have separated judges of all units from the others.
        by_judge = [each for part in parts for each in _of_part(context, keys, *part)]
        for _, rows in sorted(by_judge, key=lambda each: each[0]):
            yield from rows


def _parts(panel: Sample, judges: Sample) -> list[tuple[Sample, Sample]]:
    """Judges of all clusters together; each other judge alone, with the panel on its units.

    A judge who rated in a few clusters provides information on these clusters only, however many
    the other judges rated.
    """
    row = {unit: n for n, unit in enumerate(panel.units)}
    shared = [n for n, unit in enumerate(judges.units) if unit in row]
    both = judges.part(shared)
    rated = both.codes.labels >= 0
    clusters = both.clusters_rated()
    every = frozenset[int]().union(*clusters)
    partial = [n for n, of in enumerate(clusters) if of and of != every]
    if not partial:
        return [(panel, judges)]
    complete = [n for n in range(len(judges.raters)) if n not in partial]
    parts = [(panel, _columns(judges, complete))] if complete else []
    for n in partial:
        rated_part = both.part(np.flatnonzero(rated[:, n]))
        parts.append(
            (panel.part([row[unit] for unit in rated_part.units]), _columns(rated_part, [n]))
        )
    return parts


def _columns(sample: Sample, columns: Sequence[int]) -> Sample:
    codes = replace(sample.codes, labels=sample.codes.labels[:, columns])
    return replace(sample, codes=codes, raters=tuple(sample.raters[n] for n in columns))


def _of_part(
    context: Context, keys: Mapping[str, str], panel: Sample, judges: Sample
) -> Iterator[tuple[str, list[Row]]]:
    """Each judge's name and rows.

    All are computed from the same sums: two resamplings serve any number of judges.
    """
    analysis, cluster = context.analysis, context.cluster
    is_mean = "rater" not in analysis.by
    comparisons = consensus.against_panel(
        panel, judges, analysis, analysis.mode, context.level, is_mean=is_mean
    )
    if is_mean:
        comparisons = [_mean_of(comparisons)]
    else:
        alone = consensus.ceilings_of_panel(
            [each[2] for each in comparisons], panel, judges, analysis, context.level
        )
        comparisons = [
            (name, judge, judge_ceiling, minus)
            for (name, judge, _, minus), judge_ceiling in zip(comparisons, alone, strict=True)
        ]
    judged, ceilings = (
        estimates_of(context, [f[part] for f in comparisons])  # type: ignore[misc]
        for part in (1, 2)
    )
    minuses = [f[3] for f in comparisons]
    is_pair = analysis.mode == "valid" and len(panel.raters) == PAIR
    against = str(analysis.against)
    benchmark = both_raters(against) if is_pair else Term("leave_one_out", against)
    versus = {**keys, "rater": benchmark if is_pair else REST}
    if analysis.mode == "valid":
        gaps = judge_gaps(
            panel,
            judges,
            minuses,
            analysis,
            context.level,
            key=context.key,
            resampling=context.resampling,
            cluster=cluster,
        )
    else:
        gaps = differences_of(context, minuses)
    for (name, judge, ceiling, minus), summary, above, gap in zip(
        comparisons, judged, ceilings, gaps, strict=True
    ):
        judge_keys = {**keys, "rater": name} if name else dict(keys)
        rest = {**keys, "rater": benchmark}
        yield (
            name,
            [
                *estimate_rows(context, judge_keys, summary, judge),
                replace(
                    row(context, judge_keys, gap, minus, kind="difference", versus=versus),
                    is_paired=True,
                ),
                row(context, rest, above, ceiling, kind="companion"),
            ],
        )


def _keyed(
    frame: pl.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], pl.DataFrame]]:
    for keys, part in groups(frame, by):
        yield tuple(keys.values()), part


def _mean_of(
    comparisons: list[tuple[str, Measure, Measure, Measure]],
) -> tuple[str, Measure, Measure, Measure]:
    """The judges' mean: one number of the whole panel of judges."""

    def averaged(position: int) -> Measure:
        members: list[Measure] = [(f[1], f[2], f[3])[position] for f in comparisons]
        parts: list[Finalise] = [m.finalise for m in members]

        def finalise(totals: Array) -> Array:
            return np.asarray(np.mean([p(totals) for p in parts], axis=0), dtype=np.float64)

        uneven = members[0].uneven if len(members) == 1 else None
        return replace(members[0], finalise=finalise, uneven=uneven)

    return "", averaged(0), averaged(1), averaged(2)


def judge_gaps(
    panel: Sample,
    judges: Sample,
    measures: Sequence[Measure],
    analysis: Analysis,
    level: Level,
    *,
    key: int,
    resampling: Resampling,
    cluster: str,
) -> list[EstimateSummary]:
    """Judge minus ceiling, for each judge or for the mean of several judges.

    The mean is used where there is one measure of several judges. Where a judge is one more rater
    of the panel, judge and raters can be exchanged within each item. All rotations of the labels
    among the raters who labelled an item are such exchanges, each item's its own; which raters
    labelled the item does not change.
    """
    codes, names = judges_and_panel(panel, judges)
    codes = spaced(codes, analysis.statistic, level)
    n_panel = panel.codes.labels.shape[1]
    name, weights = table_measure(analysis)
    # The order of the turns is that of the raters' labels, so that no number depends on the raters'
    # names.
    experts = sorted(
        range(n_panel), key=lambda rater: np.ascontiguousarray(codes.labels[:, rater]).tobytes()
    )
    every = np.arange(n_panel, codes.labels.shape[1])
    groups = (
        [every] if len(measures) < len(names) else [every[n : n + 1] for n in range(len(names))]
    )
    starts = [_start(m, resampling) for m in measures]
    if too_long(measures[0].sums, resampling.draws):
        return [
            EstimateSummary(
                e if e.reason else by_linearisation(e, m, m.finalise, cluster), notes=m.notes
            )
            for e, m in zip(starts, measures, strict=True)
        ]

    sizes = [(codes.labels[:, [*experts, *columns]] >= 0).sum(axis=1) for columns in groups]
    n_turns = turns_needed(int(size) for size in np.unique(np.concatenate(sizes)))

    def turned(columns: IntArray) -> tuple[list[Array], Finalise]:
        statistic = judge_and_ceiling(
            n_panel,
            len(columns),
            codes.n_labels,
            name,
            "difference",
            "valid",
            weights,
            codes.values,
        )
        statistic = both_ways(statistic, codes)
        labels = codes.labels[:, [*experts, *columns]]
        tallied = [
            np.asarray(statistic.tally(replace(codes, labels=some)))
            for some in turns(labels, n_turns)
        ]
        return tallied, _mean(statistic.finalise)

    exchanges = permuted_together(
        map(turned, groups), draws=resampling.draws, level=resampling.level, key=key
    )
    return [
        EstimateSummary(e if e.reason else _estimate(e, exchange, analysis, cluster), notes=m.notes)
        for e, exchange, m in zip(starts, exchanges, measures, strict=True)
    ]


def turns(labels: IntArray, n_turns: int) -> Iterator[IntArray]:
    """The labels, those of each unit rotated among its raters, (n_units, n_raters) each.

    Only raters who labelled a unit take part. The first is the labels as they are.

    >>> [some.tolist() for some in turns(np.array([[0, 1, -1], [2, -1, -1]]), 2)]
    [[[0, 1, -1], [2, -1, -1]], [[1, 0, -1], [2, -1, -1]]]
    """
    # Only those who labelled a unit change places on it.
    is_given = labels >= 0
    sizes = is_given.sum(axis=1)
    units, columns = np.nonzero(is_given)
    place = (np.cumsum(is_given, axis=1) - 1)[units, columns]
    packed = np.full_like(labels, -1)
    packed[units, place] = labels[units, columns]
    for turn in range(n_turns):
        some = np.full_like(labels, -1)
        some[units, columns] = packed[units, (place - turn) % sizes[units]]
        yield some


def turns_needed(sizes: Iterable[int]) -> int:
    """How many turns there are of which every one of a unit comes equally often.

    `sizes`: the raters of a unit.

    At most MOST_TURNS: of a number of raters that does not divide these, some turns come once more
    than others.

    >>> turns_needed([4, 4, 3]), turns_needed([7, 8, 9])
    (12, 60)
    """
    return min(math.lcm(*{max(size, 1) for size in sizes}), MOST_TURNS)


def _start(measure: Measure, resampling: Resampling) -> Estimate:
    at = value(measure)
    used = int(np.asarray(np.asarray(measure.sums.sum(axis=1)) != 0).sum())
    start = Estimate(at, level=resampling.level, n_clusters=used, n_ratings=measure.n_ratings)
    return (
        replace(start, reason=message("one of the two is not estimable"))
        if math.isnan(at)
        else start
    )


def _mean(finalise: Finalise) -> Finalise:
    def averaged(totals: Array) -> Array:
        return np.asarray(np.mean(finalise(totals), axis=-1, keepdims=True), dtype=np.float64)

    return averaged


def _estimate(start: Estimate, exchange: Exchanged, analysis: Analysis, cluster: str) -> Estimate:
    if math.isnan(exchange.p):
        return replace(start, reason=message("no CI from a single cluster"))
    return replace(
        start,
        low=exchange.low,
        high=exchange.high,
        se=exchange.se if exchange.se > 0 else math.nan,
        p=exchange.p if analysis.test != "none" else math.nan,
        method=message(
            (
                "judge minus inter-expert benchmark, studentised permutation of the judge and"
                " the raters of the panel within {cluster} clusters, {draws:,} permutations"
            ),
            message_id="difference.judge_and_panel",
            cluster=cluster,
            draws=exchange.draws,
        ),
        reason=no_interval_reason(exchange, cluster),
    )
