"""Rules for composite scores: their keys, and the criteria that they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from konsil.analysis.model.composite.definition import CompositeScore, ends_of, parts_of
from konsil.errors import nearest
from konsil.instrument import Criterion, Instrument

_LEAST_PARTS = 2
"""The fewest criteria that a score is made of."""

_BINARY = 2
"""Labels of which any two have an order."""


def score_problems(score: CompositeScore, instruments: Sequence[Instrument]) -> Iterator[str]:
    """Each problem of a score as 'key: what is wrong', for the caller to put the place before it.

    >>> from konsil.instrument import Scale
    >>> form = Instrument("form", (Criterion("a", "?", Scale(("no", "yes"))),))
    >>> list(score_problems(CompositeScore("overall", ("a", "aa")), [form]))
    ["of: there is no criterion 'aa'; did you mean 'a'?"]
    """
    by_id = {c.id: c for i in instruments for c in i.criteria}
    if score.id in by_id:
        yield f"id: {score.id!r} is a criterion already; choose another"
    unknown = [name for name in score.of if name not in by_id]
    for name in unknown:
        yield f"of: there is no criterion {name!r}; {nearest(name, by_id)}"
    if len(set(score.of)) < max(len(score.of), _LEAST_PARTS):
        yield f"of: expected two or more different criteria, got {list(score.of)}"
    yield from _key_problems(score)
    if unknown or not score.of:
        return
    complete = [parts for i in instruments if (parts := parts_of(score, i))]
    if not complete:
        homes = [
            f"{name!r} in {' and '.join(repr(i.id) for i in instruments if i.criterion(name))}"
            for name in score.of
        ]
        yield f"of: no instrument has all of these criteria: {', '.join(homes)}"
    for parts in complete:
        yield from _part_problems(score, parts)


def _key_problems(score: CompositeScore) -> Iterator[str]:
    """Keys that contradict one another."""
    k = len(score.of)
    if score.combine == "weighted":
        if len(score.weights) != k:
            yield f"weights: expected {k}, one for each of `of`, got {len(score.weights)}"
        elif not all(weight > 0 for weight in score.weights):
            yield f"weights: expected numbers above 0, got {list(score.weights)}"
    elif score.weights:
        yield f"weights: belong to combine = 'weighted', not to {score.combine!r}"
    if score.combine == "share":
        if (score.at_least is None) == (not score.labels):
            yield (
                "at_least: a share needs either the number from which on a label counts (at_least)"
                " or the labels that count (labels)"
            )
    else:
        for key in ("at_least", "labels"):
            if getattr(score, key) not in (None, ()):
                yield f"{key}: belongs to combine = 'share', not to {score.combine!r}"
    if score.missing == "complete" and score.min_parts != 1:
        yield "min_parts: belongs to missing = 'available', not to 'complete'"
    elif not 1 <= score.min_parts <= max(k, 1):
        yield f"min_parts: expected a whole number from 1 to {k}, got {score.min_parts}"
    if score.missing == "available" and score.combine in {"sum", "minimum"}:
        yield (
            f"missing: 'available' would make the {score.combine} of fewer criteria comparable with"
            " that of all; expected 'complete', or combine = 'mean'"
        )


def _part_problems(score: CompositeScore, parts: Sequence[Criterion]) -> Iterator[str]:
    """What keeps criteria of one instrument from being made one number."""
    scopes = list(dict.fromkeys(part.scope for part in parts))
    if len(scopes) > 1:
        yield f"of: the criteria are about different things ({', '.join(scopes)}); expected one"
    elif scopes == ["pair"]:
        yield "of: criteria about a pair of answers make no score; expected those about one answer"
    for part in parts:
        yield from _scale_problems(score, part)
    ends = {ends_of(part.scale) for part in parts}
    units = {part.scale.unit for part in parts}
    if score.combine in {"mean", "minimum"} and (len(ends) > 1 or len(units) > 1):
        differing = "units" if len(ends) == 1 else "scales"
        yield (
            f"combine: {score.combine!r} of criteria with different {differing}; expected"
            " 'weighted', 'sum' or 'share'"
        )


def _scale_problems(score: CompositeScore, part: Criterion) -> Iterator[str]:
    scale = part.scale
    if scale.kind == "text":
        yield f"of: {part.id!r} is a free text and has no number"
    elif score.labels:
        for label in score.labels:
            if label not in scale.labels:
                yield (
                    f"labels: {part.id!r} has no label {label!r}; {nearest(label, scale.labels)}"
                )
    elif scale.kind == "choice" and scale.level == "nominal" and len(scale.labels) > _BINARY:
        yield (
            f"of: the labels of {part.id!r} have no order, so they are no numbers; expected"
            " combine = 'share' with labels"
        )
    elif score.at_least is not None:
        low, high = ends_of(scale)
        if low is not None and score.at_least <= low:
            yield f"at_least: every label of {part.id!r} reaches {score.at_least:g}"
        elif high is not None and score.at_least > high:
            yield f"at_least: no label of {part.id!r} reaches {score.at_least:g}"
