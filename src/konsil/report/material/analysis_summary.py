"""What an analysis asks, in words: its sentence and what the protocol states of it."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis import Analysis, Row
from konsil.analysis.cases.case_rules import with_case_defaults
from konsil.analysis.estimation.raters.consensus_rules import is_of_two, needs_majority
from konsil.analysis.model.catalogue.known import AUDIT, CASES, NAME_COLUMNS, RIGHT_OR_WRONG
from konsil.analysis.model.options import (
    AgreementOptions,
    CaseOptions,
    Options,
    ShareOptions,
)
from konsil.analysis.running.methods.number_methods import numbers_read
from konsil.errors.message import message
from konsil.report.material.glossary import entry, title
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import column_title


def analysis_question(material: Material, spec: Analysis | None, rows: Sequence[Row]) -> str:
    """What an analysis asks, in one sentence, and what its statistic is."""
    _ = material.language.gettext
    statistic = spec.statistic if spec else rows[0].statistic
    values = {
        "statistic": title(statistic, material.language),
        "criterion": spec.criterion if spec else rows[0].criterion,
        "panel": spec.raters if spec else rows[0].raters,
        "against": (spec.against or "") if spec else "",
    }
    if spec is not None and spec.against == "rest":
        text = _(
            "%(statistic)s of each rater of the panel “%(panel)s” against the majority of the"
            " panel's other raters, on the criterion “%(criterion)s”."
        )
    elif spec is not None and spec.against is not None and is_of_two(spec, rows):
        text = _(
            "%(statistic)s of each judge of the panel “%(panel)s” with each of the two raters of"
            " the panel “%(against)s”, compared with that of these two raters, on the criterion"
            " “%(criterion)s”."
        )
    elif spec is not None and spec.against is not None and needs_majority(spec):
        text = _(
            "%(statistic)s of the panel “%(panel)s” against the majority of the panel"
            " “%(against)s”, on the criterion “%(criterion)s”."
        )
    elif spec is not None and spec.against is not None:
        text = _(
            "%(statistic)s of the panel “%(panel)s” compared with the panel “%(against)s”,"
            " on the criterion “%(criterion)s”."
        )
    elif spec is not None and spec.statistic in CASES:
        text = _("%(statistic)s of “%(criterion)s”, rated by panel “%(panel)s”.")
    elif entry(statistic).is_among_raters:
        text = _(
            "%(statistic)s among the raters of the panel “%(panel)s” on the criterion"
            " “%(criterion)s”."
        )
    else:
        text = _("%(statistic)s of “%(criterion)s”, rated by panel “%(panel)s”.")
    return f"{text % values} {entry(statistic, material.language).text}".rstrip()


def facts_of(material: Material, spec: Analysis | None) -> tuple[tuple[str, str], ...]:
    """What the protocol says beside it: term and value, those that are stated."""
    if spec is None:
        return ()
    _, numbers, options = material.language.gettext, material.numbers, spec.options
    units = {"item": _("items"), "case": _("cases"), "rater": _("raters")}
    consensus = {"none": "", "majority": _("majority of the panel"), "mean": _("mean of the panel")}
    spans = {
        "each": "",
        "all": _("all sentences"),
        "any": _("any sentence"),
        "mean": _("mean of the sentences"),
    }
    is_restricted = spec.display == "complete"
    criterion = material.criteria().get(spec.criterion)
    abstentions = _("a separate label") if spec.abstain == "label" else _("excluded pairwise")
    if criterion is None or criterion.scale.abstain is None:
        abstentions = ""
    facts = (
        (_("Category of interest"), ", ".join(options.labels_counted)),
        (_("Further criteria"), ", ".join(with_case_defaults(spec).criteria)),
        *_thresholds(material, spec),
        (_("Items"), spec.items),
        (
            _("Only"),
            "; ".join(
                f"{column}: {', '.join(values)}" for column, values in sorted(spec.where.items())
            ),
        ),
        (_("Groups"), ", ".join(column_title(material, c) for c in spec.by)),
        (_("Compared"), column_title(material, spec.compare)),
        (
            numbers.translated(message("Omitted in turn", message_id="leave_out.fact")),
            ", ".join(column_title(material, c) for c in spec.leave_out),
        ),
        (_("Arm"), spec.arm or ""),
        (
            _("Answers displayed"),
            _("people's ratings of answers displayed to their end only") if is_restricted else "",
        ),
        (_("Weights"), options.weights if isinstance(options, AgreementOptions) else ""),
        (
            _("Combined categories"),
            "; ".join(f"{old} → {new}" for old, new in spec.collapse.items()),
        ),
        (_("Labels"), ", ".join(spec.labels)),
        (_("Numbers of the labels"), _label_numbers(material, spec)),
        (_("Consensus"), consensus[spec.consensus]),
        (_("Tie-breaks"), options.tiebreak if isinstance(options, ShareOptions) else ""),
        (_("Reference group"), _reference(material, options)),
        (_("Sentences"), spans[spec.spans]),
        (_("Abstentions"), abstentions),
        (_("Resampled"), units["case" if spec.statistic in CASES else spec.cluster]),
    )
    return tuple((term, value) for term, value in facts if value)


def _label_numbers(material: Material, spec: Analysis) -> str:
    """The numbers of the labels that it is computed with; of several criteria with their names."""
    criteria = [c for form in material.study.instruments for c in form.criteria]
    numbers = numbers_read(spec, criteria, material.study.scores)
    if len(set(numbers.values())) < 2:
        return next(iter(numbers.values()), "")
    return "; ".join(f"{name}: {text}" for name, text in numbers.items())


def _reference(material: Material, options: Options) -> str:
    """The group that relative differences are divided by; empty while it is withheld."""
    named = options.reference if isinstance(options, ShareOptions) else {}
    return "; ".join(
        f"{column} = {value}"
        for column, value in named.items()
        if not (material.is_blinded and column in NAME_COLUMNS)
    )


def _thresholds(material: Material, spec: Analysis) -> list[tuple[str, str]]:
    """From which scores on an answer of a case counts as right, as a failure, as approved."""
    options = spec.options
    if not isinstance(options, CaseOptions):
        return []
    _, tick = material.language.gettext, material.numbers.tick
    audit = spec.statistic in AUDIT
    right = spec.statistic in {*RIGHT_OR_WRONG, "strictness"}
    facts = [(_("Information levels"), ", ".join(options.levels))]
    facts += [(_("Correct from"), tick(options.correct))] if right else []
    whose = (
        message("by every expert", message_id="audit.by_every")
        if options.failure_by == "every"
        else message("by their mean", message_id="audit.by_mean")
    )
    rule = material.numbers.translated(whose)
    facts += [(_("Failure up to"), f"{tick(options.failure)} ({rule})")] if audit else []
    facts += [(_("Approved from"), tick(options.approve))] if audit else []
    if spec.statistic == "monotonicity_violation":
        out_of = {
            "cases": _("all cases"),
            "recovered": _("cases correct at the last information level"),
        }
        facts.append((_("Out of"), out_of[options.denominator]))
    return facts
