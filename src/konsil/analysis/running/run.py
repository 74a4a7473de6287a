"""Run a study's analyses: contexts, tables, rows, and what the results say beside them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.cases.approval import trade_offs
from konsil.analysis.cases.case_rules import threshold_problems, with_case_defaults
from konsil.analysis.cases.degradation import case_scores
from konsil.analysis.estimation.targets import Target, planned_target, target_sentences
from konsil.analysis.judges.risk import risk_curves
from konsil.analysis.model.catalogue.known import AUDIT, CASES
from konsil.analysis.model.composite.analysis_rules import scored_problems
from konsil.analysis.model.composite.definition import with_scores
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import CriterionRef
from konsil.analysis.model.results import Results
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis, AsPublished
from konsil.analysis.running.duplicate_notes import with_duplicate_notes
from konsil.analysis.running.methods.methods import methods
from konsil.analysis.running.rating_tables import RatingTables, rating_tables
from konsil.analysis.running.rows.all_rows import all_rows
from konsil.analysis.running.rows.parts import RunData
from konsil.analysis.running.rules import contradictions
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.running.sensitivity.bounds import bounds_of
from konsil.analysis.table.calls.model_provenance import imported, model_call_sentences, orders
from konsil.analysis.table.calls.outcomes import missing, outcomes
from konsil.analysis.table.coverage import coverage, label_counts, surplus
from konsil.analysis.table.derived import derived_values
from konsil.analysis.table.frame import Data, RatingTable, excluded_sentence
from konsil.analysis.table.lineage import Lineage, lineage
from konsil.errors import AnalysisError, nearest
from konsil.errors.message import TranslatableMessage, message, placed
from konsil.errors.unknown_names import unknown_name
from konsil.instrument import Criterion, Instrument
from konsil.stats.engine.contract import RatersTarget
from konsil.stats.engine.parts import Compute, in_this_process
from konsil.stats.engine.streams import stream_key
from konsil.stats.engine.weights import Remembered
from konsil.stats.inference.cluster_variance import effective_number


def run(
    analyses: Sequence[Analysis],
    data: Data,
    settings: RunSettings,
    compute: Compute = in_this_process,
) -> Results:
    """All estimates, the coverage of the ratings, warnings and the methods paragraph.

    `compute` computes the analyses' rows; where it does changes no result.
    """
    tables = rating_tables(analyses, data, settings)
    families = lineage(settings.systems, data.raters)
    analyses = [with_case_defaults(analysis) for analysis in analyses]
    target = target_of(settings, tables.first, analyses)
    contexts = list(contexts_of(analyses, tables.first, target, settings))
    if settings.only is not None:
        contexts = [
            replace(context, analysis=replace(context.analysis, leave_out=()))
            for context in contexts
            if context.analysis.name in settings.only
        ]
    computed = all_rows(RunData(contexts, tables, families), settings, compute)
    rows = with_duplicate_notes(computed.rows, analyses, tables.of, settings.duplicates)
    return results_of(
        Computed(
            analyses, computed.contexts, rows, computed.doubts, computed.refused, target, families
        ),
        tables,
        data,
        settings,
    )


@dataclass(frozen=True)
class Computed:
    """What the analyses of a run gave."""

    analyses: Sequence[Analysis]
    """All of them, with their defaults."""
    contexts: Sequence[Context]
    """Those that could be made."""
    rows: Sequence[Row]
    """Their rows, and the reasons of the others."""
    doubts: Sequence[TranslatableMessage]
    """Warnings of single numbers."""
    refused: Sequence[str]
    """Why some could not be made."""
    target: Target
    """Whom intervals are about."""
    families: Lineage
    """Who is of whose family."""


def results_of(
    computed: Computed, tables: RatingTables, data: Data, settings: RunSettings
) -> Results:
    """The results of a run."""
    table, instruments, exclusions = tables.first, settings.instruments, settings.exclusions
    analyses, rows, families = computed.analyses, computed.rows, computed.families
    contexts = [(context, tables.of(context.analysis)) for context in computed.contexts]
    compares = any(a.compare and a.compare != "system" for a in analyses)
    inference_sentences = target_sentences(computed.target, compares=compares)
    both = orders(data, instruments)
    gaps = missing(data, table, exclusions, instruments)
    accounts = coverage(data, table, instruments, exclusions, planned=settings.planned)
    return Results(
        rows=tuple(rows),
        coverage=accounts,
        warnings=(
            *study_warnings(table, analyses),
            *surplus(accounts),
            *computed.doubts,
            *(of_same_family(families) if settings.flag_families else ()),
        ),
        methods=(
            *model_call_sentences(data.callees, both),
            *imported(settings.systems),
            *inference_sentences,
            *methods(
                analyses,
                rows,
                table,
                seed=settings.seed,
                resampling=settings.resampling,
                exclusions=exclusions,
                instruments=instruments,
            ),
        ),
        orders=both,
        label_counts=label_counts(table, instruments),
        outcomes=outcomes(data, table),
        curves=tuple(
            curve
            for c, its_table in contexts
            if c.analysis.statistic == "risk_coverage"
            for curve in risk_curves(c, its_table)
        ),
        trade_offs=tuple(
            trade_off
            for c, its_table in contexts
            if c.analysis.statistic == "strictness"
            for trade_off in trade_offs(c, its_table)
        ),
        case_scores=tuple(
            score
            for c, its_table in contexts
            if c.analysis.statistic == "reasoning_gap" and not c.analysis.by
            for score in case_scores(c, its_table)
        ),
        derived=derived_values(table, tables.derived),
        refused=tuple(computed.refused),
        all_excluded=all_excluded(table),
        target=computed.target.raters,
        inference=inference_sentences,
        bounds=tuple(
            b
            for c, its_table in (contexts if settings.only is None else ())
            for b in bounds_of(c, its_table, gaps, rows, families)
        ),
    )


def all_excluded(table: RatingTable) -> str:
    """That every rating is excluded, with the rules and numbers; empty where not every one is."""
    if table.frame.height or not table.excluded.height:
        return ""
    return excluded_sentence(table.excluded)


def study_warnings(table: RatingTable, analyses: Sequence[Analysis]) -> tuple[str, ...]:
    """Ratings that are left out, and analyses that only reproduce a paper."""
    warnings = []
    if table.excluded.height:
        warnings.append(
            message(
                "{n:,} of {total:,} {total|rating|ratings} {n|was|were} excluded under the"
                " protocol's rules; reasons are in the table “Completeness of ratings”.",
                message_id="warning.excluded",
                n=table.excluded.height,
                total=table.excluded.height + table.frame.height,
            )
        )
    if any(a.mode == "paper" for a in analyses):
        warnings.append(
            message(
                "Analyses “as published” reproduce a paper's method; they are not"
                " recommended for conclusions.",
                message_id="warning.as_published",
            )
        )
    return tuple(warnings)


def of_same_family(families: Lineage) -> tuple[str, ...]:
    """Which judges are of the family of a system that they judge."""
    judged = {family for family in families.systems.values() if family}
    names = sorted(r.id for r in families.judges.values() if r.kind == "llm" and r.family in judged)
    return (
        (
            message(
                "Risk of self-preference, as a rated system is of the same model family: {names}.",
                message_id="warning.family",
                names=", ".join(names),
            ),
        )
        if names
        else ()
    )


def contexts_of(
    analyses: Sequence[Analysis], table: RatingTable, target: Target, settings: RunSettings
) -> Iterator[Context]:
    """Each analysis with its criteria, resamples and target; an AnalysisError where it is wrong."""
    # One key for all: analyses of the same clusters are made on the same resamples, which are drawn
    # once.
    key = Remembered(stream_key(settings.seed, "resamples"))
    resampling = settings.resampling
    instruments = with_scores(settings.instruments, settings.scores)
    score_ids = {score.id for score in settings.scores}
    for analysis in analyses:
        for problem in (*contradictions(analysis), *scored_problems(analysis, score_ids)):
            raise AnalysisError(placed(analysis.name, problem))
        further = tuple(_criterion(analysis, name, instruments) for name in analysis.criteria)
        draws = (
            AsPublished(resampling.draws, resampling.level)
            if analysis.mode == "paper"
            else resampling
        )
        within = target_within(target, analysis, table, analysis.raters)
        panel = analysis.against if analysis.against != "rest" else None
        has_known_raters = not table.has_unknown_raters(analysis.raters)
        if not has_known_raters:
            # The general sentence on the target says that estimates without each are not possible.
            columns = tuple(column for column in analysis.leave_out if column != "rater")
            analysis = replace(analysis, leave_out=columns)
        criterion = _criterion(analysis, analysis.criterion, instruments)
        context = Context(
            analysis,
            criterion,
            key,
            draws,
            further,
            within,
            target.is_stated,
            has_known_raters,
            settings.characteristics,
            settings.is_blinded,
            effective_raters(target, analysis, table),
            target_within(target, analysis, table, panel) if panel else None,
        )
        for problem in _threshold_problems(context) if analysis.statistic in CASES else ():
            raise AnalysisError(placed(analysis.name, problem))
        yield context


def _threshold_problems(context: Context) -> Iterator[str]:
    """What is wrong with an analysis' thresholds on its criteria.

    An audit has the same for all of them.
    """
    for criterion in (
        context.criterion,
        *(context.also if context.analysis.statistic in AUDIT else ()),
    ):
        yield from threshold_problems(context.analysis, criterion)


def _criterion(
    analysis: Analysis, name: CriterionRef, instruments: Sequence[Instrument]
) -> Criterion:
    """The criterion that an analysis names.

    Where two instruments have a criterion of that name, `where` selects the instrument.
    """
    # Several instruments may have the criterion; with one scale their ratings are analysed
    # together.
    instrument_ids = analysis.where.get("instrument", ())
    criteria = [
        c
        for i in instruments
        if not instrument_ids or i.id in instrument_ids
        for c in i.criteria
        if c.id == name
    ]
    if not criteria:
        criterion_ids = [c.id for i in instruments for c in i.criteria]
        fact = unknown_name("criterion", name, nearest(name, criterion_ids))
        raise AnalysisError(placed(analysis.name, fact))
    if any(c.scale != criteria[0].scale for c in criteria):
        fact = message(
            "{n} {n|instrument has|instruments have} {name!r} on different scales; select one with"
            " where = {{ instrument = [...] }}",
            message_id="refused.different_scales",
            n=len(criteria),
            name=name,
        )
        raise AnalysisError(placed(analysis.name, fact))
    return criteria[0]


def target_of(settings: RunSettings, table: RatingTable, analyses: Sequence[Analysis]) -> Target:
    """The target that the protocol states, that of the frozen plan, or that of the panels' sizes.

    Panels that the protocol does not list, as in a table without a study, have the people whom the
    records name, whether they rated or not.
    """
    raters = () if table.data is None else table.data.raters
    people = {
        **Counter(rater.panel for rater in raters if rater.kind == "human"),
        **settings.people,
    }
    panels = [analysis.raters for analysis in analyses]
    target = planned_target(settings.inference.raters, panels, people, table.together)
    unknown = tuple(name for name in dict.fromkeys(panels) if table.has_unknown_raters(name))
    target = replace(target, unknown=unknown)
    frozen = settings.frozen_target.raters
    if target.is_stated or frozen in (None, target.raters):
        return target
    return replace(target, raters=frozen, is_frozen=True)


def effective_raters(target: Target, analysis: Analysis, table: RatingTable) -> float:
    """The effective number of people of an analysis, where the target is a plan's that they carry.

    nan where the protocol states the target, and where the ratings are not by several people.
    """
    if target.is_stated:
        return math.nan
    part = table.part(analysis.criterion, analysis.raters).filter(pl.col("kind") == "human")
    counts = part.group_by("rater").len().get_column("len").to_numpy().astype(np.int64)
    return effective_number(counts) if len(counts) > 1 else math.nan


def target_within(
    target: Target, analysis: Analysis, table: RatingTable, panel: str
) -> RatersTarget | None:
    """The target as far as it decides which interval of an analysis of a panel comes first.

    None where the analysis decides that.

    It does by `mode = "paper"`, `cluster = "rater"` and `test = "flip"`; and of models no other
    raters are in question.
    """
    if analysis.mode == "paper" or analysis.cluster == "rater" or analysis.test == "flip":
        return None
    kinds = table.part(analysis.criterion, panel).get_column("kind")
    return target.raters if (kinds == "human").any() else None
