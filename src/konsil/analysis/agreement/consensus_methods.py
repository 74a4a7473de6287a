"""Sentences of the methods section on majorities and on who is compared with them."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.estimation.raters.consensus_rules import (
    is_of_two,
    leaves_one_out,
    needs_majority,
)
from konsil.analysis.model.options import JudgeOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import listed, message


def consensus_methods(analyses: Sequence[Analysis], rows: Sequence[Row] = ()) -> list[str]:
    """Sentences on the majorities of the analyses of labels; rows show which panels are pairs."""
    sentences: list[str] = []
    pairs = {a.name for a in analyses if is_of_two(a, rows)}
    if any(needs_majority(a) and a.name not in pairs for a in analyses):
        sentences.append(
            message(
                "A majority is more than half of the raters who did not abstain; otherwise"
                " it is not defined."
            )
        )
    breakers = sorted({panel for a in analyses for panel in a.options.panels})
    if breakers:
        sentences.append(
            message(
                "Ratings of {panels} entered the majority vote only where the panel"
                " disagreed without a majority (tie-break).",
                message_id="methods.tie_break",
                panels=listed([repr(name) for name in breakers]),
            )
        )
    if any(a.against == "rest" and needs_majority(a) for a in analyses):
        sentences.append(
            message("Leave-one-out agreement compares each rater with the majority of the others.")
        )
    judged = [a for a in analyses if leaves_one_out(a)]
    if pairs:
        sentences.append(
            message(
                "With a panel of two raters, judges were compared by the mean over the pairs of a"
                " judge and a rater, minus the agreement of the two raters on the same units; CIs"
                " and tests are over units and hold for these two raters.",
                message_id="methods.judges_and_two_raters",
            )
        )
    if any(a.mode == "valid" and a.name not in pairs for a in judged):
        sentences.append(
            message(
                "Judges were compared with the same leave-one-out majorities, on the same"
                " ratings, as the held-out rater; the expected difference is zero for a"
                " judge exchangeable with the panel.",
                message_id="methods.leave_one_out_judges",
            )
        )
    if any(a.mode == "paper" for a in judged):
        sentences.append(
            message(
                "In analyses “as published”, LLM judges were compared with the majority of"
                " the whole panel; this biases the difference."
            )
        )
    if any(a.statistic.startswith("ensembles_") for a in analyses):
        sentences.append(
            message(
                (
                    "Ensembles, including single judges, were compared with the majority of"
                    " the whole panel; their values are not comparable with those of judges"
                    " compared with leave-one-out majorities."
                ),
                message_id="ensembles.whole_panel",
            )
        )
    ranked = [
        a.options_as(JudgeOptions)
        for a in analyses
        if a.statistic.startswith("ensembles_") and a.mode == "valid"
    ]
    sentences += [
        message(
            "Members of ensembles were judges with labels on at least {coverage:.0%} of the panel's"
            " units.",
            message_id="ensembles.coverage",
            coverage=coverage,
        )
        for coverage in sorted({options.coverage for options in ranked if options.coverage})
    ]
    if any(options.ensemble_units == "members" for options in ranked):
        sentences.append(
            message(
                "Each ensemble was scored on the units on which its own members have a majority.",
                message_id="ensembles.members",
            )
        )
    return sentences
