"""GRRAS: reporting of reliability and agreement, fifteen items (Kottner et al. 2011)."""

from __future__ import annotations

from konsil.report.manuscript.checklists.item import Filled, Item
from konsil.report.manuscript.checklists.known_facts import (
    blinding_text,
    independence_text,
    information_text,
    item_characteristics_text,
    lacks_repeats,
    rater_characteristics_text,
    repeats_text,
    sampling_text,
)
from konsil.report.manuscript.checklists.result_facts import (
    agreement_estimates_text,
    analysis_place,
    estimates_text,
)
from konsil.report.manuscript.methods import criteria_text, design_text
from konsil.report.material.overview import Material


def grras(material: Material) -> Filled:
    """The fifteen items."""
    _ = material.language.gettext
    return Filled(
        _("Reporting checklist GRRAS"),
        "GRRAS",
        _("Items of the Guidelines for Reporting Reliability and Agreement Studies, paraphrased"),
        "kottner2011",
        _("GRRAS: items, what this study reports, and where."),
        (*_methods(material), *_results(material)),
    )


def _methods(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    study, methods = material.study, _("Methods")
    instruments = ", ".join(form.id for form in study.instruments)
    forms = _("Forms: %(names)s.") % {"names": instruments} if instruments else ""
    described = _("Described under “Criteria”.") if criteria_text(material) else ""
    return (
        Item("1", _("Title or abstract names reliability or agreement as the subject")),
        Item(
            "2",
            _("The instrument or device, named and described"),
            forms,
            methods,
            parts=((described, _("Description of the instrument:")),),
        ),
        Item("3", _("The population of subjects or objects of interest")),
        Item("4", _("The population of raters of interest")),
        Item("5", _("What is known already, and why the study was done")),
        Item(
            "6",
            _("Choice of the sample size; numbers of raters, items and repetitions"),
            design_text(material),
            methods,
            rest=_("Reason for the sample size:"),
        ),
        Item(
            "7",
            _("Sampling of raters and items"),
            sampling_text(material),
            methods,
            rest=_("Sampling of the raters:"),
        ),
        Item(
            "8",
            _("The rating process: intervals, available information, blinding"),
            place=methods,
            parts=(
                (information_text(material), _("Available information:")),
                ("", _("Intervals between ratings:")),
                (blinding_text(material), _("Blinding:")),
            ),
        ),
        Item(
            "9", _("Whether ratings were given independently"), independence_text(material), methods
        ),
        Item(
            "10",
            _("Statistical analysis"),
            analysis_place(material),
            methods,
        ),
    )


def _results(material: Material) -> tuple[Item, ...]:
    _ = material.language.gettext
    results = _("Results")
    return (
        Item(
            "11",
            _("Actual numbers of raters, items and repeated ratings"),
            design_text(material),
            results,
            parts=((repeats_text(material), _("Repeated ratings:")),),
            rest=_("Repeated ratings that were given:") if lacks_repeats(material) else "",
        ),
        Item(
            "12",
            _("Characteristics of raters and items, such as training and experience"),
            place=results,
            parts=(
                (item_characteristics_text(material), _("Characteristics of the items:")),
                (rater_characteristics_text(material), _("Characteristics of the raters:")),
            ),
            rest=_("Training and experience of the raters:"),
        ),
        Item(
            "13",
            _("Estimates of reliability and agreement with their uncertainty"),
            agreement_estimates_text(material),
            results,
        ),
        Item("14", _("Practical relevance of the results")),
        Item(
            "15",
            _("Detailed results, for instance online"),
            estimates_text(material),
            _("Supplement"),
            rest=_("Place of the ratings:"),
        ),
    )
