"""The supplement of a manuscript: all estimates with every interval, checklists and checksums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from konsil.analysis import Results
from konsil.report.answers.answers import analysis_title
from konsil.report.estimates.estimates import AnalysisView
from konsil.report.manuscript.blocks import Block, Heading, Numbering, Paragraph
from konsil.report.manuscript.checklists.registry import checklist_blocks
from konsil.report.manuscript.citations import cite
from konsil.report.manuscript.methods import reproducibility_text
from konsil.report.manuscript.printed import has_interval_or_test
from konsil.report.manuscript.request import Checklist
from konsil.report.manuscript.statistical_analysis import interval_text
from konsil.report.material.overview import Material, characteristics, flow
from konsil.report.material.tables import Table
from konsil.report.people.workload import workload


def supplement_blocks(
    material: Material,
    results: Results,
    views: Sequence[AnalysisView],
    drawn: frozenset[str],
    checklists: Sequence[Checklist],
) -> Iterator[Block]:
    """Everything that a journal prints beside an article.

    `views` are all analyses; `drawn` are those whose figures are in the manuscript.
    """
    _ = material.language.gettext
    numbering = Numbering()
    yield Heading(_("Raters, items and systems"), 1)
    for part in (*characteristics(material), *workload(material), flow(material)):
        if part.rows:
            yield numbering.table(_without_empty_columns(part), _key(numbering), part.caption)
    declared = [view for view in views if view.prespecified and view.tables]
    others = [view for view in views if not view.prespecified and view.tables]
    if declared:
        yield Heading(_("Declared analyses, with all CIs"), 1)
    for view in declared:
        yield from _analysis(material, view, numbering, has_figures=view.name not in drawn)
    if others:
        yield Heading(_("Exploratory analyses"), 1)
        yield Paragraph(
            _(
                "These analyses were not prespecified. Their p values are not adjusted for"
                " multiple testing; read them as hypothesis-generating."
            )
        )
    for view in others:
        yield from _analysis(material, view, numbering, has_figures=False)
    rows = [row for row in results.rows if not row.detail and has_interval_or_test(row)]
    if rows:
        yield Heading(_("Methods of all CIs and tests"), 1)
        yield Paragraph(interval_text(material, rows))
    if results.bounds:
        yield Paragraph(f"{_('Worst-case bounds of missing ratings')}{cite(['horowitz1995'])}.")
    for checklist in checklists:
        yield from checklist_blocks(material, checklist, numbering)
    yield Heading(_("Checksums"), 1)
    yield Paragraph(reproducibility_text(material, results))


def _key(numbering: Numbering) -> str:
    return f"characteristics-{numbering.last('table') + 1}"


def _analysis(
    material: Material, view: AnalysisView, numbering: Numbering, *, has_figures: bool
) -> Iterator[Block]:
    _ = material.language.gettext
    name = analysis_title(view.name)
    yield Heading(name, 2)
    yield Paragraph(view.sentence)
    if view.paper:
        yield Paragraph(
            _("Computed as published, for reproduction; its CI and p value may not be valid.")
        )
    if view.findings:
        yield Paragraph(" ".join(view.findings))
    for n, shown in enumerate(view.tables):
        key = f"{view.anchor}{f'-{n + 1}' if n else ''}"
        yield numbering.table(shown, key, name)
    if has_figures:
        for drawing in view.figures:
            yield numbering.figure(drawing)


def _without_empty_columns(table: Table) -> Table:
    """The table without columns that have no text in any row."""
    columns = [n for n in range(len(table.head)) if any(row[n].text for row in table.rows)]
    return replace(
        table,
        head=tuple(table.head[n] for n in columns),
        rows=tuple(tuple(row[n] for n in columns) for row in table.rows),
    )
