"""A data statement: the texts, their authors and their raters (Bender & Friedman 2018)."""

from __future__ import annotations

from konsil.report.manuscript.checklists.item import Filled, Item
from konsil.report.manuscript.checklists.known_facts import (
    languages_text,
    licence_text,
    rater_characteristics_text,
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
    texts = _("%(items)s items, %(answers)s answers; lengths are in the table of systems.") % {
        "items": count(len(material.items)),
        "answers": count(len(material.answers)),
    }
    methods, results = _("Methods"), _("Results")
    return (
        Item(
            "A",
            _("Curation rationale: which texts, and why"),
            study.description,
            methods,
            rest=_("Reason for the selection:"),
        ),
        Item(
            "B",
            _("Language variety"),
            languages_text(material),
            methods,
            rest=_("Varieties of the languages of the texts:"),
        ),
        Item(
            "C",
            _("Authors of the texts (persons or systems)"),
            systems_text(material),
            results,
            rest=_("Authors of the items:"),
        ),
        Item(
            "D",
            _("Annotators: raters and their characteristics"),
            raters_text(material),
            methods,
            parts=(
                (rater_characteristics_text(material), _("Characteristics of the raters:")),
                (recruitment_text(material), _("Recruitment of the raters:")),
            ),
        ),
        Item("E", _("Situation in which the texts arose")),
        Item(
            "F",
            _("Characteristics of the texts"),
            texts if material.items else "",
            results,
            rest=_("Genre and topics:"),
        ),
        Item("G", _("Quality of recordings"), reason=_("the study has texts and no recordings.")),
        Item(
            "H",
            _("Other: rating criteria, licence"),
            place=methods,
            parts=(
                (criteria_text(material), _("Criteria:")),
                (licence_text(material), _("Licence:")),
            ),
        ),
        Item(
            "I",
            _("Provenance"),
            source_files(material),
            _("Supplement"),
            rest=_("Origin of the texts:"),
        ),
    )
