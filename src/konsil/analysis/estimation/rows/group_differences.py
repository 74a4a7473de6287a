"""Rows of an analysis' groups, and of the differences that `compare` requests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import Group
from konsil.analysis.estimation.measure import Measure, clusters_used
from konsil.analysis.estimation.raters.rater_differences import (
    have_other_raters,
    of_common_raters,
    of_other_raters,
    of_single_ratings,
)
from konsil.analysis.estimation.raters.sensitivity import rater_contrast
from konsil.analysis.estimation.rows.result_rows import estimate_rows, row
from konsil.analysis.estimation.targets import answering, is_about_these
from konsil.analysis.model.catalogue.known import RATER_PAIR
from konsil.analysis.model.context import Context
from konsil.analysis.model.interval_methods import leads
from konsil.analysis.model.rows import Row


def group_rows(context: Context, groups: Sequence[Group]) -> Iterator[Row]:
    """The rows of each group, then the differences between them where the analysis compares any."""
    for group in groups:
        yield from estimate_rows(context, group.keys, group.summary, group.measure)
    if context.analysis.compare:
        yield from differences(context, groups)


def differences(context: Context, groups: Sequence[Group]) -> Iterator[Row]:
    """Differences between the groups of `compare`, within equal values of the other columns."""
    compare = "raters" if context.analysis.compare == RATER_PAIR else context.analysis.compare
    others: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        rest = tuple(v for k, v in group.keys.items() if k != compare)
        others.setdefault(rest, []).append(group)
    for members in others.values():
        for a, b in combinations(members, 2):
            summary = contrast(
                a.measure,
                b.measure,
                key=context.key,
                resampling=context.resampling,
                cluster=context.cluster,
                test=context.analysis.test,
            )
            if context.analysis.cluster == "rater" and math.isfinite(summary.headline.value):
                headline = rater_contrast(
                    summary.headline, a.measure, b.measure, a.left_out, b.left_out
                )
                summary = replace(
                    summary, headline=headline, companions=(summary.headline, *summary.companions)
                )
            summary = of_target(context, summary, a.measure, b.measure, context.cluster)
            paired = not clusters_used(a.measure).isdisjoint(clusters_used(b.measure))
            difference = row(context, a.keys, summary, a.measure, kind="difference", versus=b.keys)
            yield replace(difference, is_paired=paired, n_units_versus=b.measure.n_units)
            for companion in summary.companions:
                of_single = leads(companion.method, "single_ratings")
                yield row(
                    context,
                    a.keys,
                    EstimateSummary(companion),
                    a.measure.by_single_ratings if of_single else a.measure,
                    kind="companion",
                    versus=b.keys,
                )


def of_target(
    context: Context, summary: EstimateSummary, a: Measure, b: Measure, cluster: str
) -> EstimateSummary:
    """A difference with the target's interval first; `cluster` names what items are.

    Groups without a common rater are compared by raters.

    But where the protocol states these raters as the target; and where the analysis compares raters
    by name.
    """
    is_for_these = context.target == "these" and context.is_target_stated
    if have_other_raters(a, b):
        are_panels = context.target is not None and context.analysis.compare not in {
            "rater",
            RATER_PAIR,
        }
        by_raters = of_other_raters(
            summary, a, b, cluster, are_panels=are_panels and not is_for_these
        )
        if not is_for_these:
            return by_raters
        two = [by_raters.headline] if by_raters is not summary else []
        return replace(
            summary, companions=(*two, *(c for c in summary.companions if c.raters == "these"))
        )
    if context.target is not None:
        summary = of_common_raters(summary, a, b, cluster, context.analysis.statistic)
    summary = answering(
        summary,
        context.target,
        min(a.n_raters, b.n_raters),
        is_exempt=is_about_these(context.analysis, has_known_raters=context.has_known_raters),
    )
    # Beside the majorities' interval, whose number is another one; never in its place.
    single = of_single_ratings(summary.headline, a, b, cluster)
    if single is None:
        return summary
    return replace(summary, companions=(single, *summary.companions))
