"""Ratings of unknown raters: analyses that need to know them, and intervals that claim them.

A number among those who rated the same subject identifies an unknown rater there and nowhere else.
Values that are computed within subjects remain; what concerns one rater's ratings of several
subjects, and inference to other raters, does not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from konsil.analysis.agreement.agreement_statistics import needs_raters
from konsil.analysis.estimation.raters.consensus_rules import leaves_one_out
from konsil.analysis.model.catalogue.known import AGREEMENT, RATER_PAIR, statistic_of
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.frame import RatingTable
from konsil.errors.message import TranslatableMessage, message


def unknown_raters_problem(
    analysis: Analysis, table: RatingTable, characteristics: Collection[str]
) -> TranslatableMessage | None:
    """Why an analysis cannot be made of ratings by unknown raters; None where it can.

    `characteristics`: those of raters that the protocol defines, some of which no rating has.
    """
    if table.has_unknown_raters(analysis.raters):
        columns = [*analysis.by, *analysis.where, analysis.compare]
        absent = {*characteristics}.difference(table.frame.columns)
        of_raters = {"rater", RATER_PAIR, *absent, *table.of_raters}
        column = next((c for c in columns if c in of_raters), None)
        if column is not None:
            return message(
                "the raters are unknown, and {column} is a column of raters",
                message_id="unknown_raters.column",
                column=repr(column),
            )
        if analysis.cluster == "rater":
            return message(
                "the raters are unknown and cannot be the clusters",
                message_id="unknown_raters.cluster",
            )
        if _follows_raters(analysis):
            return message(
                "the raters are unknown, and {statistic} needs to know which ratings are of the"
                " same rater",
                message_id="unknown_raters.statistic",
                statistic=repr(analysis.statistic),
            )
    panel = analysis.against or ""
    if leaves_one_out(analysis) and table.has_unknown_raters(panel):
        return message(
            "the raters of {panel} are unknown and cannot be omitted one at a time",
            message_id="unknown_raters.against",
            panel=repr(panel),
        )
    return None


def _follows_raters(analysis: Analysis) -> bool:
    """Whether the statistic uses which ratings of different subjects are of one rater."""
    entry = statistic_of(analysis.statistic)
    if entry.family == "designs" or analysis.statistic == "self_agreement":
        return True
    if analysis.against == "rest":
        return True
    if analysis.statistic in AGREEMENT:
        return needs_raters(analysis.statistic)
    return entry.needs_complete


def about_items(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows without intervals that claim to be about other raters, and without their number."""
    for row in rows:
        if row.kind != "companion" or row.estimate.raters != "like these":
            yield replace(row, n_raters=0)
