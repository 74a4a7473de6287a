"""What the methods paragraph says of cases in several versions."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.model.catalogue.known import AUDIT, CASES, RIGHT_OR_WRONG
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import TranslatableMessage, listed, message


def case_methods(analyses: Sequence[Analysis], rows: Sequence[Row] = ()) -> list[str]:
    """Sentences for the analyses of cases that were run; none where there are none."""
    case_analyses = [a for a in analyses if a.statistic in CASES]
    sentences: list[str] = []
    names_by_threshold: dict[float, list[str]] = {}
    for a in case_analyses:
        if a.statistic in RIGHT_OR_WRONG:
            names_by_threshold.setdefault(a.options_as(CaseOptions).correct, []).append(a.name)
    for correct, names in sorted(names_by_threshold.items()):
        sentences.append(_right(correct, names, is_only=len(names_by_threshold) == 1))
    used = {(a.statistic, a.mode) for a in case_analyses}
    audits = [a.options_as(CaseOptions) for a in case_analyses if a.statistic in AUDIT]
    for by, failure, approve in sorted({(o.failure_by, o.failure, o.approve) for o in audits}):
        rule = (
            message(
                "Failures are answers and criteria that every expert who rated them scores"
                " {failure:g} or less",
                message_id="audit.failures_every",
                failure=failure,
            )
            if by == "every"
            else message(
                "Failures are answers and criteria with a mean expert score of {failure:g} or less"
                " (single experts may score higher)",
                message_id="audit.failures_mean",
                failure=failure,
            )
        )
        sentences.append(
            message(
                "{rule}; a judge approves a failure by a score of {approve:g} or more.",
                message_id="audit.rule",
                rule=rule,
                approve=approve,
            )
        )
    if any(a.statistic == "crossover" for a in case_analyses):
        sentences.append(
            message(
                "A rank reversal is reported only if simultaneous CIs (Bonferroni) exclude"
                " 0 in opposite directions at two levels.",
                message_id="methods.rank_reversal",
            )
        )
    if ("mann_whitney", "valid") in used:
        sentences.append(
            message(
                "Systems were compared on their case means, paired by case.",
                message_id="methods.paired_cases",
            )
        )
        if any(r.kind == "companion" and r.statistic == "mann_whitney" for r in rows):
            sentences.append(
                message(
                    "Rank tests, paired (Wilcoxon) and unpaired (Mann-Whitney), are also reported.",
                    message_id="methods.rank_tests",
                )
            )
    if ("anova", "valid") in used:
        sentences.append(
            message(
                "Analyses of variance treated system and information level as repeated"
                " measures within cases, with Greenhouse-Geisser-corrected F tests."
            )
        )
    if any(
        a.mode == "paper" and a.statistic in {"mann_whitney", "anova", "tukey"}
        for a in case_analyses
    ):
        sentences.append(
            message(
                "In analyses “as published”, scores or cells of the same cases are treated"
                " as independent although they are correlated."
            )
        )
    return sentences


def _right(correct: float, names: Sequence[str], *, is_only: bool) -> TranslatableMessage:
    if is_only:
        return message(
            ("An answer was counted as correct if the panel's mean score was {correct:g} or more."),
            correct=correct,
        )
    return message(
        (
            "In {analyses}, an answer was counted as correct if the panel's mean score was"
            " {correct:g} or more."
        ),
        analyses=listed(names),
        correct=correct,
    )
