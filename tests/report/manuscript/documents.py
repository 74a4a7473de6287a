"""A manuscript of the example study, in every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from konsil.analysis import Results
from konsil.report.manuscript.files import manuscript_files
from konsil.report.manuscript.request import ReportRequest
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.report.material.translate import translated_results
from konsil.study import Study

ALL = ReportRequest(
    to=("docx", "latex", "markdown", "xlsx"),
    checklist=("grras", "tripod-llm", "chart", "data-statement"),
)


def material_of(arguments: Mapping[str, Any], **changes: Any) -> Material:
    """The material of a report's arguments, as the report makes it."""
    study: Study = arguments["study"]
    spoken = language(study.language)
    numbers = Numbers(spoken)
    material = Material(
        study=study,
        results=translated_results(arguments["results"], numbers),
        items=arguments["items"],
        answers=arguments["answers"],
        raters=arguments["raters"],
        ratings=arguments["ratings"],
        language=spoken,
        numbers=numbers,
    )
    return replace(material, **changes)


def files_of(
    arguments: Mapping[str, Any], request: ReportRequest = ALL, **changes: Any
) -> dict[str, bytes]:
    """Path -> content of the manuscript's files."""
    results: Results = arguments["results"]
    return manuscript_files(request, material_of(arguments, **changes), results)


def cells(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cells without what only prevents line breaks."""
    return [[cell.replace("\u00a0", " ") for cell in line] for line in lines]
