"""Influence of single raters, items or characteristics: estimates without each value in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import TranslatableMessage, listed, message
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.running.sensitivity.omission_rules import (
    BLINDED_CHARACTERISTICS,
    OWN_COLUMNS,
)
from konsil.analysis.table.encoding import select
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError
from konsil.records.ordering import natural
from konsil.stats.engine.contract import Estimate

MOST_NAMED = 5
"""Values without which an estimate is undefined that a note names; more are counted."""

Compute = Callable[[Context, RatingTable], Iterable[Row]]
"""An analysis and ratings -> its rows."""
_Group = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Omissions:
    """One estimate again without each value of a column in turn."""

    column: str
    """The column."""
    value: float
    """The estimate from all ratings."""
    values_without: Mapping[str, float]
    """Omitted value -> the estimate without it; nan where that is undefined."""

    @property
    def defined(self) -> dict[str, float]:
        """Those that are defined."""
        return {name: v for name, v in self.values_without.items() if math.isfinite(v)}

    @property
    def largest(self) -> str:
        """The value without which the estimate differs most from the one with all ratings.

        Of several the first in the order of the values; empty where no estimate changes.

        >>> Omissions("rater", 0.5, {"a": 0.5, "b": 0.4, "c": 0.6}).largest
        'b'
        """
        changes = {name: abs(v - self.value) for name, v in self.defined.items()}
        most = max(changes.values(), default=0.0)
        return next((n for n, c in changes.items() if most > 0 and math.isclose(c, most)), "")


def with_omissions(
    contexts: Sequence[Context],
    table_of: Callable[[Context], RatingTable],
    rows: Sequence[Row],
    compute: Compute,
) -> list[Row]:
    """The rows; after each estimate of an analysis with `leave_out` its range over the omissions.

    For each column of `leave_out`, the whole analysis is computed again without the ratings of one
    value of the column, for all values in turn: weights, majorities and pairs of raters are those
    of the remaining ratings. Raters and their characteristics are omitted from the analysis' own
    panel alone, items from all panels. The range is from the lowest to the highest of these estimates. It has
    no level: it is no confidence interval, and tests nothing. Undefined with fewer than two values,
    and where no omission changes the estimate; omissions without which the estimate is undefined
    are named. The estimates are those of a jackknife (Efron and Stein 1981). While the study is
    blinded, characteristics of raters are withheld for panels with models (`is_withheld`).
    """
    ranges: dict[tuple[str, _Group], list[Row]] = {}
    for context in contexts:
        for column in context.analysis.leave_out:
            for row in _range_rows(context, table_of(context), rows, column, compute):
                ranges.setdefault((row.analysis, _group(row)), []).append(row)
    if not ranges:
        return list(rows)
    out: list[Row] = []
    waiting: list[Row] = []
    for row in rows:
        # Behind the other intervals of the same estimate, so that all of them are one line.
        if waiting and (row.kind != "companion" or _group(row) != _group(waiting[0])):
            out += waiting
            waiting = []
        out.append(row)
        if row.kind == "estimate" and not row.detail:
            waiting = ranges.get((row.analysis, _group(row)), [])
    return out + waiting


def _range_rows(
    context: Context,
    table: RatingTable,
    rows: Sequence[Row],
    column: str,
    compute: Compute,
) -> Iterator[Row]:
    estimates = [
        r
        for r in rows
        if r.analysis == context.analysis.name and r.kind == "estimate" and not r.detail
    ]
    if is_withheld(context, table, column):
        yield from (_withheld_row(r, column) for r in estimates if math.isfinite(r.estimate.value))
        return
    without = _estimates_without(context, table, column, compute)
    for row in estimates:
        if not math.isfinite(row.estimate.value):
            continue
        values = {name: by_group.get(_group(row), math.nan) for name, by_group in without.items()}
        yield _range_row(row, Omissions(column, row.estimate.value, values))


def is_withheld(context: Context, table: RatingTable, column: str) -> bool:
    """Whether omissions of a column would tell which model a blinded judge is.

    Estimates without each value of a characteristic are those without its judges, whose codes
    `leave_out = ["rater"]` or a `where` names.
    """
    is_of_raters = column != "rater" and column in {*table.of_raters, *BLINDED_CHARACTERISTICS}
    return context.is_blinded and is_of_raters and table.has_models(context.analysis.raters)


def _estimates_without(
    context: Context, table: RatingTable, column: str, compute: Compute
) -> dict[str, dict[_Group, float]]:
    """Omitted value -> the analysis' estimates without it, by their groups."""
    analysis = context.analysis
    # Estimates alone: without differences, tests and intervals.
    plain = replace(
        context,
        analysis=replace(analysis, leave_out=(), compare="", test="none", margin=None),
        resampling=replace(context.resampling, draws=_draws(analysis)),
    )
    relevant = _relevant(table, analysis)
    return {
        value: _by_group(plain, relevant, column, value, compute)
        for value in omitted_values(analysis, table, column)
    }


def _draws(analysis: Analysis) -> int:
    """Resamples of an estimate whose interval is not used: as few as its computation takes."""
    is_of_votes = statistic_of(analysis.statistic).group in ("wins", "worths")
    return 0 if is_of_votes and analysis.mode == "valid" else 2


