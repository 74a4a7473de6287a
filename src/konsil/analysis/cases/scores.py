"""Panel scores of answers: the mean number of the labels, by case and level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.estimation.context import Context, labels_in
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.conformity import refuse_unknown_labels
from konsil.analysis.table.encoding import select
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError, nearest
from konsil.stats.engine.contract import Array

LEVEL = "level"
"""The stratum of an item that says which version of its case it is."""

HIGHEST = "highest"
"""The column of the highest number that an answer got."""

OUTPUT = ("item", "case", "answers", "system")
"""What tells one answer from another."""


def columns_of(analysis: Analysis, *more: str) -> Analysis:
    """The analysis with these columns among those that its ratings are given with."""
    return replace(analysis, by=tuple(dict.fromkeys((*analysis.by, *more))))


def scores(context: Context, frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """One row an answer: the mean number of the labels it got, in a column `score`.

    Abstentions are no labels.

    `keys` are columns that tell the rows apart beside the answer, such as the rater.
    """
    labels, collapse = labels_in(context, frame), context.analysis.collapse
    of_label = dict(zip(labels.names, map(float, labels.values), strict=True))
    scale = context.criterion.scale
    if scale.kind == "choice":
        of_label |= {
            before: of_label[after] for before, after in collapse.items() if after in of_label
        }
        refuse_unknown_labels(frame, {*of_label, *collapse})
        number = pl.col("label").replace_strict(of_label, default=None, return_dtype=pl.Float64)
    else:
        number = pl.col("label").cast(pl.Float64, strict=False)
    numbered = (
        frame.filter(pl.col("state") == "rated")
        .with_columns(number.alias("score"))
        .drop_nulls("score")
    )
    columns = [c for c in (*OUTPUT, *keys, *context.analysis.by) if c in frame.columns]
    return numbered.group_by(list(dict.fromkeys(columns)), maintain_order=True).agg(
        pl.col("score").max().alias(HIGHEST),
        pl.col("score").mean(),
        pl.col("rater").n_unique().alias("n_raters"),
        pl.len().alias("n_ratings"),
    )


def panel_scores(context: Context, table: RatingTable, panel: str) -> pl.DataFrame:
    """One row an answer: what a panel gave it on the context's criterion."""
    return scores(context, select(table, context.analysis, panel))


def reaches(threshold: float) -> pl.Expr:
    """Whether a score is at the threshold or above, with a tolerance for rounding errors.

    A mean of raters must not fail it by a rounding error.
    """
    return pl.col("score") >= threshold - 1e-9


@dataclass(frozen=True)
class Ladder:
    """One system's scores by case and level."""

    scores: Array
    """(n_cases, n_levels); nan where there is no answer with a score."""
    cases: tuple[str, ...]
    """The rows' cases, sorted."""
    n_raters: int
    """Raters with a label."""
    n_ratings: int
    """Labels used."""

    @property
    def lacking(self) -> int:
        """How many cases lack a level."""
        return int((~np.isfinite(self.scores)).any(axis=1).sum())


def with_levels(context: Context, table: RatingTable) -> pl.DataFrame:
    """The analysis' ratings with their level.

    An error where a level is asked for that no item has.
    """
    analysis = context.analysis
    frame = select(table, columns_of(analysis, LEVEL), analysis.raters)
    items = table.data.items if table.data is not None else ()
    item_levels = sorted({i.strata[LEVEL] for i in items if LEVEL in i.strata})
    for n, level in enumerate(analysis.options_as(CaseOptions).levels):
        if item_levels and level not in item_levels:
            raise AnalysisError(
                f"{analysis.name}: levels[{n}]: no item has the {LEVEL} {level!r};"
                f" {nearest(level, item_levels)}"
            )
    return frame


def ladder(context: Context, frame: pl.DataFrame, levels: Sequence[str]) -> Ladder:
    """The scores of one system's ratings by case and level.

    Several answers to one version are averaged.
    """
    answer_scores = scores(context, frame.filter(pl.col(LEVEL).is_in(list(levels))), LEVEL)
    cells = answer_scores.group_by("case", LEVEL).agg(pl.col("score").mean())
    cases = tuple(frame.get_column("case").unique().sort().to_list())
    place = {case: n for n, case in enumerate(cases)}
    column = {level: n for n, level in enumerate(levels)}
    grid = np.full((len(cases), len(levels)), np.nan)
    for case, level, score in cells.iter_rows():
        grid[place[case], column[level]] = score
    used = frame.filter((pl.col("state") == "rated") & pl.col(LEVEL).is_in(list(levels)))
    return Ladder(grid, cases, used.get_column("rater").n_unique(), used.height)
