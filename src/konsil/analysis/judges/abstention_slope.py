"""Caution: how strongly abstention rises with difficulty, for a panel and beside another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import estimate_of
from konsil.analysis.estimation.measure import Measure, joint, minus
from konsil.analysis.estimation.rows.result_rows import (
    differences_of,
    estimate_rows,
    estimates_of,
    row,
)
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import JudgeOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.table.derived import SCORE
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError, nearest
from konsil.errors.message import message
from konsil.stats.judges.abstention_slope import slope, slope_sums


def caution_rows(context: Context, table: RatingTable, frame: pl.DataFrame) -> Iterator[Row]:
    """Slopes of the abstention rate on the covariate, by group.

    With `against` also the paired difference from that panel's slope.
    """
    analysis = context.analysis
    column = score_column(context, table)
    theirs: dict[tuple[str, ...], Measure] = {}
    by = [c for c in analysis.by if c != "rater"]
    if analysis.against is not None:
        other = select(table, analysis, analysis.against)
        theirs = {tuple(k.values()): _slope(context, part, column) for k, part in groups(other, by)}
    slopes = [(keys, _slope(context, part, column)) for keys, part in groups(frame, analysis.by)]
    summaries = estimates_of(context, [m for _, m in slopes])
    panel_summaries = {values: estimate_of(context, panel) for values, panel in theirs.items()}
    gaps: dict[int, EstimateSummary] = {}
    for values, panel in theirs.items():
        if not panel.sums.shape[0]:
            continue  # nobody of the panel has rated yet
        places = [n for n, (k, _) in enumerate(slopes) if tuple(k[c] for c in by) == values]
        gaps |= dict(
            zip(places, _gaps(context, [slopes[n][1] for n in places], panel), strict=True)
        )
    for n, ((keys, measure), summary) in enumerate(zip(slopes, summaries, strict=True)):
        yield from estimate_rows(context, keys, summary, measure)
        if n in gaps:
            values = tuple(keys[c] for c in by)
            versus = {**{c: keys[c] for c in by}, "rater": str(analysis.against)}
            gap = row(context, keys, gaps[n], measure, kind="difference", versus=versus)
            yield replace(gap, n_units_versus=theirs[values].n_units)
            yield row(context, versus, panel_summaries[values], theirs[values], kind="companion")


def _gaps(context: Context, measures: Sequence[Measure], panel: Measure) -> list[EstimateSummary]:
    """Each measure minus the panel's; in one resampling where all stand on the same clusters."""
    *judges, theirs = joint([*measures, panel])
    if all(m.sums is theirs.sums for m in judges):
        return differences_of(context, [minus(m, theirs) for m in judges]) if judges else []
    return [
        contrast(m, panel, key=context.key, resampling=context.resampling, cluster=context.cluster)
        for m in measures
    ]


def score_column(context: Context, table: RatingTable) -> str:
    """The column of the number that abstention is set against."""
    analysis = context.analysis
    covariate = analysis.options_as(JudgeOptions).covariate
    column = SCORE.format(covariate)
    if column not in table.frame.columns:
        columns = [
            c.removesuffix(SCORE.format(""))
            for c in table.frame.columns
            if c.endswith(SCORE.format(""))
        ]
        hint = nearest(covariate, columns)
        raise AnalysisError(f"{analysis.name}: there is no derived column {covariate!r}; {hint}")
    return column


def abstentions_by_item(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Of each item its number x, its abstentions (events) and all its ratings (trials)."""
    return (
        frame.group_by("item")
        .agg(
            pl.col("case").first(),
            pl.col(column).first().alias("x"),
            (pl.col("state") == "abstained").sum().cast(pl.Float64).alias("events"),
            pl.len().cast(pl.Float64).alias("trials"),
        )
        .sort("item")
    )


def _slope(context: Context, frame: pl.DataFrame, column: str) -> Measure:
    """Labels and abstentions of each item on its number; items of one case are one cluster."""
    items = abstentions_by_item(frame, column)
    # Items without the covariate stay, to be counted in the note: slope_sums gives them zeros.
    x = items.get_column("x").cast(pl.Float64).fill_null(float("nan")).to_numpy()
    rows = slope_sums(
        x, items.get_column("events").to_numpy(), items.get_column("trials").to_numpy()
    )
    names = [f"s{i}" for i in range(rows.shape[1])]
    summed = (
        pl.DataFrame(
            {"cluster": items.get_column(context.cluster), **dict(zip(names, rows.T, strict=True))}
        )
        .group_by("cluster")
        .agg(pl.col(names).sum())
        .sort("cluster")
    )
    without = int(items.get_column("x").is_null().sum())
    note = message(
        "{n:,} {n|item has|items have} no {covariate} and {n|was|were} excluded.",
        n=without,
        covariate=context.analysis.options_as(JudgeOptions).covariate,
    )
    notes = (note,) if without else ()
    return Measure(
        sums=summed.select(names).to_numpy(),
        finalise=slope,
        clusters=tuple(str(c) for c in summed.get_column("cluster")),
        n_units=frame.select("item", "answers", "span").n_unique(),
        n_raters=frame.get_column("rater").n_unique(),
        n_ratings=frame.height,
        is_rare=True,
        notes=notes,
    )
