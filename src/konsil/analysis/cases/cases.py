"""Which rule an analysis of cases in several versions goes by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import polars as pl

from konsil.analysis.cases.anova_rows import anova_rows, tukey_rows
from konsil.analysis.cases.approval import approval_groups, strictness_groups
from konsil.analysis.cases.correlations import correlation_rows
from konsil.analysis.cases.crossover import crossover_rows
from konsil.analysis.cases.degradation import degradation_groups, hidden_rows, recovery_rows
from konsil.analysis.cases.effects import effect_rows
from konsil.analysis.cases.mismatch import detector_rows, outcome_groups
from konsil.analysis.estimation.group_estimates import Group
from konsil.analysis.estimation.rows.group_differences import differences
from konsil.analysis.estimation.rows.result_rows import estimate_rows, no_result
from konsil.analysis.model.catalogue.known import DEGRADATION
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import message
from konsil.analysis.model.rows import Row
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage

Groups = Callable[[Context, RatingTable], list[Group]]
Rows = Callable[[Context, RatingTable], Iterator[Row]]

GROUPS: Mapping[str, Groups] = MappingProxyType(
    {
        **dict.fromkeys(DEGRADATION, degradation_groups),
        "accuracy": outcome_groups,
        "illusion_gap": outcome_groups,
        "mismatch": outcome_groups,
        "hallucination": outcome_groups,
        "approval": approval_groups,
        "strictness": strictness_groups,
    }
)
"""Statistics with one number a group, which can be compared."""

ROWS: Mapping[str, Rows] = MappingProxyType(
    {
        "crossover": crossover_rows,
        "mann_whitney": effect_rows,
        "anova": anova_rows,
        "tukey": tukey_rows,
        "criteria_correlation": correlation_rows,
    }
)
"""Statistics that are comparisons themselves."""

BESIDE: Mapping[str, Rows] = MappingProxyType(
    {
        "diagnostic_potential": hidden_rows,
        "monotonicity_violation": recovery_rows,
        "mismatch": detector_rows,
        "hallucination": detector_rows,
    }
)
"""What else stands below a statistic's numbers."""


def case_rows(
    context: Context,
    table: RatingTable,
    frame: pl.DataFrame,  # noqa: ARG001
    lineage: Lineage,  # noqa: ARG001
) -> Iterator[Row]:
    """The rows of an analysis of cases."""
    name = context.analysis.statistic
    if name in ROWS:
        rows = list(ROWS[name](context, table))
        yield from rows or [no_result(context, message("no ratings selected"))]
        return
    members = GROUPS[name](context, table)
    if not members:
        yield no_result(context, message("no ratings selected"))
    for group in members:
        yield from estimate_rows(context, group.keys, group.summary, group.measure)
    if name in BESIDE:
        yield from BESIDE[name](context, table)
    if context.analysis.compare:
        yield from differences(context, members)
