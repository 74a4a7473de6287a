"""How alike two criteria order the answers: Spearman's rho of every two, cases resampled whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl

from konsil.analysis.cases.mismatch import UNIT
from konsil.analysis.estimation.group_estimates import estimate_of
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.rows.result_rows import estimate_rows
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import message
from konsil.analysis.model.rows import Row
from konsil.analysis.table.answer_scores import scores
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.stats.engine.contract import Codes
from konsil.stats.engine.ranks import spearman, spearman_scores

MOST_VALUES = 25
"""Up to so many different scores a pair's joint table holds everything; beyond, ranks are drawn
anew each time."""


def correlation_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """Rows for pairs of criteria: Spearman's rho of the panel's mean scores over the answers."""
    every = [context.of(criterion) for criterion in (context.criterion, *context.also)]
    parts = {
        criterion_context.criterion.id: dict(
            _groups(
                criterion_context,
                select(table, criterion_context.analysis, criterion_context.analysis.raters),
            )
        )
        for criterion_context in every
    }
    for a, b in combinations(parts, 2):
        for group in parts[a]:
            if group in parts[b]:
                keys = {
                    "criterion": a,
                    "other": b,
                    **dict(zip(context.analysis.by, group, strict=True)),
                }
                measure = _measure(parts[a][group], parts[b][group])
                summary = estimate_of(
                    context,
                    measure,
                    message("one criterion has a constant score, or no answer has both scores"),
                )
                yield from estimate_rows(context, keys, summary, measure)


def _groups(
    context: Context, frame: pl.DataFrame
) -> Iterator[tuple[tuple[str, ...], pl.DataFrame]]:
    for keys, part in groups(frame, context.analysis.by):
        yield tuple(keys.values()), scores(context, part)


def _measure(a: pl.DataFrame, b: pl.DataFrame) -> Measure:
    other = b.select(*UNIT, pl.col("score").alias("other"))
    both = a.join(other, on=UNIT, how="inner", nulls_equal=True).sort(*UNIT)
    cases = both.get_column("case").unique().sort().to_list()
    place = {case: n for n, case in enumerate(cases)}
    clusters = np.array([place[c] for c in both.get_column("case")], dtype=np.int64)
    # Equal means must stay ties, whatever the order of their sums.
    x, y = (both.get_column(c).to_numpy().round(12) for c in ("score", "other"))
    values = np.unique(np.concatenate([x, y]))
    # Tables of few values are much faster than ranks of points, and give the same.
    if len(values) <= MOST_VALUES:
        codes = np.column_stack([np.searchsorted(values, v) for v in (x, y)])
        statistic = spearman(2, max(len(values), 1))
    else:
        codes = np.zeros((len(x), 2), dtype=np.int64)
        statistic = spearman_scores(x, y, clusters)
    sums = statistic.tally(Codes(codes, clusters, max(len(values), 1)))
    n_raters = int(both.get_column("n_raters").max() or 0) if both.height else 0  # type: ignore[arg-type]
    return Measure(
        sums,
        statistic.finalise,
        tuple(cases),
        both.height,
        n_raters,
        2 * both.height,
        scale="atanh",
    )
