"""What the settings of an analysis of pairs must not say together."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.catalogue import CASES, LENGTH, PREFERENCE, WINS, WORTHS
from konsil.analysis.spec import Analysis

FLIPPED = ("win_difference", "win_difference_strict", "margin", "position_bias")
"""Statistics that change their sign when winner and loser change places, so that flips test them."""


def pair_contradictions(a: Analysis) -> Iterator[str]:
    """Each contradiction as 'key: what is wrong'.

    >>> list(pair_contradictions(Analysis("a", "win_rate", "better", "experts", by=("system",))))
    ["by[0]: 'win_rate' has a row for each system anyway"]
    """
    if LENGTH in a.by and a.statistic not in WINS:
        yield f"by: {LENGTH!r} belongs to win differences, win rates and margins, not to {a.statistic!r}"
    if a.criteria and a.statistic not in {"rank_agreement", *CASES}:
        yield f"criteria: belongs to the statistic 'rank_agreement' and to those of cases, not to {a.statistic!r}"
    if a.statistic in PREFERENCE:
        yield from _settings(a)


def _settings(a: Analysis) -> Iterator[str]:
    by_system = a.statistic in {*WINS, *WORTHS}
    for n, column in enumerate(a.by):
        if column == "system" and by_system:
            yield f"by[{n}]: {a.statistic!r} has a row for each system anyway"
        elif a.statistic == "rank_agreement":
            yield f"by[{n}]: 'rank_agreement' has a row for every judge and no other groups"
    if a.compare:
        yield f"compare: {a.statistic!r} has no such version"
    if a.consensus == "majority" or (a.consensus == "mean" and not by_system and a.statistic != "rank_agreement"):
        yield f"consensus: {a.statistic!r} has no such version; a jury is consensus = 'mean' of wins or rankings"
    if a.consensus == "mean" and "rater" in a.by:
        yield "by: a jury is all its judges together and no group of 'rater'"
    if a.cluster == "rater" and a.statistic in {"choice_agreement", "choice_kappa", "rank_agreement"}:
        yield f"cluster: {a.statistic!r} has no such version; expected 'item' or 'case'"
    if a.mode == "paper" and a.cluster == "rater":
        yield "cluster: with raters as clusters there is no paper mode"
    if a.statistic == "rank_agreement" and a.against in {None, "rest"}:
        yield "against: rankings are compared with those of a panel; name it"
    if a.criterion in a.criteria or len(set(a.criteria)) < len(a.criteria):
        yield "criteria: a criterion is named twice"
