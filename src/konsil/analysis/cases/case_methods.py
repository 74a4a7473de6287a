"""What the methods paragraph says of cases in several versions."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.model.catalogue.known import AUDIT, CASES, RIGHT_OR_WRONG
from konsil.analysis.model.message import TranslatableMessage, listed, message
from konsil.analysis.model.spec import Analysis


def case_methods(analyses: Sequence[Analysis]) -> list[str]:
    """Sentences for the analyses of cases that were run; none where there are none."""
    case_analyses = [a for a in analyses if a.statistic in CASES]
    sentences: list[str] = []
    for correct in sorted({a.correct for a in case_analyses if a.statistic in RIGHT_OR_WRONG}):
        names = [
            a.name for a in case_analyses if a.statistic in RIGHT_OR_WRONG and a.correct == correct
        ]
        sentences.append(_right(case_analyses, correct, names))
    used = {(a.statistic, a.mode) for a in case_analyses}
    for by, failure, approve in sorted(
        {(a.failure_by, a.failure, a.approve) for a in case_analyses if a.statistic in AUDIT}
    ):
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
                "Systems were compared on their case means, paired by case (Wilcoxon"
                " signed-rank test); unpaired comparisons (Mann-Whitney) are also reported."
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


def _right(
    case_analyses: Sequence[Analysis], correct: float, names: Sequence[str]
) -> TranslatableMessage:
    thresholds = {a.correct for a in case_analyses if a.statistic in RIGHT_OR_WRONG}
    if len(thresholds) == 1:
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
