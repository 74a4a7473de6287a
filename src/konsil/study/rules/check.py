"""Cross references within a protocol.

Each name that is used exists, and each identifier is unique.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from konsil.analysis.model.composite.definition_rules import score_problems
from konsil.errors import PlanError, StudyError, nearest
from konsil.errors.message import as_lines, below, message, placed
from konsil.instrument import Criterion, Instrument
from konsil.locale import catalogue_language, languages
from konsil.plan import Allocation
from konsil.plan.model.references import check_numbers
from konsil.prepare import preparation_problems
from konsil.study.definition.protocol import LONE_PANEL, Study
from konsil.study.definition.publication import publication_problems
from konsil.study.rules.analysis_rules import analysis_problems
from konsil.study.rules.derived_rules import derived_problems
from konsil.study.rules.form_rules import duplicate_problems, instrument_problems, question_problems
from konsil.study.rules.injection_rules import injection_problems
from konsil.study.rules.interim_rules import interim_rule_problems
from konsil.study.rules.number_limits import place_number_problems, resampling_problems
from konsil.study.rules.table_rules import figure_problems, table_problems
from konsil.study.rules.valid_names import unknown_name_problems
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
        raise StudyError(as_lines(sentences))


_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
"""The form of a language's code, by BCP 47."""


def problems(study: Study, name: str = "study.toml") -> Iterator[str]:
    """Every problem of the protocol as one sentence."""
    too_many = tuple(place_number_problems(study, f"{name}: places"))
    if too_many:  # every place has a stand-in wherever panels are asked for
        yield from too_many
        return
    if not study.title.strip():
        fact = message("is empty; a report needs a title", message_id="check.no_title")
        yield placed(f"{name}: title", fact)
    if not catalogue_language(study.language):
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
                f"{name}: instruments[{n}].language: {instrument.language!r} is not a language"
                " code; expected one such as 'en', 'de' or 'pt-BR'"
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
    yield from interim_rule_problems(study, name)
    yield from _privacy_and_publication(study, name)
    yield from _plan(study, name)
    yield from injection_problems(
        study.injections, study.instruments, [j.rater for j in study.judges], study.plan, name
    )
    if study.explanations:
        yield from explanation_problems(
            study.explanations,
            study.instruments,
            [s.id for s in study.systems],
            study.plan,
            f"{name}: explanations",
        )
    yield from _lineage(study, name)
    yield from _together(study, f"{name}: together")
    yield from derived_problems(study, f"{name}: derived")
    yield from _scores(study, f"{name}: scores")
    for n, analysis in enumerate(study.analyses):
        yield from analysis_problems(study, analysis, f"{name}: analyses[{n}]")
    yield from _tables(study, f"{name}: tables")
    yield from _figures(study, f"{name}: figures")


def _privacy_and_publication(study: Study, name: str) -> Iterator[str]:
    if study.privacy is not None:
        yield from privacy_problems(study.privacy, f"{name}: privacy")
    if study.publication is not None:
        yield from publication_problems(study.publication, study.licence, f"{name}: publication")


def _plan(study: Study, name: str) -> Iterator[str]:
    for n, allocation in enumerate(study.plan):
        where = f"{name}: plan[{n}]"
        yield from unknown_name_problems(
            f"{where}.panel", "panel", allocation.panel, study.panels()
        )
        yield from unknown_name_problems(
            f"{where}.instrument",
            "instrument",
            allocation.instrument,
            [i.id for i in study.instruments],
        )
        for system in (*allocation.systems, *allocation.weights):
            yield from unknown_name_problems(
                f"{where}.systems", "system", system, [s.id for s in study.systems]
            )
        yield from _dropped(study, allocation, where)
        if allocation.like:
            earlier = dict.fromkeys(a.phase for a in study.plan[:n] if a.phase)
            yield from unknown_name_problems(
                f"{where}.like", "earlier line of the plan with the phase", allocation.like, earlier
            )
        yield from _sizes(allocation, study.instrument(allocation.instrument), where)


