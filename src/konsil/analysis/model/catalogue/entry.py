"""One statistic as the catalogue has it: its name, its words, the keys it takes, and its range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from konsil.analysis.model.catalogue.design_needs import DesignNeed
from konsil.analysis.model.catalogue.limits import LIMITS, Limits
from konsil.analysis.model.options import OPTIONS, Options, keys_of
from konsil.errors.message import TranslatableMessage
from konsil.stats.agreement.alpha import LEVELS, Level

Range = tuple[float, float]

UNBOUNDED: Range = (-math.inf, math.inf)
SHARE: Range = (0.0, 1.0)
SIGNED: Range = (-1.0, 1.0)
NOT_NEGATIVE: Range = (0.0, math.inf)
AT_MOST_1: Range = (-math.inf, 1.0)

StatisticUnit = Literal["", "percent", "points", "seconds", "hours", "number"]
BoundsRule = Literal["", "share", "mean", "abstention", "slope", "preference", "audit", "none"]
"""A rule of `konsil.analysis.running.sensitivity.bounds`; 'none': missing judgements are counted
elsewhere."""
LabelNumbers = Literal["", "distances", "always"]
QuestionKind = Literal[
    "level", "difference", "change", "agreement", "judge_against_people", "recommendation"
]
"""What a question asks for: how much, which of several more, what a condition changes, whether
raters agree, whether judges do as well as people, or what to do."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """Further criteria that a statistic reads beside its own."""

    n: int
    """Their number."""
    text: str
    """What they are, as a part of a sentence."""
    has_default: bool = False
    """Whether an analysis that names none has some."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """One statistic."""

    id: str
    """The name that an analysis uses."""
    family: str
    """Which module makes its rows: agreement, shares, pairs, cases, judges or designs."""
    title: str
    """Its name in a heading."""
    text: str
    """What it says, in one plain sentence for readers of a report."""
    definition: str
    """What is computed, for the documents."""
    undefined: str
    """Where it has no value, for the documents."""
    group: str = ""
    """Within the family, those that are computed alike."""
    source: str = ""
    """Where the formula comes from."""
    range: Range = UNBOUNDED
    """The least and the greatest value possible, where they depend on nothing else."""
    keys: frozenset[str] = frozenset()
    """The keys that it takes of its family's options, and `display`."""
    options: type[Options] | None = None
    """Its options, where it has more than its family's, from which they inherit; it takes all that
    they add."""
    row_of: Literal["", "system", "rater"] = ""
    """Whether it has a row for each system or rater, though `by` does not name them."""
    zero: TranslatableMessage | None = None
    """What 0 means, in the words beside a figure's line (`zeros`); None: nothing, and figures do
    not mark it."""
    above_zero: TranslatableMessage | None = None
    """What a value above 0 says, as a sentence beside the answer; None: the title says it, or
    figures name the direction."""
    is_among_raters: bool = False
    """Whether it is about raters and one another, not about labels."""
    unit: StatisticUnit = ""
    """What its values are shown in: `percent` of proportions, whose differences are percentage
    points; `points` of what is a difference of proportions already; empty: not stated; values are
    printed as plain numbers."""
    better: Literal["", "higher", "lower"] = ""
    """Which values are the better ones; empty: that depends on the criterion, or neither is."""
    is_difference: bool = False
    """Whether it is a difference already, so that a margin is about the number itself."""
    is_flipped: bool = False
    """Whether it changes its sign where winner and loser change places, so that flips test it."""
    levels: tuple[Level, ...] = LEVELS
    """The levels of measurement of the labels that it takes."""
    scopes: tuple[str, ...] = ()
    """What its criterion is about (`pair`); empty: anything."""
    n_labels: int = 0
    """How many labels its criterion must have; 0: any number."""
    is_of_text: bool = False
    """Whether its criterion can be a free text."""
    criteria: Criteria | None = None
    """The further criteria that it reads by their place."""
    columns: tuple[str, ...] = ()
    """What it reads of a rating (`arm`, `confidence`, `seconds`), besides what all of them read."""
    limits: Limits = LIMITS
    """Which of the settings that all analyses have it refuses, and which it needs."""
    design: tuple[DesignNeed, ...] = ()
    """What it needs of the design, so that it can be estimated at all."""
    questions: tuple[QuestionKind, ...] = ()
    """The kinds of questions that it answers by itself, the likeliest first; empty: agreement where
    it is among raters, a difference where it is one already, else a level."""
    has_own_panel: bool = False
    """Whether `against` means something of its own here, not raters against a majority."""
    margin: Literal["groups", "rows", "panel"] = "groups"
    """Which of its numbers are differences that a margin is about: those between compared groups
    alone, its rows as well, or its rows where `against` names a panel."""
    is_of_one_system: bool = False
    """Whether it is one system's number against all others, so that systems can be compared by it
    though `by` does not name them."""
    needs_majority: bool = False
    """Whether it is always computed of a panel's majority."""
    is_of_ratings: bool = True
    """Whether it is computed of the ratings that an analysis selects, not of control tasks."""
    bounds: BoundsRule = ""
    """Which rule gives its bounds where judgements are missing; empty: none is known, but that of
    raters against a panel."""
    as_published: str = ""
    """What `mode = "paper"` computes otherwise, beside its interval; for the documents."""
    needs_complete: bool = False
    """Whether it uses only the units that every rater labelled."""
    is_of_two_raters: bool = False
    """Whether it is of one table of two raters, so that a rater and a consensus can be compared."""
    is_of_numbers: bool = False
    """Whether it is computed of the labels' numbers, so that a composite score can be its
    criterion; statistics of cases all are."""

    label_numbers: LabelNumbers = ""
    """Where it depends on the labels' numbers, not only on their order: always, or on their
    distances, which only labels of level interval and ratio have; statistics of cases always."""

    @property
    def marks_zero(self) -> bool:
        """Whether a figure marks 0."""
        return self.zero is not None

    @property
    def needs_order(self) -> bool:
        """Whether labels must have an order."""
        return "nominal" not in self.levels

    @property
    def options_kind(self) -> type[Options]:
        """Its own options or those of its family; without a family there are none."""
        return self.options or OPTIONS.get(self.family, Options)

    def takes(self, key: str) -> bool:
        """Whether it takes a key that not all statistics take."""
        return key in self.keys or key in self.added_keys

    @property
    def added_keys(self) -> tuple[str, ...]:
        """The keys of its own options that are none of its family's."""
        shared = keys_of(OPTIONS.get(self.family, Options))
        return tuple(key for key in keys_of(self.options_kind) if key not in shared)


DISPLAY = "display"
"""The key that statistics of several families take, and not all of them."""
