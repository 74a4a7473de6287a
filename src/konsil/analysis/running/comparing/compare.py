"""Proportions, means and medians of the systems or groups of a table, with their differences.

`konsil compare` and konsil.compare return them. The table becomes a study in memory, and the
study's analyses are run.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from konsil.analysis.roles.questions.arguments import call_of
from konsil.analysis.roles.questions.spellings import renamed
from konsil.analysis.roles.reading import TableFile
from konsil.analysis.roles.recognition import recognise
from konsil.analysis.running.comparing.compare_request import CompareRequest
from konsil.analysis.running.comparing.compare_result import GroupComparison
from konsil.analysis.running.comparing.reference import against_reference
from konsil.analysis.running.comparing.table_ratings import table_ratings
from konsil.analysis.running.comparing.table_study import table_study
from konsil.analysis.running.run import run
from konsil.analysis.tabular.agreement_options import composed
from konsil.analysis.tabular.dataframes import (
    PandasFrame,
    as_text,
    row_names,
    to_polars,
)
from konsil.analysis.tabular.declared import with_declared
from konsil.analysis.tabular.scale import refuse_absent_abstention
from konsil.analysis.tabular.slices import parts
from konsil.errors import UnclearTableError
from konsil.errors.message import message
from konsil.records.request import with_keywords
from konsil.stats.engine.parts import Compute, in_this_process


@with_keywords(CompareRequest)
def compare(
    frame: pl.DataFrame | pl.LazyFrame | PandasFrame, request: CompareRequest
) -> GroupComparison:
    """Proportions, means and medians of systems or groups, and their differences with p values.

    `frame` is a Polars or pandas data frame of ratings: a row for each rating, with columns of the
    unit, the rater and the system; a column for each rater; or a column for each system. Without
    `labels`, the categories of an ordered `Categorical` (pandas) or `Enum` (Polars) are the scale,
    as in `agreement`. `by` is
    the column of the systems or groups. `rater="-"` states that raters are unknown, and `unit="-"`
    that each row is a unit.

    Two labels such as yes and no give proportions of the success; `success` names the labels that
    count as one. Numbers give means, standard deviations and medians. Differences are those of all
    pairs, or to the group `reference`; their p values are Holm-adjusted together. Groups with the
    same units are compared as paired; units of one `cluster` are resampled together. All numbers
    are those of a study with the same ratings.

    >>> import polars as pl
    >>> rows = [(f"q{n}", s, n % 3 > 0 or s == "b") for n in range(30) for s in ("a", "b")]
    >>> table = pl.DataFrame(rows, schema=["item", "system", "correct"], orient="row")
    >>> result = compare(table, resamples=200)
    >>> [(row.group["system"], round(row.estimate.value, 3)) for row in result.estimates]
    [('a', 0.667), ('b', 1.0)]
    >>> [round(row.estimate.value, 3) for row in result.differences]
    [-0.333]
    """
    table = to_polars(frame)
    request = with_declared(frame, table, request)
    names = row_names(frame)
    file = TableFile(line=lambda row: str(names[row]), place="row")
    try:
        return compare_groups(table, request, file)
    except UnclearTableError as error:
        raise error.with_call(call_of("compare", request, error.arguments)) from None


def compare_groups(
    frame: pl.DataFrame,
    request: CompareRequest,
    file: TableFile | None = None,
    compute: Compute = in_this_process,
) -> GroupComparison:
    """The comparison of a frame's groups; `file` has its lines and its name in errors."""
    warnings: list[str] = []
    options = composed(request.table_options(file))
    stated = composed(request.stated_roles())
    words = as_text(frame, options.name)
    slices = composed(request.slices)
    if slices.columns and slices.columns <= {*words.columns}:
        # Wrong conditions are refused before the columns' roles are asked for.
        parts(words, slices, options.name, [])
    purpose = options.purpose("groups", has_rule=bool(options.repeat))
    recognised = recognise(words, stated, purpose)
    words, recode = renamed(words, recognised.reading, options.recode)
    options = replace(options, recode=recode)
    ratings = table_ratings(
        words, recognised.reading, options, slices, warnings, is_level_stated=bool(request.level)
    )
    n_abstained = sum(criterion.abstained.height for criterion in ratings.criteria)
    words_used = (name for criterion in ratings.criteria for name in criterion.labels.names)
    refuse_absent_abstention(n_abstained, words_used, options, slices)
    study = table_study(ratings, composed(request), options.name)
    if len(study.groups) == 1:
        warnings.append(
            message(
                "{group} is the only group with ratings: its values are estimated, and there is no"
                " difference",
                message_id="warning.one_group",
                group=repr(study.groups[0]),
            )
        )
    results = run(study.analyses, study.data, study.settings, compute)
    rows = results.rows
    if request.reference is not None:
        rows = against_reference(rows, composed(request.reference))
    n_units = len(study.data.items)
    return GroupComparison(
        by=recognised.reading.group or "",
        groups=study.groups,
        criteria=study.criteria,
        rows=rows,
        n_units=n_units,
        n_raters=len(study.data.raters) if ratings.has_raters else None,
        n_ratings=sum(criterion.rated.height for criterion in ratings.criteria),
        n_abstained=n_abstained,
        confidence=request.confidence,
        reference=request.reference,
        warnings=(*warnings, *results.warnings, *results.refused),
        methods=results.methods,
        reading=recognised.statement(n_units),
    )
