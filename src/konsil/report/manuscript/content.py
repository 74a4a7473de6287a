"""What a manuscript contains: methods, results of the declared analyses, references, appendix.

Tables and numbers are those of the report: nothing is rounded here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from konsil.analysis import Results, Row
from konsil.errors.message import message
from konsil.report.answers.laid_figures import laid_figures
from konsil.report.answers.layouts import LaidTable, laid_tables, tables_with
from konsil.report.estimates.declared import declared_heading
from konsil.report.estimates.estimates import AnalysisView, build_analysis_views
from konsil.report.estimates.interval_methods import companion_headings
from konsil.report.manuscript.blocks import (
    Block,
    Heading,
    Manuscript,
    Numbering,
    Paragraph,
    Words,
)
from konsil.report.manuscript.checklists.registry import checklist_blocks
from konsil.report.manuscript.methods import methods_blocks
from konsil.report.manuscript.request import Checklist
from konsil.report.material.overview import Material, characteristics, flow
from konsil.report.material.table_rows import join
from konsil.report.material.tables import Table
from konsil.report.people.participant_flow import participant_flow
from konsil.report.people.workload import workload


@dataclass(frozen=True)
class Sources:
    """What a manuscript is made from."""

    material: Material
    """The study and its results in the report's language."""
    results: Results
    """The results with the message ids of their methods."""
    checklists: tuple[Checklist, ...] = ()
    """The reporting checklists of the appendix."""


def manuscript(sources: Sources) -> Manuscript:
    """The whole manuscript."""
    material = sources.material
    _ = material.language.gettext
    views = build_analysis_views(material)
    shown = [view for view in views if view.prespecified]
    numbering = Numbering()
    blocks = (
        *_notices(material),
        *methods_blocks(material, sources.results),
        *_results(sources, shown, numbering),
        *_limitations(material),
        *_appendix(sources, [view for view in views if not view.prespecified], numbering),
    )
    words = Words(_("Table"), _("Figure"), _("References"), _("continued"))
    return Manuscript(
        material.study.title,
        material.language.code,
        words,
        tuple(block for block in blocks if not isinstance(block, Paragraph) or block.text),
    )


def _notices(material: Material) -> Iterator[Block]:
    _ = material.language.gettext
    if material.study.simulated:
        yield Paragraph(
            f"{material.stamp} "
            + _("The ratings are simulated. The results below do not describe any real system."),
            is_notice=True,
        )
    elif material.results.played:
        yield Paragraph(material.numbers.translated(material.results.played), is_notice=True)
    if material.is_blinded:
        yield Paragraph(
            _("The systems are blinded: this document contains blinding codes, not their names."),
            is_notice=True,
        )
    if material.study.description:
        yield Paragraph(material.study.description)


def _results(
    sources: Sources, views: Sequence[AnalysisView], numbering: Numbering
) -> Iterator[Block]:
    material = sources.material
    _ = material.language.gettext
    yield Heading(_("Results"), 1)
    yield Heading(_("Raters, items and systems"), 2)
    drawing = participant_flow(material)
    yield numbering.figure(drawing)
    parts = [*characteristics(material), *workload(material)]
    for n, table in enumerate(parts, start=1):
        yield numbering.table(_without_empty_columns(table), f"characteristics-{n}")
    if (completeness := flow(material)).rows:
        yield numbering.table(completeness, "completeness")
    if not views:
        yield Paragraph(_("The protocol declares no analysis; all analyses are in the appendix."))
        return
    names = [view.name for view in views]
    tables = [t for t in laid_tables(material) if t.table.rows]
    blocks = [numbering.table(_without_links(t.table), t.anchor) for t in tables]
    laid = _Laid(tables, {block.key: block.number for block in blocks})
    if blocks:
        yield Heading(_("Tables"), 1)
    yield from blocks
    drawn = [f.drawing for f in laid_figures(material) if f.drawing is not None]
    if drawn:
        yield Heading(_("Figures"), 1)
    for figure in drawn:
        yield numbering.figure(figure)
    heading = material.numbers.translated(declared_heading(material.results.plan, names))
    yield Heading(heading, 1)
    for view in views:
        yield from _analysis(material, view, numbering, laid)


@dataclass(frozen=True)
class _Laid:
    """The tables that the protocol lays out, with their numbers in the manuscript."""

    tables: Sequence[LaidTable] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    """Anchor of a table -> its number."""


def _without_links(table: Table) -> Table:
    """The table without links into the report's data files, which a manuscript is not beside."""
    rows = tuple(tuple(replace(cell, href="") for cell in row) for row in table.rows)
    return replace(table, rows=rows)


