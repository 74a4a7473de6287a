"""Analyses of one question that differ in their criterion alone, which are answered together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from konsil.analysis import Row
from konsil.analysis.model.catalogue.entry import NOT_NEGATIVE, UNBOUNDED
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.options import CriterionRef
from konsil.analysis.pairs.pair_rules import CRITERION
from konsil.report.answers.sentence_parts import Query
from konsil.report.material.overview import Material


def by_outcome(material: Material, queries: Sequence[Query]) -> list[list[Query]]:
    """The analyses of a question: together those that differ in nothing but their criterion.

    An analysis with a conclusion of its own, or with several criteria, stands alone; so do numbers
    on labels of different scales, which have no axis in common.
    """
    together: list[list[Query]] = []
    for query in queries:
        alike = next((t for t in together if _key(material, t[0]) == _key(material, query)), None)
        if alike is None or not _is_of_one_criterion(query):
            together.append([query])
        else:
            alike.append(query)
    return together


def rows_of_criteria(queries: Sequence[Query]) -> list[Row]:
    """The rows of several analyses, each with its criterion as a column of its group."""
    return [
        replace(
            row,
            group={**row.group, CRITERION: query.spec.criterion},
            versus={**row.versus, CRITERION: query.spec.criterion} if row.versus else {},
        )
        for query in queries
        for row in query.rows
    ]


def _is_of_one_criterion(query: Query) -> bool:
    is_alone = any(row.finding or CRITERION in row.group for row in query.rows)
    return not is_alone and not query.spec.criteria


def _key(material: Material, query: Query) -> object:
    """What analyses that are answered together have in common."""
    if not _is_of_one_criterion(query):
        return query.spec.name
    scale = None
    # Means and deviations are in points of the criterion's scale.
    if statistic_of(query.spec.statistic).range in (UNBOUNDED, NOT_NEGATIVE):
        criterion = material.criteria().get(query.spec.criterion)
        scale = None if criterion is None else (criterion.scale.labels, criterion.scale.numbers())
    return scale, replace(query.spec, name="", criterion=CriterionRef(""), leave_out=())
