"""Differences of preference statistics between groups, and a test of all groups.

The statistics are win differences, win rates and margins.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.raters.two_way import two_way_method
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row, RowKind
from konsil.analysis.model.terms import Term
from konsil.analysis.pairs.pair_estimates import conditional_on_rater, counting_ratings
from konsil.analysis.pairs.pair_influences import Column, columns, numbered
from konsil.analysis.pairs.pair_rules import CRITERION, criteria_problems
from konsil.analysis.pairs.pairwise import statistic_of
from konsil.analysis.pairs.vote_sentences import no_interval, why_no_interval
from konsil.analysis.pairs.votes import steps_of
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.errors import AnalysisError
from konsil.errors.message import TranslatableMessage, message
from konsil.instrument import Criterion
from konsil.stats.engine.contract import Estimate, IntArray
from konsil.stats.inference import wald
from konsil.stats.inference.heterogeneity import Influences, heterogeneity
from konsil.stats.inference.wald import WaldInterval

_ROUNDING = 1e-12
"""Standard errors up to here are rounding errors of zero."""


def contrast_rows(
    context: Context, table: RatingTable, families: Lineage, also: Sequence[Criterion]
) -> Iterator[Row]:
    """Rows for every two groups of `compare`, and one for three or more groups.

    Groups are compared within equal values of the other columns.

    `also`: the further criteria, which are groups like others where the analysis compares criteria.

    The difference's influences are those of both numbers together, so that items and raters that
    stand in both groups count once: two-way for people, by item for judges, by rater where the
    analysis says so.
    """
    compare = context.analysis.compare
    others: dict[tuple[tuple[str, str], ...], list[Column]] = {}
    compared = (
        _of_criteria(context, table, families, also)
        if compare == CRITERION
        else columns(context, table, families)
    )
    for column in compared:
        rest = tuple(sorted((k, v) for k, v in column.keys.items() if k != compare))
        others.setdefault(rest, []).append(column)
    for members in others.values():
        for a, b in combinations(members, 2):
            yield from _difference(context, a, b)
        if len(members) > 2 and compare != "system":
            yield _together(context, members, compare)


def _of_criteria(
    context: Context, table: RatingTable, families: Lineage, also: Sequence[Criterion]
) -> Iterator[Column]:
    """The numbers of each criterion, from the first on.

    The same comparisons are rated on all of them.
    """
    for problem in criteria_problems(context.analysis, context.criterion, also):
        raise AnalysisError(f"{context.analysis.name}: {problem}")
    for criterion in (context.criterion, *also):
        for column in columns(context.of(criterion), table, families):
            yield replace(column, keys={**column.keys, CRITERION: criterion.id})


def _difference(context: Context, a: Column, b: Column) -> Iterator[Row]:
    items, raters = numbered([a, b])
    estimates = difference_estimates(context, a, b, items, raters)
    n_units, n_raters = (len(np.unique(np.concatenate(names))) for names in (items, raters))
    for place, (way, estimate) in enumerate(estimates.items()):
        kind: RowKind = "companion" if place else "difference"
        if place and not math.isfinite(estimate.low):
            continue
        if way == "item":
            estimate = conditional_on_rater(context, estimate, n_raters, people=a.people)
        difference = row(
            context, dict(a.keys), EstimateSummary(estimate), kind=kind, versus=dict(b.keys)
        )
        difference = replace(difference, n_units=n_units, n_raters=n_raters)
        yield counting_ratings(difference, _ratings_behind([a, b]))


def difference_estimates(
    context: Context, a: Column, b: Column, items: Sequence[IntArray], raters: Sequence[IntArray]
) -> dict[str, Estimate]:
    """A number minus another one by each way of clustering, the way that comes first at first.

    `items` and `raters` have the clusters of both, numbered alike. Ways are "two-way", "item" and
    "rater"; "item" alone where raters are no source of chance.
    """
    influence = np.concatenate([a.influence, -b.influence])[:, None]
    item, rater = np.concatenate(items), np.concatenate(raters)
    strata = np.concatenate([a.pair, b.pair + int(a.pair.max(initial=0)) + 1])
    level, at = context.resampling.level, np.array([a.value - b.value])
    by_item = wald.by_cluster(influence, item, at, strata=strata, level=level)
    ways = {"item": by_item}
    if a.has_sampled_raters and b.has_sampled_raters:
        ways["rater"] = wald.by_cluster(influence, rater, at, strata=strata, level=level)
        ways["two-way"] = wald.two_way(influence, item, rater, at, strata=strata, level=level)
    low, high = statistic_of(context.analysis.statistic, 2, reach_of_scale(context)).limits
    reach = high - low
    n_items, n_votes = len(np.unique(item)), len(influence)
    n_raters = len(np.unique(rater))

    def estimate(way: str) -> Estimate:
        interval = ways[way]
        has_interval = math.isfinite(interval.low[0]) and interval.se[0] > _ROUNDING
        return Estimate(
            float(at[0]),
            max(float(interval.low[0]), -reach) if has_interval else math.nan,
            min(float(interval.high[0]), reach) if has_interval else math.nan,
            level,
            float(interval.se[0]) if has_interval else math.nan,
            float(interval.p[0]) if has_interval and context.analysis.test != "none" else math.nan,
            n_clusters=n_raters if way == "rater" else n_items,
            n_ratings=n_votes,
            method=_method(context, way, interval) if has_interval else "",
            reason=("" if has_interval else no_interval(why_no_interval(way, n_items, n_raters))),
            raters="these" if way == "item" else "like these",
        )

    first = "rater" if context.analysis.cluster == "rater" and "rater" in ways else "two-way"
    # Groups without a common rater are compared by raters, but where the protocol itself states
    # these raters.
    is_for_these = context.target == "these" and (
        context.is_target_stated or bool(np.intersect1d(raters[0], raters[1]).size)
    )
    first = first if first in ways and not (first == "two-way" and is_for_these) else "item"
    return {way: estimate(way) for way in (first, *(w for w in ways if w != first))}


def reach_of_scale(context: Context) -> int:
    """How many steps the analysis' labels reach."""
    return max(abs(step) for step in steps_of(context).values())


