"""The analyses of a protocol in sentences: what is estimated, of whom, compared with what."""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields

from konsil.analysis import Analysis
from konsil.report.figures.units import Unit, head_unit, unit_words
from konsil.report.material.glossary import entry
from konsil.report.material.overview import Material


def estimand(material: Material, analysis: Analysis) -> str:
    """An analysis in sentences: what is estimated, of whom, in which groups, compared with what."""
    _ = material.language.gettext
    known = entry(analysis.statistic, material.language)
    names = [analysis.criterion, *analysis.criteria]
    sentences = [
        _("%(name)s: %(statistic)s of %(criteria)s, rated by the panel %(panel)s.")
        % {
            "name": analysis.name,
            "statistic": known.title,
            "criteria": ", ".join(
                _("“%(criterion)s”") % {"criterion": material.criterion(c)} for c in names
            ),
            "panel": analysis.raters,
        }
    ]
    where = "; ".join(f"{k}: {', '.join(v)}" for k, v in analysis.where.items())
    facts = (
        (_("Question: %(value)s"), analysis.question),
        (_("Restricted to: %(value)s."), where),
        (_("Arm of raters: %(value)s."), analysis.arm or ""),
        (_("Set of items: %(value)s."), analysis.items),
        (_("Groups: %(value)s."), ", ".join(analysis.by)),
        (_("Compared by: %(value)s."), analysis.compare),
        (_("Compared with: %(value)s."), _against(material, analysis)),
        (_("Equivalence margin: %(value)s."), _margin(material, analysis)),
        (_("Resampling unit: %(value)s."), _clusters(material)[analysis.cluster]),
        (_("Further settings (study.toml): %(value)s."), _settings(analysis)),
    )
    return " ".join([*sentences, *(text % {"value": value} for text, value in facts if value)])


_SETTINGS = (
    "mode",
    "consensus",
    "spans",
    "abstain",
    "collapse",
    "labels",
    "test",
    "adjudication",
    "leave_out",
)
"""Keys of an analysis whose value is stated where it is not the default."""


def _settings(analysis: Analysis) -> str:
    """The further keys of an analysis that are not at their defaults, as study.toml has them."""
    options = analysis.options
    stated = [(f, getattr(options, f.name)) for f in fields(options) if f.name != "criteria"]
    stated += [(f, getattr(analysis, f.name)) for f in fields(analysis) if f.name in _SETTINGS]
    changed = [(f.name, value) for f, value in stated if value != _default_of(f)]
    return "; ".join(
        f"{name} = {json.dumps(value, default=str, ensure_ascii=False)}" for name, value in changed
    )


def _default_of(field: Field[object]) -> object:
    """The default of a field, made where it is made anew for each record."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


def definitions(material: Material) -> list[str]:
    """What each statistic of the plan estimates, once."""
    names = dict.fromkeys(a.statistic for a in material.study.analyses)
    known = [entry(name, material.language) for name in names]
    return [f"{one.title}: {one.text}" for one in known]


def transformations(material: Material) -> list[str]:
    """How declared analyses recode or combine ratings, in a sentence each; [] if none does."""
    _ = material.language.gettext
    sentences = []
    for analysis in material.study.analyses:
        recoded = ", ".join(f"{old} → {new}" for old, new in analysis.collapse.items())
        spans = "" if analysis.spans == "each" else analysis.spans
        consensus = "" if analysis.consensus == "none" else analysis.consensus
        facts = (
            (_("%(name)s: response categories are recoded (%(value)s)."), recoded),
            (_("%(name)s: sentence ratings become one per answer (%(value)s)."), spans),
            (_("%(name)s: ratings are combined across the panel (%(value)s)."), consensus),
        )
        sentences += [
            text % {"name": analysis.name, "value": value}
            for text, value in facts
            if value and analysis.prespecified
        ]
    return [*sentences, *([_("Composite scores: see “Indices”.")] if material.study.scores else [])]


def _margin(material: Material, analysis: Analysis) -> str:
    """The margin of a difference, in the unit that figures have."""
    if analysis.margin is None:
        return ""
    margin = analysis.margin * Unit(analysis.statistic, material.numbers).factor
    unit = unit_words(material.numbers, head_unit(analysis.statistic, is_difference=True))
    return f"±{material.numbers.tick(margin)} {unit}".rstrip()


def _clusters(material: Material) -> dict[str, str]:
    _ = material.language.gettext
    return {"item": _("items"), "case": _("cases"), "rater": _("raters")}


def _against(material: Material, analysis: Analysis) -> str:
    _ = material.language.gettext
    if not analysis.against:
        return ""
    if analysis.against == "rest":
        return _("the majority of the other raters")
    if entry(analysis.statistic).has_own_panel:
        return _("the panel %(panel)s") % {"panel": analysis.against}
    return _("the majority of the panel %(panel)s") % {"panel": analysis.against}
