"""Rules between an analysis and the criteria, labels and panels that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from konsil.analysis import Analysis, contradictions, known_statistics
from konsil.analysis.cases.case_rules import threshold_problems
from konsil.analysis.model.catalogue.known import AUDIT, CASES, statistic_of
from konsil.analysis.model.composite.analysis_rules import scored_problems
from konsil.analysis.model.options import ShareOptions
from konsil.analysis.pairs.pair_rules import criteria_problems
from konsil.analysis.running.form_rules import form_problems
from konsil.analysis.table.labels import counted_labels
from konsil.errors import AnalysisError, nearest
from konsil.instrument import Criterion
from konsil.instrument.definition.form import ANSWERS
from konsil.study.definition.protocol import Study
from konsil.study.rules.form_rules import duplicate_problems
from konsil.study.rules.injection_rules import shift_problems
from konsil.study.rules.valid_names import declared_values, panel_names, unknown_name_problems


def analysis_problems(study: Study, analysis: Analysis, where: str) -> Iterator[str]:
    """Problems of one analysis: names that do not exist, and what does not fit its criterion."""
    for column in analysis.options.columns:
        yield from unknown_name_problems(
            f"{where}.covariate",
            "derived column",
            column,
            [d.name for d in study.derived if not d.groups],
        )
    for panel in analysis.options.panels:
        yield from unknown_name_problems(f"{where}.tiebreak", "panel", panel, panel_names(study))
    yield from unknown_name_problems(
        f"{where}.statistic", "statistic", analysis.statistic, known_statistics()
    )
    yield from shift_problems(study.injections, analysis, where)
    criteria = {c.id: c for i in study.scored_instruments() for c in i.criteria}
    yield from unknown_name_problems(
        f"{where}.criterion", "criterion", analysis.criterion, criteria
    )
    for name in analysis.criteria:
        yield from unknown_name_problems(f"{where}.criteria", "criterion", name, criteria)
    panels = panel_names(study)
    yield from unknown_name_problems(f"{where}.raters", "panel", analysis.raters, panels)
    if analysis.against is not None and analysis.against != "rest":
        yield from unknown_name_problems(
            f"{where}.against", "panel", analysis.against, [*panels, "rest"]
        )
    for problem in (
        *contradictions(analysis),
        *scored_problems(analysis, {score.id for score in study.scores}),
    ):
        yield f"{where}.{problem}"
    if (
        analysis.arm is not None
        and study.plan
        and all(s.records in ("items", "answers") for s in study.sources)
    ):
        # All tasks are those of the plan: no table brings tasks of other arms.
        arms = sorted({arm for allocation in study.plan for arm in allocation.arms or ("",)})
        yield from unknown_name_problems(f"{where}.arm", "arm", analysis.arm, arms)
    # A study that declares no systems has those of its answers, which are not known here.
    for system in analysis.where.get("system", ()) if study.systems else ():
        yield from unknown_name_problems(
            f"{where}.where.system", "system", system, [s.id for s in study.systems]
        )
    yield from _reference(study, analysis, where)
    yield from _criteria(study, analysis, criteria, where)


def _reference(study: Study, analysis: Analysis, where: str) -> Iterator[str]:
    """A reference group that the study does not declare, or that `where` excludes."""
    options = analysis.options
    for column, value in options.reference.items() if isinstance(options, ShareOptions) else ():
        declared, restricted = declared_values(study, column), analysis.where.get(column)
        if declared and value not in declared:
            yield from unknown_name_problems(f"{where}.reference", column, value, declared)
        elif restricted is not None and value not in restricted:
            yield (
                f"{where}.reference: `where` excludes {column} = {value!r};"
                f" {nearest(value, restricted)}"
            )


def _criteria(
    study: Study, analysis: Analysis, criteria: Mapping[str, Criterion], where: str
) -> Iterator[str]:
    """Whether the criteria that an analysis names are fit for its statistic."""
    criterion, entry = criteria.get(analysis.criterion), statistic_of(analysis.statistic)
    rated = [analysis.criterion, *(analysis.criteria if analysis.statistic in AUDIT else ())]
    of_cases = rated if analysis.statistic in CASES else ()
    for rated_criterion in (criteria[name] for name in of_cases if name in criteria):
        yield from (
            f"{where}.{problem}" for problem in threshold_problems(analysis, rated_criterion)
        )
    if criterion is not None:
        others = [criteria[name] for name in analysis.criteria if name in criteria]
        yield from (
            f"{where}.{problem}" for problem in criteria_problems(analysis, criterion, others)
        )
    if criterion is not None and criterion.scale.kind == "choice":
        yield from _labels(analysis, criterion, where)
    if criterion is not None and entry.needs_order and _unordered(analysis, criterion):
        yield (
            f"{where}.statistic: {analysis.statistic!r} needs labels in an order; those of"
            f" {criterion.id!r} have none"
        )
    if criterion is not None and analysis.display == "complete" and not ANSWERS[criterion.scope]:
        yield (
            f"{where}.display: applies to ratings of answers, but {criterion.id!r} is not about"
            f" answers ({criterion.scope})"
        )
    if criterion is not None and criterion.scale.kind == "text" and not entry.is_of_text:
        yield (
            f"{where}.criterion: {analysis.criterion!r} is a free text; no statistic but"
            " 'abstention' applies to it"
        )
        return
    yield from (
        f"{where}.{problem}" for problem in form_problems(analysis, study.scored_instruments())
    )


def _unordered(analysis: Analysis, criterion: Criterion) -> bool:
    scale = criterion.scale
    nominal = scale.level == "nominal" or (
        analysis.abstain == "label" and scale.abstain is not None
    )
    return scale.kind == "choice" and nominal


def _labels(analysis: Analysis, criterion: Criterion, where: str) -> Iterator[str]:
    scale = criterion.scale
    for label in analysis.collapse:
        yield from unknown_name_problems(f"{where}.collapse", "label", label, scale.options())
    after = {analysis.collapse.get(label, label) for label in scale.labels}
    # With declared labels the number of categories is the declared one, never the observed one.
    declared = set(analysis.labels) or after
    yield from duplicate_problems(f"{where}.labels", analysis.labels, "label")
    for label in sorted(after - declared):
        yield f"{where}.labels: {label!r} is left after collapsing but is not declared in labels"
    if (
        scale.abstain is not None
        and analysis.collapse.get(scale.abstain, next(iter(declared))) not in declared
    ):
        yield (
            f"{where}.collapse: {scale.abstain!r} becomes {analysis.collapse[scale.abstain]!r},"
            " which is not a label"
        )
    counted = declared | (
        {scale.abstain} if analysis.abstain == "label" and scale.abstain is not None else set()
    )
    if analysis.abstain == "label" and scale.abstain is None:
        yield f"{where}.abstain: criterion {criterion.id!r} has no abstention that could be a label"
    for label in analysis.options.labels_counted:
        yield from unknown_name_problems(f"{where}.of", "label", label, counted)
    if analysis.collapse or analysis.labels:
        try:
            counted_labels(analysis, scale)
        except AnalysisError as error:
            yield f"{where}.collapse: {str(error).removeprefix(f'{analysis.name}: ')}"
