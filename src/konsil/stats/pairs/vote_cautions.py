"""Cautions about intervals of votes: few raters or questions, unequal raters, tests that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from konsil.stats.inference.cluster_variance import FEW_RATERS, LEAST_RATERS, MUCH, WIDER
from konsil.stats.inference.infer import FEW_CLUSTERS
from konsil.stats.pairs.preference import Preference
from konsil.stats.pairs.two_way_clusters import Crossed

THIN = 5
"""Below how many comparisons of a pair little is known."""

DIFFERS = 0.05
"""Where one of two tests is at or below it and the other above, the reader is told what each
answers."""


def is_dominated(values: Crossed, index: int) -> bool:
    """Whether one of several raters gave too many of a value's votes.

    Then nothing is estimated of how raters vary.
    """
    return bool(values.n_raters[index] > 1 and values.effective_raters[index] < LEAST_RATERS)


def is_about_these(values: Crossed, index: int) -> bool:
    """Whether intervals of a value are about its raters only: there is one, or one dominates."""
    return bool(values.n_raters[index] == 1) or is_dominated(values, index)


@dataclass(frozen=True)
class VoteCaution:
    """Something a reader of the intervals should know."""

    code: Literal[
        "raters-matter",
        "few-raters",
        "few-questions",
        "raters-unequal",
        "raters-dominated",
        "these-raters",
        "thin-pairs",
        "rivals-not-met",
    ]
    """What it is; `analysis` makes the sentence."""
    numbers: tuple[float, ...]
    """What the sentence names."""
    rater: int = -1
    """The number of the rater whom it is about; -1: nobody."""


def vote_cautions(preference: Preference, index: int) -> tuple[VoteCaution, ...]:
    """What to say beside a value: raters that widen the interval, few raters, few questions.

    The limits are what the coverage simulations support (docs/coverage.md).
    """
    cautions: list[VoteCaution] = []
    if not np.isfinite(preference.intervals.value[index]):
        return ()
    both, alone = preference.intervals.two_way, preference.intervals.question
    width, narrow = both.high[index] - both.low[index], alone.high[index] - alone.low[index]
    if narrow > 0 and width / narrow > WIDER:
        cautions.append(VoteCaution("raters-matter", (float(width / narrow) - 1,)))
    raters, questions = (
        int(preference.intervals.n_raters[index]),
        int(preference.intervals.n_questions[index]),
    )
    if raters < FEW_RATERS:
        cautions.append(VoteCaution("few-raters", (raters, FEW_RATERS)))
    share, effective = (
        float(preference.intervals.largest_share[index]),
        float(preference.intervals.effective_raters[index]),
    )
    if is_dominated(preference.intervals, index):
        numbers = (share, raters, effective, LEAST_RATERS)
        cautions.append(
            VoteCaution("raters-dominated", numbers, int(preference.intervals.busiest[index]))
        )
    # With few raters each has a large share by necessity: twice an equal share is unusual.
    elif raters > 1 and share > max(MUCH, 2 / raters):
        cautions.append(
            VoteCaution(
                "raters-unequal",
                (share, raters, effective),
                int(preference.intervals.busiest[index]),
            )
        )
    if questions < FEW_CLUSTERS:
        cautions.append(VoteCaution("few-questions", (questions, FEW_CLUSTERS)))
    if preference.flips is not None and preference.flips.unit == "question":
        p, flipped = float(both.p[index]), float(preference.flips.p[index])
        if (p <= DIFFERS) != (flipped <= DIFFERS) and np.isfinite([p, flipped]).all():
            cautions.append(VoteCaution("these-raters", (p, flipped)))
    if preference.intervals.n_thinnest[index] < THIN:
        cautions.append(VoteCaution("thin-pairs", (float(preference.intervals.n_thinnest[index]),)))
    return tuple(cautions)
