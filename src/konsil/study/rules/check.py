"""Cross references within a protocol.

Each name that is used exists, and each identifier is unique.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from konsil.analysis import Analysis, contradictions, known_statistics
from konsil.analysis.cases.case_rules import threshold_problems
from konsil.analysis.model.catalogue.known import AUDIT, ORDERED
from konsil.analysis.pairs.pair_rules import criteria_problems
from konsil.analysis.running.form_rules import form_problems
from konsil.errors import PlanError, StudyError, nearest
from konsil.instrument import Criterion, Instrument
from konsil.instrument.definition.form import ANSWERS
from konsil.locale import known, languages
from konsil.plan import Allocation
from konsil.plan.model.references import check_numbers
from konsil.prepare import preparation_problems
from konsil.study.definition.protocol import LONE_PANEL, Study
from konsil.study.rules.adjudication_rules import adjudication_problems
from konsil.study.rules.form_rules import duplicate_problems, instrument_problems, question_problems
from konsil.study.rules.injection_rules import injection_problems, shift_problems
from konsil.study.rules.number_limits import place_number_problems, resampling_problems
from konsil.study.sections.calibration import calibration_problems
from konsil.study.sections.calling import endpoint_problems, judge_problems, model_problems
from konsil.study.sections.enrolment import enrolment_problems, form_of, places_problems
from konsil.study.sections.helping import helper_problems
from konsil.study.sections.practice import explanation_problems
from konsil.study.sections.privacy import privacy_problems
from konsil.study.sections.programs import program_problems


def check(study: Study, name: str = "study.toml") -> None:
    """Raise a StudyError that lists every problem, one sentence a line.

    Say nothing when all is well.
    """
    sentences = tuple(problems(study, name))
    if sentences:
        raise StudyError("\n".join(sentences))


_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
"""The form of a language's code, by BCP 47."""


def problems(study: Study, name: str = "study.toml") -> Iterator[str]:
    """Every problem of the protocol as one sentence."""
    too_many = tuple(place_number_problems(study, f"{name}: places"))
    if too_many:  # every place has a stand-in wherever panels are asked for
        yield from too_many
        return
    if not study.title.strip():
        yield f"{name}: title: is empty; a report needs a title"
    if not known(study.language):
        yield (
            f"{name}: language: there is no {study.language!r};"
            f" {nearest(study.language, languages())}"
        )
    for where, ids in (
        ("instruments", [i.id for i in study.instruments]),
        ("systems", [s.id for s in study.systems]),
        ("raters", [r.id for r in study.raters]),
        ("endpoints", [e.id for e in study.endpoints]),
        ("judges", [j.rater for j in study.judges]),
        ("programs", [p.rater for p in study.programs]),
        ("analyses", [a.name for a in study.analyses]),
    ):
        yield from duplicate_problems(f"{name}: {where}", ids)
    for n, instrument in enumerate(study.instruments):
        yield from instrument_problems(instrument, f"{name}: instruments[{n}]")
        if not _LANGUAGE.fullmatch(instrument.language):
            # A form may be in a language that konsil's own words are not in.
            yield (
                f"{name}: instruments[{n}].language: {instrument.language!r} is no code of a"
                " language; expected one such as 'en', 'de' or 'pt-BR'"
            )
    yield from _models(study, name)
    for n, program in enumerate(study.programs):
        yield from program_problems(
            program, study.raters, study.instruments, study.plan, f"{name}: programs[{n}]"
        )
    yield from resampling_problems(study, f"{name}: resampling")
    yield from _exclusions(study, f"{name}: exclusions")
    if study.prepare is not None:
        yield from preparation_problems(
            study.prepare, [s.id for s in study.systems], f"{name}: prepare"
        )
        yield from helper_problems(study.prepare, study.endpoints, f"{name}: prepare")
    yield from _enrolment(study, name)
    yield from adjudication_problems(study, name)
    if study.privacy is not None:
        yield from privacy_problems(study.privacy, f"{name}: privacy")
    yield from _plan(study, name)
    yield from injection_problems(
        study.injections, study.instruments, [j.rater for j in study.judges], study.plan, name
    )
    yield from explanation_problems(
        study.explanations,
        study.instruments,
        [s.id for s in study.systems],
        study.plan,
        f"{name}: explanations",
    )
    yield from _lineage(study, name)
    yield from _together(study, f"{name}: together")
    yield from _derived(study, f"{name}: derived")
    for n, analysis in enumerate(study.analyses):
        yield from _analysis(study, analysis, f"{name}: analyses[{n}]")


