"""One statistic as the catalogue has it: its name, its words, the keys it takes, and its range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Range = tuple[float, float]

UNBOUNDED: Range = (-math.inf, math.inf)
SHARE: Range = (0.0, 1.0)
SIGNED: Range = (-1.0, 1.0)


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
    """The keys of an analysis that it takes, of those in `OPTIONAL`."""
    row_of: Literal["", "system", "rater"] = ""
    """Whether it has a row for each system or rater, though `by` does not name them."""
    marks_zero: bool = False
    """Whether 0 means chance, no association or no difference, so that a figure marks it."""
    is_among_raters: bool = False
    """Whether it is about raters and one another, not about labels."""
    is_difference: bool = False
    """Whether it is a difference already, so that a margin is about the number itself."""
    is_flipped: bool = False
    """Whether it changes its sign where winner and loser change places, so that flips test it."""
    needs_order: bool = False
    """Whether labels must have an order."""
    needs_complete: bool = False
    """Whether it uses only the units that every rater labelled."""
    is_of_two_raters: bool = False
    """Whether it is of one table of two raters, so that a rater and a consensus can be compared."""


OPTIONAL = (
    "weights",
    "of",
    "pass_line",
    "tiebreak",
    "covariate",
    "coverage",
    "ensemble_units",
    "criteria",
    "levels",
    "correct",
    "failure",
    "failure_by",
    "approve",
    "denominator",
    "clock",
    "target",
    "minutes",
    "display",
)
"""Keys of an analysis that only some statistics take; all others are common to all."""
