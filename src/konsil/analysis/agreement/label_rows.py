"""Rows of an analysis of labels: agreement, proportions, means and abstentions of a panel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from konsil.analysis.agreement.groups import each_against_rest, single
from konsil.analysis.agreement.judge_vs_panel import against_panel_rows
from konsil.analysis.agreement.panel_mean import average_groups
from konsil.analysis.agreement.relative_rows import relative_rows
from konsil.analysis.estimation.group_estimates import Group
from konsil.analysis.estimation.rows.group_differences import group_rows
from konsil.analysis.model.catalogue.known import RATER_PAIR, statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.table.encoding import groups, rater_pairs, select
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.analysis.table.tiebreak import with_tiebreaks


def label_rows(
    context: Context,
    table: RatingTable,
    frame: pl.DataFrame,
    lineage: Lineage,  # noqa: ARG001
) -> Iterator[Row]:
    """The rows of an analysis of agreement or of shares; `frame` has its ratings."""
    analysis = context.analysis
    for panel in analysis.options.panels:
        frame = with_tiebreaks(frame, select(table, analysis, panel), analysis.collapse)
    if analysis.against not in {None, "rest"} and analysis.consensus == "none":
        yield from against_panel_rows(context, table, frame)
    elif analysis.statistic == "relative_difference":
        yield from relative_rows(context, _groups(context, table, frame))
    else:
        yield from group_rows(context, _groups(context, table, frame))


def _groups(context: Context, table: RatingTable, frame: pl.DataFrame) -> list[Group]:
    analysis = context.analysis
    raters = tuple(frame.get_column("rater").unique().sort().to_list())
    if analysis.against == "rest" and "rater" in analysis.by:
        keyed = groups(frame, [column for column in analysis.by if column != "rater"])
        return [
            group
            for keys, part in keyed
            for group in each_against_rest(context, keys, part, raters)
        ]
    if analysis.against not in {None, "rest"}:
        return average_groups(context, table, frame)
    keyed = groups(frame, [column for column in analysis.by if column != RATER_PAIR])
    if RATER_PAIR in analysis.by:
        return [single(context, keys, part, two) for keys, part, two in rater_pairs(keyed, raters)]
    parts = _with_raters(context, list(keyed), raters)
    return [single(context, keys, part, part_raters) for keys, part, part_raters in parts]


def _with_raters(
    context: Context, keyed: Sequence[tuple[dict[str, str], pl.DataFrame]], raters: tuple[str, ...]
) -> Iterator[tuple[dict[str, str], pl.DataFrame, tuple[str, ...]]]:
    """The groups with the raters whose labels they need.

    For statistics of complete units, groups without a common rater have their own raters only: ICC
    and Kendall's W use the units that every rater labelled, and no rater labels a unit of another
    panel.
    """
    raters_by_part = [
        tuple(part.get_column("rater").unique().sort().to_list()) for _, part in keyed
    ]
    are_apart = sum(map(len, raters_by_part)) == len(set().union(*raters_by_part))
    needs_all = statistic_of(context.analysis.statistic).needs_complete
    for (keys, part), part_raters in zip(keyed, raters_by_part, strict=True):
        yield keys, part, part_raters if needs_all and are_apart and len(keyed) > 1 else raters
