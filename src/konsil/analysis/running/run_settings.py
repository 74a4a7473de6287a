"""What analyses are run with, beside the data: the protocol's forms, rules and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from konsil.analysis.model.composite.definition import CompositeScore
from konsil.analysis.model.spec import Derived, Exclusions, Inference, Resampling
from konsil.analysis.running.duplicate_notes import Groups
from konsil.instrument import Instrument
from konsil.records import System


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """What all analyses of one run have in common."""

    instruments: Sequence[Instrument]
    """The forms with the criteria."""
    seed: int
    """All randomness comes from it."""
    resampling: Resampling
    """How intervals are made."""
    exclusions: Exclusions
    """Ratings that stay out."""
    inference: Inference = field(default_factory=Inference)
    """Whom intervals and tests are about."""
    frozen_target: Inference = field(default_factory=Inference)
    """Whom they are about by the frozen plan, where the protocol states nobody."""
    people: Mapping[str, int] = field(default_factory=dict)
    """How many people each panel has by the protocol; others have those in the records."""
    planned: bool = False
    """Whether the tasks come from a plan, so that missing ratings can be counted."""
    systems: Sequence[System] = ()
    """Who answers."""
    derived: Sequence[Derived] = ()
    """Columns made from the ratings."""
    scores: Sequence[CompositeScore] = ()
    """Numbers made of several criteria, which analyses name as they name criteria."""
    flag_families: bool = False
    """Whether to warn of judges of a judged system's family."""
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names for several panels as one."""
    strict: bool = True
    """Whether an analysis that the ratings cannot give raises; otherwise its row states the reason,
    and the others are made."""
    is_blinded: bool = False
    """Whether systems and judges have blinding codes in the analyses and the records."""
    characteristics: frozenset[str] = frozenset()
    """The characteristics of raters that the protocol defines."""
    only: frozenset[str] | None = None
    """The analyses of a preliminary run, without adjustments, sensitivity and worst-case bounds;
    None: all analyses."""
    duplicates: Groups = ()
    """Groups of items with the same question and no decision."""
