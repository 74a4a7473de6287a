"""What a manuscript contains: methods, main results and references; and its supplement.

Tables and numbers are those of the report: nothing is rounded here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis import Results, Row
from konsil.errors.message import message
from konsil.report.answers.answers import analysis_title, query_of
from konsil.report.answers.laid_figures import laid_figures
from konsil.report.answers.sentences import answer, further
from konsil.report.estimates.estimates import AnalysisView, build_analysis_views
from konsil.report.manuscript.blocks import (
    Block,
    Heading,
    Manuscript,
    Numbering,
    Paragraph,
    Words,
)
from konsil.report.manuscript.methods import methods_blocks
from konsil.report.manuscript.printed import Printed, printed
from konsil.report.manuscript.request import Checklist
from konsil.report.manuscript.supplement import supplement_blocks
from konsil.report.manuscript.tables.main_results import main_results
from konsil.report.manuscript.tables.study_table import study_table
from konsil.report.material.overview import Material
from konsil.report.material.tables import Table
from konsil.report.people.participant_flow import participant_flow


@dataclass(frozen=True)
class Sources:
    """What a manuscript is made from."""

    material: Material
    """The study and its results in the report's language."""
    results: Results
    """The results with the message ids of their methods."""
    checklists: tuple[Checklist, ...] = ()
    """The reporting checklists of the supplement."""


def documents(sources: Sources) -> tuple[Manuscript, Manuscript]:
    """The manuscript and its supplement."""
    material = sources.material
    _ = material.language.gettext
    shown = printed(material)
    views = build_analysis_views(material)
    drawn = frozenset(spec.name for spec in shown.main)
    blocks = (
        *_notices(material),
        *methods_blocks(shown, sources.results),
        *_results(shown, {view.name: view for view in views}),
        *_limitations(material),
    )
    beside = (
        *_notices(material),
        *supplement_blocks(material, sources.results, views, drawn, sources.checklists),
    )
    words = Words(_("Table"), _("Figure"), _("References"), _("continued"))
    title = material.study.title
    of_supplement = material.numbers.translated(
        message("Supplement: {title}", message_id="manuscript.supplement", title=title)
    )
    return (
        Manuscript(title, material.language.code, words, _with_text(blocks)),
        Manuscript(
            of_supplement, material.language.code, replace(words, prefix="S"), _with_text(beside)
        ),
    )


def _with_text(blocks: Sequence[Block]) -> tuple[Block, ...]:
    return tuple(block for block in blocks if not isinstance(block, Paragraph) or block.text)


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


def _results(shown: Printed, views: Mapping[str, AnalysisView]) -> Iterator[Block]:
    material, numbering = shown.material, Numbering()
    _ = material.language.gettext
    yield Heading(_("Results"), 1)
    yield Heading(_("Raters, items and systems"), 2)
    yield numbering.figure(participant_flow(material))
    study = numbering.table(study_table(material), "study", _("Design"))
    yield study
    results = main_results(shown)
    main = numbering.table(results, "main-results", _("Results")) if results is not None else None
    if main is not None:
        text = message(
            "Table {first} describes the study; Table {second} has the main results.",
            message_id="manuscript.tables",
            first=str(study.number),
            second=str(main.number),
        )
        yield Paragraph(material.numbers.translated(text))
    laid = [numbering.table(_without_links(t.table), t.anchor, t.title) for t in shown.tables]
    numbers = {block.key: block.number for block in laid}
    for spec in shown.main:
        yield Heading(analysis_title(spec.name), 2)
        rows = [row for row in material.results.rows if row.analysis == spec.name]
        query = query_of(material, spec, [row for row in rows if not row.detail])
        places = [numbers[t.anchor] for t in shown.laid(spec.name)]
        exploratory = "" if spec.prespecified else f"{_exploratory(material).capitalize()}:"
        sentences = [exploratory, answer(query), further(query), _where(material, places)]
        yield Paragraph(" ".join(text for text in sentences if text))
        if spec.mode == "paper":
            yield Paragraph(
                _("Computed as published, for reproduction; its CI and p value may not be valid.")
            )
        for drawing in views[spec.name].figures if spec.name in views else ():
            kind = "difference" if drawing.key in views[spec.name].of_differences else "estimate"
            of_figure = [row for row in rows if row.kind == kind and not row.detail]
            words = drawing.caption.removeprefix(spec.name)
            name = analysis_title(spec.name) if words != drawing.caption else ""
            caption = f"{name}{words} {caption_facts(material, of_figure)}".rstrip()
            yield numbering.figure(drawing, caption)
    yield from [main] if main is not None else []
    yield from laid
    for figure in laid_figures(material):
        if figure.drawing is not None:
            yield numbering.figure(figure.drawing)
    elsewhere = {view.name for view in views.values() if view.tables} - {
        row.analysis for row in shown.rows
    }
    if elsewhere:
        others = message(
            "Results of {n:,} further {n|analysis|analyses}, and all estimates with every CI, are"
            " in the supplement.",
            message_id="manuscript.others",
            n=len(elsewhere),
        )
        yield Paragraph(material.numbers.translated(others))


def _without_links(table: Table) -> Table:
    """The table without links into the report's data files, which a manuscript is not beside."""
    rows = tuple(tuple(replace(cell, href="") for cell in row) for row in table.rows)
    return replace(table, rows=rows)


def _exploratory(material: Material) -> str:
    return material.numbers.translated(message("exploratory", message_id="answer.exploratory"))


def _where(material: Material, numbers: Sequence[int]) -> str:
    """The protocol's tables with the numbers of an analysis; empty where Table 2 has them."""
    if not numbers:
        return ""
    names = ", ".join(material.numbers.count(n) for n in numbers)
    text = message("See Table {names}.", message_id="manuscript.in_table", names=names)
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


def _limitations(material: Material) -> Iterator[Block]:
    _ = material.language.gettext
    if material.results.warnings:
        yield Heading(_("Limitations"), 1)
        yield from (Paragraph(warning) for warning in material.results.warnings)
