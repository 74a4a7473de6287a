"""Run a study's analyses: tables, rows, and what the results say beside them."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.cases.case_rules import with_case_defaults
from konsil.analysis.model.results import Results
from konsil.analysis.model.spec import Analysis
from konsil.analysis.running.completion import Computed, results_of
from konsil.analysis.running.contexts import contexts_of, target_of
from konsil.analysis.running.duplicate_notes import with_duplicate_notes
from konsil.analysis.running.rating_tables import rating_tables
from konsil.analysis.running.rows.all_rows import all_rows
from konsil.analysis.running.rows.parts import RunData
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.analysis.table.lineage import lineage
from konsil.stats.engine.parts import Compute, in_this_process


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
    target = target_of(settings.inference, tables.first, analyses)
    contexts = list(contexts_of(analyses, tables.first, target, settings))
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
