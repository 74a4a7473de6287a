"""Rules between a study's interim analyses, its panels, criteria and analyses."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import RATER_PAIR, TIMED, WINS, statistic_of
from konsil.errors import nearest
from konsil.study.definition.interim import (
    DRIFT,
    SMALLEST_DRIFT,
    Interim,
    InterimRule,
    interim_problems,
)
from konsil.study.definition.protocol import Study

UNSWAPPED = ("median_seconds", "length_correlation")
"""Statistics whose groups no permutation exchanges."""
DRAWN = ("mean", "standard_deviation", *TIMED)
"""Statistics besides agreement whose differences are tested by permutations or resamples."""


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


def analysis_problems(study: Study, interim: Interim, where: str) -> Iterator[str]:
    """Problems of the analysis that comparative looks compute."""
    analyses = {a.name: a for a in study.analyses}
    if interim.analysis not in analyses:
        yield (
            f"{where}: there is no analysis {interim.analysis!r};"
            f" {nearest(interim.analysis, analyses)}"
        )
        return
    analysis = analyses[interim.analysis]
    if not analysis.prespecified:
        yield f"{where}: {analysis.name!r} is exploratory; expected a prespecified analysis"
    elif analysis.test == "none":
        yield f"{where}: {analysis.name!r} has test = 'none'; expected an analysis with a test"
    elif analysis.statistic in WINS:
        if analysis.compare != "system" or not statistic_of(analysis.statistic).is_of_one_system:
            yield (
                f"{where}: {analysis.name!r} has a test for each system; expected 'win_difference',"
                " 'win_difference_strict' or 'margin' with compare = 'system'"
            )
    elif not analysis.compare:
        yield (
            f"{where}: {analysis.name!r} has no test of zero; expected an analysis with compare, of"
            " two groups"
        )
    yield from _panel_problems(study, interim, analysis, where)


def _panel_problems(
    study: Study, interim: Interim, analysis: Analysis, where: str
) -> Iterator[str]:
    """The fraction of a look is of one panel, whose ratings the analysis must use."""

    def panels_of(name: str) -> set[str]:
        return set(study.together.get(name, (name,)))

    used = panels_of(analysis.raters) | panels_of(analysis.against or "")
    if not panels_of(interim.panel) & used:
        yield (
            f"{where}: {analysis.name!r} uses ratings of {analysis.raters!r}, and looks count those"
            f" of {interim.panel!r}; expected an analysis of the panel of [interim]"
        )


def comparison_problems(study: Study, analysis: Analysis, where: str) -> Iterator[str]:
    """Problems of an analysis that has, or may have, several tests, or none.

    Of columns of items and raters the number of groups is not known before the import, so that the
    protocol must select them.
    """
    entry = statistic_of(analysis.statistic)
    rows = () if analysis.statistic in WINS else (entry.row_of,)
    columns = [c for c in dict.fromkeys((*analysis.by, analysis.compare, *rows)) if c]
    for column in columns:
        if problem := _column_problem(study, analysis, column):
            yield f"{where}: {analysis.name!r} {problem}"
    is_flipped = analysis.test == "flip"
    if is_flipped and analysis.statistic in UNSWAPPED:
        yield (
            f"{where}: {analysis.name!r} has test = 'flip', but the groups of"
            f" {analysis.statistic!r} cannot be exchanged; expected test = 'interval'"
        )


def _column_problem(study: Study, analysis: Analysis, column: str) -> str:
    """What is wrong with the groups of a column; empty: nothing is."""
    is_compared = column == analysis.compare
    expected = 2 if is_compared else 1
    entry = statistic_of(analysis.statistic)
    if column == RATER_PAIR:
        return "has a group for each pair of raters; expected groups of another column"
    if column == "rater" and entry.is_among_raters and analysis.against is None:
        return (
            f"has {analysis.statistic!r} of single raters, which is about several; expected groups"
            " of another column"
        )
    n = _n_groups(study, analysis, column)
    if n == expected:
        return ""
    values = "two values" if is_compared else "one value"
    if n is None:
        return (
            f"has groups of {column!r}, whose number is not known before the import; expected"
            f" where = {{ {column} = [...] }} with {values}"
        )
    if n < expected:
        return f"has {n} {'group' if n == 1 else 'groups'} of {column!r}; expected {values}"
    return (
        f"has {n} groups of {column!r}, so that it has several tests; expected exactly one"
        f" {'difference' if is_compared else 'test'}, such as with where ="
        f" {{ {column} = [...] }}"
    )


def _n_groups(study: Study, analysis: Analysis, column: str) -> int | None:
    """How many groups a column has; None where that is not known before the import."""
    names = _names(study, analysis, column)
    chosen = analysis.where.get(column)
    if chosen is None:
        return len(names) or None
    return len(names & set(chosen) if names else set(chosen))


def _names(study: Study, analysis: Analysis, column: str) -> set[str]:
    """The values of a column that the protocol names; empty where it does not name them."""
    if column == "system":
        plans = [a for a in study.plan if a.panel == analysis.raters]
        names = {s.id for s in study.systems}
        if plans and all(a.systems for a in plans):
            names &= {s for a in plans for s in a.systems}
        return names
    if column == "rater":
        panels = set(study.together.get(analysis.raters, (analysis.raters,)))
        return {r.id for r in study.raters if r.panel in panels}
    if column == "arm":
        return {arm for a in study.plan if a.panel == analysis.raters for arm in a.arms}
    if column == "instrument":
        return {
            i.id for i in study.instruments if any(c.id == analysis.criterion for c in i.criteria)
        }
    return {label for d in study.derived if d.name == column for label in d.labels}


def draws_problems(study: Study, interim: Interim, analysis: Analysis, where: str) -> Iterator[str]:
    """Problems of looks whose critical value no permutation test of so many draws reaches.

    With more than a few clusters its p value is at least 1 / (draws + 1).
    """
    from konsil.analysis.running.interim.sequential import planned_critical_values, two_sided_p

    if not _has_drawn_p(study, analysis):
        return
    looks, draws = interim.comparative, study.resampling.draws
    critical = planned_critical_values(
        interim.sequential, [look.fraction for look in looks], [look.futility for look in looks]
    )
    remedy = " or test = 'interval'" if not _has_drawn_p(study, analysis, "interval") else ""
    for look, value in zip(looks, critical, strict=False):
        if (needed := two_sided_p(value)) < 1 / (draws + 1):
            yield (
                f"{where}: the look at {look.fraction:g} stops for p below {needed:.2g}, and the"
                f" permutation test of {analysis.name!r} has no p below {1 / (draws + 1):.2g};"
                f" expected more resampling.draws{', ' if remedy else ' or '}a later look{remedy}"
            )


def _has_drawn_p(study: Study, analysis: Analysis, test: str = "") -> bool:
    """Whether the p value comes from draws.

    It does with test = 'flip', and of numbers that are no proportions; not where raters are the
    clusters or a sample.
    """
    if not analysis.compare or analysis.statistic in WINS:
        return False
    if (test or analysis.test) == "flip":
        return True
    if analysis.cluster == "rater" or study.inference.raters == "like these":
        return False
    is_agreement = statistic_of(analysis.statistic).family == "agreement"
    return analysis.statistic in DRAWN or (is_agreement and analysis.statistic != "unanimity")