def _dropped(study: Study, allocation: Allocation, where: str) -> Iterator[str]:
    """Systems that were dropped after the pilot are shown in pilots alone."""
    dropped = [s.id for s in study.systems if s.dropped]
    shown = [s for s in dropped if not allocation.systems or s in allocation.systems]
    if shown and allocation.purpose != "pilot" and not allocation.like:
        others = [s.id for s in study.systems if not s.dropped]
        yield (
            f"{where}.systems: {shown[0]!r} is dropped and takes part in pilots alone; state the"
            f" others: systems = {others}"
        )


def _sizes(allocation: Allocation, instrument: Instrument | None, where: str) -> Iterator[str]:
    if instrument is not None:
        try:
            check_numbers(allocation, instrument, where)
        except PlanError as error:
            yield error.sentence


def _models(study: Study, name: str) -> Iterator[str]:
    for n, endpoint in enumerate(study.endpoints):
        yield from endpoint_problems(endpoint, f"{name}: endpoints[{n}]")
    for n, system in enumerate(study.systems):
        if system.model is not None:
            yield from model_problems(system.model, study.endpoints, f"{name}: systems[{n}].model")
    llms = [r.id for r in study.raters if r.kind == "llm"]
    for n, judge in enumerate(study.judges):
        yield from unknown_name_problems(
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
            yield from unknown_name_problems(
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
            fact = message(
                "judge {judge!r} has the same model family {family!r} as the system {system!r}; if"
                ' this is intended, set judges_of_same_family = "flag" or "allow"',
                message_id="check.same_family",
                judge=rater.id,
                family=rater.family,
                system=siblings[0],
            )
            yield placed(f"{name}: raters[{n}]", fact)


def _together(study: Study, where: str) -> Iterator[str]:
    panels = study.panels_of_ratings()
    for name, several in study.together.items():
        if name in panels or name in {"rest", LONE_PANEL}:
            yield f"{where}.{name}: is the name of a panel already; choose another"
        if len(set(several)) < 2:
            yield f"{where}.{name}: expected two panels or more, got {list(several)}"
        for panel in several:
            yield from unknown_name_problems(f"{where}.{name}", "panel", panel, panels)


def _scores(study: Study, where: str) -> Iterator[str]:
    yield from duplicate_problems(where, [score.id for score in study.scores])
    for n, score in enumerate(study.scores):
        for problem in score_problems(score, study.instruments):
            yield below(f"{where}[{n}]", problem)


def _tables(study: Study, where: str) -> Iterator[str]:
    yield from duplicate_problems(where, [layout.id for layout in study.tables])
    for n, layout in enumerate(study.tables):
        yield from table_problems(study, layout, f"{where}[{n}]")


def _figures(study: Study, where: str) -> Iterator[str]:
    yield from duplicate_problems(where, [layout.id for layout in study.figures])
    for n, layout in enumerate(study.figures):
        yield from figure_problems(study, layout, f"{where}[{n}]")


def adjudication_problems(study: Study, name: str) -> Iterator[str]:
    """Problems of a study's adjudication, and of analyses of labels after adjudication."""
    rules, where = study.adjudication, f"{name}: adjudication"
    if rules is None:
        # A table may bring ratings of an adjudication that took place elsewhere.
        if all(s.records in ("items", "answers") for s in study.sources):
            for n, analysis in enumerate(study.analyses):
                if analysis.adjudication == "after":
                    needs = "'after' needs an [adjudication], which the study does not have"
                    yield f"{name}: analyses[{n}].adjudication: {needs}"
        return
    if rules.panel not in study.panels():
        yield (
            f"{where}.panel: there is no panel {rules.panel!r};"
            f" {nearest(rules.panel, study.panels())}"
        )
    if not rules.steps > 0:
        yield f"{where}.steps: expected more than 0, got {rules.steps:g}"
    criteria = {c.id: c for i in study.instruments for c in i.criteria}
    for criterion in rules.criteria:
        if criterion not in criteria:
            yield (
                f"{where}.criteria: there is no criterion {criterion!r};"
                f" {nearest(criterion, criteria)}"
            )
        elif criteria[criterion].scale.kind == "text":
            yield (
                f"{where}.criteria: {criterion!r} is a free text; expected a criterion with labels"
                " or numbers"
            )
