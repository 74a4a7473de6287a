"""Which module makes the rows of an analysis: one for each family of statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import polars as pl

from konsil.analysis.agreement.label_rows import label_rows
from konsil.analysis.cases.cases import case_rows
from konsil.analysis.designs.design_rows import design_rows
from konsil.analysis.estimation.rows.result_rows import no_ratings
from konsil.analysis.judges.judge_rows import judge_rows
from konsil.analysis.model.catalogue.known import INJECTION, statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.pairs.pairs import is_of_pairs, pair_statistics
from konsil.analysis.table.encoding import select
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.errors import AnalysisError

Rows = Callable[[Context, RatingTable, pl.DataFrame, Lineage], Iterator[Row]]

FAMILIES: Mapping[str, Rows] = MappingProxyType(
    {
        "agreement": label_rows,
        "shares": label_rows,
        "judges": judge_rows,
        "pairs": pair_statistics,
        "cases": case_rows,
        "designs": design_rows,
    }
)
"""Family -> what makes the rows of its statistics, from an analysis, all ratings, its ratings, and
who is of whom."""


def rows_of(context: Context, table: RatingTable, lineage: Lineage) -> Iterator[Row]:
    """The rows of an analysis; one row with the reason where its subject has no rating."""
    analysis = context.analysis
    family = "pairs" if is_of_pairs(context) else statistic_of(analysis.statistic).family
    if family not in FAMILIES:
        raise AnalysisError(
            f"{analysis.name}: no computation is defined for the statistic {analysis.statistic!r}"
        )
    if analysis.statistic in INJECTION:
        # Pairs of control tasks are in no table of ratings, nor is their kind one of its columns.
        yield from FAMILIES[family](context, table, table.frame.clear(), lineage)
        return
    frame = select(table, analysis, analysis.raters)
    if frame.height == 0:
        yield no_ratings(context)
    else:
        yield from FAMILIES[family](context, table, frame, lineage)
