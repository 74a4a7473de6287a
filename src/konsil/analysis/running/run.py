"""Run a study's analyses: groups, estimates and differences, then the family's adjusted p."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from konsil.analysis.cases.approval import trade_offs
from konsil.analysis.cases.case_rules import threshold_problems, with_case_defaults
from konsil.analysis.estimation.context import Context
from konsil.analysis.estimation.rows.result_rows import cannot_be_made
from konsil.analysis.estimation.targets import target_of, target_sentences, target_within
from konsil.analysis.judges.risk import risk_curves
from konsil.analysis.model.catalogue.known import AUDIT
from konsil.analysis.model.message import TranslatableMessage
from konsil.analysis.model.results import Results, Row
from konsil.analysis.model.spec import (
    Analysis,
    AsPublished,
    Derived,
    Exclusions,
    Inference,
    Resampling,
)
from konsil.analysis.pairs.max_t import with_max_t
from konsil.analysis.running.bounds import bounds_of
from konsil.analysis.running.duplicate_notes import Groups, with_duplicate_notes
from konsil.analysis.running.enough_draws import is_stated, limited, too_few, with_further_draws
from konsil.analysis.running.families import rows_of
from konsil.analysis.running.methods import methods
from konsil.analysis.running.rules import contradictions
from konsil.analysis.running.study_warnings import of_same_family, study_warnings
from konsil.analysis.table.coverage import coverage, label_counts, surplus
from konsil.analysis.table.derived import derived_values, with_derived
from konsil.analysis.table.frame import Data, RatingTable, rating_table
from konsil.analysis.table.lineage import Lineage, lineage
from konsil.analysis.table.model_provenance import imported, model_call_sentences, orders
from konsil.analysis.table.outcomes import missing, outcomes
from konsil.errors import AnalysisError, NotRatedError, nearest
from konsil.instrument import Criterion, Instrument
from konsil.records import System
from konsil.stats.engine.weights import Remembered, stream_key
from konsil.stats.inference.multiplicity import holm

_BY_DEFAULT = Inference()
"""The default where a protocol states no target of inference."""


def run(
    analyses: Sequence[Analysis],
    data: Data,
    *,
    instruments: Sequence[Instrument],
    seed: int,
    resampling: Resampling,
    exclusions: Exclusions,
    inference: Inference = _BY_DEFAULT,
    planned: bool = False,
    systems: Sequence[System] = (),
    derived: Sequence[Derived] = (),
    flag_families: bool = False,
    together: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    strict: bool = True,
    duplicates: Groups = (),
) -> Results:
    """All estimates, the coverage of the ratings, warnings and the methods paragraph.

    `planned`: whether the tasks come from a plan, so that missing ratings can be counted.
    `flag_families`: whether to warn of judges of a judged system's family. `together`: names for
    several panels as one. `strict`: whether an analysis that the ratings cannot give raises;
    otherwise its row states the reason, and the others are made. `duplicates`: groups of
    items with the same question and no decision.
    """
    table = rating_table(data, exclusions, instruments, together)
    table, impossible = _with_derived(table, derived, instruments, strict=strict)
    derived = [column for column in derived if column.name not in impossible]
    late = table
    if table.adjudicated.labels and any(a.adjudication == "after" for a in analyses):
        late = with_derived(
            rating_table(data, exclusions, instruments, together, after=True), derived, instruments
        )

    def table_of(context: Context) -> RatingTable:
        return late if context.analysis.adjudication == "after" else table

    families = lineage(systems, data.raters)
    analyses = [with_case_defaults(analysis) for analysis in analyses]
    target = target_of(inference, table, analyses)
    compares = any(a.compare and a.compare != "system" for a in analyses)
    inference_sentences = target_sentences(target, compares=compares)
    rows: list[Row] = []
    contexts: list[Context] = []
    places: list[
        tuple[Context, int]
    ] = []  # of each row: its analysis, and the how manieth row of it
    refused: list[str] = []
    # One key for all: analyses of the same clusters are made on the same resamples, which are drawn
    # once.
    key = Remembered(stream_key(seed, "resamples"))
    for analysis in analyses:
        for problem in contradictions(analysis):
            raise AnalysisError(f"{analysis.name}: {problem}")
        also = tuple(
            _criterion(replace(analysis, criterion=name), instruments) for name in analysis.criteria
        )
        draws = (
            AsPublished(resampling.draws, resampling.level)
            if analysis.mode == "paper"
            else resampling
        )
        within = target_within(target, analysis, table)
        context = Context(
            analysis, _criterion(analysis, instruments), key, draws, also, within, target.is_stated
        )
        for problem in _threshold_problems(context):
            raise AnalysisError(f"{analysis.name}: {problem}")
        start = len(rows)
        try:
            for column_name in {
                *analysis.by,
                *analysis.where,
                analysis.compare,
                *analysis.options.columns,
            } & {*impossible}:
                raise AnalysisError(f"{analysis.name}: {impossible[column_name]}")
            rows.extend(rows_of(context, table_of(context), families))
        except AnalysisError as error:
            if strict:
                raise
            if not isinstance(error, NotRatedError):
                refused.append(str(error))
            rows.append(cannot_be_made(context, str(error)))
            places.append((context, 0))
            continue
        contexts.append(context)
        places += [(context, n) for n in range(len(rows) - start)]
    rows, doubts = _with_enough_draws(_adjusted(rows), places, table_of, families, resampling)
    rows = with_max_t(contexts, table_of, rows, families)
    rows = with_duplicate_notes(
        rows,
        analyses,
        lambda analysis: late if analysis.adjudication == "after" else table,
        duplicates,
    )
    both = orders(data, instruments)
    gaps = missing(data, table, exclusions, instruments)
    accounts = coverage(data, table, instruments, exclusions, planned=planned)
    return Results(
        rows=tuple(rows),
        coverage=accounts,
        warnings=(
            *study_warnings(table, analyses),
            *surplus(accounts),
            *doubts,
            *(of_same_family(families) if flag_families else ()),
        ),
        methods=(
            *model_call_sentences(data.callees, both),
            *imported(systems),
            *inference_sentences,
            *methods(
                analyses, rows, table, seed=seed, resampling=resampling, exclusions=exclusions
            ),
        ),
        orders=both,
        label_counts=label_counts(table, instruments),
        outcomes=outcomes(data, table),
        curves=tuple(
            curve
            for c in contexts
            if c.analysis.statistic == "risk_coverage"
            for curve in risk_curves(c, table_of(c))
        ),
        trade_offs=tuple(
            t
            for c in contexts
            if c.analysis.statistic == "strictness"
            for t in trade_offs(c, table_of(c))
        ),
        derived=derived_values(table, derived),
        refused=tuple(refused),
        target=target.raters,
        inference=inference_sentences,
        bounds=tuple(b for c in contexts for b in bounds_of(c, table_of(c), gaps, rows, families)),
    )


def _with_derived(
    table: RatingTable,
    derived: Sequence[Derived],
    instruments: Sequence[Instrument],
    *,
    strict: bool,
) -> tuple[RatingTable, dict[str, str]]:
    """The table with the derived columns, and the reason for each that cannot be computed.

    With `strict` the reason is raised as an error.
    """
    impossible: dict[str, str] = {}
    for column in derived:
        try:
            table = with_derived(table, [column], instruments)
        except AnalysisError as error:
            if strict:
                raise
            impossible[column.name] = str(error)
    return table, impossible


def _with_enough_draws(
    rows: list[Row],
    places: Sequence[tuple[Context, int]],
    table_of: Callable[[Context], RatingTable],
    families: Lineage,
    resampling: Resampling,
) -> tuple[list[Row], tuple[TranslatableMessage, ...]]:
    """Further draws for p values that the number of draws keeps large, or a warning.

    A warning where the number of draws is stated.
    """
    draws_by_row = limited(rows, resampling)
    if not draws_by_row or is_stated(resampling):
        return rows, too_few(draws_by_row, resampling)
    rows_by_analysis: dict[str, list[Row]] = {}

    def again(n: int, draws: int) -> Row:
        context, place = places[n]
        if context.analysis.name not in rows_by_analysis:
            more = replace(context, resampling=replace(resampling, draws=draws))
            rows_by_analysis[context.analysis.name] = list(
                rows_of(more, table_of(context), families)
            )
        return rows_by_analysis[context.analysis.name][place]

    return _adjusted(with_further_draws(rows, draws_by_row, again)), ()


def _threshold_problems(context: Context) -> Iterator[str]:
    """What is wrong with an analysis' thresholds on its criteria.

    An audit has the same for all of them.
    """
    for criterion in (
        context.criterion,
        *(context.also if context.analysis.statistic in AUDIT else ()),
    ):
        yield from threshold_problems(context.analysis, criterion)


def _criterion(analysis: Analysis, instruments: Sequence[Instrument]) -> Criterion:
    """The criterion that an analysis names.

    Where two instruments have a criterion of that name, `where` selects the instrument.
    """
    instrument_ids = analysis.where.get("instrument", ())
    criteria = [
        c
        for i in instruments
        if not instrument_ids or i.id in instrument_ids
        for c in i.criteria
        if c.id == analysis.criterion
    ]
    if not criteria:
        criterion_ids = [c.id for i in instruments for c in i.criteria]
        raise AnalysisError(
            f"{analysis.name}: there is no criterion {analysis.criterion!r};"
            f" {nearest(analysis.criterion, criterion_ids)}"
        )
    if any(c.scale != criteria[0].scale for c in criteria):
        raise AnalysisError(
            f"{analysis.name}: {len(criteria)} instruments ask {analysis.criterion!r} on different"
            " scales; select one with where = { instrument = [...] }"
        )
    return criteria[0]


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
