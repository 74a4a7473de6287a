"""Agreement in one group of a table minus that in another, and the scale that groups share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from konsil.analysis.agreement import agreement_estimates, agreement_statistics
from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure, value
from konsil.analysis.estimation.ranges import within_statistic
from konsil.analysis.estimation.raters.rater_samples import with_raters
from konsil.analysis.estimation.rows.group_differences import of_target
from konsil.analysis.estimation.targets import (
    Target,
    hardly_carried,
    planned_target,
    scope_note,
    table_sentence,
)
from konsil.analysis.model.catalogue.known import AGREEMENT, statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.interval_methods import leads, name_of
from konsil.analysis.model.options import CriterionRef
from konsil.analysis.model.spec import Analysis
from konsil.analysis.standalone.agreement_choices import names_of, weights_of_table
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import (
    Comparison,
    NamedEstimate,
)
from konsil.analysis.standalone.table_agreement import rater_counts
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.ratings_table import Table
from konsil.errors import option
from konsil.errors.message import listed, message
from konsil.instrument import Criterion, Scale
from konsil.stats.engine.contract import Estimate
from konsil.stats.engine.streams import stream_key
from konsil.stats.inference.cluster_variance import effective_number


def common_scales(tables: Sequence[Table], has_criteria: bool) -> list[tuple[str, ...]]:
    """The labels of each group in order.

    A label that one group did not use is on its scale as well. Criteria without a common label,
    directly or through others, have scales of their own.
    """
    if not has_criteria:
        return [_in_order(tables)] * len(tables)
    alike: list[tuple[set[str], list[Table]]] = []
    for table in tables:
        names = {*table.labels.names}
        joined = [group for group in alike if group[0] & names]
        alike = [group for group in alike if not group[0] & names]
        members = [member for _, group in joined for member in group]
        alike.append((names.union(*(group[0] for group in joined)), [*members, table]))
    return [
        _in_order(next(members for labels, members in alike if labels & {*table.labels.names}))
        for table in tables
    ]


def _in_order(tables: Sequence[Table]) -> tuple[str, ...]:
    """All labels of some tables in order."""
    numbers = {
        name: value
        for table in tables
        for name, value in zip(table.labels.names, table.labels.values, strict=True)
    }
    try:
        return tuple(sorted(numbers, key=float))
    except ValueError:
        return tuple(sorted(numbers))


def compare_tables(
    tables: Sequence[Table],
    groups: tuple[str, ...],
    options: TableOptions,
    request: AgreementRequest,
    warnings: list[str],
) -> Comparison:
    """The first group minus the second, statistic by statistic."""
    first, second = tables
    target, effective = _target(tables, request)
    cluster = options.cluster or "unit"
    names = [
        n
        for n in names_of(first, options, request)[0]
        if n in names_of(second, options, request)[0]
    ]
    differences: list[NamedEstimate] = []
    companions: list[NamedEstimate] = []
    notes: dict[str, list[str]] = {}
    shared = len({*first.sample.clusters} & {*second.sample.clusters})
    for name in names:
        context = _context(name, options, request, target)
        a, b = (_measure(table, name, options, request, cluster) for table in tables)
        difference = contrast(a, b, key=context.key, resampling=request.resampling, cluster=cluster)
        if not shared and leads(difference.headline.method, "paired"):
            independent = replace(difference.headline, method=_independent(request, cluster))
            difference = replace(difference, headline=independent)
        difference = of_target(context, difference, a, b, cluster)
        headline, *others = (
            within_statistic(e, name, weights_of_table(request, first), of_two=True)
            for e in (difference.headline, *difference.companions)
        )
        differences.append(NamedEstimate(name, headline))
        companions.extend(NamedEstimate(name, other) for other in others)
        for text in (
            *difference.warnings,
            *scope_note(difference, context.target),
            *hardly_carried(headline, effective),
        ):
            # Both intervals are printed side by side, and show by themselves how much one is wider.
            if name_of(text) not in {"two_way.wider", "target.wider"}:
                notes.setdefault(text, []).append(name)
    warnings.extend(
        message(
            "Differences of {names}: {note}",
            message_id="table.about_differences",
            names=listed(of, end="{some}, {last}"),
            note=text,
        )
        for text, of in notes.items()
    )
    warnings.extend(_about_groups(first, second, shared, [d.estimate for d in differences]))
    return Comparison(
        (groups[0], groups[1]),
        shared,
        tuple(differences),
        tuple(companions),
        None if target is None else target.raters,
        "" if target is None else table_sentence(target),
    )


def _target(tables: Sequence[Table], request: AgreementRequest) -> tuple[Target | None, float]:
    """Whom the differences are about, and the effective number of raters where nobody states it.

    By the raters of the table, as in a study without a plan; None and nan where they are unknown.
    """
    if not all(table.has_raters for table in tables):
        return None, math.nan
    n_of: Counter[str] = Counter()
    for table in tables:
        n_of.update({r.name: r.n_ratings + r.n_abstained for r in rater_counts(table)})
    target = planned_target(request.target, ["raters"], {"raters": len(n_of)}, {})
    counts = np.array([*n_of.values()], dtype=np.int64)
    return target, math.nan if target.is_stated else effective_number(counts)


def _context(
    name: str, options: TableOptions, request: AgreementRequest, target: Target | None
) -> Context:
    """What the difference of a statistic needs to know, as in a study with the same ratings."""
    level = options.level
    return Context(
        Analysis(name, name, CriterionRef("label"), "raters", compare=str(request.compare)),
        Criterion("label", "", Scale(("1", "2"), level=level)),
        stream_key(request.seed, "resamples"),
        request.resampling,
        target=None if target is None else target.raters,
        is_target_stated=target is not None and target.is_stated,
        has_known_raters=target is not None,
    )


def _measure(
    table: Table, name: str, options: TableOptions, request: AgreementRequest, cluster: str
) -> Measure:
    """A group's agreement, with its numbers without each rater where raters are known."""
    weights = agreement_estimates.weights_of(name, weights_of_table(request, table))
    level, pair_weights = options.level, request.pair_weights
    measure = agreement_statistics.agreement(
        table.sample, name, level, weights, pair_weights=pair_weights
    )
    if not table.has_raters or name not in AGREEMENT:
        return measure
    make = partial(
        agreement_statistics.agreement_alone,
        name=name,
        level=level,
        weights=weights,
        pair_weights=pair_weights,
    )
    summary = EstimateSummary(Estimate(value(measure), level=request.confidence))
    needs_all = statistic_of(name).needs_complete
    return with_raters(
        summary, measure, table.sample, make, cluster, needs_all=needs_all, is_compared=True
    )[1]