def _analysis(
    material: Material,
    view: AnalysisView,
    numbering: Numbering,
    laid: _Laid,
    *,
    figures: bool = True,
) -> Iterator[Block]:
    """One analysis; where tables of the protocol have all rows of a table, their numbers alone."""
    _ = material.language.gettext
    yield Heading(f"{view.title}: {view.name}", 2)
    yield Paragraph(view.sentence)
    if view.paper:
        yield Paragraph(
            _("Computed as published, for reproduction; its CI and p value may not be valid.")
        )
    if view.findings:
        yield Paragraph(" ".join(view.findings))
    rows = [row for row in material.results.rows if row.analysis == view.name and not row.detail]
    joined = join(rows)
    methods = set(companion_headings(material, joined))
    n_tables = len(view.tables)
    for n, table in enumerate(view.tables, start=1):
        is_difference = n_tables == n and any(row.kind == "difference" for row in rows)
        kind = "difference" if is_difference else "estimate"
        of_table = [row for row in rows if row.kind == kind]
        elsewhere = tables_with(laid.tables, [j for j in joined if j.row.kind == kind])
        if elsewhere:
            numbers = [laid.numbers[place.anchor] for place in elsewhere]
            yield Paragraph(_where(material, kind, numbers))
            continue
        caption = f"{table.caption} {caption_facts(material, of_table)}".rstrip()
        narrow = _without_columns(replace(table, caption=caption), methods)
        key = f"{view.anchor}{'-differences' if is_difference else ''}"
        yield numbering.table(narrow, key)
    if not figures:
        return
    of_figures = [row for row in rows if row.kind == "estimate"]
    for drawing in view.figures:
        caption = f"{drawing.caption} {caption_facts(material, of_figures)}".rstrip()
        yield numbering.figure(drawing, caption)


def _where(material: Material, kind: str, numbers: Sequence[int]) -> str:
    """The sentence that names the tables with the estimates or differences of an analysis."""
    names = ", ".join(material.numbers.count(n) for n in numbers)
    if kind == "difference":
        text = message(
            "Differences with CIs: see above, table {names}.",
            message_id="manuscript.differences_laid",
            names=names,
        )
    else:
        text = message(
            "Estimates with CIs: see above, table {names}.",
            message_id="manuscript.estimates_laid",
            names=names,
        )
    return material.numbers.translated(text)


def caption_facts(material: Material, rows: Sequence[Row]) -> str:
    """What a caption must state: panel, numbers, level and method of the intervals."""
    _, numbers = material.language.gettext, material.numbers
    if not rows:
        return ""
    panels = list(dict.fromkeys(row.raters for row in rows if row.raters))
    parts = [_("Panel: %(panel)s.") % {"panel": ", ".join(panels)}] if panels else []
    counts = (
        (_("units"), [row.n_units for row in rows if not row.is_withheld]),
        (_("ratings"), [n for row in rows if (n := row.estimate.n_ratings)]),
        (_("clusters"), [n for row in rows if (n := row.estimate.n_clusters)]),
    )
    stated = [
        f"{_range([numbers.count(min(values)), numbers.count(max(values))])} {name}"
        for name, values in counts
        if any(values)
    ]
    if stated:
        parts.append(_("n = %(counts)s.") % {"counts": ", ".join(stated)})
    with_interval = [row.estimate for row in rows if math.isfinite(row.estimate.low)]
    levels = {estimate.level for estimate in with_interval}
    methods = list(dict.fromkeys(estimate.method for estimate in with_interval if estimate.method))
    if len(levels) == 1:
        level = numbers.tick(100 * levels.pop()) + material.language.per_cent
        if len(methods) == 1:
            parts.append(
                _("%(level)s CI: %(method)s.")
                % {"level": level, "method": numbers.translated(methods[0]).rstrip(".")}
            )
        elif methods:
            parts.append(
                _("%(level)s CI by the method of each row (sheet “estimates” of the workbook).")
                % {"level": level}
            )
    return " ".join(parts)


def _range(ends: Sequence[str]) -> str:
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]}–{ends[-1]}"


def _without_columns(table: Table, names: set[str]) -> Table:
    """The table without the alternative intervals, for which a page has no room."""
    return _with_columns(table, [n for n, cell in enumerate(table.head) if cell.text not in names])


def _without_empty_columns(table: Table) -> Table:
    """The table without columns that say nothing; the report has them, for it has the room."""
    n_columns = range(len(table.head))
    return _with_columns(table, [n for n in n_columns if any(row[n].text for row in table.rows)])


def _with_columns(table: Table, saved: Sequence[int]) -> Table:
    """The table with these columns alone, and the notes that are about them."""
    if len(saved) == len(table.head):
        return table
    rows = tuple(tuple(row[n] for n in saved) for row in table.rows)
    marks = {mark for row in rows for cell in row for mark in cell.marks}
    return replace(
        table,
        head=tuple(table.head[n] for n in saved),
        rows=rows,
        notes=tuple(note for note in table.notes if not note.mark or note.mark in marks),
    )


def _limitations(material: Material) -> Iterator[Block]:
    _ = material.language.gettext
    if material.results.warnings:
        yield Heading(_("Limitations"), 1)
        yield from (Paragraph(warning) for warning in material.results.warnings)


def _appendix(
    sources: Sources, views: Sequence[AnalysisView], numbering: Numbering
) -> Iterator[Block]:
    material = sources.material
    _ = material.language.gettext
    for checklist in sources.checklists:
        yield from checklist_blocks(material, checklist, numbering)
    with_tables = [view for view in views if view.tables]
    if with_tables:
        yield Heading(_("Appendix: exploratory analyses"), 1)
        yield Paragraph(
            _(
                "These analyses were not prespecified. Their p values are not adjusted for"
                " multiple testing; read them as hypothesis-generating."
            )
        )
        for view in with_tables:
            yield from _analysis(material, view, numbering, _Laid(), figures=False)
