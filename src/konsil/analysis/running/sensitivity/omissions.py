"""Influence of single raters, items or characteristics: estimates without each value in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from konsil.analysis.estimation.raters.consensus_rules import needs_majority
from konsil.analysis.model.catalogue.known import LENGTH, statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.interval_methods import name_of, str_of
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.running.sensitivity.omission_rules import BLINDED_CHARACTERISTICS
from konsil.analysis.running.sensitivity.omission_words import omission_of, omitted
from konsil.analysis.table.encoding import select
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.records.numerals import natural
from konsil.stats.engine.contract import Estimate

MOST_NAMED = 5
"""Values that a note names; more are counted."""
NOISE = 1e-12
"""Changes of an estimate below this are those of its arithmetic."""

Compute = Callable[[Context, RatingTable], Iterable[Row]]
"""An analysis and ratings -> its rows."""
Group = frozenset[tuple[str, str]]
"""What identifies an estimate among those of its analysis."""


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
    def largest(self) -> tuple[str, ...]:
        """The values without which the estimate differs most from the one with all ratings.

        Several where they change it equally; none where no estimate changes.

        >>> Omissions("rater", 0.5, {"a": 0.5, "b": 0.4, "c": 0.6}).largest
        ('b', 'c')
        """
        changes = {name: abs(v - self.value) for name, v in self.defined.items()}
        most = max(changes.values(), default=0.0)
        if most <= NOISE:
            return ()
        return tuple(n for n, c in changes.items() if math.isclose(c, most, abs_tol=NOISE))

    @property
    def has_width(self) -> bool:
        """Whether the estimates differ from one another."""
        values = self.defined.values()
        return max(values, default=0.0) - min(values, default=0.0) > NOISE


def with_omissions(
    contexts: Sequence[Context],
    table_of: Callable[[Context], RatingTable],
    rows: Sequence[Row],
    without: Callable[[Context, str], Mapping[str, Mapping[Group, float]]],
) -> list[Row]:
    """The rows; after each estimate of an analysis with `leave_out` its range over the omissions.

    For each column of `leave_out`, the whole analysis is computed again without the ratings of one
    value of the column, for all values in turn: weights, majorities and pairs of raters are those
    of the remaining ratings. Raters and their characteristics are omitted from the analysis' own
    panel alone, items from all panels. The range is from the lowest to the highest of these
    estimates. It has no level: it is no confidence interval, and tests nothing. Undefined with
    fewer than two omissions that have an estimate, and where these are all equal; omissions without
    which the estimate is undefined are named. A range of majorities need not contain the estimate,
    which a note states: an odd number of raters becomes an even one. The estimates are those of a
    jackknife (Efron and Stein 1981). While the study is blinded, characteristics of raters are
    withheld for panels with models (`is_withheld`).

    `without` has the estimates of an analysis without each value of a column: those of
    `estimates_without`.
    """
    ranges: dict[tuple[str, Group], list[Row]] = {}
    for context in contexts:
        for column in context.analysis.leave_out:
            for row in _range_rows(context, table_of(context), rows, column, without):
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
    without: Callable[[Context, str], Mapping[str, Mapping[Group, float]]],
) -> Iterator[Row]:
    estimates = [
        r
        for r in rows
        if r.analysis == context.analysis.name and r.kind == "estimate" and not r.detail
    ]
    if is_withheld(context, table, column):
        yield from (_withheld_row(r, column) for r in estimates if math.isfinite(r.estimate.value))
        return
    groups_by_value = without(context, column)
    if statistic_of(context.analysis.statistic).group == "worths":
        of_all = {_group(r): r.estimate.value for r in estimates}
        groups_by_value = {
            name: _of_the_same_systems(by_group, of_all)
            for name, by_group in groups_by_value.items()
        }
    notes = _notes_on_majorities(context.analysis, table, column)
    for row in estimates:
        if not math.isfinite(row.estimate.value):
            continue
        values = {
            name: by_group.get(_group(row), math.nan) for name, by_group in groups_by_value.items()
        }
        yield _range_row(row, Omissions(column, row.estimate.value, values), notes)


def _of_the_same_systems(
    by_group: Mapping[Group, float], of_all: Mapping[Group, float]
) -> dict[Group, float]:
    """The strengths without something, undefined where other systems have one than with it.

    Strengths sum to zero over the systems with an estimate: those of other systems are no
    alternative.
    """
    estimated, with_all = _estimated(by_group), _estimated(of_all)
    return {
        group: value if estimated.get(_rest(group)) == with_all.get(_rest(group)) else math.nan
        for group, value in by_group.items()
    }


def _estimated(by_group: Mapping[Group, float]) -> dict[Group, set[Group]]:
    """The groups with a strength, by what they share."""
    estimated: dict[Group, set[Group]] = {}
    for group, value in by_group.items():
        if math.isfinite(value):
            estimated.setdefault(_rest(group), set()).add(group)
    return estimated


def _rest(group: Group) -> Group:
    return frozenset(pair for pair in group if pair[0] not in {"system", LENGTH})


def is_withheld(context: Context, table: RatingTable, column: str) -> bool:
    """Whether omissions of a column would tell which model a blinded judge is.

    Estimates without each value of a characteristic are those without its judges, whose codes
    `leave_out = ["rater"]` or a `where` names.
    """
    is_of_raters = column != "rater" and column in {*table.of_raters, *BLINDED_CHARACTERISTICS}
    return context.is_blinded and is_of_raters and table.has_models(context.analysis.raters)


def estimates_without(
    context: Context,
    table: RatingTable,
    column: str,
    values: Iterable[str],
    compute: Compute,
) -> dict[str, dict[Group, float]]:
    """Omitted value -> the analysis' estimates without it, by their groups.

    Each is computed by itself: of which other values estimates are made plays no part.
    """
    analysis = context.analysis
    # Estimates alone: without differences, tests and intervals.
    plain = replace(
        context,
        analysis=replace(analysis, leave_out=(), compare="", test="none", margin=None),
        resampling=replace(context.resampling, draws=_draws(analysis)),
    )
    relevant = _relevant(table, analysis)
    return {value: _by_group(plain, relevant, column, value, compute) for value in values}


def _draws(analysis: Analysis) -> int:
    """Resamples of an estimate whose interval is not used: as few as its computation takes."""
    is_of_votes = statistic_of(analysis.statistic).group in ("wins", "worths")
    return 0 if is_of_votes and analysis.mode == "valid" else 2


def omitted_values(analysis: Analysis, table: RatingTable, column: str) -> list[str]:
    """The values of a column among the ratings of an analysis, in order.

    Raises AnalysisError where the ratings have no such column.
    """
    # As a further group, since select drops every column that the analysis does not name.
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
) -> dict[Group, float]:
    is_omitted = pl.col(column).fill_null("") == value
    if column in table.of_raters:
        # The panel in `against` and those who break ties have all their raters.
        is_omitted &= pl.col("panel").is_in(table.members(context.analysis.raters))
    try:
        rows = list(compute(context, replace(table, frame=table.frame.filter(~is_omitted))))
    except AnalysisError:
        return {}  # too few ratings are left for the analysis
    return {_group(r): r.estimate.value for r in rows if r.kind == "estimate" and not r.detail}


def _group(row: Row) -> Group:
    return frozenset((column, str(value)) for column, value in row.group.items())


def _withheld_row(row: Row, column: str) -> Row:
    reason = message("withheld while the study is blinded", message_id="leave_out.withheld")
    return _companion(row, column, Estimate(row.estimate.value, reason=reason))


def _companion(
    row: Row, column: str, estimate: Estimate, notes: Iterable[TranslatableMessage] = ()
) -> Row:
    """An alternative to the estimate's interval, which tests nothing."""
    method = message(
        "leave-one-out range (no CI): lowest and highest estimate with one {what} omitted",
        message_id="method.leave_out",
        what=omission_of(column),
        cluster=column,  # of the column's heading
    )
    return replace(
        row,
        estimate=replace(estimate, level=math.nan, n_ratings=row.estimate.n_ratings, method=method),
        kind="companion",
        p_adjusted=math.nan,
        p_max_t=math.nan,
        warnings=tuple(notes),
        finding="",
    )


