"""Table 2 of a study's own ratings: its systems, or the groups of its items, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis.model.options import ShareOptions
from konsil.analysis.model.results import Results
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.roles.vocabulary import known_pair
from konsil.analysis.running.comparing.compare_result import GroupComparison
from konsil.analysis.running.comparing.table_study import (
    COMPARED,
    NUMBERS,
    SYSTEM,
    ComparedCriterion,
    analysis_of,
)
from konsil.errors import StudyError
from konsil.errors.message import message
from konsil.instrument import Criterion


@dataclass(frozen=True)
class StudyComparison:
    """What is compared: the groups, the criteria, and an analysis for each number."""

    by: str
    """The column of the groups."""
    criteria: tuple[ComparedCriterion, ...]
    analyses: tuple[Analysis, ...]
    titles: Mapping[str, str]
    """Name of an analysis -> its criterion in words, with the panel where there are several."""


def study_comparison(
    criteria: Sequence[Criterion], stated: Sequence[Analysis], panels: Sequence[str], by: str
) -> StudyComparison:
    """The comparison that a study's forms and analyses call for.

    Two labels give the proportion of the success: that of the study's analyses, or of a known pair.
    Numbers and ordered labels give means, standard deviations and medians.

    Raises StudyError where no criterion can be compared.
    """
    compared, analyses, titles = [], [], {}
    for criterion in criteria:
        scopes = ("answer",) if by == SYSTEM else ("answer", "item")
        if criterion.scope not in scopes:
            continue
        entry = _compared(criterion, stated)
        if not entry.statistics:
            continue
        compared.append(entry)
        for panel in panels:
            title = criterion.title or criterion.question
            for statistic in entry.statistics:
                analyses.append(analysis_of(entry, statistic, panel, by))
                titles[analyses[-1].name] = f"{title} ({panel})" if len(panels) > 1 else title
    if not analyses:
        raise StudyError(
            message(
                "study.toml: no criterion has numbers, or labels of which one is known to be the"
                " success; choose an analysis of a proportion",
                message_id="refused.nothing_to_compare",
            )
        )
    return StudyComparison(by, tuple(compared), tuple(analyses), titles)


def _compared(criterion: Criterion, stated: Sequence[Analysis]) -> ComparedCriterion:
    labels, scale = criterion.scale.labels, criterion.scale
    shares = [
        analysis.options.of
        for analysis in stated
        if isinstance(analysis.options, ShareOptions)
        and (analysis.statistic, analysis.criterion) == ("share", criterion.id)
    ]
    pair = known_pair(labels)
    success = shares[0] if shares else tuple(n for n in labels if pair and n.casefold() == pair[1])
    has_numbers = scale.kind == "number" or (bool(labels) and scale.level != "nominal")
    statistics = ("share",) if success else NUMBERS if has_numbers else ()
    return ComparedCriterion(criterion.id, labels, success, statistics)


def as_comparison(plan: StudyComparison, results: Results, confidence: float) -> GroupComparison:
    """The results of a study's comparison as those of a table have them."""
    rows: tuple[Row, ...] = tuple(
        replace(row, criterion=plan.titles.get(row.analysis, row.criterion)) for row in results.rows
    )
    groups = dict.fromkeys(row.group.get(plan.by, "") for row in rows if row.kind == "estimate")
    first = [row for row in rows if row.kind == "estimate"]
    return GroupComparison(
        by=plan.by,
        groups=tuple(map(str, groups)),
        criteria=plan.criteria,
        rows=rows,
        n_units=max((row.n_units for row in first), default=0),
        n_raters=None,
        n_ratings=sum(row.estimate.n_ratings for row in first if row.statistic in COMPARED),
        n_abstained=0,
        confidence=confidence,
        reference=None,
        warnings=(*results.warnings, *results.refused),
        methods=results.methods,
    )
