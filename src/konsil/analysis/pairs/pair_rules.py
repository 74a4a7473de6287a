"""What the settings of an analysis of pairs must not say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.spec import Analysis
from konsil.instrument import Criterion


def compares_systems(a: Analysis) -> bool:
    """Whether an analysis compares systems with one another though `by` does not name them.

    >>> compares_systems(Analysis("a", "win_difference", "better", "experts", compare="system"))
    True
    """
    return a.compare == "system" and statistic_of(a.statistic).is_of_one_system


CRITERION = "criterion"
"""The column of `compare` whose values are the analysis' criteria."""


CORRELATION = "preference_correlation"
"""The statistic of every two criteria, whose labels need not be the same."""


def takes_criteria(a: Analysis) -> bool:
    """Whether the statistic's further criteria are compared with its first.

    >>> takes_criteria(Analysis("a", "win_rate", "better", "experts"))
    True
    """
    return statistic_of(a.statistic).group == "wins"


def compares_criteria(a: Analysis) -> bool:
    """Whether an analysis compares its further criteria with its first on the same comparisons.

    >>> from konsil.analysis.model.options import PairOptions
    >>> options = PairOptions(criteria=("y",))
    >>> a = Analysis("a", "margin", "x", "experts", compare="criterion", options=options)
    >>> compares_criteria(a)
    True
    """
    return a.compare == CRITERION and takes_criteria(a) and bool(a.criteria)


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
    if not compares_criteria(a) and a.statistic != CORRELATION:
        return
    for other in others:
        if other.scope != "pair":
            yield f"criteria: {other.id!r} is not about pairs of answers, as {first.id!r} is"
        elif a.statistic != CORRELATION and other.scale.labels != first.scale.labels:
            yield (
                f"criteria: {other.id!r} has other labels than {first.id!r}; only criteria with"
                " the same scale can be compared"
            )


def pair_contradictions(a: Analysis) -> Iterator[str]:
    """Each contradiction between several settings as 'key: what is wrong'.

    >>> analysis = Analysis("a", "win_rate", "better", "experts", compare="criterion")
    >>> list(pair_contradictions(analysis))
    ["criteria: is empty; compare = 'criterion' needs the criteria to compare with the first"]
    """
    if a.compare == CRITERION and takes_criteria(a) and not a.criteria:
        yield (
            "criteria: is empty; compare = 'criterion' needs the criteria to compare with the first"
        )
    elif a.criteria and takes_criteria(a) and a.compare != CRITERION:
        yield (
            f"criteria: those of {a.statistic!r} are compared with the first; expected compare ="
            " 'criterion'"
        )
    if a.compare and takes_criteria(a) and a.mode == "valid" and a.test == "flip":
        yield (
            "test: differences of comparisons are tested by t; expected 'interval' or 'none', got"
            " 'flip'"
        )
    if a.consensus == "mean" and "rater" in a.by:
        yield "by: a jury combines all its judges and cannot be grouped by 'rater'"
    if a.criterion in a.criteria or len(set(a.criteria)) < len(a.criteria):
        yield "criteria: a criterion is named twice"
