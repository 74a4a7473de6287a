"""TRIPOD-LLM: studies of large language models in health care (Gallifant et al. 2025).

Its table 2 has 19 main items and, with their letters, 49 numbered lines; its text counts 50
subitems. The numbers here are those of the table.
"""

from __future__ import annotations

from konsil.report.manuscript.checklists.item import Filled, Item
from konsil.report.manuscript.checklists.known_facts import (
    abstentions_text,
    calls_text,
    codebook_text,
    comparisons_text,
    ethics_text,
    item_characteristics_text,
    licence_text,
    limitations_text,
    models_text,
    preparation_text,
    prompts_text,
    protocol_text,
    questions_text,
    registration_text,
    resources_text,
    source_files,
    systems_prompts_text,
)
from konsil.report.manuscript.checklists.result_facts import (
    agreement_text,
    analysis_place,
    estimates_text,
    statistics_list,
)
from konsil.report.manuscript.methods import criteria_text, design_text, raters_text
from konsil.report.manuscript.statistical_analysis import missing_text
from konsil.report.material.overview import Material


def tripod_llm(material: Material) -> Filled:
    """The 49 numbered lines."""
    _ = material.language.gettext
    return Filled(
        _("Reporting checklist TRIPOD-LLM"),
        "TRIPOD-LLM",
        _("Items of TRIPOD-LLM, for studies of large language models in health care, paraphrased"),
        "gallifant2025",
        _("TRIPOD-LLM: items, what this study reports, and where."),
        (
            *_introduction(material),
            *_data(material),
            *_models(material),
            *_output(material),
            *_annotation(material),
            *_open_science(material),
            *_results(material),
            *_discussion(material),
        ),
        _(
            "Numbers are those of the guideline's table 2, which has 49 numbered lines; its text"
            " counts 50 subitems."
        ),
    )


