"""Which rows an analysis of a criterion about a pair of answers has."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from konsil.analysis.model.catalogue.known import PREFERENCE, WINS, WORTHS
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.pairs.pair_contrasts import contrast_rows
from konsil.analysis.pairs.pair_judging import (
    choice_rows,
    correlation_rows,
    own_rows,
    position_rows,
    rank_rows,
)
from konsil.analysis.pairs.pairwise import pair_rows
from konsil.analysis.pairs.published_pairs import PUBLISHED, published_rows
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage


def is_of_pairs(context: Context) -> bool:
    """Whether an analysis is of comparisons.

    By its statistic, or self preference on a criterion about pairs.
    """
    statistic = context.analysis.statistic
    return statistic in PREFERENCE or (
        context.criterion.scope == "pair" and statistic == "self_preference"
    )


def pair_statistics(
    context: Context, table: RatingTable, frame: pl.DataFrame, lineage: Lineage
) -> Iterator[Row]:
    """The rows of an analysis of comparisons; `frame` has its ratings."""
    statistic = context.analysis.statistic
    if context.analysis.mode == "paper" and statistic in PUBLISHED:
        yield from published_rows(context, table, frame, lineage)
    elif statistic in {*WINS, *WORTHS}:
        yield from pair_rows(context, table, frame, lineage)
        if context.analysis.compare:
            yield from contrast_rows(context, table, lineage, context.also)
    elif statistic in {"choice_agreement", "choice_kappa"}:
        yield from choice_rows(context, frame)
    elif statistic == "position_bias":
        yield from position_rows(context, table, frame, lineage)
    elif statistic == "preference_correlation":
        yield from correlation_rows(context, table, [context.criterion, *context.also])
    elif statistic == "rank_agreement":
        yield from rank_rows(context, table, frame, [context.criterion, *context.also])
    else:
        yield from own_rows(context, table, frame, lineage)
