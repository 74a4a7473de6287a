"""One line of the plan, wide enough for the four papers' designs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Show = Literal["all", "each", "pair"]
When = Literal["always", "disagreed"]
PlannedPurpose = Literal["main", "practice", "pilot", "repeat", "tiebreak"]
"""Purposes that a line of the plan can have; control tasks and adjudications come from
elsewhere."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Double rating that is planned.

    A share of the comparisons (or ratings) is made by several raters.
    """

    share: float
    """The proportion of the allocation's different comparisons that several raters make."""
    raters: int = 2
    """The number of raters who make each shared comparison."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Members of a panel see the items of a set on one instrument."""

    panel: str
    """The panel that rates."""
    instrument: str
    """The instrument they rate on."""
    items: str = ""
    """The set of items; empty: all."""
    systems: tuple[str, ...] = ()
    """The systems whose answers are shown; empty: all."""
    raters_per_item: int | None = None
    """How many raters see each item; None: the whole panel. Pairs of raters are balanced."""
    show: Show = "all"
    """All answers of an item on one screen, each on its own, or a drawn pair."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """For drawing a pair: system -> weight; a system that is not named has weight 1."""
    match: str | None = None
    """The stratum that rater and item must share (specialty)."""
    per_rater: int | None = None
    """At most so many items a rater; None: as many as there are."""
    arms: Mapping[str, int] = field(default_factory=dict)
    """Rater-level arms -> ratio, drawn once per rater; empty: one arm without a name."""
    overlap: Overlap | None = None
    """Which share of the comparisons several raters of the same arm make; None: what chance
    brings."""
    phase: str = ""
    """The phase of the schedule."""
    batches: int | None = None
    """Screens of a batch; None: one batch."""
    spans: int | None = None
    """Sentences sampled per answer; None: all. Only where the instrument's unit is the sentence."""
    repeats: int = 0
    """How many of a rater's first items come again at the end."""
    purpose: PlannedPurpose = "main"
    """What the ratings are for; main analyses take main and tie-break tasks."""
    like: str = ""
    """The phase of another allocation whose item-answer sets are taken over (judges; fine after
    coarse)."""
    when: When = "always"
    """Always, or only where two raters gave different labels to the same answer (tie-breaks)."""