def _plan(study: Study, name: str) -> Iterator[str]:
    for n, allocation in enumerate(study.plan):
        where = f"{name}: plan[{n}]"
        yield from _unknown_name_problems(
            f"{where}.panel", "panel", allocation.panel, study.panels()
        )
        yield from _unknown_name_problems(
            f"{where}.instrument",
            "instrument",
            allocation.instrument,
            [i.id for i in study.instruments],
        )
        for system in (*allocation.systems, *allocation.weights):
            yield from _unknown_name_problems(
                f"{where}.systems", "system", system, [s.id for s in study.systems]
            )
        if allocation.like:
            earlier = dict.fromkeys(a.phase for a in study.plan[:n] if a.phase)
            yield from _unknown_name_problems(
                f"{where}.like", "earlier line of the plan with the phase", allocation.like, earlier
            )
        yield from _sizes(allocation, study.instrument(allocation.instrument), where)


def _unknown_name_problems(
    where: str, record_kind: str, name: str, valid_names: Iterable[str]
) -> Iterator[str]:
    names = list(valid_names)
    if name not in names:
        yield f"{where}: there is no {record_kind} {name!r}; {nearest(name, names)}"


def _sizes(allocation: Allocation, instrument: Instrument | None, where: str) -> Iterator[str]:
    if instrument is not None:
        try:
            check_numbers(allocation, instrument, where)
        except PlanError as error:
            yield str(error)


def _models(study: Study, name: str) -> Iterator[str]:
    for n, endpoint in enumerate(study.endpoints):
        yield from endpoint_problems(endpoint, f"{name}: endpoints[{n}]")
    for n, system in enumerate(study.systems):
        if system.model is not None:
            yield from model_problems(system.model, study.endpoints, f"{name}: systems[{n}].model")
    llms = [r.id for r in study.raters if r.kind == "llm"]
    for n, judge in enumerate(study.judges):
        yield from _unknown_name_problems(
            f"{name}: judges[{n}].rater", "rater of kind 'llm'", judge.rater, llms
        )
        yield from model_problems(judge.model, study.endpoints, f"{name}: judges[{n}].model")
        yield from judge_problems(
            judge, _criteria_of_rater(study, judge.rater), f"{name}: judges[{n}]"
        )


def _criteria_of_rater(study: Study, rater: str) -> list[Criterion]:
    """The criteria that a rater is asked, by the plan; without one, those of all instruments."""
    panel = next((r.panel for r in study.raters if r.id == rater), "")
    used = {a.instrument for a in study.plan if a.panel == panel}
    return [c for i in study.instruments if not study.plan or i.id in used for c in i.criteria]


def _enrolment(study: Study, name: str) -> Iterator[str]:
    if study.enrolment is not None:
        yield from enrolment_problems(study.enrolment, f"{name}: enrolment")
        for key, questions in (
            ("eligibility", study.enrolment.eligibility),
            ("profile", study.enrolment.profile),
        ):
            yield from question_problems(
                form_of(questions, study.language), f"{name}: enrolment.{key}"
            )
    if study.calibration is not None:
        yield from calibration_problems(
            study.calibration, study.instruments, f"{name}: calibration"
        )
        if not any(a.purpose == "pilot" for a in study.plan):
            yield (
                f"{name}: calibration: there is no pilot to calibrate on; expected a [[plan]] with"
                " purpose = 'pilot'"
            )
    yield from places_problems(study.places, study.enrolment, f"{name}: places")


def _exclusions(study: Study, where: str) -> Iterator[str]:
    if study.exclusions.min_seconds < 0:
        yield (
            f"{where}.min_seconds: expected 0 or more seconds, got {study.exclusions.min_seconds:g}"
        )
    if study.raters:
        for rater in study.exclusions.raters:
            yield from _unknown_name_problems(
                f"{where}.raters", "rater", rater, [r.id for r in study.raters]
            )


def _lineage(study: Study, name: str) -> Iterator[str]:
    if study.judges_of_same_family != "forbid":
        return
    for n, rater in enumerate(study.raters):
        siblings = [
            s.id
            for s in study.systems
            if rater.kind == "llm" and s.family and s.family == rater.family
        ]
        if siblings:
            yield (
                f"{name}: raters[{n}]: judge {rater.id!r} is of the family {rater.family!r}, as the"
                " system"
                f' {siblings[0]!r} is; where that is wanted, say judges_of_same_family = "flag" or'
                ' "allow"'
            )


def _together(study: Study, where: str) -> Iterator[str]:
    panels = study.panels()
    for name, several in study.together.items():
        if name in panels or name in {"rest", LONE_PANEL}:
            yield f"{where}.{name}: is the name of a panel already; choose another"
        if len(set(several)) < 2:
            yield f"{where}.{name}: expected two panels or more, got {list(several)}"
        for panel in several:
            yield from _unknown_name_problems(f"{where}.{name}", "panel", panel, panels)


def _panels(study: Study) -> list[str]:
    """The valid names of an analysis' raters: the panels and the names of several."""
    return [*(study.panels() or {LONE_PANEL: ()}), *study.together]


