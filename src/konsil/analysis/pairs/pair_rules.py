"""What the settings of an analysis of pairs must not say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from konsil.analysis.model.catalogue.known import LENGTH, PREFERENCE, WINS, WORTHS
from konsil.analysis.model.spec import Analysis
from konsil.instrument import Criterion


def compares_systems(a: Analysis) -> bool:
    """Whether an analysis compares systems with one another though `by` does not name them.

    >>> compares_systems(Analysis("a", "win_difference", "better", "experts", compare="system"))
    True
    """
    return a.compare == "system" and a.statistic in WINS and not a.statistic.startswith("win_rate")


CRITERION = "criterion"
"""The column of `compare` whose values are the analysis' criteria."""


def compares_criteria(a: Analysis) -> bool:
    """Whether an analysis compares its further criteria with its first on the same comparisons.

    >>> from konsil.analysis.model.options import PairOptions
    >>> options = PairOptions(criteria=("y",))
    >>> a = Analysis("a", "margin", "x", "experts", compare="criterion", options=options)
    >>> compares_criteria(a)
    True
    """
    return a.compare == CRITERION and a.statistic in WINS and bool(a.criteria)


def criteria_problems(a: Analysis, first: Criterion, others: Sequence[Criterion]) -> Iterator[str]:
    """What keeps criteria from being compared: each is about pairs and has the labels of the first.

    >>> from konsil.analysis.model.options import PairOptions
    >>> from konsil.instrument import Scale
    >>> first = Criterion("x", "?", Scale(("A", "B")), "pair")
    >>> other = Criterion("y", "?", Scale(("A", "B")), "answer")
    >>> options = PairOptions(criteria=("y",))
    >>> analysis = Analysis("a", "margin", "x", "e", compare="criterion", options=options)
    >>> list(criteria_problems(analysis, first, [other]))
    ["criteria: 'y' is not about pairs of answers, as 'x' is"]
    """
    if not compares_criteria(a):
        return
    for other in others:
        if other.scope != "pair":
            yield f"criteria: {other.id!r} is not about pairs of answers, as {first.id!r} is"
        elif other.scale.labels != first.scale.labels:
            yield (
                f"criteria: {other.id!r} has other labels than {first.id!r}; only criteria with"
                " the same scale can be compared"
            )


def pair_contradictions(a: Analysis) -> Iterator[str]:
    """Each contradiction as 'key: what is wrong'.

    >>> list(pair_contradictions(Analysis("a", "win_rate", "better", "experts", by=("system",))))
    ["by[0]: 'win_rate' already has a row for each system"]
    """
    if LENGTH in a.by and a.statistic not in WINS:
        yield (
            f"by: {LENGTH!r} belongs to win differences, win rates and margins, not to"
            f" {a.statistic!r}"
        )
    if a.compare == CRITERION and a.statistic in WINS and not a.criteria:
        yield (
            "criteria: is empty; compare = 'criterion' needs the criteria to compare with the first"
        )
    elif a.criteria and a.statistic in WINS and a.compare != CRITERION:
        yield (
            f"criteria: those of {a.statistic!r} are compared with the first; expected compare ="
            " 'criterion'"
        )
    if a.statistic in PREFERENCE:
        yield from _settings(a)


def _columns(a: Analysis, *, by_system: bool) -> Iterator[str]:
    for n, column in enumerate(a.by):
        if column == "system" and by_system:
            yield f"by[{n}]: {a.statistic!r} already has a row for each system"
        elif a.statistic == "rank_agreement":
            yield f"by[{n}]: 'rank_agreement' has a row for every judge and no other groups"


def _settings(a: Analysis) -> Iterator[str]:
    by_system = a.statistic in {*WINS, *WORTHS}
    yield from _columns(a, by_system=by_system)
    if a.compare and a.statistic not in WINS:
        yield f"compare: {a.statistic!r} does not support this option"
    elif a.compare and a.mode == "paper":
        yield "compare: in paper mode there are no differences of comparisons"
    elif a.compare and a.test == "flip":
        yield (
            "test: differences of comparisons are tested by t; expected 'interval' or 'none', got"
            " 'flip'"
        )
    if a.consensus == "majority" or (
        a.consensus == "mean" and not by_system and a.statistic != "rank_agreement"
    ):
        yield (
            f"consensus: {a.statistic!r} does not support this option; a jury is consensus ="
            " 'mean' of wins"
            " or rankings"
        )
    if a.consensus == "mean" and "rater" in a.by:
        yield "by: a jury combines all its judges and cannot be grouped by 'rater'"
    if a.cluster == "rater" and a.statistic in {
        "choice_agreement",
        "choice_kappa",
        "rank_agreement",
    }:
        yield f"cluster: {a.statistic!r} does not support this option; expected 'item' or 'case'"
    if a.mode == "paper" and a.cluster == "rater" and not a.statistic.startswith("win_difference"):
        yield (
            f"cluster: with raters as clusters {a.statistic!r} has no paper mode; win differences"
            " have"
        )
    if a.statistic == "rank_agreement" and a.against in {None, "rest"}:
        yield "against: rankings are compared with those of a panel; state the panel"
    if a.criterion in a.criteria or len(set(a.criteria)) < len(a.criteria):
        yield "criteria: a criterion is named twice"
