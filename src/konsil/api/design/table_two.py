"""Table 2 of a saved study as a Word file: its systems or groups, by the builder of compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from konsil.api.folder.folder import Folder
from konsil.design.stages import compared_column

FOLDER = "comparison"
"""Where the files are, in the study's folder."""


def write_table_two(opened: Folder) -> Iterator[str]:
    """Compute and write Table 2; what of it cannot be computed."""
    from konsil.analysis.running.comparing.study_comparison import as_comparison, study_comparison
    from konsil.report.manuscript.comparison import write_comparison
    from konsil.report.material.language import language

    opened.import_if_empty()
    study = opened.study
    criteria = [c for instrument in study.instruments for c in instrument.criteria]
    plan = study_comparison(criteria, study.analyses, [*study.panels()], compared_column(study))
    compared = Folder(opened.path, replace(study, analyses=plan.analyses), opened.database)
    words, results = language(study.language), compared.results()
    comparison = as_comparison(plan, results, study.resampling.level)
    if plan.by == "system":
        comparison = replace(comparison, by=words.gettext("System"))
    write_comparison(comparison, study.title, ("docx",), opened.path / FOLDER, words)
    yield from results.refused
