"""Run a study's analyses: tables, rows, and what the results say beside them."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.cases.case_rules import with_case_defaults
from konsil.analysis.model.results import Results
from konsil.analysis.model.spec import Analysis
from konsil.analysis.running.all_rows import all_rows
from konsil.analysis.running.completion import Computed, results_of
from konsil.analysis.running.contexts import contexts_of, target_of
from konsil.analysis.running.duplicate_notes import with_duplicate_notes
from konsil.analysis.running.rating_tables import rating_tables
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.analysis.table.lineage import lineage
from konsil.progress import tracked


def run(analyses: Sequence[Analysis], data: Data, settings: RunSettings) -> Results:
    """All estimates, the coverage of the ratings, warnings and the methods paragraph."""
    tables = rating_tables(analyses, data, settings)
    families = lineage(settings.systems, data.raters)
    analyses = [with_case_defaults(analysis) for analysis in analyses]
    target = target_of(settings.inference, tables.first, analyses)
    n = len(analyses)
    contexts = tracked(contexts_of(analyses, tables.first, target, settings), "analyses", n)
    computed = all_rows(contexts, tables, families, settings)
    rows = with_duplicate_notes(computed.rows, analyses, tables.of, settings.duplicates)
    return results_of(
        Computed(
            analyses, computed.contexts, rows, computed.doubts, computed.refused, target, families
        ),
        tables,
        data,
        settings,
    )