def _introduction(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    study = material.study
    return (
        Item("1", _("Title names the evaluation of an LLM, its task, population and outcome")),
        Item("2", _("Abstract by the guideline's list for abstracts")),
        Item(
            "3a",
            _("Use in health care, reasons for the study, earlier work"),
            study.description,
            _("Beginning"),
            rest=_("Earlier work:"),
        ),
        Item("3b", _("Target population, users and place in care")),
        Item(
            "4",
            _("Objectives, and whether a model is developed, tuned or evaluated"),
            questions_text(material),
            _("Report"),
            rest=_("Stage of development:"),
        ),
    )


def _data(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    methods = _("Methods")
    return (
        Item(
            "5a",
            _("Origin of the data for training, tuning and evaluation, and why these"),
            source_files(material),
            _("Supplement"),
            rest=_("Origin of the items, and data of the models:"),
        ),
        Item(
            "5b",
            _("Description of the data: numbers, distribution, languages"),
            design_text(material),
            _("Results"),
            parts=((item_characteristics_text(material), _("Distribution of the data:")),),
            rest=_("Languages of the texts:"),
        ),
        Item("5c", _("Dates of the oldest and newest texts")),
        Item(
            "5d",
            _("Preparation of the data and checks of their quality"),
            preparation_text(material),
            _("Results"),
            rest=_("Checks of the quality of the data:"),
        ),
        Item(
            "5e",
            _("Missing and unbalanced data; reasons for exclusions"),
            " ".join(text for text in (abstentions_text(material), missing_text(material)) if text),
            methods,
            rest=_("Unbalanced data:"),
        ),
    )


def _models(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    methods = _("Methods")
    return (
        Item(
            "6a",
            _("Name, version and training cutoff date of each LLM"),
            models_text(material),
            methods,
            rest=_("Versions and training cutoff dates:"),
        ),
        Item(
            "6b", _("Development: architecture, training, alignment"), reason=_evaluation(material)
        ),
        Item(
            "6c",
            _("Generation of the texts: prompts and settings"),
            place=methods,
            parts=(
                (calls_text(material), _("Settings:")),
                (systems_prompts_text(material), _("Prompts:")),
            ),
        ),
        Item("6d", _("Output of the LLM, before and after processing")),
        Item("6e", _("Classes and thresholds, where the output is a class or a probability")),
    )


def _evaluation(material: Material) -> str:
    return material.language.gettext(
        "it is for studies that develop a model; the records are of an evaluation."
    )


def _output(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    methods = _("Methods")
    return (
        Item(
            "7a",
            _("Measures of the quality of texts against a reference"),
            place=methods,
            parts=(
                (criteria_text(material), _("Criteria:")),
                (statistics_list(material), _("Measures:")),
            ),
        ),
        Item("7b", _("Why these measures matter for the intended use")),
        Item(
            "7c",
            _("Definition of the outcome and of its computation; dates of the calls"),
            place=methods,
            parts=(
                (analysis_place(material), _("Computation of the outcome:")),
                (calls_text(material), _("Dates of the calls:")),
            ),
        ),
        Item(
            "7d",
            _("Subjective assessment: assessors, instructions, agreement"),
            raters_text(material),
            methods,
            parts=(
                (codebook_text(material), _("Instructions to the raters:")),
                (agreement_text(material), _("Agreement of the raters:")),
            ),
            rest=_("Qualifications of the raters:"),
        ),
        Item(
            "7e",
            _("Comparisons with other LLMs, people or standards"),
            comparisons_text(material),
            methods,
        ),
    )


def _annotation(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    methods = _("Methods")
    return (
        Item(
            "8a",
            _("How texts were annotated, with guidelines and examples"),
            codebook_text(material),
            _("Supplement"),
        ),
        Item(
            "8b",
            _("Number of annotators, proportion with more than one, agreement"),
            design_text(material),
            methods,
            parts=((agreement_text(material), _("Agreement of the raters:")),),
            rest=_("Proportion of texts with more than one rater:"),
        ),
        Item(
            "8c",
            _("Experience of the annotators; models that annotated"),
            raters_text(material),
            _("Results"),
            rest=_("Experience of the raters:"),
        ),
        Item(
            "9a",
            _("How prompts were designed and chosen"),
            prompts_text(material),
            _("Supplement"),
            rest=_("Design and choice of the prompts:"),
        ),
        Item("9b", _("Data with which prompts were developed")),
        Item("10", _("Pre-processing of texts before summarisation")),
        Item("11", _("Instruction tuning and alignment"), reason=_evaluation(material)),
        Item(
            "12",
            _("Computing resources, or proxies such as time and cost"),
            resources_text(material),
            _("Supplement"),
        ),
        Item(
            "13",
            _("Ethics committee, and consent or its waiver"),
            ethics_text(material),
            methods,
            rest=_("Consent:"),
        ),
    )


def _open_science(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    return (
        Item("14a", _("Funding and role of the funders")),
        Item("14b", _("Conflicts of interest")),
        Item(
            "14c",
            _("Where the protocol is"),
            protocol_text(material),
            _("Methods"),
            rest=_("Place of the protocol:"),
        ),
        Item("14d", _("Registration"), registration_text(material), _("Methods")),
        Item(
            "14e",
            _("Availability of the data"),
            licence_text(material),
            _("Supplement"),
            rest=_("Place of the data:"),
        ),
        Item(
            "14f",
            _("Availability of the code"),
            _("konsil with the versions under “Software”."),
            _("Methods"),
            rest=_("Place of further code:"),
        ),
        Item("15", _("Patient and public involvement")),
    )


def _results(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    results = _("Results")
    return (
        Item(
            "16a",
            _("Patient data: flow through the study"),
            _("The flow figure shows the numbers of items, answers and raters."),
            results,
            rest=_("Outcomes and follow-up, if these are data of patients:"),
        ),
        Item(
            "16b",
            _("Patient data: characteristics by source and split"),
            item_characteristics_text(material),
            results,
            rest=_("Dates, if these are data of patients:"),
        ),
        Item("16c", _("Clinical outcomes: development and evaluation data compared")),
        Item("16d", _("Patient data: participants and events in each analysis")),
        Item(
            "17",
            _("Performance by the measures declared, and by human evaluation"),
            place=results,
            parts=(
                (estimates_text(material), _("Performance:")),
                (_people(material), _("Evaluation by people:")),
            ),
        ),
        Item("18", _("Results of an updated LLM")),
    )


def _people(material: Material) -> str:
    """That people rated; their numbers are those of the panels."""
    has_people = any(rater.kind == "human" for rater in material.raters)
    return raters_text(material) if has_people else ""


def _discussion(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    return (
        Item("19a", _("Interpretation of the main results, fairness included")),
        Item(
            "19b",
            _("Limitations, bias, uncertainty and generalisability"),
            limitations_text(material),
            _("Limitations"),
            rest=_("Further limitations:"),
        ),
        Item("19c", _("Known difficulties of data of this kind")),
        Item("19d", _("Intended use: input, users, supervision by people")),
        Item("19e", _("What to do about poor or missing input in use")),
        Item("19f", _("Interaction and expertise that users need")),
        Item("19g", _("Next steps of research")),
    )
