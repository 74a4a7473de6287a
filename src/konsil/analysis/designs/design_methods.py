"""Methods sentences about designs: times, parts of answers, variance components."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.designs.design_rules import averaged
from konsil.analysis.model.catalogue.known import COSTS, TIMED
from konsil.analysis.model.message import message
from konsil.analysis.model.spec import Analysis


def design_methods(analyses: Sequence[Analysis]) -> list[str]:
    """What was done where whole answers are rated beside their sentences; nothing that was not."""
    statistics = {a.statistic for a in analyses}
    sentences: list[str] = []
    if statistics & {*TIMED}:
        sentences.append(
            message(
                "Seconds are those of all screens of a rater about an answer, its sentences"
                " together; repeats are left out."
            )
        )
    if any(averaged(a) for a in analyses):
        sentences.append(
            message(
                "Judges are held against the label that is nearest to the panel's mean number;"
                " where it lies halfway between two labels the unit is left out."
            )
        )
    if "part_whole" in statistics:
        sentences.append(
            message(
                "Parts of answers are all subsets of their sentences, each as likely as any other;"
                " overlap alone is what is left when the sentences are dealt to the answers anew."
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
                "Some of an answer's sentences are taken to need their share of the time of all of"
                " them."
            )
        )
    return sentences
