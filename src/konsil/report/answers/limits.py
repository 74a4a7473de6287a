"""What limits the answers, the most serious first, each with the section that explains it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Analysis, Results
from konsil.analysis.model.rows import PlanStatus
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.report.material.translate import message_of


@dataclass(frozen=True)
class Limit:
    """One line of what limits the answers."""

    text: str
    """The sentence."""
    target: str
    """The section of the page that explains it, or has the numbers."""


def limits(
    results: Results, analyses: Sequence[Analysis], unanswered: Sequence[str]
) -> list[Limit]:
    """All limits that the results know of.

    First what was not computed and questions without an answer, then the plan, then whom the
    intervals are about, and last warnings about the whole study. `analyses` are those of the first
    page, `unanswered` the questions without any estimate.
    """
    out = []
    if results.all_excluded:
        out.append(Limit(results.all_excluded, "flow"))
    n_without = len(results.reasons_without_result)
    if n_without:
        text = message(
            "{n:,} {n|analysis has|analyses have} no result.",
            message_id="limits.without_result",
            n=n_without,
        )
        out.append(Limit(text, "further"))
    if unanswered:
        text = message(
            "Without an estimate: {questions}.",
            message_id="limits.unanswered",
            questions=listed(
                [
                    message("“{question}”", message_id="limits.question", question=q)
                    for q in unanswered
                ]
            ),
        )
        out.append(Limit(text, "answers"))
    plan = _plan(results.plan, [a.name for a in analyses if a.prespecified])
    out += [Limit(plan, "methods")] if plan is not None else []
    target = _target(results, [a.name for a in analyses])
    out += [Limit(target, "methods")] if target is not None else []
    # What only reproduces a paper limits no other answer: it comes last.
    ordered = sorted(results.warnings, key=lambda w: message_of(w) == "warning.as_published")
    return [*out, *(Limit(warning, "flow") for warning in ordered)]


def _target(results: Results, names: Sequence[str]) -> TranslatableMessage | None:
    """Whom the intervals are about, where that is these raters only; None where it is not."""
    if results.target == "these":
        return (
            message(
                "CIs and p values are about these raters only, not about raters like these.",
                message_id="limits.these_raters",
            )
            if results.inference
            else None
        )
    targets: dict[str, set[str]] = {}
    for row in results.rows:
        if row.analysis in names and row.kind != "companion" and math.isfinite(row.estimate.low):
            targets.setdefault(row.analysis, set()).add(row.estimate.raters)
    n = sum("these" in each for each in targets.values())
    if not n:
        return None
    return message(
        "In {n:,} of {total:,} {total|answer|answers}, some or all CIs are about these raters only;"
        " all other CIs are about raters like these.",
        message_id="limits.some_these_raters",
        n=n,
        total=len(targets),
    )


def _plan(plan: Mapping[str, PlanStatus], names: Sequence[str]) -> TranslatableMessage | None:
    """Whether the plan of the analyses was frozen before the ratings; None where it was."""
    statuses = {plan.get(name, "not frozen") for name in names}
    if statuses <= {"prespecified"}:
        return None
    if statuses == {"not frozen"}:
        return message(
            "The analysis plan was not frozen: no analysis counts as prespecified.",
            message_id="limits.not_frozen",
        )
    if statuses == {"retrospective"}:
        return message(
            "The ratings existed when the analyses were specified: no analysis counts as"
            " prespecified.",
            message_id="limits.retrospective",
        )
    return message(
        "Not all answers come from analyses that were frozen before the ratings they use.",
        message_id="limits.frozen_late",
    )
