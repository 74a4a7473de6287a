"""Results without the numbers that would show how a comparison stands before its last analysis."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from konsil.analysis import Results, Row
from konsil.analysis.cases.case_rules import with_case_defaults
from konsil.analysis.model.catalogue.known import NAME_COLUMNS, statistic_of
from konsil.analysis.model.interval_methods import name_of
from konsil.analysis.model.results import CoverageRow
from konsil.analysis.running.methods.methods import statistical_methods
from konsil.errors.message import message
from konsil.study.data.blinding import pair_criteria
from konsil.study.definition.protocol import Study

SYSTEM_COLUMNS = {column for column, named in NAME_COLUMNS.items() if named == "system"}
"""Columns of groups whose values name systems."""
OF_ONE_ANSWER = {"answers", "task", "repeat_of"}
"""Columns whose values are of single answers, which systems gave."""
DIRECTED = ("labels", "effects", "crossover")
"""Groups of statistics that, of comparisons in the order of the codes, state who is preferred."""


def without_groups(
    results: Results, study: Study, compared: Collection[str], computed: Sequence[Row]
) -> Results:
    """The results without any number of one system, or of one of the groups that are compared.

    `compared` are the columns of these groups, `computed` the rows that the
    methods describe. The same holds for what compares them, and for the
    labels of comparisons: in the order of the codes they state which system is preferred. Counts by
    system are withheld as well, and alternative intervals are left out.
    """
    columns = SYSTEM_COLUMNS.union(OF_ONE_ANSWER, compared)
    pairs = pair_criteria(study.instruments)
    of_one = {
        a.name
        for a in study.analyses
        if a.where.keys() & columns
        or (a.arm is not None and "arm" in columns)
        or (
            a.criterion in pairs
            and a.statistic != "abstention"
            and statistic_of(a.statistic).group in DIRECTED
        )
    }
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for (panel, criterion, _, label), n in results.label_counts.items():
        if criterion not in pairs:
            counts[panel, criterion, "", label] += n

    def is_withheld(name: str, *groups: Mapping[str, str]) -> bool:
        return name in of_one or any(g.keys() & columns for g in groups)

    rows = tuple(
        withheld(r) if is_withheld(r.analysis, r.group, r.versus) else r
        for r in results.rows
        # Whether an estimate has a further interval depends on its numbers.
        if r.kind != "companion" or not is_withheld(r.analysis, r.group, r.versus)
    )
    return replace(
        results,
        rows=rows,
        methods=_methods_of(rows, computed, results, study),
        coverage=_pooled_coverage(results.coverage),
        outcomes=tuple(o for o in results.outcomes if o.column not in columns),
        label_counts=dict(counts),
        bounds=tuple(b for b in results.bounds if not is_withheld(b.analysis, b.group)),
        curves=tuple(c for c in results.curves if not is_withheld(c.analysis, c.group)),
        trade_offs=tuple(t for t in results.trade_offs if not is_withheld(t.analysis, t.group)),
        case_scores=(),
        is_withheld=True,
    )


def _methods_of(
    rows: Sequence[Row], computed: Sequence[Row], results: Results, study: Study
) -> tuple[str, ...]:
    """The methods of the shown rows: which intervals the others have depends on their numbers."""
    analyses = [with_case_defaults(analysis) for analysis in study.analyses]
    pairs = set(pair_criteria(study.instruments))
    before, after = (
        statistical_methods(analyses, some, pairs, seed=study.seed, resampling=study.resampling)
        for some in (computed, rows)
    )
    # One by one, as the plan's sentences may stand between them.
    of_withheld = set(before) - set(after)
    return (
        *(m for m in results.methods if m not in of_withheld),
        *(m for m in after if m not in before),
    )


def _pooled_coverage(rows: Sequence[CoverageRow]) -> tuple[CoverageRow, ...]:
    """The counts of all systems together: abstentions by system can be what is compared."""
    by_criterion: dict[tuple[str, str], list[CoverageRow]] = {}
    for row in rows:
        by_criterion.setdefault((row.panel, row.criterion), []).append(row)
    return tuple(
        CoverageRow(
            panel,
            criterion,
            "",
            _sum_of([row.expected for row in parts]),
            sum(row.rated for row in parts),
            sum(row.abstained for row in parts),
            sum(row.unreadable for row in parts),
            _sum_of([row.missing for row in parts]),
            dict(sum((Counter(row.excluded) for row in parts), Counter())),
        )
        for (panel, criterion), parts in by_criterion.items()
    )


def _sum_of(numbers: Sequence[int | None]) -> int | None:
    """The sum; None where one of the numbers is unknown."""
    known = [n for n in numbers if n is not None]
    return sum(known) if len(known) == len(numbers) else None


def withheld(row: Row) -> Row:
    """The row without its numbers and counts.

    Of its warnings it has the one that it is before the last analysis.
    """
    reason = message(
        "withheld while the study is blinded, until the last analysis",
        message_id="interim.withheld",
    )
    # Notes and findings name numbers.
    nan = math.nan
    nothing = replace(
        row.estimate, value=nan, low=nan, high=nan, se=nan, p=nan, method="", reason=reason
    )
    nothing = replace(nothing, n_clusters=0, n_ratings=0, n_undefined=0)
    return replace(
        row,
        estimate=nothing,
        # Abstentions and missing ratings by system are the difference of the counts by system.
        n_units=0,
        n_units_versus=0,
        n_raters=0,
        n_undefined_pairs=0,
        is_withheld=True,
        p_adjusted=nan,
        p_max_t=nan,
        commonest=nan,
        warnings=tuple(w for w in row.warnings if name_of(w) == "interim.early_row"),
        finding="",
    )
