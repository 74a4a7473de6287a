"""What results say beside their rows: coverage, warnings, methods, curves and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from konsil.analysis.cases.approval import trade_offs
from konsil.analysis.cases.degradation import case_scores
from konsil.analysis.estimation.targets import Target, target_sentences
from konsil.analysis.judges.risk import risk_curves
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.model.results import Results
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.running.methods.methods import methods
from konsil.analysis.running.rating_tables import RatingTables
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.running.sensitivity.bounds import bounds_of
from konsil.analysis.table.calls.model_provenance import imported, model_call_sentences, orders
from konsil.analysis.table.calls.outcomes import missing, outcomes
from konsil.analysis.table.coverage import coverage, label_counts, surplus
from konsil.analysis.table.derived import derived_values
from konsil.analysis.table.frame import Data, RatingTable, excluded_sentence
from konsil.analysis.table.lineage import Lineage


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
            b for c, its_table in contexts for b in bounds_of(c, its_table, gaps, rows, families)
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
