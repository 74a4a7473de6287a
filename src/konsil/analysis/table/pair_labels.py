"""Meaning of a comparison's labels: number of steps in favour of the first of the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from konsil.errors import AnalysisError
from konsil.errors.message import message, placed
from konsil.instrument import Criterion
from konsil.instrument.definition.mirror import mirrored


def steps_of_scale(scale: Sequence[str]) -> dict[str, int]:
    """Labels in order to steps in favour of the first.

    The order is from "the first is much better" to "the second is much better". An odd number of
    labels has the tie in its middle; an even number has none.

    >>> steps_of_scale(["A", "equal", "B"])
    {'A': 1, 'equal': 0, 'B': -1}
    >>> steps_of_scale(["A++", "A+", "B+", "B++"])
    {'A++': 2, 'A+': 1, 'B+': -1, 'B++': -2}
    """
    half = len(scale) // 2
    steps = (
        [half - n for n in range(half)]
        + ([0] if len(scale) % 2 else [])
        + [-n - 1 for n in range(half)]
    )
    return dict(zip(scale, steps, strict=True))


def steps_of_criterion(criterion: Criterion, where: str) -> dict[str, int]:
    """A pair criterion's labels to steps in favour of its first answer, A.

    Labels in order favour A first; where letters contradict that, they decide. An error for a scale
    that does not tell what its labels say with A and B exchanged.
    """
    scale = criterion.scale
    if criterion.scope != "pair" or scale.kind != "choice":
        fact = message(
            "criterion {criterion!r} is not a choice about a pair of answers, which comparisons"
            " need",
            message_id="refused.no_pairs",
            criterion=criterion.id,
        )
        raise AnalysisError(placed(where, fact))
    other = {label: mirrored(criterion, label) for label in scale.labels}
    if None in other.values():
        fact = message(
            "the labels of {criterion!r} do not define their meaning with A and B exchanged; name"
            " the sides A and B in the labels, or give the scale an order",
            message_id="refused.sides",
            criterion=criterion.id,
        )
        raise AnalysisError(placed(where, fact))
    steps = steps_of_scale(scale.labels)
    if any(steps[label] != -steps[str(reverse)] for label, reverse in other.items()):
        fact = message(
            "the labels of {criterion!r} do not form a scale from A to B with the tie in the"
            " middle",
            message_id="refused.no_scale_of_sides",
            criterion=criterion.id,
        )
        raise AnalysisError(placed(where, fact))
    first = scale.labels[0].split()
    return {label: -n for label, n in steps.items()} if "B" in first and "A" not in first else steps


def reversed_codes(
    criterion: Criterion, collapse: Mapping[str, str], names: Sequence[str]
) -> tuple[int, ...] | None:
    """For each label after collapsing, the index of its counterpart with A and B exchanged.

    None where the scale does not define it, or where labels that are merged do not stay merged with
    the sides exchanged.

    >>> from konsil.instrument import Scale
    >>> scale = Scale(("A much", "A", "same", "B", "B much"), level="ordinal")
    >>> criterion, merged = Criterion("better", "?", scale, "pair"), {"A much": "A", "B much": "B"}
    >>> reversed_codes(criterion, merged, ("A", "same", "B"))
    (2, 1, 0)
    >>> reversed_codes(criterion, {"A much": "one", "B": "one"}, ("one", "A", "same", "B much"))
    """
    if criterion.scale.kind != "choice":
        return None
    reverse: dict[str, str] = {}
    for label in criterion.scale.labels:
        other = mirrored(criterion, label)
        if other is None:
            return None
        merged, merged_other = collapse.get(label, label), collapse.get(other, other)
        if reverse.setdefault(merged, merged_other) != merged_other:
            return None
    place = {name: n for n, name in enumerate(names)}
    if any(name not in reverse or reverse[name] not in place for name in names):
        return None
    return tuple(place[reverse[name]] for name in names)


def reach(steps: Mapping[str, int]) -> int:
    """How many steps the furthest label has, at least one."""
    return max([1, *(abs(n) for n in steps.values())])
