"""Scores by case and level, of one system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.model.context import Context
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.answer_scores import scores
from konsil.analysis.table.encoding import select
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError, nearest
from konsil.stats.engine.contract import Array

LEVEL = "level"
"""The stratum of an item that says which version of its case it is."""


def columns_of(analysis: Analysis, *more: str) -> Analysis:
    """The analysis with these columns among those that its ratings are given with."""
    return replace(analysis, by=tuple(dict.fromkeys((*analysis.by, *more))))


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
