"""Judges' approval of failures, and the trade-off between approval and strictness.

A failure is an answer that the experts rate as failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.cases.mismatch import UNIT, per_case
from konsil.analysis.estimation.group_estimates import Group, estimate_of
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.results import Bounds, TradeOff
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.answer_scores import HIGHEST, reaches, scores
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.errors.message import message
from konsil.stats.engine.contract import Array
from konsil.stats.judges.strictness import separation, strictness_sums, trade_off

CRITERION = "criterion"
"""In `by`: a group of every criterion."""


def _by(context: Context) -> list[str]:
    return list(dict.fromkeys(("rater", *context.analysis.by)))


def _each(context: Context) -> Iterator[Context]:
    """The context of every criterion.

    `criterion` is no column of the scores but says whose they are.
    """
    plain = replace(
        context.analysis, by=tuple(c for c in context.analysis.by if c not in {CRITERION, "rater"})
    )
    for criterion in (context.criterion, *context.also):
        yield replace(context, analysis=plain, also=()).of(criterion)


def judgement_table(context: Context, table: RatingTable) -> pl.DataFrame:
    """One row a judgement: the judge's score, the experts' mean score, and what they are about."""
    parts = []
    for criterion_context in _each(context):
        name = criterion_context.criterion.id
        experts = scores(
            criterion_context,
            select(table, criterion_context.analysis, str(criterion_context.analysis.against)),
        )
        judges = (
            scores(
                criterion_context,
                select(table, criterion_context.analysis, criterion_context.analysis.raters),
                "rater",
            )
            .drop(HIGHEST)
            .rename({"score": "judge"})
        )
        mean = experts.select(*UNIT, "score", HIGHEST, pl.col("n_raters").alias("n_experts"))
        both = judges.join(mean, on=UNIT, how="inner", nulls_equal=True)
        parts.append(both.with_columns(pl.lit(name).alias(CRITERION)))
    return pl.concat(parts)


def failures(context: Context, table: RatingTable) -> pl.DataFrame:
    """The consensus failure set.

    Answers and criteria to which all experts, or their mean, give `failure` or less.
    """
    parts = []
    for criterion_context in _each(context):
        experts = scores(
            criterion_context,
            select(table, criterion_context.analysis, str(criterion_context.analysis.against)),
        )
        parts.append(experts.with_columns(pl.lit(criterion_context.criterion.id).alias(CRITERION)))
    return pl.concat(parts).filter(_fails(context))


def _fails(context: Context) -> pl.Expr:
    options = context.analysis.options_as(CaseOptions)
    # A mean that reaches the threshold must not pass it by a rounding error.
    return pl.col("score" if options.failure_by == "mean" else HIGHEST) <= options.failure + 1e-9


def approval_groups(context: Context, table: RatingTable) -> list[Group]:
    """One row a judge: the share of the failure set to which it gives `approve` or more."""
    every = judgement_table(context, table)
    consensus_failures = failures(context, table)
    by, rest = _by(context), [c for c in context.analysis.by if c != "rater"]
    sizes = {tuple(keys.values()): part.height for keys, part in groups(consensus_failures, rest)}
    results = []
    for keys, part in groups(every, by):
        failed = part.filter(_fails(context))
        n = sizes.get(tuple(keys[c] for c in rest), 0)
        if not n:
            continue  # a group without failures has nothing to approve of
        hits = (
            failed.get_column("judge") >= context.analysis.options_as(CaseOptions).approve - 1e-9
        ).to_numpy()
        measure = per_case(part, failed, hits, share=True)
        notes = [message("Out of {n:,} {n|failure|failures}.", n=n)]
        if failed.height < n:
            notes.append(
                message(
                    "{n:,} of {all:,} failures have no valid judge rating.",
                    n=n - failed.height,
                    all=n,
                )
            )
        measure = replace(measure, notes=tuple(notes))
        reason = message("no valid judge rating of a failure")
        summary = estimate_of(context, measure, reason)
        results.append(Group(keys, measure, summary))
    return results


def absent_of(missing: RatingTable, table: RatingTable, analysis: Analysis) -> pl.DataFrame:
    """The missing judgements that an analysis would use.

    A composite score is there where enough of its criteria are.
    """
    absent = select(missing, analysis, analysis.raters)
    if analysis.criterion not in table.composites:
        return absent
    present = select(table, analysis, analysis.raters).select(_JUDGEMENT)
    return absent.join(present, on=_JUDGEMENT, how="anti", nulls_equal=True)


_JUDGEMENT = ("rater", "item", "answers", "span", "purpose")


def approval_bounds(
    context: Context, table: RatingTable, missing: RatingTable, rows: Sequence[Row]
) -> Iterator[Bounds]:
    """Bounds of each judge's approval for its missing judgements.

    The lower bound assumes that none of them approved, the upper bound that all did.
    """
    absent = []
    for criterion_context in _each(context):
        gaps = absent_of(missing, table, criterion_context.analysis)
        absent.append(
            gaps.select(*UNIT, "rater").with_columns(
                pl.lit(criterion_context.criterion.id).alias(CRITERION)
            )
        )
    missing_failures = pl.concat(absent).join(
        failures(context, table), on=[*UNIT, CRITERION], how="inner", nulls_equal=True
    )
    for row in rows:
        if (
            row.analysis != context.analysis.name
            or row.kind != "estimate"
            or not row.estimate.n_ratings
        ):
            continue
        part = missing_failures
        for column, value in row.group.items():
            part = part.filter(pl.col(column) == value)
        if part.height:
            n, n_given = part.height, row.estimate.n_ratings
            hits = row.estimate.value * n_given
            low, high = hits / (n_given + n), (hits + n) / (n_given + n)
            yield Bounds(
                context.analysis.name, row.group, row.estimate.value, low, high, n, n_given
            )


def _successes(context: Context) -> pl.Expr:
    return reaches(context.analysis.options_as(CaseOptions).correct)


def _separated(context: Context, part: pl.DataFrame) -> tuple[pl.DataFrame, Array, Array]:
    """A judge's judgements of failures and successes, their values, and their sums by case."""
    used = part.filter(_fails(context) | _successes(context))
    values = np.unique(used.get_column("judge").to_numpy())
    cases = part.get_column("case").unique().sort().to_list()
    place = {case: n for n, case in enumerate(cases)}
    at = np.array([place[c] for c in used.get_column("case")], dtype=np.int64)
    failed = used.select(_fails(context).cast(pl.Float64)).to_series().to_numpy()
    places = np.searchsorted(values, used.get_column("judge").to_numpy())
    return used, values, strictness_sums(places, failed, at, max(len(values), 1), len(cases))


