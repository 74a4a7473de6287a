"""What a statistic needs of the design of a study, so that it can be estimated at all.

A statistic's entry in the catalogue states its needs. `konsil check` compares them with the
protocol before there are ratings, and `konsil statistics` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from konsil.errors.message import TranslatableMessage, message
from konsil.records import Rater

OWN = "system"
"""The stratum of a judge that names the system it is."""

Comparison = Literal["among", "panel", "other"]
"""What raters are compared with: one another, the majority of a panel, or something else."""


@dataclass(frozen=True, slots=True)
class Design:
    """What the protocol fixes of an analysis before there are ratings; None: it fixes it not."""

    comparison: Comparison = "among"
    """What its raters are compared with."""
    raters: tuple[Rater, ...] | None = None
    """The raters of its panel."""
    against: tuple[Rater, ...] | None = None
    """The raters of the panel that they are compared with."""
    systems: Mapping[str, str] | None = None
    """System -> model family, of the study's systems."""
    paired: Collection[frozenset[str]] | None = None
    """Which two systems can meet in a comparison."""
    is_shared: bool = True
    """Whether two raters can rate the same unit."""
    is_repeated: bool = True
    """Whether a rater can rate the same unit again."""
    is_of_pairs: bool = False
    """Whether its criterion is about two answers."""
    is_as_published: bool = False
    """Whether it is computed as published."""


@dataclass(frozen=True, slots=True)
class DesignNeed:
    """One condition on the design."""

    text: TranslatableMessage
    """What is needed, as a part of a sentence."""
    is_met: Callable[[Design], bool]
    """Whether a design can meet it; true where the protocol leaves it open."""


def _has_two_raters(design: Design) -> bool:
    return design.comparison != "among" or design.raters is None or len(design.raters) >= 2


def _has_benchmark(design: Design) -> bool:
    return design.comparison != "panel" or design.against is None or len(design.against) >= 2


def _has_shared_units(design: Design) -> bool:
    return design.comparison != "among" or design.is_shared


def _has_two_systems(design: Design) -> bool:
    return design.systems is None or len(design.systems) >= 2


def _is_connected(design: Design) -> bool:
    """Whether a chain of comparisons leads from every compared system to every other."""
    compared = {system for pair in design.paired or () for system in pair}
    reached = set(sorted(compared)[:1])
    while more := {s for pair in design.paired or () if pair & reached for s in pair} - reached:
        reached |= more
    return compared <= reached


def is_own(judge: Rater, system: str) -> bool:
    """Whether a judge is this system."""
    return bool(system) and judge.strata.get(OWN, "") == system


def is_kin(judge: Rater, family: str) -> bool:
    """Whether a judge is of this model family; of an unknown one nobody is."""
    return bool(family) and family == judge.family


def _has_neutral_judge(design: Design, *, of_siblings: bool) -> bool:
    """Whether a judge, a judge of another family and a system of neither can be compared."""
    if design.raters is None or design.systems is None:
        return True
    for judge in design.raters:
        own = [
            s
            for s, family in design.systems.items()
            if (is_kin(judge, family) and not is_own(judge, s) if of_siblings else is_own(judge, s))
        ]
        peers = [peer for peer in design.raters if peer.family != judge.family]
        others = [
            (s, family)
            for s, family in design.systems.items()
            if not is_own(judge, s) and not is_kin(judge, family)
        ]
        is_comparable = design.is_of_pairs or any(
            design.is_as_published
            or any(not is_own(peer, s) and not is_kin(peer, family) for s, family in others)
            for peer in peers
        )
        if own and is_comparable:
            return True
    return False


TWO_RATERS = DesignNeed(
    message("a panel of two raters or more", message_id="design_need.two_raters"), _has_two_raters
)
BENCHMARK = DesignNeed(
    message(
        "with `against` two raters or more in that panel, of whom one is left out in turn",
        message_id="design_need.benchmark",
    ),
    _has_benchmark,
)
SHARED_UNITS = DesignNeed(
    message(
        "units that two raters rate (`raters_per_item` of 2 or more, or an `overlap`)",
        message_id="design_need.shared_units",
    ),
    _has_shared_units,
)
REPEATS = DesignNeed(
    message("`repeats` in the plan of its panel", message_id="design_need.repeats"),
    lambda design: design.is_repeated,
)
TWO_SYSTEMS = DesignNeed(
    message("two systems or more", message_id="design_need.two_systems"), _has_two_systems
)
CONNECTED = DesignNeed(
    message(
        "comparisons that lead from every system to every other, directly or through others, or a"
        " `penalty`",
        message_id="design_need.connected",
    ),
    _is_connected,
)
NEUTRAL_JUDGE = DesignNeed(
    message(
        "a judge that is a system (`strata.system`), and a judge of a third model family, which is"
        " neither that of this judge nor that of a further system",
        message_id="design_need.neutral_judge",
    ),
    lambda design: _has_neutral_judge(design, of_siblings=False),
)
NEUTRAL_OF_FAMILY = DesignNeed(
    message(
        "a judge with another system of its model family, and a judge of a third model family,"
        " which is neither that of this judge nor that of a further system",
        message_id="design_need.neutral_of_family",
    ),
    lambda design: _has_neutral_judge(design, of_siblings=True),
)
OF_AGREEMENT = (TWO_RATERS, SHARED_UNITS)
OF_RATERS = (TWO_RATERS, SHARED_UNITS, BENCHMARK)
