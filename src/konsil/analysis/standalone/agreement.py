"""Agreement statistics of any table of ratings, without a study: what `konsil agreement` and konsil.agreement give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import polars as pl

from konsil.analysis.agreement.agreement_statistics import PairWeights
from konsil.analysis.estimation.own_weights import own_weights
from konsil.analysis.model.spec import Resampling
from konsil.analysis.standalone.agreement_groups import common_scale, compare_tables
from konsil.analysis.standalone.agreement_request import Request, check_request
from konsil.analysis.standalone.agreement_result import Agreement
from konsil.analysis.standalone.table_agreement import estimate_table
from konsil.analysis.tabular.agreement_options import Layout, Level, TableOptions, composed
from konsil.analysis.tabular.dataframes import lone_index, to_polars
from konsil.analysis.tabular.ratings_table import Table, as_text, read
from konsil.analysis.tabular.slices import Part, Slices, as_values, parts
from konsil.analysis.tabular.table_layout import is_long, is_role, with_recognised_columns
from konsil.errors import AnalysisError
from konsil.stats.agreement.registry import STATISTICS


def agreement(
    frame: object,
    *,
    layout: Layout | None = None,
    unit: str | None = None,
    rater: str | Sequence[str] | None = None,
    label: str | None = None,
    cluster: str | None = None,
    level: Level = "nominal",
    labels: Sequence[str | float] = (),
    abstain: str | None = None,
    missing: Sequence[str] = ("",),
    split: str = "",
    statistics: Sequence[str] = (),
    weights: str | Mapping[str, Mapping[str, float]] = "",
    pair_weights: PairWeights = "alike",
    pairs: bool = False,
    where: Mapping[str, str | Sequence[str]] | None = None,
    by: str | None = None,
    compare: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Agreement:
    """Agreement statistics of a table of ratings, with intervals that respect clusters.

    `frame` is a Polars or pandas data frame. Layout wide: one row a unit, one column a rater, empty
    cells not rated. Long: one row a rating, with columns `unit`, `rater` and `label`. Counts: one
    row a unit, one column a label, with the number of raters who gave it. Lists: the column `label`
    holds all labels of a unit, as lists or with the sign `split` between them. Units of one
    `cluster` are resampled together. `labels` declares the scale in order; without it the observed
    labels are taken. An `abstain` label is not a value.

    Which statistics are given depends on `level`; `statistics` names others. `weights` are those of
    partial agreement, by name or as a table label -> label -> weight; `pair_weights` "units" weighs
    pairs of raters by the units they share; `pairs` adds each pair by itself. `where` keeps the
    rows with certain values of columns; `by` gives one result for each value of a column in
    `groups`; `compare` does so for a column with two values and adds their differences in
    `comparison`.

    Undefined statistics are nan with a reason. Each interval's method is named; `companions` holds
    the same numbers with other intervals: linearised ones, textbook standard errors of independent
    units, and the F intervals of ICC.

    >>> import polars as pl
    >>> table = pl.DataFrame({"ann": list("aabbabab"), "ben": list("aabbabba")})
    >>> result = agreement(table, labels=["a", "b"], resamples=200)
    >>> round(result["cohen_kappa"].value, 3)
    0.5
    """
    if any(isinstance(words, str) for words in (labels, missing, statistics)):
        raise AnalysisError("labels, missing and statistics: expected a list, got one text")
    if layout not in {None, *get_args(Layout)}:
        known = ", ".join(map(repr, get_args(Layout)))
        raise AnalysisError(
            f"layout {layout!r} is not one of {known}; leave it out to have it guessed"
        )
    chosen = (rater,) if isinstance(rater, str) else tuple(rater or ())
    words = tuple(f"{v:g}" if isinstance(v, float) else str(v) for v in labels)
    slices = Slices(as_values(where), by, compare)
    index = lone_index(frame)
    if unit is None and index is not None and not is_role(index):
        unit = index if index not in {*chosen, label, cluster, *slices.columns} else None
    asked = TableOptions(
        layout, unit, chosen, label, cluster, level, words, abstain, tuple(missing), split=split
    )
    wanted = [name for name in (unit, label, cluster, *chosen, *slices.columns) if name is not None]
    if not isinstance(resamples, int) or resamples < 100:
        raise AnalysisError(f"resamples: expected at least 100, got {resamples}")
    chosen_weights = weights if isinstance(weights, str) else own_weights(weights)
    request = Request(
        tuple(statistics),
        chosen_weights,
        pair_weights,
        pairs,
        slices,
        Resampling(resamples, confidence),
        seed,
    )
    return from_asked(to_polars(frame, wanted), asked, request)


def from_asked(frame: pl.DataFrame, asked: TableOptions, request: Request) -> Agreement:
    """The same, from a frame, how it is to be read and what is asked of it."""
    check_request(asked, request)
    warnings: list[str] = []
    asked, request = composed(asked), replace(request, slices=composed(request.slices))
    words = as_text(frame, asked.name, lists=() if asked.label is None else (asked.label,))
    asked = with_recognised_columns(words, asked, sorted(request.slices.columns), warnings)
    found = parts(words, request.slices, asked.name, warnings)
    asked_of = [_part_options(part, asked, request.slices) for part in found]
    if request.slices.group is None:
        table = read(*asked_of[0])
        return _with(estimate_table(table, asked_of[0][1], request), warnings)
    tables = [_named_errors(part, *source) for part, source in zip(found, asked_of, strict=True)]
    scale = common_scale(tables)
    if scale and not asked.labels and asked.layout != "counts":
        told = [table.warnings for table in tables]
        tables = [read(rows, replace(reading, labels=scale)) for rows, reading in asked_of]
        tables = [
            replace(t, warnings=tuple(dict.fromkeys(w))) for t, w in zip(tables, told, strict=True)
        ]
    groups = {
        part.name: estimate_table(table, asked, request)
        for part, table in zip(found, tables, strict=True)
    }
    comparison = None
    if request.slices.compare is not None:
        comparison = compare_tables(tables, tuple(groups), asked, request, warnings)
    first = next(iter(groups.values()))
    raters = None
    if all(table.has_raters for table in tables):
        raters = len({name for table in tables for name in table.sample.raters})
    return Agreement(
        n_units=len({name for table in tables for name in table.sample.units}),
        n_raters=raters,
        n_ratings=sum(group.n_ratings for group in groups.values()),
        n_abstained=sum(group.n_abstained for group in groups.values()),
        statistics=(),
        companions=(),
        warnings=tuple(warnings),
        labels=first.labels,
        level=asked.level,
        confidence=request.resampling.level,
        by=request.slices.group,
        groups=groups,
        comparison=comparison,
    )


def _part_options(
    part: Part, asked: TableOptions, slices: Slices
) -> tuple[pl.DataFrame, TableOptions]:
    """A part's rows without the columns that chose them, which are no raters of a wide table."""
    roles = {asked.unit, asked.label, asked.cluster, *asked.rater}
    drop = [] if is_long(part.frame, asked) else [c for c in slices.columns if c not in roles]
    return part.frame.drop(drop), replace(asked, rows=part.rows)


def _named_errors(part: Part, frame: pl.DataFrame, asked: TableOptions) -> Table:
    """Read one group; what cannot be read says of which group it is."""
    return read(frame, replace(asked, name=f"{asked.name}, {part.name}"))


def _with(result: Agreement, warnings: Sequence[str]) -> Agreement:
    return replace(result, warnings=(*warnings, *result.warnings))


def describe(name: str) -> str:
    """A statistic's title for people."""
    return STATISTICS[name].title