def omitted_values(analysis: Analysis, table: RatingTable, column: str) -> list[str]:
    """The values of a column among the ratings of an analysis, in order.

    Raises AnalysisError where the ratings have no such column.
    """
    named = replace(analysis, by=tuple(dict.fromkeys((*analysis.by, column))))
    values = select(table, named, analysis.raters).get_column(column).drop_nulls().unique()
    return sorted((str(value) for value in values.to_list() if value), key=natural)


def _relevant(table: RatingTable, analysis: Analysis) -> RatingTable:
    """The ratings on the analysis' criteria; all where a criterion is a composite score."""
    criteria = {analysis.criterion, *analysis.criteria}
    if criteria & {*table.composites}:
        return table
    return replace(table, frame=table.frame.filter(pl.col("criterion").is_in(sorted(criteria))))


def _by_group(
    context: Context, table: RatingTable, column: str, value: str, compute: Compute
) -> dict[_Group, float]:
    is_omitted = pl.col(column).fill_null("") == value
    if column in table.of_raters:
        # The panel in `against` and those who break ties have all their raters.
        is_omitted &= pl.col("panel").is_in(table.members(context.analysis.raters))
    try:
        rows = list(compute(context, replace(table, frame=table.frame.filter(~is_omitted))))
    except AnalysisError:
        return {}  # too few ratings are left for the analysis
    return {_group(r): r.estimate.value for r in rows if r.kind == "estimate" and not r.detail}


def _group(row: Row) -> _Group:
    return frozenset((column, str(value)) for column, value in row.group.items())


def _withheld_row(row: Row, column: str) -> Row:
    reason = message("withheld while the study is blinded", message_id="leave_out.withheld")
    return _companion(row, column, Estimate(row.estimate.value, reason=reason))


def _companion(
    row: Row, column: str, estimate: Estimate, notes: Iterable[TranslatableMessage] = ()
) -> Row:
    """An alternative to the estimate's interval, which tests nothing."""
    method = message(
        "leave-one-out range (no CI): lowest and highest estimate with one {cluster} omitted",
        message_id="method.leave_out",
        cluster=column_word(column),
    )
    return replace(
        row,
        estimate=replace(
            estimate, level=math.nan, n_ratings=row.estimate.n_ratings, method=method
        ),
        kind="companion",
        p_adjusted=math.nan,
        p_max_t=math.nan,
        warnings=tuple(notes),
        finding="",
    )


def _range_row(row: Row, omissions: Omissions) -> Row:
    """The range of the estimates as an alternative to the estimate's interval."""
    values = [*omissions.defined.values()]
    too_few = len(omissions.values_without) < 2 or not values
    is_constant = not too_few and not omissions.largest
    reason = ""
    if too_few:
        reason = message("fewer than two values to omit", message_id="leave_out.too_few")
    elif is_constant:
        reason = message("no omission changes the estimate", message_id="leave_out.constant")
    estimate = Estimate(
        row.estimate.value,
        math.nan if reason else min(values),
        math.nan if reason else max(values),
        n_clusters=len(omissions.values_without),
        reason=reason,
    )
    return _companion(row, omissions.column, estimate, _notes(omissions))


def _notes(omissions: Omissions) -> Iterator[TranslatableMessage]:
    """The most influential value, and those without which there is no estimate."""
    name, column = omissions.largest, column_word(omissions.column)
    if name:
        yield message(
            "With one {column} omitted ({n:,} {n|omission|omissions}), the estimate changes most"
            " without {name}, to {value:.3f}.",
            message_id="leave_out.largest",
            column=column,
            n=len(omissions.values_without),
            name=name,
            value=omissions.values_without[name],
        )
    missing = [n for n in omissions.values_without if n not in omissions.defined]
    if len(missing) > MOST_NAMED:
        yield message(
            "With one {column} omitted, not estimable in {n:,} of {all:,}"
            " {all|omission|omissions}.",
            message_id="leave_out.undefined_count",
            column=column,
            n=len(missing),
            all=len(omissions.values_without),
        )
    elif missing:
        yield message(
            "With one {column} omitted, not estimable without {names}.",
            message_id="leave_out.undefined",
            column=column,
            names=listed(missing),
        )


def column_word(column: str) -> str:
    """A column in words: those of every rating as a message, a characteristic by its name."""
    return message(column) if column in OWN_COLUMNS else column


def omission_sentences(analyses: Sequence[Analysis]) -> list[str]:
    """The methods sentence on omissions, with the analyses that have them; none without any.

    >>> omission_sentences([Analysis("means", "mean", "c", "experts", leave_out=("rater",))])
    ['In means, each rater was omitted in turn; the range of the estimates, which is no CI, and \
the most influential omission are reported.']
    """
    names_by_column: dict[str, list[str]] = {}
    for analysis in analyses:
        for column in analysis.leave_out:
            names_by_column.setdefault(column, []).append(analysis.name)
    return [
        message(
            "In {analyses}, each {column} was omitted in turn; the range of the estimates, which"
            " is no CI, and the most influential omission are reported.",
            message_id="methods.leave_out",
            analyses=listed(names),
            column=column_word(column),
        )
        for column, names in names_by_column.items()
    ]
