"""Composite scores: one number made of what a rater gave the same answer on several criteria."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from konsil.analysis.model.options import CriterionRef
from konsil.instrument import Criterion, Instrument, Scale

Combine = Literal["mean", "sum", "weighted", "minimum", "share"]
MissingParts = Literal["complete", "available"]


@dataclass(frozen=True, slots=True)
class CompositeScore:
    """One number made of a rater's labels on several criteria, for analyses to name."""

    id: str
    """What analyses call it; no criterion has the same identifier."""
    of: tuple[CriterionRef, ...]
    """The criteria that it is made of, all of one instrument and about the same thing."""
    combine: Combine = "mean"
    """The 'mean' or the 'sum' of their numbers, the 'weighted' mean, the 'minimum', or the 'share'
    of the criteria whose label counts."""
    weights: tuple[float, ...] = ()
    """For 'weighted': one weight for each of `of`; only their proportions matter."""
    at_least: float | None = None
    """For 'share': the number from which on a label counts."""
    labels: tuple[str, ...] = ()
    """For 'share', instead of `at_least`: the labels that count."""
    missing: MissingParts = "complete"
    """What happens where a rater left some criteria out or abstained: the score is undefined
    ('complete'), or made of those that are there ('available')."""
    min_parts: int = 1
    """For missing = 'available': with fewer criteria than this the score is undefined."""
    title: str = ""
    """What tables and figures call it; empty: its identifier."""


def with_scores(
    instruments: Sequence[Instrument], scores: Iterable[CompositeScore]
) -> tuple[Instrument, ...]:
    """The instruments, each with the scores of its criteria as further criteria.

    A score is a number, with the least and the greatest value that its parts can give it. No page
    and no prompt has it.

    >>> from konsil.instrument import Scale
    >>> scale = Scale(("low", "high"), level="ordinal", values=(1, 5))
    >>> form = Instrument("form", (Criterion("a", "?", scale), Criterion("b", "?", scale)))
    >>> [scored] = with_scores([form], [CompositeScore("overall", ("a", "b"), "sum")])
    >>> scored.criterion("overall").scale.low, scored.criterion("overall").scale.high
    (2.0, 10.0)
    """
    extended = [*instruments]
    for score in scores:
        for n, instrument in enumerate(instruments):
            parts = parts_of(score, instrument)
            if parts:
                extended[n] = replace(
                    extended[n], criteria=(*extended[n].criteria, _criterion(score, parts))
                )
    return tuple(extended)


def parts_of(score: CompositeScore, instrument: Instrument) -> tuple[Criterion, ...]:
    """The criteria of an instrument that a score is made of; none where it lacks one."""
    parts = [instrument.criterion(name) for name in score.of]
    criteria = tuple(part for part in parts if part is not None)
    return criteria if len(criteria) == len(parts) else ()


def _criterion(score: CompositeScore, parts: Sequence[Criterion]) -> Criterion:
    low, high = _range(score, parts)
    scale = Scale(kind="number", level="interval", low=low, high=high)
    return Criterion(score.id, "", scale, parts[0].scope, title=score.title)


def ends_of(scale: Scale) -> tuple[float | None, float | None]:
    """The lowest and the highest number of a scale; None where it has no such end."""
    if scale.kind == "choice":
        return min(scale.numbers(), default=None), max(scale.numbers(), default=None)
    return scale.low, scale.high


def _range(score: CompositeScore, parts: Sequence[Criterion]) -> tuple[float | None, float | None]:
    if score.combine == "share":
        return 0.0, 1.0
    lows, highs = zip(*(ends_of(part.scale) for part in parts), strict=True)
    low, high = _finite(lows), _finite(highs)
    if score.combine == "sum":
        return (sum(low) if low else None), (sum(high) if high else None)
    if score.combine == "weighted" and score.missing == "complete":
        return _weighted(low, score.weights), _weighted(high, score.weights)
    # A mean of the parts that are there lies between the ends of any of them.
    return min(low, default=None), max(high, default=None)


def _finite(ends: Sequence[float | None]) -> list[float]:
    """The ends; none where one of them is open."""
    numbers = [float(end) for end in ends if end is not None]
    return numbers if len(numbers) == len(ends) else []


def _weighted(ends: Sequence[float], weights: Sequence[float]) -> float | None:
    if not ends or len(weights) != len(ends):
        return None
    return sum(end * w for end, w in zip(ends, weights, strict=True)) / sum(weights)