def _method(context: Context, way: str, interval: WaldInterval) -> TranslatableMessage:
    df = float(interval.df[0])
    if way == "two-way":
        return two_way_method(context.cluster, df)
    return message(
        "cluster-robust Wald ({cluster}-clustered), t with {df:.3g} degrees of freedom",
        message_id="two_way.one_way",
        cluster=context.cluster if way == "item" else message("rater"),
        df=df,
    )


def _together(context: Context, members: Sequence[Column], compare: str) -> Row:
    """The greatest difference between the groups, with the p value of the test of all."""
    item, rater = numbered(members)
    two = all(column.has_sampled_raters for column in members)
    result = heterogeneity(
        [
            Influences(column.value, column.influence, i, r if two else None, column.pair)
            for column, i, r in zip(members, item, rater, strict=True)
        ]
    )
    values = [column.value for column in members]
    test = message(
        "Wald test of {k} groups, F with {a:.0f} and {b:.3g} degrees of freedom",
        message_id="two_way.heterogeneity",
        k=len(members),
        a=result.df,
        b=result.df_error,
    )
    reason = (
        message(
            "largest difference between two groups; the test is for all groups together",
            message_id="two_way.greatest",
        )
        if math.isfinite(result.p)
        else message(
            "too few items or raters for a test of this number of groups",
            message_id="two_way.too_few",
        )
    )
    n = len(np.unique(np.concatenate(item)))
    summary = Estimate(
        max(values) - min(values),
        level=context.resampling.level,
        p=result.p if context.analysis.test != "none" else math.nan,
        n_clusters=n,
        n_ratings=sum(len(column.influence) for column in members),
        method=test if math.isfinite(result.p) else "",
        reason=reason,
        raters="like these" if two else "these",
    )
    keys = {
        **members[0].keys,
        compare: Term("all_groups", len(members)),
    }
    overall = row(context, keys, EstimateSummary(summary), kind="difference")
    overall = replace(overall, n_units=n, n_raters=len(np.unique(np.concatenate(rater))))
    return counting_ratings(overall, _ratings_behind(members))


def _ratings_behind(members: Sequence[Column]) -> pl.DataFrame | None:
    """The single ratings of all of them; None where their comparisons are the ratings."""
    frames = [column.ratings for column in members if column.ratings is not None]
    return pl.concat(frames) if frames else None
