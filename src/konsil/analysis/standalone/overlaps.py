"""Which units raters share, and what that means for a mean over pairs of raters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from konsil.analysis.estimation.own_weights import PairWeights
from konsil.analysis.model.sample import Sample
from konsil.analysis.standalone.agreement_result import PairResult
from konsil.errors import option
from konsil.errors.message import listed, message
from konsil.stats.agreement.registry import STATISTICS

UNEVEN = 2
"""Where some pair shares this many times as many units as another, the weights of the pairs are
told."""


def overlaps_of(sample: Sample) -> tuple[PairResult, ...]:
    """How many units every two raters share."""
    is_rated = (sample.codes.labels >= 0).astype(np.float32)
    shared = is_rated.T @ is_rated
    names = sample.raters
    return tuple(
        PairResult((names[a], names[b]), int(shared[a, b]))
        for a, b in combinations(range(len(names)), 2)
    )


def uneven_overlaps(
    overlaps: Sequence[PairResult], pair_weights: PairWeights, names: Sequence[str]
) -> list[str]:
    """A note where some pairs of raters share many more units than others.

    It states the consequence for the mean over pairs.
    """
    n = [pair.n_units for pair in overlaps if pair.n_units]
    of_pairs = [name for name in names if STATISTICS[name].needs == "pairs"]
    if len(n) < 2 or max(n) < UNEVEN * min(n) or not of_pairs:
        return []
    if pair_weights == "units":
        text = message(
            "Pairs of raters share {low:,} to {high:,} units; they are weighted by the units they"
            " share in {names}.",
            message_id="table.pairs_by_units",
            low=min(n),
            high=max(n),
            names=listed(of_pairs, end="{some}, {last}"),
        )
    else:
        text = message(
            "Pairs of raters share {low:,} to {high:,} units but have equal weight in {names};"
            " {option} weights them by the units they share.",
            message_id="table.pairs_alike",
            option=option("pair_weights", "units"),
            low=min(n),
            high=max(n),
            names=listed(of_pairs, end="{some}, {last}"),
        )
    return [text]