def _range_row(row: Row, omissions: Omissions, notes: Sequence[TranslatableMessage]) -> Row:
    """The range of the estimates as an alternative to the estimate's interval.

    `notes` are those on a range that has limits.
    """
    values = [*omissions.defined.values()]
    reason = _reason(omissions)
    estimate = Estimate(
        row.estimate.value,
        math.nan if reason else min(values),
        math.nan if reason else max(values),
        n_clusters=len(omissions.values_without),
        reason=reason,
    )
    return _companion(
        row, omissions.column, estimate, (*_notes(omissions), *(() if reason else notes))
    )


def _reason(omissions: Omissions) -> str:
    """Why there is no range; empty where there is one."""
    if len(omissions.values_without) < 2:
        return message("fewer than two values to omit", message_id="leave_out.too_few")
    if len(omissions.defined) < 2:
        return message(
            "fewer than two omissions have an estimate", message_id="leave_out.too_few_defined"
        )
    if not omissions.largest:
        return message("no omission changes the estimate", message_id="leave_out.constant")
    if not omissions.has_width:
        return message("all omissions change the estimate equally", message_id="leave_out.no_width")
    return ""


def _notes_on_majorities(
    analysis: Analysis, table: RatingTable, column: str
) -> tuple[TranslatableMessage, ...]:
    """That the majorities without a value are those of fewer raters; none without majorities."""
    # A panel in `against` keeps its raters.
    of_own_panel = needs_majority(analysis) and analysis.against in {None, "rest"}
    if not of_own_panel or column not in table.of_raters:
        return ()
    if column == "rater":
        return (
            message(
                "With one rater fewer, majorities rest on another number of raters; the range need"
                " not contain the estimate.",
                message_id="leave_out.majorities",
            ),
        )
    return (
        message(
            "With fewer raters, majorities rest on another number of raters; the range need not"
            " contain the estimate.",
            message_id="leave_out.majorities_of_some",
        ),
    )


