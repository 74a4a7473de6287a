"""Comparisons read the other way round."""

from __future__ import annotations

import re
from typing import overload

from konsil.instrument.definition.form import Criterion

_SIDES = re.compile(r"\b[AB]\b")


def mirrored(criterion: Criterion, label: str) -> str | None:
    """The label of a comparison after its two answers change places.

    None where the scale does not tell.

    Labels that name a side by its letter, A or B, are read with the letters exchanged, if each is
    then a label again; other labels in an order are read from the other end. Numbers, texts and
    labels with neither do not tell.

    >>> from konsil.instrument import Scale
    >>> mirrored(Criterion("better", "?", Scale(("A", "equal", "B")), "pair"), "A")
    'B'
    """
    scale = criterion.scale
    if scale.kind != "choice" or label not in scale.labels:
        return None
    exchanged = [_exchanged(text) for text in scale.labels]
    if exchanged != list(scale.labels) and sorted(exchanged) == sorted(scale.labels):
        return exchanged[scale.labels.index(label)]
    if scale.level == "nominal":
        return None
    return scale.labels[len(scale.labels) - 1 - scale.labels.index(label)]


def _exchanged(text: str) -> str:
    """The text with A for B and B for A; one that names both speaks of neither."""
    sides = set(_SIDES.findall(text))
    return _SIDES.sub("B" if sides == {"A"} else "A", text) if len(sides) == 1 else text


@overload
def canonical(
    criterion: Criterion, answers: tuple[str, ...], label: str
) -> tuple[tuple[str, ...], str]: ...
@overload
def canonical(
    criterion: Criterion, answers: tuple[str, ...], label: str | None
) -> tuple[tuple[str, ...], str | None]: ...
def canonical(
    criterion: Criterion, answers: tuple[str, ...], label: str | None
) -> tuple[tuple[str, ...], str | None]:
    """A comparison with its answers in the order of their ids, and its label as it reads then."""
    if len(answers) != 2 or answers[0] <= answers[1]:
        return answers, label
    if label is None:
        return (answers[1], answers[0]), None
    other = mirrored(criterion, label)
    return (answers, label) if other is None else ((answers[1], answers[0]), other)
