"""Reporting checklists, filled in as far as the study knows and marked where authors must write.

The items are facts of the guidelines in words of our own: GRRAS has fifteen (Kottner et al. 2011);
a data statement has the headings of Bender and Friedman (2018). TRIPOD-LLM and CHART are left out
because their lists of items could not be compared with the published tables.
"""

from __future__ import annotations

from collections.abc import Iterator

from konsil.report.manuscript.blocks import Block, Heading, Numbering, Paragraph
from konsil.report.manuscript.citations import cite
from konsil.report.manuscript.methods import (
    criteria_text,
    design_text,
    raters_text,
    recruitment_text,
    to_be_written,
)
from konsil.report.manuscript.request import Checklist
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Table, table

Item = tuple[str, str, str, str]
"""Number, topic, what the study knows (empty: nothing), and where it stands."""


def checklist_tables(
    material: Material, checklist: Checklist, numbering: Numbering
) -> Iterator[Block]:
    """The heading, the source and the table of a checklist."""
    _ = material.language.gettext
    is_grras = checklist == "grras"
    heading = (
        _("Appendix: reporting checklist GRRAS") if is_grras else _("Appendix: data statement")
    )
    words = (
        _("Items of the Guidelines for Reporting Reliability and Agreement Studies, in our words")
        if is_grras
        else _("Headings of data statements for natural language processing, in our words")
    )
    yield Heading(heading, 1)
    yield Paragraph(f"{words}{cite(['kottner2011' if is_grras else 'bender2018'])}.")
    yield numbering.table(checklist_table(material, checklist), checklist)


def checklist_table(material: Material, checklist: Checklist) -> Table:
    """The checklist as a table: number, item, what the study knows, where it stands."""
    _ = material.language.gettext
    items = grras(material) if checklist == "grras" else data_statement(material)
    rows = [
        (
            Cell(number),
            Cell(topic),
            Cell(content or to_be_written(material)),
            Cell(place if content else ""),
        )
        for number, topic, content, place in items
    ]
    captions = {
        "grras": _("GRRAS: items, what this study reports, and where."),
        "data-statement": _("Data statement of this study."),
    }
    head = (_("No."), _("Item"), _("This study"), _("Section"))
    return table(material.caption(captions[checklist]), head, rows, row_heads=2)


def grras(material: Material) -> list[Item]:
    """The fifteen items."""
    _ = material.language.gettext
    study, methods, results = material.study, _("Methods"), _("Results")
    process = [raters_text(material)]
    if study.blinded:
        process.append(_("Systems have blinding codes in all analyses until unblinding."))
    instruments = ", ".join(instrument.id for instrument in study.instruments)
    forms = _("Forms: %(names)s.") % {"names": instruments} if instruments else ""
    n_estimates = sum(row.kind == "estimate" for row in material.results.rows)
    estimates = _("%(n)s estimates with CIs; all of them are in estimates.csv.") % {
        "n": material.numbers.count(n_estimates)
    }
    independent = _("Raters rated on pages of their own, without the ratings of others.")
    on_pages = independent if material.times and study.adjudication is None else ""
    return [
        ("1", _("Title or abstract names reliability or agreement as the subject"), "", ""),
        ("2", _("The instrument or device, named and described"), forms, methods),
        ("3", _("The population of subjects or objects of interest"), "", ""),
        ("4", _("The population of raters of interest"), "", ""),
        ("5", _("What is known already, and why the study was done"), "", ""),
        (
            "6",
            _("Choice of the sample size; numbers of raters, items and repetitions"),
            f"{design_text(material)} {to_be_written(material, _('Reason for the sample size:'))}",
            methods,
        ),
        ("7", _("Sampling of raters and items"), _sampling(material), methods),
        (
            "8",
            _("The rating process: intervals, available information, blinding"),
            " ".join(process),
            methods,
        ),
        ("9", _("Whether ratings were given independently"), on_pages, methods),
        (
            "10",
            _("Statistical analysis"),
            _("Stated in full under “Statistical analysis”."),
            methods,
        ),
        (
            "11",
            _("Actual numbers of raters, items and repeated ratings"),
            design_text(material),
            results,
        ),
        (
            "12",
            _("Characteristics of raters and items, such as training and experience"),
            _("See the tables of raters and items."),
            results,
        ),
        (
            "13",
            _("Estimates of reliability and agreement with their uncertainty"),
            estimates if n_estimates else "",
            results,
        ),
        ("14", _("Practical relevance of the results"), "", ""),
        (
            "15",
            _("Detailed results, for instance online"),
            _("Unrounded results and data are files of the report."),
            _("Supplement"),
        ),
    ]


def _sampling(material: Material) -> str:
    _ = material.language.gettext
    prepare = material.study.prepare
    if prepare is None or not prepare.draws:
        return ""
    return _("Items were sampled at random with the study's seed; see the flow of items.")


def data_statement(material: Material) -> list[Item]:
    """What a reader must know of the texts, of those who wrote and of those who rated them."""
    _ = material.language.gettext
    study, count = material.study, material.numbers.count
    languages = ", ".join(sorted({i.language for i in study.instruments if i.language}))
    told_languages = _("Language of the forms: %(languages)s.") % {"languages": languages}
    systems = ", ".join(system.id for system in study.systems)
    told_systems = _("Answers are by these systems: %(names)s.") % {"names": systems}
    texts = _("%(items)s items, %(answers)s answers; lengths are in the table of systems.") % {
        "items": count(len(material.items)),
        "answers": count(len(material.answers)),
    }
    licence = _("Licence: %(licence)s.") % {"licence": study.licence} if study.licence else ""
    sources = ", ".join(dict.fromkeys(source.file for source in study.sources if source.file))
    # A file of answers can have the name of its system.
    is_stated = bool(sources) and not material.is_blinded
    provenance = _("Files: %(names)s.") % {"names": sources} if is_stated else ""
    methods, results = _("Methods"), _("Results")
    return [
        ("A", _("Curation rationale: which texts, and why"), study.description, methods),
        ("B", _("Language variety"), told_languages if languages else "", methods),
        (
            "C",
            _("Authors of the texts (persons or systems)"),
            told_systems if systems else "",
            results,
        ),
        (
            "D",
            _("Annotators: raters and their characteristics"),
            f"{raters_text(material)} {recruitment_text(material)}",
            methods,
        ),
        ("E", _("Situation in which the texts arose"), "", ""),
        ("F", _("Characteristics of the texts"), texts, results),
        ("G", _("Quality of recordings"), _("Not applicable: no recordings."), ""),
        (
            "H",
            _("Other: rating criteria, licence"),
            f"{criteria_text(material)} {licence}".rstrip(),
            methods,
        ),
        ("I", _("Provenance"), provenance, _("Supplement")),
    ]
