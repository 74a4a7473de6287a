"""Rows of analyses of designs: times, lengths, parts of answers, and costs in rater time."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from konsil.analysis.designs.durations import timed_groups
from konsil.analysis.designs.length import length_groups
from konsil.analysis.designs.rater_cost import cost_rows
from konsil.analysis.designs.sentence_sampling import part_rows
from konsil.analysis.estimation.rows.group_differences import group_rows
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage


def design_rows(
    context: Context,
    table: RatingTable,
    frame: pl.DataFrame,
    lineage: Lineage,  # noqa: ARG001
) -> Iterator[Row]:
    """The rows of an analysis of designs; `frame` has its ratings."""
    match statistic_of(context.analysis.statistic).group:
        case "timed":
            yield from group_rows(context, timed_groups(context, table, frame))
        case "length":
            yield from group_rows(context, length_groups(context, table, frame))
        case "parts":
            yield from part_rows(context, frame)
        case "costs":
            yield from cost_rows(context, table, frame)
