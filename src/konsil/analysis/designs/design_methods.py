"""Methods sentences about designs: times, parts of answers, variance components."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.estimation.raters.consensus_rules import averaged
from konsil.analysis.model.catalogue.known import COSTS, TIMED
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import message


def design_methods(analyses: Sequence[Analysis]) -> list[str]:
    """What was done where whole answers are rated beside their sentences; nothing that was not."""
    statistics = {a.statistic for a in analyses}
    sentences: list[str] = []
    if statistics & {*TIMED}:
        sentences.append(
            message(
                "Rating time is the total of all pages of a rater for an answer, all its"
                " sentences together; repeat ratings are excluded."
            )
        )
    if any(averaged(a) for a in analyses):
        sentences.append(
            message(
                "LLM judges were compared with the label nearest to the panel's mean;"
                " units with a mean halfway between two labels were excluded."
            )
        )
    if "part_whole" in statistics:
        sentences.append(
            message(
                "Parts of answers are all subsets of their sentences, with equal weight;"
                " the correlation from overlap alone is that after permuting the sentences"
                " among the answers."
            )
        )
    if statistics & {*COSTS}:
        sentences.append(
            message(
                "Reliability (generalizability theory) is the squared correlation of the"
                " panel mean over the rated sentences with the answer's true mean, from"
                " variance components of answers, sentences, raters and residual; negative"
                " components were set to zero.",
                message_id="methods.reliability",
            )
        )
    if statistics & {"rater_hours", "budget_reliability"}:
        sentences.append(
            message(
                "The rating time for some of an answer's sentences was taken as their"
                " proportion of the time for all of its sentences."
            )
        )
    return sentences
