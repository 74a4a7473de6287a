"""Agreement statistics of any table of ratings, without a study.

`konsil agreement` and konsil.agreement return them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.estimation.own_weights import OwnWeights, own_weights
from konsil.analysis.recoding.rewritten import check_recode
from konsil.analysis.roles.questions.arguments import call_of
from konsil.analysis.roles.questions.spellings import renamed
from konsil.analysis.roles.reading import TableFile
from konsil.analysis.roles.recognition import Recognised, recognise
from konsil.analysis.standalone.agreement_choices import check_request, refuse_idle_weights
from konsil.analysis.standalone.agreement_groups import common_scales, compare_tables
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import Agreement
from konsil.analysis.standalone.sets_agreement import estimate_any
from konsil.analysis.tabular.agreement_options import TableOptions, composed
from konsil.analysis.tabular.dataframes import (
    PandasFrame,
    as_text,
    row_names,
    to_polars,
)
from konsil.analysis.tabular.declared import with_declared
from konsil.analysis.tabular.label_sets import label_words
from konsil.analysis.tabular.ratings_table import read
from konsil.analysis.tabular.reshaping import reshape
from konsil.analysis.tabular.scale import refuse_absent_abstention
from konsil.analysis.tabular.slices import Part, Slices, parts
from konsil.errors import UnclearTableError
from konsil.records.request import with_keywords
from konsil.stats.engine.parts import Compute, in_this_process


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
    labels are taken, or the categories of an ordered `Categorical` (pandas) or `Enum` (Polars). An
    `abstain` label is not a value. `recode` reads labels as others, such as {"Yes": "yes"};
    `repeat` is what counts where a rater has several labels for a unit: the "first" or the "last",
    or their "sum", "mean" or "max", as for rows that are an error each.

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
    table = to_polars(frame)
    request = with_declared(frame, table, request)
    names = row_names(frame)
    file = TableFile(line=lambda row: str(names[row]), place="row")
    try:
        return estimate_agreement(table, request, file)
    except UnclearTableError as error:
        raise error.with_call(call_of("agreement", request, error.arguments)) from None


def estimate_agreement(
    frame: pl.DataFrame,
    request: AgreementRequest,
    file: TableFile | None = None,
    compute: Compute = in_this_process,
) -> Agreement:
    """Agreement statistics of a frame; `file` has its lines and its name in errors.

    `compute` computes the statistics; where it does changes no result.
    """
    check_request(request)
    if not isinstance(request.weights, str | OwnWeights):
        request = replace(request, weights=own_weights(request.weights))
    options = composed(request.table_options(file))
    stated = composed(request.stated_roles())
    words = as_text(frame, options.name, lists=frame.columns)
    slices = composed(request.slices)
    if slices.columns and slices.columns <= {*words.columns}:
        # Wrong conditions and groups are refused before the columns' roles are asked for.
        parts(words, slices, options.name, [])
    purpose = options.purpose("ratings", has_rule=bool(options.repeat))
    recognised = recognise(words, stated, purpose)
    return estimate_recognised(words, recognised, request, options, compute)


def estimate_recognised(
    words: pl.DataFrame,
    recognised: Recognised,
    request: AgreementRequest,
    options: TableOptions,
    compute: Compute = in_this_process,
) -> Agreement:
    """Agreement statistics of a table of words whose columns have their roles."""
    warnings: list[str] = []
    words, recode = renamed(words, recognised.reading, options.recode)
    options = replace(options, recode=recode)
    table = reshape(words, recognised.reading, options, composed(request.slices))
    if options.recode:
        check_recode(label_words(table.frame, table.options), options.recode)
    groups = parts(table.frame, table.slices, options.name, warnings)
    result = _estimate_groups(groups, table.options, table.slices, request, warnings, compute)
    return replace(result, reading=recognised.statement(result.n_units))


def _estimate_groups(
    groups: Sequence[Part],
    options: TableOptions,
    slices: Slices,
    request: AgreementRequest,
    warnings: list[str],
    compute: Compute,
) -> Agreement:
    """Agreement statistics of groups of a table, or of the single group of all its rows."""
    if slices.group is None:
        table = read(groups[0].frame, options)
        refuse_idle_weights([table], options, request)
        refuse_absent_abstention(table.n_abstained, table.labels.names, options, slices)
        return _with(estimate_any(table, options, request, compute), warnings)
    # Errors name the group.
    tables = [read(g.frame, replace(options, name=f"{options.name}, {g.name}")) for g in groups]
    if not options.labels and options.layout != "counts":
        table_warnings = [table.warnings for table in tables]
        scales = common_scales(tables, slices.has_criteria)
        tables = [
            table
            if slices.has_criteria and len(scale) == len(table.labels.names)
            else read(group.frame, replace(options, labels=scale))
            for group, table, scale in zip(groups, tables, scales, strict=True)
        ]
        tables = [
            replace(t, warnings=tuple(dict.fromkeys(w)))
            for t, w in zip(tables, table_warnings, strict=True)
        ]
    refuse_idle_weights(tables, options, request)
    n_abstained = sum(table.n_abstained for table in tables)
    refuse_absent_abstention(n_abstained, tables[0].labels.names, options, slices)
    results = {
        group.name: estimate_any(table, options, request, compute)
        for group, table in zip(groups, tables, strict=True)
    }
    comparison = None
    if slices.compare is not None:
        comparison = compare_tables(tables, tuple(results), options, request, warnings)
    first = next(iter(results.values()))
    raters = None
    if all(table.has_raters for table in tables):
        raters = len({name for table in tables for name in table.sample.raters})
    return Agreement(
        n_units=len({name for table in tables for name in table.sample.units}),
        n_raters=raters,
        n_ratings=sum(group.n_ratings for group in results.values()),
        n_abstained=n_abstained,
        statistics=(),
        companions=(),
        warnings=tuple(warnings),
        labels=first.labels,
        level=options.level,
        confidence=request.confidence,
        by=slices.group,
        groups=results,
        comparison=comparison,
    )


def _with(result: Agreement, warnings: Sequence[str]) -> Agreement:
    return replace(result, warnings=(*warnings, *result.warnings))
