"""Rules between a study's interim analyses, its panels, criteria and analyses."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis import Analysis
from konsil.errors import nearest
from konsil.study.definition.interim import Interim, InterimRule, interim_problems
from konsil.study.definition.protocol import Study

OF_ZERO = ("win_difference", "win_difference_strict", "margin")
"""Statistics whose own test is that of zero."""


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
        yield from _criterion_problems(study, rule, f"{where}.rules[{n}]")
    if interim.analysis:
        yield from _analysis_problems(study, interim, f"{where}.analysis")
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
                yield from _one_test_problems(study, analysis, f"{where}.analysis")
                yield from _draws_problems(study, interim, analysis, f"{where}.looks")


def _criterion_problems(study: Study, rule: InterimRule, where: str) -> Iterator[str]:
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


def _analysis_problems(study: Study, interim: Interim, where: str) -> Iterator[str]:
    analyses = {a.name: a for a in study.analyses}
    if interim.analysis not in analyses:
        yield (
            f"{where}: there is no analysis {interim.analysis!r};"
            f" {nearest(interim.analysis, analyses)}"
        )
    elif not analyses[interim.analysis].prespecified:
        yield f"{where}: {interim.analysis!r} is exploratory; expected a prespecified analysis"
    elif analyses[interim.analysis].test == "none":
        yield f"{where}: {interim.analysis!r} has test = 'none'; expected an analysis with a test"
    elif not (
        analyses[interim.analysis].compare or analyses[interim.analysis].statistic in OF_ZERO
    ):
        yield (
            f"{where}: {interim.analysis!r} has no test of zero; expected an analysis with"
            f" compare, or one of {', '.join(OF_ZERO)}"
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


def _one_test_problems(study: Study, analysis: Analysis, where: str) -> Iterator[str]:
    """Problems of an analysis of which it is known that it has several tests.

    Of columns of the items the numbers of groups are not known before the import.
    """
    columns = dict.fromkeys((*analysis.by, *((analysis.compare,) if analysis.compare else ())))
    for column in columns:
        n = _n_groups(study, analysis, column)
        # By systems without compare, two systems may have the two sides of one test.
        most = 2 if column == analysis.compare or analysis.statistic in OF_ZERO else 1
        if n > most:
            has_difference = column == analysis.compare
            yield (
                f"{where}: {analysis.name!r} has {n} groups of {column!r}, so that it has several"
                " tests; expected exactly one"
                f" {'difference' if has_difference else 'test'}, such as with where ="
                f" {{ {column} = [...] }}"
            )


def _n_groups(study: Study, analysis: Analysis, column: str) -> int:
    """How many groups of a column are known before the import; 0: none is."""
    if column == "system":
        plans = [a for a in study.plan if a.panel == analysis.raters]
        named = {s for a in plans for s in a.systems}
        known = {s.id for s in study.systems}
        if plans and all(a.systems for a in plans):
            known &= named
    elif column == "rater":
        panels = set(study.together.get(analysis.raters, (analysis.raters,)))
        known = {r.id for r in study.raters if r.panel in panels}
    else:
        known = set()
    chosen = analysis.where.get(column)
    return len(known if chosen is None else known & set(chosen))


def _draws_problems(
    study: Study, interim: Interim, analysis: Analysis, where: str
) -> Iterator[str]:
    """Problems of looks whose critical value no permutation test of so many draws reaches.

    With more than a few clusters its p value is at least 1 / (draws + 1).
    """
    from konsil.analysis.running.interim.sequential import planned_critical_values, two_sided_p

    if analysis.test != "flip" or not analysis.compare:
        return
    looks, draws = interim.comparative, study.resampling.draws
    critical = planned_critical_values(
        interim.sequential, [look.fraction for look in looks], [look.futility for look in looks]
    )
    for look, value in zip(looks, critical, strict=False):
        if (needed := two_sided_p(value)) < 1 / (draws + 1):
            yield (
                f"{where}: the look at {look.fraction:g} stops for p below {needed:.2g}, and the"
                f" permutation test of {analysis.name!r} has no p below {1 / (draws + 1):.2g};"
                " expected more resampling.draws, a later look or test = 'interval'"
            )
