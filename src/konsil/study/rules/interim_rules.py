"""Rules between a study's interim analyses, its panels, criteria and analyses."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.errors import nearest
from konsil.study.definition.interim import (
    DRIFT,
    SMALLEST_DRIFT,
    Interim,
    InterimRule,
    interim_problems,
)
from konsil.study.definition.protocol import Study
from konsil.study.rules.interim_test_rules import (
    analysis_problems,
    comparison_problems,
    draws_problems,
)


def interim_rule_problems(study: Study, name: str) -> Iterator[str]:
    """Problems of a study's interim analyses."""
    interim, where = study.interim, f"{name}: interim"
    if interim is None:
        return
    problems = tuple(interim_problems(interim, where))
    yield from problems
    panels = {*study.panels(), *study.together}
    if interim.panel not in panels:
        hint = nearest(interim.panel, panels)
        yield f"{where}.panel: there is no panel {interim.panel!r}; {hint}"
    if bool(study.plan) == (interim.ratings is not None):
        yield (
            f"{where}.ratings: expected with a study without [[plan]], and without it where there"
            " is one, whose tasks are counted"
        )
    elif interim.ratings is not None and interim.ratings < 1:
        yield f"{where}.ratings: expected 1 or more, got {interim.ratings}"
    for n, rule in enumerate(interim.rules):
        yield from _criterion_problems(study, interim.panel, rule, f"{where}.rules[{n}]")
    if interim.analysis:
        yield from analysis_problems(study, interim, f"{where}.analysis")
    unblinded = interim.unblinded
    if unblinded.strip() and (not unblinded.isprintable() or unblinded != unblinded.strip()):
        yield (
            f"{where}.unblinded: expected a name without leading, trailing or special spaces, got"
            f" {unblinded!r}"
        )
    if interim.comparative and not problems:
        yield from _bound_problems(interim, where)
        for analysis in study.analyses:
            if analysis.name == interim.analysis:
                yield from comparison_problems(study, analysis, f"{where}.analysis")
                yield from draws_problems(study, interim, analysis, f"{where}.looks")


def _criterion_problems(study: Study, panel: str, rule: InterimRule, where: str) -> Iterator[str]:
    scales = {c.id: c.scale for i in study.instruments for c in i.criteria}
    if rule.criterion not in scales:
        yield (
            f"{where}.criterion: there is no criterion {rule.criterion!r};"
            f" {nearest(rule.criterion, scales)}"
        )
        return
    scale = scales[rule.criterion]
    if scale.kind == "text":
        yield f"{where}.criterion: {rule.criterion!r} is a free text; expected one with labels"
    if rule.measure == "abstention" and scale.abstain is None:
        yield f"{where}.measure: {rule.criterion!r} has no abstention"
    if rule.measure == "standard_deviation":
        yield from _spread_problems(study, rule.criterion, where)
    panels = set(study.together.get(panel, (panel,)))
    forms = {a.instrument for a in study.plan if a.panel in panels}
    with_criterion = {i.id for i in study.instruments for c in i.criteria if c.id == rule.criterion}
    if forms and not forms & with_criterion:
        yield f"{where}.criterion: the plan does not ask {panel!r} for {rule.criterion!r}"
    of_panel = {
        c.id
        for i in study.instruments
        for c in i.criteria
        if c.scale.kind != "text" and (not forms or i.id in forms)
    }
    least = SMALLEST_DRIFT * 2 * len(of_panel)
    if rule.measure in DRIFT and rule.below is not None and rule.below <= least:
        yield (
            f"{where}.below: the tests of drift, adjusted for their number, have no p below"
            f" {least:g}; expected more, got {rule.below:g}"
        )


def _spread_problems(study: Study, name: str, where: str) -> Iterator[str]:
    """Problems of a rule of the standard deviation."""
    [criterion, *_] = [c for i in study.instruments for c in i.criteria if c.id == name]
    if criterion.scale.kind != "number" and criterion.scale.level == "nominal":
        yield f"{where}.measure: {name!r} has unordered labels, which have no standard deviation"
    if criterion.scope == "pair":
        yield (
            f"{where}.measure: {name!r} compares two answers, and the standard deviation of its"
            " labels would show how clearly one system is preferred; expected a criterion of"
            " single answers"
        )


def _bound_problems(interim: Interim, where: str) -> Iterator[str]:
    # With SciPy, which protocols without comparative looks need not load.
    from konsil.analysis.running.interim.sequential import check_bounds

    looks = interim.comparative
    try:
        check_bounds(
            interim.sequential, [look.fraction for look in looks], [look.futility for look in looks]
        )
    except ValueError as error:
        yield f"{where}.looks: {error}"
