"""A data statement: the texts, their authors and their raters (Bender & Friedman 2018)."""

from __future__ import annotations

from konsil.report.manuscript.checklists.item import Filled, Item
from konsil.report.manuscript.checklists.known_facts import (
    licence_text,
    source_files,
    systems_text,
)
from konsil.report.manuscript.methods import criteria_text, raters_text, recruitment_text
from konsil.report.material.overview import Material


def data_statement(material: Material) -> Filled:
    """The nine headings."""
    _ = material.language.gettext
    return Filled(
        _("Data statement"),
        _("Data statement"),
        _("Headings of data statements for natural language processing, paraphrased"),
        "bender2018",
        _("Data statement of this study."),
        _items(material),
    )


def _items(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    study, count = material.study, material.numbers.count
    languages = ", ".join(sorted({i.language for i in study.instruments if i.language}))
    languages_text = _("Language of the forms: %(languages)s.") % {"languages": languages}
    texts = _("%(items)s items, %(answers)s answers; lengths are in the table of systems.") % {
        "items": count(len(material.items)),
        "answers": count(len(material.answers)),
    }
    methods, results = _("Methods"), _("Results")
    people = f"{raters_text(material)} {recruitment_text(material)}"
    other = f"{criteria_text(material)} {licence_text(material)}".rstrip()
    return (
        Item("A", _("Curation rationale: which texts, and why"), study.description, methods),
        Item("B", _("Language variety"), languages_text if languages else "", methods),
        Item(
            "C",
            _("Authors of the texts (persons or systems)"),
            systems_text(material),
            results,
        ),
        Item("D", _("Annotators: raters and their characteristics"), people, methods),
        Item("E", _("Situation in which the texts arose")),
        Item("F", _("Characteristics of the texts"), texts, results),
        Item("G", _("Quality of recordings"), reason=_("the study has texts and no recordings.")),
        Item("H", _("Other: rating criteria, licence"), other, methods),
        Item("I", _("Provenance"), source_files(material), _("Supplement")),
    )
