"""The rows of all analyses of a run, with what is known only once all of them are there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from konsil.analysis.estimation.rows.result_rows import cannot_be_made
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import TranslatableMessage
from konsil.analysis.model.rows import Row
from konsil.analysis.pairs.max_t import with_max_t
from konsil.analysis.running.enough_draws import is_stated, limited, too_few, with_further_draws
from konsil.analysis.running.families import rows_of
from konsil.analysis.running.rating_tables import RatingTables
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.running.sensitivity.omission_rules import majority_problems
from konsil.analysis.running.sensitivity.omissions import (
    is_withheld,
    omitted_values,
    with_omissions,
)
from konsil.analysis.table.lineage import Lineage
from konsil.errors import AnalysisError, NotRatedError
from konsil.stats.inference.multiplicity import holm


@dataclass(frozen=True)
class AllRows:
    """The rows of a run, and what became of its analyses."""

    rows: list[Row]
    """Of all analyses, in their order."""
    contexts: list[Context]
    """The analyses that could be estimated."""
    refused: list[str]
    """Why others could not, beside those whose subject nobody rated."""
    doubts: tuple[TranslatableMessage, ...]
    """Warnings of p values that the number of draws keeps large."""


def all_rows(
    contexts: Iterable[Context], tables: RatingTables, families: Lineage, settings: RunSettings
) -> AllRows:
    """The rows of every analysis, adjusted within the family of the prespecified ones."""
    rows: list[Row] = []
    estimated: list[Context] = []
    # Of each row: its analysis, and its place among the rows of that analysis.
    places: list[tuple[Context, int]] = []
    refused: list[str] = []
    for context in contexts:
        analysis, start = context.analysis, len(rows)
        columns = {*analysis.by, *analysis.where, analysis.compare, *analysis.options.columns}
        columns |= {*analysis.leave_out}
        try:
            for column in columns & {*tables.impossible}:
                raise AnalysisError(f"{analysis.name}: {tables.impossible[column]}")
            for problem in majority_problems(analysis, tables.of(analysis).of_raters):
                raise AnalysisError(f"{analysis.name}: {problem}")
            for column in analysis.leave_out:
                if is_withheld(context, tables.of(analysis), column):
                    continue
                omitted_values(analysis, tables.of(analysis), column)
            rows.extend(rows_of(context, tables.of(analysis), families))
        except AnalysisError as error:
            if settings.strict:
                raise
            # No ratings yet is the usual state of a running study, and no fault of the protocol to
            # report.
            if not isinstance(error, NotRatedError):
                refused.append(str(error))
            rows.append(cannot_be_made(context, str(error)))
            places.append((context, 0))
            continue
        estimated.append(context)
        places += [(context, n) for n in range(len(rows) - start)]
    # Holm first: whether an analysis needs more draws is a question of its adjusted p value.
    rows, doubts = _with_enough_draws(_adjusted(rows), places, tables, families, settings)
    rows = with_max_t(estimated, lambda context: tables.of(context.analysis), rows, families)
    rows = with_omissions(
        estimated,
        lambda context: tables.of(context.analysis),
        rows,
        lambda context, table: rows_of(context, table, families),
    )
    return AllRows(rows, estimated, refused, doubts)


def _with_enough_draws(
    rows: list[Row],
    places: Sequence[tuple[Context, int]],
    tables: RatingTables,
    families: Lineage,
    settings: RunSettings,
) -> tuple[list[Row], tuple[TranslatableMessage, ...]]:
    """Further draws for p values that the number of draws keeps large, or a warning.

    A warning where the number of draws is stated.
    """
    resampling = settings.resampling
    draws_by_row = limited(rows, resampling)
    if not draws_by_row or is_stated(resampling):
        return rows, too_few(draws_by_row, resampling)
    rows_by_analysis: dict[str, list[Row]] = {}

    def again(n: int, draws: int) -> Row:
        context, place = places[n]
        # Repeated once for all rows of the analysis, so that they still share their resamples.
        if context.analysis.name not in rows_by_analysis:
            more = replace(context, resampling=replace(resampling, draws=draws))
            rows_by_analysis[context.analysis.name] = list(
                rows_of(more, tables.of(context.analysis), families)
            )
        return rows_by_analysis[context.analysis.name][place]

    return _adjusted(with_further_draws(rows, draws_by_row, again)), ()


def _adjusted(rows: Sequence[Row]) -> list[Row]:
    """Holm's adjustment over the prespecified family: every prespecified number with a p value.

    Tukey's p values are adjusted for their own family already.
    """
    tested = (
        n for n, r in enumerate(rows) if r.kind != "companion" and math.isfinite(r.estimate.p)
    )
    family = [n for n in tested if rows[n].prespecified and rows[n].statistic != "tukey"]
    out = list(rows)
    if family:
        for n, p in zip(family, holm([rows[i].estimate.p for i in family]), strict=True):
            out[n] = replace(rows[n], p_adjusted=float(p))
    return out