def _independent(request: AgreementRequest, cluster: str) -> str:
    return message(
        "difference of independent groups, {cluster}-cluster bootstrap, BCa, {draws:,} resamples",
        message_id="table.independent_difference",
        cluster=cluster,
        draws=request.resamples,
    )


def _about_groups(
    first: Table, second: Table, shared: int, differences: Sequence[Estimate]
) -> list[str]:
    """What a reader of the differences must know of the groups."""
    sentences: list[str] = []
    n_statistics = len(differences)
    has_raters = first.has_raters and second.has_raters
    is_about_these = any(e.raters == "these" and math.isfinite(e.low) for e in differences)
    if has_raters and is_about_these and {*first.sample.raters} != {*second.sample.raters}:
        sentences.append(
            message(
                (
                    "The two groups have different raters; the differences apply to these"
                    " raters only, not to raters in general."
                ),
                message_id="table.groups_of_other_raters",
            )
        )
    if not shared:
        sentences.append(
            message(
                "The two groups share no cluster: they are independent samples.",
                message_id="table.groups_independent",
            )
        )
    if n_statistics > 1:
        sentences.append(
            message(
                "The p values of the {n} {n|difference|differences} are not adjusted for multiple"
                " testing; choose one statistic beforehand with {option}.",
                message_id="table.p_not_adjusted",
                n=n_statistics,
                option=option("statistics", flag="statistic", example="[...]"),
            )
        )
    return sentences