def _notes(omissions: Omissions) -> Iterator[TranslatableMessage]:
    """The most influential values, and those without which there is no estimate."""
    if len(omissions.defined) > 1 and omissions.largest:
        yield _note_on_largest(omissions, omissions.largest)
    column = omitted(omissions.column)
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


def _note_on_largest(omissions: Omissions, largest: Sequence[str]) -> TranslatableMessage:
    """The most influential value with its estimate; of several, which are equal, the change."""
    column, n = omitted(omissions.column), len(omissions.values_without)
    first = omissions.values_without[largest[0]]
    if len(largest) == 1:
        return message(
            "With one {column} omitted ({n:,} {n|omission|omissions}), the estimate changes most"
            " without {name}, to {value:.3f}.",
            message_id="leave_out.largest",
            column=column,
            n=n,
            name=largest[0],
            value=first,
        )
    change = abs(first - omissions.value)
    if len(largest) <= MOST_NAMED:
        return message(
            "With one {column} omitted ({n:,} {n|omission|omissions}), the estimate changes most"
            " without {names}, each by {change:.3f}.",
            message_id="leave_out.largest_names",
            column=column,
            n=n,
            names=listed(largest),
            change=change,
        )
    return message(
        "With one {column} omitted ({n:,} {n|omission|omissions}), the estimate changes most, and"
        " equally, without {most:,} of them, each by {change:.3f}.",
        message_id="leave_out.largest_count",
        column=column,
        n=n,
        most=len(largest),
        change=change,
    )


def omission_sentences(analyses: Sequence[Analysis], rows: Sequence[Row]) -> list[str]:
    """The methods sentence on omissions, with the analyses that have a range; none without any."""
    with_range = {
        (row.analysis, str_of(row.estimate.method, "cluster"))
        for row in rows
        if name_of(row.estimate.method) == "method.leave_out" and math.isfinite(row.estimate.low)
    }
    names_by_column: dict[str, list[str]] = {}
    for analysis in analyses:
        for column in analysis.leave_out:
            if (analysis.name, column) in with_range:
                names_by_column.setdefault(column, []).append(analysis.name)
    return [
        message(
            "In {analyses}, each {column} was omitted in turn; the range of the estimates, which"
            " is no CI, and the most influential omission are reported.",
            message_id="methods.leave_out",
            analyses=listed(names),
            column=omitted(column),
        )
        for column, names in names_by_column.items()
    ]
