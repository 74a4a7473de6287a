"""Facts on analyses and results that several checklists ask for; empty where there is none."""

from __future__ import annotations

import math

from konsil.report.material.glossary import entry, title
from konsil.report.material.overview import Material


def statistics_list(material: Material) -> str:
    """The statistics of the declared analyses."""
    _ = material.language.gettext
    names = dict.fromkeys(a.statistic for a in material.study.analyses if a.prespecified)
    if not names:
        return ""
    titles = "; ".join(dict.fromkeys(title(name, material.language) for name in names))
    return _("Statistics: %(names)s.") % {"names": titles}


def agreement_text(material: Material) -> str:
    """Where agreement between raters is."""
    _ = material.language.gettext
    names = [
        a.name for a in material.study.analyses if entry(a.statistic).is_among_raters and a.raters
    ]
    if not names:
        return ""
    return _("Inter-rater agreement: analyses %(names)s.") % {"names": ", ".join(names)}


def estimates_text(material: Material) -> str:
    """How many estimates of declared analyses have CIs."""
    return _estimates(material, {a.name for a in material.study.analyses if a.prespecified})


def agreement_estimates_text(material: Material) -> str:
    """How many estimates of agreement and reliability have CIs; no proportions and means."""
    names = {
        a.name
        for a in material.study.analyses
        if entry(a.statistic).family == "agreement" or a.statistic in _FURTHER_AGREEMENT
    }
    return _estimates(material, names)


_FURTHER_AGREEMENT = frozenset({"choice_agreement", "choice_kappa", "reliability"})
"""Statistics of agreement and reliability of other families."""


def reference_estimates_text(material: Material) -> str:
    """How many estimates of comparisons with the reference have CIs."""
    against = {a.name for a in material.study.analyses if a.against and a.against != "rest"}
    return _estimates(material, against)


def _estimates(material: Material, names: set[str]) -> str:
    _ = material.language.gettext
    n = sum(
        row.kind == "estimate" and row.analysis in names and math.isfinite(row.estimate.low)
        for row in material.results.rows
    )
    if not n:
        return ""
    return _("%(n)s estimates with CIs are in the supplement.") % {"n": material.numbers.count(n)}


def analysis_place(material: Material) -> str:
    """That the methods describe the analyses; empty without a result."""
    if not any(math.isfinite(row.estimate.value) for row in material.results.rows):
        return ""
    return material.language.gettext("Stated in full under “Statistical analysis”.")
