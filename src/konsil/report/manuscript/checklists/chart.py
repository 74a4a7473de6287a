"""CHART: studies of chatbots that give health advice, 12 items, 39 subitems (Huo et al. 2025)."""

from __future__ import annotations

from konsil.report.manuscript.checklists.item import Filled, Item
from konsil.report.manuscript.checklists.known_facts import (
    access_text,
    answers_text,
    blinding_text,
    calls_text,
    ethics_text,
    licence_text,
    limitations_text,
    models_text,
    protocol_text,
    questions_text,
    rater_characteristics_text,
    reference_text,
    sessions_text,
    source_files,
    systems_prompts_text,
    systems_text,
)
from konsil.report.manuscript.checklists.result_facts import (
    analysis_place,
    estimates_text,
    reference_estimates_text,
    statistics_list,
)
from konsil.report.manuscript.methods import criteria_text, design_text, raters_text
from konsil.report.material.overview import Material


def chart(material: Material) -> Filled:
    """The 39 subitems."""
    _ = material.language.gettext
    return Filled(
        _("Reporting checklist CHART"),
        "CHART",
        _("Items of CHART, for studies of chatbots that give health advice, paraphrased"),
        "huo2025",
        _("CHART: items, what this study reports, and where."),
        (
            *_introduction(material),
            *_models(material),
            *_prompts(material),
            *_queries(material),
            *_evaluation(material),
            *_analysis(material),
            *_discussion(material),
            *_open_science(material),
        ),
        _("Numbers are those of the authors' form: 12 items with 39 subitems."),
    )


def _introduction(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    questions, systems = questions_text(material), systems_text(material)
    return (
        Item("1a", _("Title says that chatbots for health advice are assessed")),
        Item("1b", _("Abstract with headings")),
        Item(
            "2a",
            _("Background, reasons and context in health care"),
            material.study.description,
            _("Beginning"),
            rest=_("Literature:"),
        ),
        Item(
            "2b",
            _("Aims and questions: audience, intervention, comparator, outcome"),
            " ".join(text for text in (questions, systems) if text),
            _("Report"),
            rest=_("Audience:"),
        ),
    )


def _models(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    return (
        Item(
            "3a",
            _("Name, version and date of each model and chatbot"),
            models_text(material),
            _("Methods"),
            rest=_("Versions and dates of release:"),
        ),
        Item("3b", _("Open or proprietary models")),
        Item("4a", _("Base, newly developed or fine-tuned models")),
        Item("4b", _("Reference for the development of a base model")),
        Item("4c", _("Data and parameters of new or tuned models")),
    )


def _prompts(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    return (
        Item("5a", _("How the prompts were developed")),
        Item(
            "5ai",
            _("Sources of the prompts"),
            source_files(material),
            _("Supplement"),
            rest=_("Origin of the items:"),
        ),
        Item("5aii", _("Number and characteristics of those who wrote prompts")),
        Item("5aiii", _("Patient and public involvement in the prompts")),
        Item("5b", _("The prompts themselves"), systems_prompts_text(material), _("Supplement")),
    )


def _queries(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    methods = _("Methods")
    return (
        Item("6a", _("Route of access to the models"), access_text(material), methods),
        Item(
            "6b",
            _("Dates and places of the queries"),
            calls_text(material),
            methods,
            rest=_("City and country:"),
        ),
        Item(
            "6c", _("Whether prompts had sessions of their own"), sessions_text(material), methods
        ),
        Item(
            "6d",
            _("All responses"),
            answers_text(material),
            _("Supplement"),
            rest=_("Place of the responses:"),
        ),
    )


def _evaluation(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    methods = _("Methods")
    return (
        Item("7a", _("Reference standard of a good response"), reference_text(material), methods),
        Item(
            "7b",
            _("Process of the evaluation"),
            design_text(material),
            methods,
            parts=((criteria_text(material), _("Criteria:")),),
        ),
        Item(
            "7bi",
            _("Number and characteristics of the evaluators"),
            raters_text(material),
            methods,
            parts=((rater_characteristics_text(material), _("Characteristics of the raters:")),),
            rest=_("Experience of the raters:"),
        ),
        Item("7bii", _("Patient and public involvement in the evaluation")),
        Item(
            "7biii",
            _("Whether evaluators knew which chatbot they assessed"),
            blinding_text(material),
            methods,
        ),
    )


def _analysis(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    methods, results = _("Methods"), _("Results")
    return (
        Item(
            "8",
            _("How the sample size was determined"),
            design_text(material),
            methods,
            rest=_("Reason for the sample size:"),
        ),
        Item(
            "9a",
            _("Statistical methods; reproducibility of the responses"),
            analysis_place(material),
            methods,
            rest=_("Reproducibility of the responses:"),
        ),
        Item("9ai", _("Measures of performance"), statistics_list(material), methods),
        Item(
            "10a",
            _("Results of the evaluation, against the reference"),
            place=results,
            parts=(
                (estimates_text(material), _("Performance:")),
                (reference_estimates_text(material), _("Comparison with the reference:")),
            ),
        ),
        Item("10b", _("How responses differed from the reference")),
        Item("10c", _("Harmful, biased or misleading responses")),
    )


def _discussion(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    return (
        Item("11a", _("Interpretation in the context of other evidence")),
        Item(
            "11b",
            _("Strengths and limitations"),
            limitations_text(material),
            _("Limitations"),
            rest=_("Strengths and further limitations:"),
        ),
        Item("11c", _("Consequences for practice, teaching, policy, regulation and research")),
    )


def _open_science(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    methods = _("Methods")
    return (
        Item("12a", _("Conflicts of interest")),
        Item("12b", _("Funding and role of the funders")),
        Item("12c", _("Ethics committee"), ethics_text(material), methods),
        Item("12ci", _("Protection of patients' data")),
        Item("12cii", _("Permission to use protected data")),
        Item(
            "12d",
            _("Protocol"),
            protocol_text(material),
            methods,
            rest=_("Place of the protocol:"),
        ),
        Item(
            "12e",
            _("Access to data, code and parameters of the models"),
            " ".join(
                text
                for text in (
                    licence_text(material),
                    _("konsil with the versions under “Software”."),
                )
                if text
            ),
            _("Supplement"),
            rest=_("Place of the data:"),
        ),
    )
