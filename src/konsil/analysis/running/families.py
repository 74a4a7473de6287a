"""What is computed for an analysis, and how the methods state it: one entry for each family."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import polars as pl

from konsil.analysis.agreement.agreement_methods import agreement_methods
from konsil.analysis.agreement.label_rows import label_rows
from konsil.analysis.cases.case_methods import case_methods
from konsil.analysis.cases.cases import case_rows
from konsil.analysis.designs.design_methods import design_methods
from konsil.analysis.designs.durations import length_groups, timed_groups
from konsil.analysis.designs.rater_cost import cost_rows
from konsil.analysis.designs.sentence_sampling import part_rows
from konsil.analysis.estimation.rows.group_differences import group_rows
from konsil.analysis.estimation.rows.result_rows import no_result
from konsil.analysis.judges.abstention_slope import caution_rows
from konsil.analysis.judges.blinding import blinding_rows
from konsil.analysis.judges.ensembles import ensemble_rows
from konsil.analysis.judges.injections import injection_rows
from konsil.analysis.judges.preference import preference_rows
from konsil.analysis.judges.risk import risk_rows
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.pairs.pairs import is_of_pairs, pair_statistics
from konsil.analysis.pairs.vote_methods import comparison_methods
from konsil.analysis.running.rows.unknown_raters import about_items, unknown_raters_problem
from konsil.analysis.table.derived import derived_columns
from konsil.analysis.table.encoding import empty_selection, select
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.errors import AnalysisError, UnknownRatersError
from konsil.errors.message import TranslatableMessage, listed, message

Rows = Callable[[Context, RatingTable, pl.DataFrame, Lineage], Iterator[Row]]
Methods = Callable[[Sequence[Analysis], Sequence[Row]], Sequence[str]]


def _no_sentences(_analyses: Sequence[Analysis], _rows: Sequence[Row]) -> Sequence[str]:
    """Of a family whose methods are stated with those of intervals and majorities."""
    return ()


_BY_GROUP: Mapping[str, Rows] = MappingProxyType(
    {
        "caution": lambda context, table, frame, _: caution_rows(context, table, frame),
        "ensembles": lambda context, table, frame, _: ensemble_rows(context, table, frame),
        "own": preference_rows,
        "confidence": lambda context, table, frame, _: risk_rows(context, table, frame),
        "blinding": lambda context, _table, frame, _: blinding_rows(context, frame),
        "injection": lambda context, table, _frame, _: injection_rows(context, table),
        "timed": lambda context, table, frame, _: group_rows(
            context, timed_groups(context, table, frame)
        ),
        "length": lambda context, table, frame, _: group_rows(
            context, length_groups(context, table, frame)
        ),
        "parts": lambda context, _table, frame, _: part_rows(context, frame),
        "costs": lambda context, table, frame, _: cost_rows(context, table, frame),
    }
)
"""Group of statistics of judges and of designs -> its computation."""


def _rows_of_group(
    context: Context, table: RatingTable, frame: pl.DataFrame, lineage: Lineage
) -> Iterator[Row]:
    """The rows of an analysis of judges or of designs; `frame` has its ratings."""
    group = statistic_of(context.analysis.statistic).group
    return _BY_GROUP[group](context, table, frame, lineage)


@dataclass(frozen=True, slots=True)
class Family:
    """What is computed for the statistics of one family, and how the methods state it.

    Their names, words, keys and limits are in the catalogue; the rules between several settings in
    `konsil.analysis.running.rules`.
    """

    rows: Rows
    """An analysis, all ratings, its ratings and the models' families -> its rows."""
    methods: Methods = _no_sentences
    """All analyses and all rows -> sentences on those of the family; none where there are none."""


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "agreement": Family(label_rows, lambda analyses, _: agreement_methods(analyses)),
        "shares": Family(label_rows),
        "judges": Family(_rows_of_group),
        "pairs": Family(pair_statistics, comparison_methods),
        "cases": Family(case_rows, case_methods),
        "designs": Family(_rows_of_group, lambda analyses, _: design_methods(analyses)),
    }
)
"""Family -> its computation, in the order of the methods' sentences."""


def rows_of(context: Context, table: RatingTable, lineage: Lineage) -> Iterator[Row]:
    """The rows of an analysis; one row with the reason where its subject has no rating."""
    analysis = context.analysis
    entry = statistic_of(analysis.statistic)
    name = "pairs" if is_of_pairs(context) else entry.family
    if name not in FAMILIES:
        raise AnalysisError(
            f"{analysis.name}: no computation is defined for the statistic {analysis.statistic!r}"
        )
    rows = FAMILIES[name].rows
    if not entry.is_of_ratings:
        # Pairs of control tasks are in no table of ratings, nor is their kind one of its columns.
        yield from rows(context, table, table.frame.clear(), lineage)
        return
    problem = unknown_raters_problem(analysis, table, context.characteristics)
    if problem is not None:
        raise UnknownRatersError(problem)
    frame = select(table, analysis, analysis.raters)
    if frame.height == 0:
        yield no_result(context, empty_selection(table, analysis, analysis.raters))
        return
    notes = _ungrouped(table, analysis, frame.height)
    computed = rows(context, table, frame, lineage)
    for row in computed if context.has_known_raters else about_items(computed):
        is_noted = notes and row.kind != "companion"
        yield replace(row, warnings=(*row.warnings, *notes)) if is_noted else row


def _ungrouped(
    table: RatingTable, analysis: Analysis, n_selected: int
) -> tuple[TranslatableMessage, ...]:
    """A note on the ratings that are in no group of a derived column, if any.

    `n_selected`: the number of ratings that the analysis selects.
    """
    derived = derived_columns(table, analysis.by)
    if not derived:
        return ()
    by = tuple(column for column in analysis.by if column not in derived)
    n_all = select(table, replace(analysis, by=by), analysis.raters).height
    if n_all == n_selected:
        return ()
    return (
        message(
            "{n:,} of {all:,} {all|rating|ratings} {n|is|are} in no group of {columns} and"
            " {n|is|are} excluded.",
            message_id="selection.ungrouped",
            n=n_all - n_selected,
            all=n_all,
            columns=listed([repr(column) for column in derived]),
        ),
    )
