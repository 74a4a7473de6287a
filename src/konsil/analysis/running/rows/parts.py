"""Parts of a run of analyses, each computed by itself.

Every part draws from the study's key and from nothing else, so that its rows depend neither on the
process that computes them nor on the order of the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis.estimation.targets import with_effective_raters
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Resampling
from konsil.analysis.running.families import rows_of
from konsil.analysis.running.rating_tables import RatingTables
from konsil.analysis.running.sensitivity.omission_rules import majority_problems
from konsil.analysis.running.sensitivity.omissions import (
    Group,
    estimates_without,
    is_withheld,
    omitted_values,
)
from konsil.analysis.table.lineage import Lineage
from konsil.errors import AnalysisError
from konsil.errors.message import placed

_VALUES = 16
"""Omitted values of one part, of which each takes an estimate."""


@dataclass(frozen=True)
class RunData:
    """What the parts of a run have in common."""

    contexts: Sequence[Context]
    """All analyses; a part names one by its place."""
    tables: RatingTables
    """The ratings."""
    families: Lineage
    """Who is of whose family."""


@dataclass(frozen=True)
class Outcome:
    """What became of an analysis."""

    rows: tuple[Row, ...] = ()
    """Its rows."""
    refusal: AnalysisError | None = None
    """Why it cannot be made."""


def analysis_outcome(data: RunData, place: int) -> Outcome:
    """The rows of an analysis, or why it cannot be made."""
    context = data.contexts[place]
    analysis, table = context.analysis, data.tables.of(context.analysis)
    columns = {*analysis.by, *analysis.where, analysis.compare, *analysis.options.columns}
    columns |= {*analysis.leave_out}
    try:
        for column in columns & {*data.tables.impossible}:
            raise AnalysisError(placed(analysis.name, data.tables.impossible[column]))
        for problem in majority_problems(analysis, table.of_raters):
            raise AnalysisError(placed(analysis.name, problem))
        for column in analysis.leave_out:
            if not is_withheld(context, table, column):
                omitted_values(analysis, table, column)
        rows = rows_of(context, table, data.families)
        return Outcome(tuple(with_effective_raters(row, context.effective_raters) for row in rows))
    except AnalysisError as error:
        return Outcome(refusal=error)


@dataclass(frozen=True, slots=True)
class FurtherDraws:
    """An analysis again, with more draws."""

    place: int
    """The analysis."""
    resampling: Resampling
    """The number of draws."""


def rows_of_further_draws(data: RunData, part: FurtherDraws) -> tuple[Row, ...]:
    """The rows of an analysis with more draws of the same streams."""
    context = data.contexts[part.place]
    more = replace(context, resampling=part.resampling)
    return tuple(rows_of(more, data.tables.of(context.analysis), data.families))


@dataclass(frozen=True, slots=True)
class Omitted:
    """Some values of a column that an analysis is computed without, one at a time."""

    place: int
    """The analysis."""
    column: str
    """The column."""
    values: tuple[str, ...]
    """The values."""


def omission_parts(data: RunData, places: Sequence[int]) -> list[Omitted]:
    """All omissions of some analyses, in few values a part."""
    parts = []
    for place in places:
        context = data.contexts[place]
        table = data.tables.of(context.analysis)
        for column in context.analysis.leave_out:
            if is_withheld(context, table, column):
                continue
            values = tuple(omitted_values(context.analysis, table, column))
            parts += [
                Omitted(place, column, values[at : at + _VALUES])
                for at in range(0, len(values), _VALUES)
            ]
    return parts


def estimates_of_omissions(data: RunData, part: Omitted) -> Mapping[str, Mapping[Group, float]]:
    """Omitted value -> the analysis' estimates without it, by their groups."""
    context = data.contexts[part.place]
    return estimates_without(
        context,
        data.tables.of(context.analysis),
        part.column,
        part.values,
        lambda plain, table: rows_of(plain, table, data.families),
    )
