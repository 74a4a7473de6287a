"""The comparison of a table's systems or groups as a document: Table 2, figures and methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from konsil.analysis.model.rows import Row, group_text
from konsil.analysis.running.comparing.compare_result import GroupComparison
from konsil.errors import KonsilError
from konsil.report.estimates.comparison_table import comparison_table
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.figures import forest
from konsil.report.figures.formats import FigureFormats, figure_formats
from konsil.report.figures.svg_primitives import About, Dot, ValueAxis
from konsil.report.files.data_files import rows_csv
from konsil.report.manuscript.blocks import (
    Block,
    Heading,
    Manuscript,
    Numbering,
    Paragraph,
    Words,
)
from konsil.report.manuscript.files import Unrounded, document_files
from konsil.report.manuscript.request import Form
from konsil.report.material.language import ENGLISH, Language
from konsil.report.material.tables import Numbers
from konsil.report.material.translate import translated_rows

_DPI = 300
_DRAWN = {"share": "Proportion", "mean": "Mean", "median": "Median"}
"""Statistics with a figure, and its axis."""


def write_comparison(
    comparison: GroupComparison,
    title: str,
    forms: Sequence[Form],
    folder: Path,
    language: Language = ENGLISH,
) -> list[Path]:
    """Write a comparison's documents and figures into a folder; return their paths."""
    files = comparison_files(comparison, title, forms, language)
    paths = []
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # Beside it first: whoever reads the file meanwhile finds the old one or the new one.
            draft = path.with_name(f".{path.name}.new")
            draft.write_bytes(content)
            paths.append(draft.replace(path))
    except OSError as error:
        raise KonsilError(f"{folder}: cannot be written: {error.strerror or error}") from None
    return paths


def comparison_files(
    comparison: GroupComparison, title: str, forms: Sequence[Form], language: Language = ENGLISH
) -> dict[str, bytes]:
    """Path -> content of a comparison as documents, with its figures and all rows unrounded."""
    with figure_formats(FigureFormats(("png", "pdf"), dpi=_DPI)):
        document = comparison_document(comparison, title, language)
    estimates = rows_csv(comparison.rows, {}, {})
    files = document_files(forms, document, Unrounded(language, estimates))
    return {**files, "estimates.csv": estimates}


def comparison_document(
    comparison: GroupComparison, title: str, language: Language = ENGLISH
) -> Manuscript:
    """The document: methods, Table 2, a figure for each statistic, and limitations."""
    _, numbers = language.gettext, Numbers(language)
    words = Words(_("Table"), _("Figure"), _("References"), _("continued"))
    return Manuscript(title, language.code, words, tuple(_blocks(comparison, numbers)))


def _blocks(comparison: GroupComparison, numbers: Numbers) -> Iterator[Block]:
    _, numbering = numbers.language.gettext, Numbering()
    yield Heading(_("Methods"), 1)
    yield Paragraph(" ".join(numbers.translated(text) for text in comparison.methods))
    yield Heading(_("Results"), 1)
    rows = translated_rows(comparison.rows, numbers)
    reference = comparison.reference
    outcomes = [criterion.outcome for criterion in comparison.criteria]
    shown = comparison_table(
        rows, numbers, by=comparison.by, reference=reference, outcomes=outcomes
    )
    numbering.next("table")  # Table 1 of a manuscript describes who took part
    yield numbering.table(shown, "comparison", _("Results"))
    for statistic in dict.fromkeys(row.statistic for row in comparison.estimates):
        if statistic in _DRAWN:
            yield numbering.figure(_figure(comparison, rows, statistic, numbers))
    if comparison.notes:
        yield Heading(_("Limitations"), 1)
        yield from (Paragraph(numbers.translated(text)) for text in comparison.notes)


def _figure(
    comparison: GroupComparison, rows: Sequence[Row], statistic: str, numbers: Numbers
) -> Drawing:
    """The groups' estimates with their intervals, by criterion."""
    _ = numbers.language.gettext
    chosen = [row for row in rows if (row.statistic, row.kind) == (statistic, "estimate")]
    several = len(comparison.criteria) > 1
    dots = [
        Dot(
            group_text(row),
            row.estimate.value,
            row.estimate.low,
            row.estimate.high,
            numbers.with_interval(row.estimate),
            group=row.criterion if several else "",
        )
        for row in chosen
    ]
    axis_title = _(_DRAWN[statistic])
    axis = ValueAxis(axis_title, limits=(0.0, 1.0) if statistic == "share" else None)
    caption = _("%(what)s side by side. Dots: estimates; lines: CI.") % {"what": axis_title}
    about = About(f"comparison-{statistic}", axis_title, caption, caption)
    words = {"word": _("Estimate"), "level": numbers.level(comparison.confidence)}
    heading = _("%(word)s [%(level)s%% CI]") % words
    return forest(about, dots, numbers, axis=axis, heading=heading)
