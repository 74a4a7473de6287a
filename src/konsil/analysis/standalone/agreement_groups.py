"""Agreement in one group of a table minus that in another, and the scale that groups share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from konsil.analysis.agreement import agreement_estimates, agreement_statistics
from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.ranges import within_statistic
from konsil.analysis.model.interval_methods import leads
from konsil.analysis.standalone.agreement_choices import names_of, weights_of_table
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import (
    Comparison,
    NamedEstimate,
)
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.ratings_table import Table
from konsil.errors import option
from konsil.errors.message import listed, message
from konsil.stats.engine.streams import stream_key


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
        measures = [
            agreement_statistics.agreement(
                table.sample,
                name,
                options.level,
                agreement_estimates.weights_of(name, weights_of_table(request, table)),
                pair_weights=request.pair_weights,
            )
            for table in tables
        ]
        difference = contrast(
            measures[0],
            measures[1],
            key=stream_key(request.seed, "resamples"),
            resampling=request.resampling,
            cluster=options.cluster or "unit",
        )
        headline = difference.headline
        if not shared and leads(headline.method, "paired"):
            headline = replace(headline, method=_independent(request, options.cluster or "unit"))
        differences.append(
            NamedEstimate(
                name,
                within_statistic(headline, name, weights_of_table(request, first), of_two=True),
            )
        )
        companions.extend(
            NamedEstimate(
                name, within_statistic(c, name, weights_of_table(request, first), of_two=True)
            )
            for c in difference.companions
        )
        for text in difference.warnings:
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
    warnings.extend(_about_groups(first, second, shared, len(names)))
    return Comparison((groups[0], groups[1]), shared, tuple(differences), tuple(companions))


def _independent(request: AgreementRequest, cluster: str) -> str:
    return message(
        "difference of independent groups, {cluster}-cluster bootstrap, BCa, {draws:,} resamples",
        message_id="table.independent_difference",
        cluster=cluster,
        draws=request.resamples,
    )


def _about_groups(first: Table, second: Table, shared: int, n_statistics: int) -> list[str]:
    """What a reader of the differences must know of the groups."""
    sentences: list[str] = []
    if first.has_raters and second.has_raters and {*first.sample.raters} != {*second.sample.raters}:
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