def strictness_groups(context: Context, table: RatingTable) -> list[Group]:
    """One row a judge: how often it puts a success of the experts above a failure."""
    results = []
    for keys, part in groups(judgement_table(context, table), _by(context)):
        used, _, sums = _separated(context, part)
        measure = Measure(
            sums=sums,
            finalise=separation,
            clusters=tuple(part.get_column("case").unique().sort().to_list()),
            n_units=used.select(*UNIT).n_unique(),
            n_raters=1,
            n_ratings=used.height,
            scale="logit",
        )
        reason = message("no failure or no success among the rated answers")
        summary = estimate_of(context, measure, reason)
        results.append(Group(keys, measure, summary))
    return results


def trade_offs(context: Context, table: RatingTable) -> Iterator[TradeOff]:
    """Each judge's false approvals and false rejections at every threshold."""
    for keys, part in groups(judgement_table(context, table), _by(context)):
        used, values, sums = _separated(context, part)
        if not used.height:
            continue
        approved, rejected = trade_off(sums.sum(axis=0))
        if np.isfinite(approved).all() and np.isfinite(rejected).all():
            yield TradeOff(
                context.analysis.name,
                keys,
                tuple(values.tolist()),
                tuple(approved.tolist()),
                tuple(rejected.tolist()),
                context.analysis.options_as(CaseOptions).approve,
            )
