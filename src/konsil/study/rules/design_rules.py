"""Analyses that the design of a study can never answer, known before there are ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from konsil.analysis import Analysis
from konsil.analysis.estimation.raters.consensus_rules import too_small
from konsil.analysis.model.catalogue.design_needs import BENCHMARK, Comparison, Design
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.options import PairOptions
from konsil.analysis.running.question_kinds import kind_problems
from konsil.errors.message import message, placed
from konsil.plan import Allocation
from konsil.study.definition.protocol import Study


def design_problems(study: Study) -> Iterator[str]:
    """Each analysis that can never be estimated, or whose stated question it does not answer.

    A problem is a sentence with its place. Nothing is said of what the protocol leaves open.
    """
    for n, analysis in enumerate(study.analyses):
        for key, problem in _unanswered(study, analysis):
            yield placed(f"analyses[{n}].{key}", problem)


def design_notes(study: Study) -> Iterator[str]:
    """The same where the design cannot be another one any more: a sentence for each analysis."""
    for analysis in study.analyses:
        for _key, problem in _unanswered(study, analysis):
            yield message(
                "analysis {name!r}: {note}",
                message_id="check.of_analysis",
                name=analysis.name,
                note=problem,
            )


def _unanswered(study: Study, analysis: Analysis) -> Iterator[tuple[str, str]]:
    """The key at which an analysis asks for what it cannot give, and why."""
    yield from (("question_kind", problem) for problem in kind_problems(analysis))
    design = design_of(study, analysis)
    for need in statistic_of(analysis.statistic).design:
        if need.is_met(design):
            continue
        if need is BENCHMARK:
            yield "against", too_small(analysis, len(design.against or ()))
            continue
        yield (
            "statistic",
            message(
                "{statistic!r} can never be estimated with this design: it needs {need}",
                message_id="design_need.not_met",
                statistic=analysis.statistic,
                need=need.text,
            ),
        )
    yield from _one_group(study, analysis)


def design_of(study: Study, analysis: Analysis) -> Design:
    """What the protocol fixes of an analysis."""
    panels = set(study.together.get(analysis.raters, (analysis.raters,)))
    lines = [a for a in study.plan if a.panel in panels and a.purpose in ("main", "repeat")]
    is_planned = bool(lines) and all(s.records in ("items", "answers") for s in study.sources)
    against = study.members(analysis.against) if analysis.against not in {None, "rest"} else ()
    instruments = {
        i.id
        for i in study.scored_instruments()
        if any(c.id == analysis.criterion for c in i.criteria)
    }
    of_criterion = [a for a in lines if a.instrument in instruments]
    scopes = {
        c.scope
        for i in study.scored_instruments()
        for c in i.criteria
        if c.id == analysis.criterion
    }
    return Design(
        comparison=_comparison(analysis),
        raters=study.members(analysis.raters) or None,
        against=against or None,
        systems={s.id: s.family for s in study.systems} or None,
        paired=_paired(study, of_criterion) if is_planned and not is_penalised(analysis) else None,
        is_shared=not is_planned or _is_shared(of_criterion),
        is_repeated=not is_planned or any(a.repeats or a.purpose == "repeat" for a in lines),
        is_of_pairs=scopes == {"pair"},
        is_as_published=analysis.mode == "paper",
    )


def is_penalised(analysis: Analysis) -> bool:
    """Whether virtual comparisons connect all systems."""
    return isinstance(analysis.options, PairOptions) and analysis.options.penalty > 0


def _comparison(analysis: Analysis) -> Comparison:
    if analysis.against in {None, "rest"}:
        return "among"
    is_of_majority = analysis.mode == "valid" and analysis.consensus == "none"
    return "panel" if is_of_majority else "other"


def _is_shared(lines: Sequence[Allocation]) -> bool:
    """Whether several raters can rate a unit; a second line of the plan may give it to another."""
    return len(lines) != 1 or lines[0].raters_per_item != 1 or lines[0].overlap is not None


def _paired(study: Study, lines: Sequence[Allocation]) -> set[frozenset[str]] | None:
    """The pairs of systems that the lines can draw; None where another phase has drawn them."""
    if not lines or any(a.show != "pair" or a.like for a in lines):
        return None
    pairs: set[frozenset[str]] = set()
    for line in lines:
        names = [
            s for s in line.systems or [s.id for s in study.systems] if line.weights.get(s, 1.0) > 0
        ]
        pairs |= {frozenset((a, b)) for n, a in enumerate(names) for b in names[n + 1 :]}
    return pairs


def _one_group(study: Study, analysis: Analysis) -> Iterator[tuple[str, str]]:
    """That the groups to be compared are a single one."""
    column = analysis.compare
    values = {
        "system": [s.id for s in study.systems],
        "rater": [r.id for r in study.members(analysis.raters)],
    }.get(column, [])
    chosen = [v for v in values if v in analysis.where.get(column, values)]
    if len(chosen) == 1 and analysis.where.keys() <= {column}:
        fact = message(
            "there is nothing to compare: {column} has the one value {value!r}",
            message_id="design_need.one_group",
            column=column,
            value=chosen[0],
        )
        yield "compare", fact
