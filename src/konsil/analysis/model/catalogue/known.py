"""The statistics an analysis can name, and those of them that something holds for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from konsil.analysis.model.catalogue import agreement, cases, designs, judges, pairs, shares
from konsil.analysis.model.catalogue.additions import additions
from konsil.analysis.model.catalogue.entry import DISPLAY, Statistic

_NOT_OF_RATED_ANSWERS = ("injection",)
"""Groups of statistics that are computed from more than the ratings that an analysis selects."""
_MIXED = ("mismatch", "hallucination")
"""Statistics of cases that hold selected ratings against labels from elsewhere."""


def with_display(statistic: Statistic) -> Statistic:
    """The statistic with the key `display`, where it is of rated answers and of nothing else."""
    is_other = (
        statistic.family == "designs"
        or statistic.group in _NOT_OF_RATED_ANSWERS
        or statistic.id in _MIXED
    )
    return statistic if is_other else replace(statistic, keys=statistic.keys | {DISPLAY})


CATALOGUE: Mapping[str, Statistic] = MappingProxyType(
    {
        statistic.id: with_display(statistic)
        for statistic in (
            *agreement.AGREEMENT,
            *shares.SHARES,
            *judges.JUDGES,
            *pairs.PAIRS,
            *cases.CASES,
            *designs.DESIGNS,
        )
    }
)
"""Every statistic of konsil by its name."""


def _those(holds: Callable[[Statistic], bool]) -> tuple[str, ...]:
    return tuple(name for name, statistic in CATALOGUE.items() if holds(statistic))


def _of(*groups: str) -> tuple[str, ...]:
    return _those(lambda statistic: statistic.group in groups)


AGREEMENT = _of("agreement")
"""Agreement among the raters of a panel; their names are those of
konsil.stats.agreement.registry."""
SCORED = _those(lambda statistic: statistic.is_of_numbers or statistic.family == "cases")
"""Those whose criterion can be a composite score."""
OF_TWO_RATERS = _those(lambda statistic: statistic.is_of_two_raters)
"""Those of one table of two raters, which can therefore be computed of a rater and a consensus."""

WINS = _of("wins")
"""Who wins comparisons of two answers, and by how much."""
WORTHS = _of("worths")
"""Worths of systems by models of paired comparisons."""
PREFERENCE = _those(lambda statistic: statistic.family == "pairs")
"""The statistics of criteria about a pair of answers."""
OF_ZERO = _those(lambda statistic: statistic.is_difference)
"""Statistics that are differences already: a margin is about the number itself."""

DEGRADATION = _of("degradation")
"""How a system degrades as cases are progressively masked; one row a system, cases are the
clusters."""
RIGHT_OR_WRONG = _those(
    lambda statistic: "correct" in statistic.keys and statistic.group != "audit"
)
"""Statistics of cases for which an answer is right from the threshold `correct` on."""
AUDIT = _of("audit")
"""What judges approve of what experts call a failure; one row a judge."""
COMPARISONS = _of("crossover", "effects", "correlation")
"""Statistics of cases that are comparisons themselves, and no number of a group."""
OF_WHOLE_CASES = _of("degradation", "crossover", "effects")
"""Statistics of cases whose numbers rest on cases with all their versions, and not on answers."""
CASES = _those(lambda statistic: statistic.family == "cases")
"""Every statistic of cases in several versions: its clusters are the cases."""

TIMED = _of("timed")
"""How long people took for what a screen shows."""
PARTS = _of("parts")
"""Part and whole: what some of an answer's sentences predict; one row for each number of
sentences."""
COSTS = _of("costs")
"""What the time of raters buys, for whole answers and for each number of sentences."""

WEIGHTS = ("unweighted", "linear", "quadratic", "ordinal", "radical", "ratio")
"""Weights of partial agreement by name."""
LENGTH = "length"
"""In `by` of WINS: whether the system's answer was the longer or the shorter of the two."""
RATER_PAIR = "rater_pair"
"""In `by`: a group of every two raters, told as raters = 'A and B'."""
COLUMNS = (
    "task",
    "rater",
    "panel",
    "kind",
    "family",
    "criterion",
    "item",
    "case",
    "answers",
    "system",
    "span",
    "state",
    "label",
    "seconds",
    "confidence",
    "instrument",
    "design",
    "arm",
    "phase",
    "batch",
    "purpose",
    "repeat_of",
)
"""The columns that every rating has; strata of items and raters follow under their own
names.

`design` is the instrument; for what is asked about a batch or a phase it is the instrument of the
screens there. """
NAME_COLUMNS: Mapping[str, Literal["system", "rater", "family"]] = MappingProxyType(
    {
        "system": "system",
        "rival": "system",
        "systems": "system",
        "rater": "rater",
        "raters": "rater",
        RATER_PAIR: "rater",
        "ensemble": "rater",
        "family": "family",
        "rater_system": "system",
    }
)
"""Column of groups -> what its values name, where they can name a system, a judge or a model
family, alone or several in one value. The only such list: blinding withholds the values of these
columns."""
SINGLE_NAME_COLUMNS = ("system", "rival", "rater", "family")
"""Those of `NAME_COLUMNS` whose values are one name; those of the others join several names."""


def known_statistics() -> tuple[str, ...]:
    """Every statistic that an analysis can ask for."""
    return (*CATALOGUE, *(name for name in additions() if name not in CATALOGUE))


def statistic_of(name: str) -> Statistic:
    """The statistic of a name; one without words where there is none.

    No other package's takes the place of ours.

    >>> statistic_of("share").range, statistic_of("unheard_of").title
    ((0.0, 1.0), 'Unheard of')
    """
    if name in CATALOGUE:
        return CATALOGUE[name]
    if name in additions():
        return with_display(additions()[name].statistic)
    return Statistic(name, "", name.replace("_", " ").capitalize(), "", "", "")
