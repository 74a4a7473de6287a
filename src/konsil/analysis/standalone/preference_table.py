"""Preference in any table of comparisons: `konsil preference` and konsil.preference.

No study is needed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import polars as pl

from konsil.analysis.model.catalogue.limits import Mode
from konsil.analysis.model.context import Context
from konsil.analysis.model.notebook import Dot, ShownResult, dot_plot, html_table, interval_text
from konsil.analysis.pairs.pairwise import places, statistic_of
from konsil.analysis.roles.candidates.axes import axis_columns
from konsil.analysis.roles.proof import sample
from konsil.analysis.roles.questions.arguments import call_of
from konsil.analysis.roles.reading import StatedRoles, TableFile
from konsil.analysis.roles.recognition import Recognised, recognise, refusal_of_axis
from konsil.analysis.standalone.group_preferences import compared
from konsil.analysis.standalone.preference_request import PreferenceRequest, check_request
from konsil.analysis.standalone.ranking_summary import (
    MATRIX,
    context_of,
    mean_preferences,
    position,
    standing,
    warnings_of,
    worths_of,
)
from konsil.analysis.tabular.agreement_options import composed
from konsil.analysis.tabular.coded_votes import (
    comparable,
    of_each_rater,
    used,
    with_sides_as_shown,
)
from konsil.analysis.tabular.dataframes import (
    PandasFrame,
    as_text,
    to_polars,
    with_composed_names,
)
from konsil.analysis.tabular.slices import parts
from konsil.analysis.tabular.votes_options import VotesOptions, by_reading
from konsil.analysis.tabular.votes_table import (
    Comparisons,
    read_comparisons,
    with_common_items,
)
from konsil.errors import AnalysisError, SourceError, UnclearTableError, nearest, option
from konsil.errors.message import message
from konsil.records.digits import written
from konsil.records.request import with_keywords
from konsil.stats.pairs.preference import preferences
from konsil.stats.pairs.votes import clusterings
from konsil.stats.pairs.wins import head_to_head
from konsil.stats.pairs.worth_designs import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class HeadToHead(ShownResult):
    """Who is preferred to whom in one table of comparisons; plain data, undefined is None."""

    systems: tuple[str, ...]
    """The systems, sorted."""
    n_comparisons: int
    """Comparisons with an outcome."""
    n_items: int
    """Items compared on."""
    n_raters: int | None
    """Raters who compared; None where no rater is known."""
    win_difference: tuple[dict[str, Any], ...]
    """One entry a system: wins minus losses against the others, every rival with the same
    weight."""
    win_rate: tuple[dict[str, Any], ...]
    """One entry for each ordered pair of systems: the share of their comparisons that `system` won
    against `rival`."""
    davidson: dict[str, Any]
    """Worths by Davidson's model, ties included."""
    bradley_terry: dict[str, Any]
    """Worths by Bradley and Terry's model."""
    position: dict[str, Any]
    """How much more often the first column's system won: position bias, if it was shown first."""
    warnings: tuple[str, ...]
    """What a reader must know."""
    n_missing: int = 0
    """Rows without an outcome."""
    mode: Mode = "valid"
    """What holds, or what many papers compute."""
    confidence: float = 0.95
    """The intervals' nominal coverage."""
    by: str = ""
    """The column whose values are the groups; empty for the whole table."""
    groups: Mapping[str, HeadToHead] = field(default_factory=dict)
    """Each group's result; the numbers of the whole are then not given."""
    comparison: dict[str, Any] | None = None
    """The differences of two groups' win differences, where requested."""
    mean_preference: tuple[dict[str, Any], ...] = ()
    """Where outcomes are numbers: for each ordered pair of systems the mean share of the preference
    that `system` has against `rival`."""
    orders: dict[str, Any] | None = None
    """Where each comparison was made in both orders: the share with the same outcome in both."""
    reading: str = ""
    """What the columns were taken for, in one line; empty where the user has stated it all."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as --json prints it.

        Each number has the number of items and raters that it is based on.
        """
        plain: dict[str, Any] = written(self._fields())
        return plain

    def _fields(self) -> dict[str, Any]:
        counts = {
            "systems": list(self.systems),
            "n_comparisons": self.n_comparisons,
            "n_items": self.n_items,
            "n_raters": self.n_raters,
            "n_missing": self.n_missing,
            "mode": self.mode,
            "confidence": self.confidence,
            **({"reading": self.reading} if self.reading else {}),
        }
        if self.groups:
            groups = [{"group": name, **result.to_dict()} for name, result in self.groups.items()]
            compared = {} if self.comparison is None else {"comparison": self.comparison}
            return {
                **counts,
                "by": self.by,
                "groups": groups,
                **compared,
                "warnings": list(self.warnings),
            }
        return {
            **counts,
            "win_difference": list(self.win_difference),
            "win_rate": list(self.win_rate),
            **({"mean_preference": list(self.mean_preference)} if self.mean_preference else {}),
            "davidson": self.davidson,
            "bradley_terry": self.bradley_terry,
            "position": self.position,
            **({} if self.orders is None else {"orders": self.orders}),
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """The JSON that --json prints."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)

    def to_polars(self) -> pl.DataFrame:
        """One row a system (of each group), as a Polars frame: its win difference and worths."""
        if self.groups:
            parts = [
                result.to_polars().insert_column(0, pl.lit(name).alias("group"))
                for name, result in self.groups.items()
            ]
            return pl.concat(parts, how="diagonal_relaxed")
        rows = []
        for difference, worth, other in zip(
            self.win_difference, self.davidson["worths"], self.bradley_terry["worths"], strict=True
        ):
            scalars = {k: v for k, v in difference.items() if not isinstance(v, dict)}
            rows.append(
                {**scalars, "davidson": worth["log_worth"], "bradley_terry": other["log_worth"]}
            )
        return pl.DataFrame(rows, infer_schema_length=None)

    def counts(self) -> str:
        """How much was compared, in words."""
        groups = f", {len(self.groups)} groups of {self.by}" if self.groups else ""
        return (
            f"{len(self.systems)} systems, {self.n_comparisons:,} comparisons of {self.n_items:,}"
            f" items{groups}"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: each system's win difference with its interval."""
        rows = [
            [*([name] if name else []), d["system"], interval_text(*_ends(d))]
            for name, result in self._parts()
            for d in result.win_difference
        ]
        head = ("system", f"win difference [{self.confidence:.0%} CI]")
        notes = [w for _, result in self._parts() for w in result.warnings]
        return html_table(
            self.counts(),
            ("group", *head) if self.groups else head,
            rows,
            dict.fromkeys([*self.warnings, *notes]),
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the systems' win differences with their intervals on matplotlib axes.

        Return the axes, to be changed. The line at 0 is no preference.
        """
        dots = [
            Dot(f"{d['system']}, {name}" if name else d["system"], *_ends(d))
            for name, result in self._parts()
            for d in result.win_difference
        ]
        label = f"win difference with {self.confidence:.0%} CI"
        return dot_plot(dots, ax, label=label, reference=0.0)

    def _parts(self) -> list[tuple[str, HeadToHead]]:
        return list(self.groups.items()) if self.groups else [("", self)]


def _ends(entry: Mapping[str, Any]) -> tuple[float, float, float]:
    """An entry's value and the limits of its interval; nan where undefined."""
    value, low, high = (
        math.nan if entry.get(key) is None else float(entry[key])
        for key in ("value", "low", "high")
    )
    return value, low, high


@with_keywords(PreferenceRequest)
def preference(
    frame: pl.DataFrame | pl.LazyFrame | PandasFrame, request: PreferenceRequest
) -> HeadToHead:
    """Win differences, win rates and worths of a table of comparisons.

    CIs are by item and rater. `frame` is a Polars or pandas data frame, one row a comparison
    (long): columns for item, rater, the two systems and the outcome, which is a winner (a system's
    name, "left", "a", a column's name), a tie, or a label of `scale`, given in order from the first
    system's side to the second's. `strict`: only the scale's outermost labels are wins. Instead of
    an outcome, a row may count wins in the columns `won` (by the first system), `lost` and `tied`.

    `where` selects the rows with certain values of columns; `by` gives one result for each value of
    a column in `groups`; `compare` does so for a column with two values and adds the differences of
    the win differences in `comparison`.

    Primary CI: two-way (items and raters). Also reported: the item-cluster bootstrap with the
    permutation test that exchanges the systems within whole items; in mode "paper" within single
    comparisons.

    >>> import polars as pl
    >>> votes = {"item": list("aabbccdd"), "rater": list("rsrsrsrs")}
    >>> votes |= {"first": ["x"] * 8, "second": ["y"] * 8}
    >>> table = pl.DataFrame({**votes, "winner": ["x", "x", "tie", "y", "x", "tie", "x", "x"]})
    >>> [round(row["value"], 3) for row in preference(table, resamples=200).win_difference]
    [0.5, -0.5]
    """
    check_request(request)
    try:
        return estimate_preference(to_polars(frame), request)
    except UnclearTableError as error:
        raise error.with_call(call_of("preference", request, error.arguments)) from None


def estimate_preference(
    frame: pl.DataFrame, request: PreferenceRequest, file: TableFile | None = None
) -> HeadToHead:
    """Preference in a frame; `file` has its lines and its name in errors."""
    check_request(request)
    options = composed(request.table_options(file))
    slices = composed(request.slices)
    if frame.height == 0:
        raise SourceError(f"{options.name}: has no rows; expected one row per comparison")
    rows = as_text(sample(with_composed_names(frame)), options.name, frame.columns)
    roles = Roles(request, options, rows, frame)
    return estimate_recognised(comparable(frame, roles.options, slices), roles, request)


def estimate_recognised(
    frame: pl.DataFrame, roles: Roles, request: PreferenceRequest
) -> HeadToHead:
    """Preference in a table of categories whose columns have their roles."""
    warnings: list[str] = []
    slices = composed(request.slices)
    rows, options = of_each_rater(used(frame, roles.options, slices), roles.options)
    rows = with_sides_as_shown(rows, options)
    tables = {
        part.name: read_comparisons(
            part.frame, part.rows, replace(options, name=_named(part.name, options))
        )
        for part in parts(rows, slices, options.name, warnings)
    }
    del rows
    del frame  # large, and not needed for the statistics
    return roles.stated_in(_estimate_comparisons(roles.proved(tables), request, warnings))


class Roles:
    """The roles of the columns of a table of comparisons, recognised by some of its rows."""

    def __init__(
        self,
        request: PreferenceRequest,
        options: VotesOptions,
        rows: pl.DataFrame,
        frame: pl.DataFrame | None = None,
    ) -> None:
        self.stated: StatedRoles = composed(request.stated_roles())
        column = (self.stated.swapped or "-").partition("=")[0].strip()
        if column not in ("-", *rows.columns):
            raise SourceError(
                f"{options.name}: {option('swapped', column)}: there is no such column;"
                f" {nearest(column, rows.columns)}"
            )
        self.purpose = options.purpose("comparisons", {"unit": "item"})
        self.recognised: Recognised = recognise(rows, self.stated, self.purpose, frame)
        reading = self.recognised.reading
        self.options = by_reading(options, reading, axis_columns(reading, self.stated))

    def proved(self, tables: Mapping[str, Comparisons]) -> Mapping[str, Comparisons]:
        """The tables of all rows, unless they contradict the roles recognised by some."""
        for table in tables.values():
            if table.axis is not None:
                raise refusal_of_axis(self.recognised, table.axis, self.stated, self.purpose)
        return tables

    def stated_in(self, result: HeadToHead) -> HeadToHead:
        """The result with the reading of its table."""
        return replace(result, reading=self.recognised.statement(result.n_items))


def _estimate_comparisons(
    by_group: Mapping[str, Comparisons], request: PreferenceRequest, notes: Sequence[str] = ()
) -> HeadToHead:
    """Preference in comparisons that are read; group -> its comparisons, all of them as ''.

    `notes` are the warnings of their reading.
    """
    warnings, slices = [*notes], composed(request.slices)
    by_group = with_common_items(by_group)
    tables = [*by_group.values()]
    if slices.group is None:
        (comparisons,) = tables
        result = _of_table(comparisons, request)
        return replace(result, warnings=(*warnings, *result.warnings))
    groups = {name: _of_table(table, request) for name, table in by_group.items()}
    comparison = None
    has_raters = all(table.has_raters for table in tables)
    if slices.compare is not None:
        context = context_of(request, has_raters=has_raters)
        comparison, notes = compared(context, tables, tuple(groups))
        warnings += notes
    n_items = sum(table.n_items for table in tables)
    if tables[0].items is not None:
        n_items = int(np.any([table.is_compared for table in tables], axis=0).sum())
    nothing: dict[str, Any] = {}
    return HeadToHead(
        systems=tuple(sorted({name for table in tables for name in table.systems})),
        n_comparisons=sum(group.n_comparisons for group in groups.values()),
        n_items=n_items,
        n_raters=len({name for table in tables for name in table.raters}) if has_raters else None,
        win_difference=(),
        win_rate=(),
        davidson=nothing,
        bradley_terry=nothing,
        position=nothing,
        warnings=tuple(warnings),
        n_missing=sum(group.n_missing for group in groups.values()),
        mode=request.mode,
        confidence=request.confidence,
        by=slices.group,
        groups=groups,
        comparison=comparison,
    )


def _named(group: str, options: VotesOptions) -> str:
    return f"{options.name}, {group}" if group else options.name


def _of_table(table: Comparisons, request: PreferenceRequest) -> HeadToHead:
    """All numbers of one table."""
    votes, k = table.votes, len(table.systems)
    if request.strict and votes.steps == 1:
        raise AnalysisError(
            f"{option('strict')}: expected labels in order with two or more on each side"
        )
    context = context_of(request, has_raters=table.has_raters)
    win_difference = context.analysis.statistic
    win_rate = win_difference.replace("difference", "rate")
    statistics = [
        statistic_of(name, k, votes.steps)
        for name in (win_difference, *([win_rate] if k <= MATRIX else []))
    ]
    counts = clusterings(votes)
    estimates = preferences(
        votes,
        statistics,
        draws=request.resamples,
        key=context.key,
        level=request.confidence,
        mode=request.mode,
        counts=counts,
    )
    parts = [
        tuple(
            {**keys, **standing(context, of_statistic, n, is_of_two="rival" in keys)}
            for n, keys in sorted(places(name, table.systems))
        )
        for name, of_statistic in zip((win_difference, win_rate), estimates, strict=False)
    ]
    threshold = votes.steps if request.strict else 1
    davidson, bradley_terry = (
        worths_of(context, table, model, request, counts) for model in get_args(Model)
    )
    independence = (
        [_INDEPENDENT]
        if request.mode == "valid" and table.n_items == votes.n_raters == votes.n_votes
        else []
    )
    return HeadToHead(
        systems=table.systems,
        n_comparisons=votes.n_votes,
        n_items=table.n_items,
        n_raters=votes.n_raters if table.has_raters else None,
        win_difference=parts[0],
        win_rate=parts[1] if len(parts) > 1 else (),
        davidson=davidson,
        bradley_terry=bradley_terry | {"ties": request.ties},
        position=_of_first_column(context, table, votes.steps, threshold),
        warnings=(
            *table.warnings,
            *independence,
            *warnings_of(context, table, estimates[0], (davidson, bradley_terry)),
        ),
        n_missing=table.n_missing,
        mode=request.mode,
        confidence=request.confidence,
        mean_preference=tuple(mean_preferences(context, table)),
        orders=None
        if table.n_consistent is None
        else {
            "statistic": "consistency",
            "value": table.n_consistent / votes.n_votes,
            "n_comparisons": votes.n_votes,
        },
    )


def _of_first_column(
    context: Context, table: Comparisons, steps: int, threshold: int
) -> dict[str, Any]:
    """The win difference of the first column's system; empty where that column has winners."""
    if not table.first_column:
        return {}
    of_sides = head_to_head(2, steps, "difference", threshold)
    return {**position(context, table.shown, of_sides), "column": table.first_column}


_INDEPENDENT = message(
    (
        "Each comparison has its own item and rater, so the votes are independent: report the"
        " permutation test (p, these raters; p_flip in JSON), which then also applies to other"
        " raters; the CI and its p value are approximations."
    ),
    message_id="comparisons.independent_votes",
)
