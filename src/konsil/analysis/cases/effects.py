"""Comparisons of every two systems on case means: effect sizes and rank tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import estimate_of
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import message
from konsil.analysis.model.rows import Row
from konsil.analysis.table.answer_scores import scores
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.stats.cases import effects
from konsil.stats.engine.contract import Estimate


def effect_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """For every two systems, criterion by criterion, Cohen's d and a rank test.

    valid: of the cases' means, paired by case (Wilcoxon) and, beside it, unpaired (Mann-Whitney).
    paper: of all scores as if they were independent.
    """
    for criterion_context in each_criterion(context):
        frame = select(table, criterion_context.analysis, criterion_context.analysis.raters)
        for keys, part in groups(frame, criterion_context.analysis.by):
            named = {**keys, "criterion": criterion_context.criterion.id} if context.also else keys
            by = {k["system"]: p for k, p in groups(part, ["system"])}
            for a, b in combinations(sorted(by), 2):
                make = _naive if context.analysis.mode == "paper" else _paired
                yield from make(
                    criterion_context, {**named, "system": a}, {**named, "system": b}, by[a], by[b]
                )


def each_criterion(context: Context) -> Iterator[Context]:
    """The context of each criterion of an analysis, alone."""
    for criterion in (context.criterion, *context.also):
        yield replace(context, also=()).of(criterion)


def _case_means(context: Context, frame: pl.DataFrame) -> dict[str, float]:
    answer_scores = scores(context, frame).group_by("case").agg(pl.col("score").mean())
    return dict(answer_scores.iter_rows())


def _paired(
    context: Context, keys: dict[str, str], versus: dict[str, str], a: pl.DataFrame, b: pl.DataFrame
) -> Iterator[Row]:
    means = [_case_means(context, part) for part in (a, b)]
    # The cases of both systems: one that a system lacks has no difference, but a mean.
    cases = sorted(set(means[0]) | set(means[1]))
    first, second = (np.array([m.get(c, np.nan) for c in cases]) for m in means)
    gap = first - second
    n = a.height + b.height
    shared = Measure(
        effects.moments(gap),
        effects.paired_d,
        tuple(cases),
        int(np.isfinite(gap).sum()),
        max(p.get_column("rater").n_unique() for p in (a, b)),
        n,
    )
    sums = np.concatenate([effects.moments(first), effects.moments(second)], axis=1)
    (w, p), (u, p_unpaired) = effects.signed_rank(gap), effects.rank_sum(first, second)
    paired_estimate = _estimate(context, shared)
    method = message(
        "paired d of case means, {interval}; Wilcoxon's signed ranks, W = {w:g}",
        message_id="method.paired_d",
        interval=paired_estimate.method,
        w=w,
    )
    yield row(
        context,
        keys,
        EstimateSummary(replace(paired_estimate, p=p, method=method)),
        shared,
        kind="difference",
        versus=versus,
    )
    unpaired_estimate = _estimate(context, replace(shared, sums=sums, finalise=effects.cohen_d))
    method = message(
        "Cohen's d of case means, unpaired, {interval}; Mann-Whitney, U = {u:g}",
        message_id="method.unpaired_d",
        interval=unpaired_estimate.method,
        u=u,
    )
    unpaired_summary = EstimateSummary(replace(unpaired_estimate, p=p_unpaired, method=method))
    yield row(context, keys, unpaired_summary, shared, kind="companion", versus=versus)


def _estimate(context: Context, measure: Measure) -> Estimate:
    reason = message("the case means do not vary, or there are too few")
    return estimate_of(context, measure, reason).headline


def _naive(
    context: Context, keys: dict[str, str], versus: dict[str, str], a: pl.DataFrame, b: pl.DataFrame
) -> Iterator[Row]:
    first, second = (
        scores(context, part, "rater").get_column("score").to_numpy() for part in (a, b)
    )
    totals = np.concatenate([effects.moments(x).sum(axis=0) for x in (first, second)])
    d = float(effects.cohen_d(totals)[0])
    u, p = effects.rank_sum(first, second)
    n = len(first) + len(second)
    method = message(
        "Cohen's d of all scores, treated as independent, without CI; Mann-Whitney, U = {u:g}",
        message_id="method.naive_d",
        u=u,
    )
    reason = (
        ""
        if math.isfinite(d)
        else message("all scores of both systems are identical, or there are too few")
    )
    naive_estimate = Estimate(
        d,
        level=context.resampling.level,
        p=p,
        n_clusters=n,
        n_ratings=n,
        method=method,
        reason=reason,
    )
    note = message(
        "The test treats {n:,} clustered scores as independent; its p value is too small.",
        message_id="cases.clustered_scores",
        n=n,
    )
    yield row(
        context,
        keys,
        EstimateSummary(naive_estimate, notes=(note,)),
        kind="difference",
        versus=versus,
    )
