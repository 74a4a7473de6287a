"""Agreement statistics of any table of ratings, without a study.

`konsil agreement` and konsil.agreement return them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.estimation.own_weights import OwnWeights, own_weights
from konsil.analysis.standalone.agreement_choices import check_request
from konsil.analysis.standalone.agreement_groups import common_scale, compare_tables
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import Agreement
from konsil.analysis.standalone.table_agreement import estimate_table
from konsil.analysis.tabular.agreement_options import TableOptions, composed
from konsil.analysis.tabular.dataframes import PandasFrame, lone_index, to_polars
from konsil.analysis.tabular.ratings_table import Table, as_text, read
from konsil.analysis.tabular.slices import Part, Slices, parts
from konsil.analysis.tabular.table_layout import is_long, is_role, with_recognised_columns
from konsil.records.request import with_keywords
from konsil.stats.agreement.registry import STATISTICS


@with_keywords(AgreementRequest)
def agreement(
    frame: pl.DataFrame | pl.LazyFrame | PandasFrame, request: AgreementRequest
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
    check_request(request)
    index = lone_index(frame)
    if request.unit is None and index is not None and not is_role(index):
        request = replace(request, unit=None if index in request.columns else index)
    return estimate_agreement(to_polars(frame, request.columns), request)


def estimate_agreement(
    frame: pl.DataFrame, request: AgreementRequest, options: TableOptions | None = None
) -> Agreement:
    """Agreement statistics of a frame; `options` has its lines and its name in errors."""
    check_request(request)
    if not isinstance(request.weights, str | OwnWeights):
        request = replace(request, weights=own_weights(request.weights))
    warnings: list[str] = []
    options = composed(request.table_options() if options is None else options)
    slices = composed(request.slices)
    words = as_text(frame, options.name, lists=() if options.label is None else (options.label,))
    options = with_recognised_columns(words, options, sorted(slices.columns), warnings)
    table_parts = parts(words, slices, options.name, warnings)
    sources = [_part_options(part, options, slices) for part in table_parts]
    if slices.group is None:
        table = read(*sources[0])
        return _with(estimate_table(table, sources[0][1], request), warnings)
    tables = [
        _named_errors(part, *source) for part, source in zip(table_parts, sources, strict=True)
    ]
    scale = common_scale(tables)
    if scale and not options.labels and options.layout != "counts":
        table_warnings = [table.warnings for table in tables]
        tables = [read(rows, replace(reading, labels=scale)) for rows, reading in sources]
        tables = [
            replace(t, warnings=tuple(dict.fromkeys(w)))
            for t, w in zip(tables, table_warnings, strict=True)
        ]
    groups = {
        part.name: estimate_table(table, options, request)
        for part, table in zip(table_parts, tables, strict=True)
    }
    comparison = None
    if slices.compare is not None:
        comparison = compare_tables(tables, tuple(groups), options, request, warnings)
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
        level=options.level,
        confidence=request.confidence,
        by=slices.group,
        groups=groups,
        comparison=comparison,
    )


def _part_options(
    part: Part, options: TableOptions, slices: Slices
) -> tuple[pl.DataFrame, TableOptions]:
    """A part's rows without the columns that chose them, which are no raters of a wide table."""
    roles = {options.unit, options.label, options.cluster, *options.rater}
    drop = [] if is_long(part.frame, options) else [c for c in slices.columns if c not in roles]
    return part.frame.drop(drop), replace(options, rows=part.rows)


def _named_errors(part: Part, frame: pl.DataFrame, options: TableOptions) -> Table:
    """Read one group; errors name the group."""
    return read(frame, replace(options, name=f"{options.name}, {part.name}"))


def _with(result: Agreement, warnings: Sequence[str]) -> Agreement:
    return replace(result, warnings=(*warnings, *result.warnings))


def describe(name: str) -> str:
    """A statistic's title for people."""
    return STATISTICS[name].title