def _derived(study: Study, where: str) -> Iterator[str]:
    yield from duplicate_problems(where, [d.name for d in study.derived])
    criteria = {c.id: c for i in study.instruments for c in i.criteria}
    for n, column in enumerate(study.derived):
        yield from _unknown_name_problems(
            f"{where}[{n}].criterion", "criterion", column.criterion, criteria
        )
        yield from _unknown_name_problems(
            f"{where}[{n}].raters", "panel", column.raters, _panels(study)
        )
        criterion = criteria.get(column.criterion)
        if criterion is not None and criterion.scale.kind == "text":
            yield (
                f"{where}[{n}].criterion: {column.criterion!r} is a free text; a derived number"
                " needs labels or numbers"
            )
        yield from duplicate_problems(f"{where}[{n}].bins", [b.label for b in column.bins])
        for m, part in enumerate(column.bins):
            if not part.low <= part.high:
                yield (
                    f"{where}[{n}].bins[{m}]: from {part.low:g} to {part.high:g}; expected the"
                    " lower end first"
                )


def _analysis(study: Study, analysis: Analysis, where: str) -> Iterator[str]:
    for column in analysis.options.columns:
        yield from _unknown_name_problems(
            f"{where}.covariate", "derived column", column, [d.name for d in study.derived]
        )
    for panel in analysis.options.panels:
        yield from _unknown_name_problems(f"{where}.tiebreak", "panel", panel, _panels(study))
    yield from _unknown_name_problems(
        f"{where}.statistic", "statistic", analysis.statistic, known_statistics()
    )
    yield from shift_problems(study.injections, analysis, where)
    criteria = {c.id: c for i in study.instruments for c in i.criteria}
    yield from _unknown_name_problems(
        f"{where}.criterion", "criterion", analysis.criterion, criteria
    )
    for name in analysis.criteria:
        yield from _unknown_name_problems(f"{where}.criteria", "criterion", name, criteria)
    panels = _panels(study)
    yield from _unknown_name_problems(f"{where}.raters", "panel", analysis.raters, panels)
    if analysis.against is not None and analysis.against != "rest":
        yield from _unknown_name_problems(
            f"{where}.against", "panel", analysis.against, [*panels, "rest"]
        )
    for problem in contradictions(analysis):
        yield f"{where}.{problem}"
    if (
        analysis.arm is not None
        and study.plan
        and all(s.records in ("items", "answers") for s in study.sources)
    ):
        # All tasks are those of the plan: no table brings tasks of other arms.
        arms = sorted({arm for allocation in study.plan for arm in allocation.arms or ("",)})
        yield from _unknown_name_problems(f"{where}.arm", "arm", analysis.arm, arms)
    for system in analysis.where.get("system", ()) if study.systems else ():
        yield from _unknown_name_problems(
            f"{where}.where.system", "system", system, [s.id for s in study.systems]
        )
    yield from _criteria(study, analysis, criteria, where)


def _criteria(
    study: Study, analysis: Analysis, criteria: Mapping[str, Criterion], where: str
) -> Iterator[str]:
    """Whether the criteria that an analysis names are fit for its statistic."""
    criterion = criteria.get(analysis.criterion)
    rated = [analysis.criterion, *(analysis.criteria if analysis.statistic in AUDIT else ())]
    for rated_criterion in (criteria[name] for name in rated if name in criteria):
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
    if criterion is not None and analysis.statistic in ORDERED and _unordered(analysis, criterion):
        yield (
            f"{where}.statistic: {analysis.statistic!r} needs labels in an order; those of"
            f" {criterion.id!r} have none"
        )
    if criterion is not None and analysis.display == "complete" and not ANSWERS[criterion.scope]:
        yield (
            f"{where}.display: belongs to ratings of answers, and {criterion.id!r} is about none"
            f" ({criterion.scope})"
        )
    if (
        criterion is not None
        and criterion.scale.kind == "text"
        and analysis.statistic != "abstention"
    ):
        yield (
            f"{where}.criterion: {analysis.criterion!r} is a free text; no statistic but"
            " 'abstention' applies to it"
        )
        return
    yield from (f"{where}.{problem}" for problem in form_problems(analysis, study.instruments))


def _unordered(analysis: Analysis, criterion: Criterion) -> bool:
    scale = criterion.scale
    nominal = scale.level == "nominal" or (
        analysis.abstain == "label" and scale.abstain is not None
    )
    return scale.kind == "choice" and nominal


def _labels(analysis: Analysis, criterion: Criterion, where: str) -> Iterator[str]:
    scale = criterion.scale
    for label in analysis.collapse:
        yield from _unknown_name_problems(f"{where}.collapse", "label", label, scale.options())
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
            " which is no label"
        )
    counted = declared | (
        {scale.abstain} if analysis.abstain == "label" and scale.abstain is not None else set()
    )
    if analysis.abstain == "label" and scale.abstain is None:
        yield f"{where}.abstain: criterion {criterion.id!r} has no abstention that could be a label"
    for label in analysis.options.labels_counted:
        yield from _unknown_name_problems(f"{where}.of", "label", label, counted)
