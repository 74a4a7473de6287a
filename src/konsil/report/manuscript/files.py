"""The files of a manuscript and figures for print, from the material of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Results
from konsil.errors import KonsilError, option
from konsil.errors.message import message
from konsil.progress import tracked
from konsil.report.figures.formats import FigureFormats, figure_formats
from konsil.report.files.data_files import estimates_csv
from konsil.report.files.edited import FOLDER, PRINT, SUMS, checksums
from konsil.report.files.further import FurtherFiles
from konsil.report.manuscript.blocks import Manuscript
from konsil.report.manuscript.citations import bibtex, csl_json
from konsil.report.manuscript.content import Sources, documents
from konsil.report.manuscript.request import Form, ReportRequest
from konsil.report.manuscript.writers.latex import bbl, latex
from konsil.report.manuscript.writers.quarto import markdown
from konsil.report.manuscript.writers.word import word
from konsil.report.manuscript.writers.workbook import workbook
from konsil.report.material.language import Language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.report.people.participant_flow import participant_flow

_DPI = 300
"""Dots per inch of the figures within a manuscript."""


def print_formats(request: ReportRequest) -> FigureFormats | None:
    """The formats of figures for print; None where none are asked for."""
    if not request.figures:
        return None
    return FigureFormats(request.figures, request.dpi, request.width_mm())


def further_files(request: ReportRequest) -> FurtherFiles:
    """What makes the files that a report has besides its page and its data."""
    if request.checklist and not request.to:
        raise KonsilError(
            f"{option('checklist')}: a checklist is a part of the manuscript; expected"
            f" {option('to')} with it, such as {option('to', 'docx', several=True)}"
        )

    def make(material: Material, results: Results) -> Mapping[str, bytes]:
        return {
            **_flow_for_print(request, material),
            **manuscript_files(request, material, results),
        }

    return FurtherFiles(print_formats(request), make)


def _flow_for_print(request: ReportRequest, material: Material) -> dict[str, bytes]:
    """The one figure that the page does not have."""
    if not request.figures:
        return {}
    with figure_formats(print_formats(request)):
        drawing = participant_flow(material)
    return {f"{PRINT}/{drawing.key}.{form}": data for form, data in drawing.others.items()}


def manuscript_files(
    request: ReportRequest, material: Material, results: Results
) -> dict[str, bytes]:
    """Path within the report's folder -> content, of the formats that are asked for."""
    if not request.to:
        return {}
    with figure_formats(FigureFormats(("png", "pdf"), dpi=_DPI)):
        document, supplement = documents(Sources(material, results, request.checklist))
    unrounded = Unrounded(material.language, estimates_csv(material.study, results), material.stamp)
    files = document_files(request.to, document, unrounded, supplement)
    files[SUMS] = checksums(files)
    return {f"{FOLDER}/{name}": content for name, content in files.items()}


@dataclass(frozen=True)
class Unrounded:
    """What a document's files contain beside the document."""

    language: Language
    """The document's language."""
    estimates: bytes
    """All rows, as estimates.csv has them."""
    stamp: str = ""
    """Words on every page of simulated ratings; empty: none."""


def document_files(
    forms: Sequence[Form],
    document: Manuscript,
    unrounded: Unrounded,
    supplement: Manuscript | None = None,
) -> dict[str, bytes]:
    """Path -> content of a document in some formats, with its figures and references.

    The `supplement` has files of its own, but shares the workbook, the references and the folder
    of figures.
    """
    both = [document] if supplement is None else [document, supplement]
    files: dict[str, bytes] = {}
    for form in tracked(forms, "manuscript files"):
        if form == "xlsx":
            words = _workbook_words(unrounded.language)
            book = workbook(both, unrounded.stamp, unrounded.estimates, words, unrounded.language)
            files["tables.xlsx"] = book
        else:
            for name, each in zip(("manuscript", "supplement"), both, strict=False):
                files |= _form_files(form, name, each, unrounded)
    references = list(dict.fromkeys(key for each in both for key in each.references))
    files["references.bib"] = bibtex(references).encode()
    files["references.json"] = csl_json(references).encode()
    for each in both:
        files |= _figures(each)
    return files


def _form_files(
    form: Form, name: str, document: Manuscript, unrounded: Unrounded
) -> dict[str, bytes]:
    """A document in one format."""
    if form == "docx":
        return {f"{name}.docx": word(document)}
    if form == "markdown":
        return {f"{name}.qmd": markdown(document).encode()}
    authors = unrounded.language.gettext("[to be written by the authors]")
    return {
        f"{name}.tex": latex(document, authors).encode(),
        f"{name}.bbl": bbl(document).encode(),
    }


def _figures(document: Manuscript) -> dict[str, bytes]:
    """The figures as files: PNG for Markdown, PDF for LaTeX, SVG to change them."""
    forms: dict[str, bytes] = {}
    for figure in document.figures:
        drawing = figure.drawing
        forms[f"figures/{drawing.key}.svg"] = drawing.svg
        for form, content in drawing.others.items():
            forms[f"figures/{drawing.key}.{form}"] = content
    return forms


def _workbook_words(language: Language) -> dict[str, str]:
    _ = language.gettext
    about = message(
        "This workbook contains each table of the manuscript and of its supplement on a sheet;"
        " the sheet “estimates” contains all rows unrounded.",
        message_id="manuscript.workbook_readme",
    )
    return {
        "about": Numbers(language).translated(about),
        "sheet": _("Sheet"),
        "content": _("Content"),
        "estimates": _("All estimates, unrounded, as in estimates.csv."),
    }
