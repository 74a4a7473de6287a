"""Calibration: where pilot ratings lie far apart, everybody concerned writes down why.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from konsil.errors import nearest
from konsil.instrument import Field, Instrument, fields, values
from konsil.instrument.definition.form import Scale
from konsil.records import Rating, Task

REASON = "calibration reason"
"""Subject: the rater; data.task and data.field: what it is about; data.label, data.others: what was
said; data.text."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """When a written reason is asked for after the pilot."""

    steps: float = 1
    """How many places of the scale two labels lie apart at least; labels without an order only need
    to differ."""
    criteria: tuple[str, ...] = ()
    """The criteria that are compared; empty: all but free texts."""
    wait: bool = True
    """Whether the tasks after the pilot wait until everybody of the panel has done it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One question on which a rater and others of the panel lie far apart."""

    task: str
    """The rater's own pilot task."""
    field: Field
    """The question, as it stands on that task's screen."""
    label: str
    """What the rater said."""
    others: tuple[str, ...]
    """What the others said, each as it reads on that screen; those who agree included."""


def apart(scale: Scale, one: str, other: str) -> float | None:
    """How many places two labels lie apart.

    None where they cannot be compared (an abstention, a free text).

    >>> apart(Scale(("no", "mild", "severe"), level="ordinal"), "no", "severe")
    2.0
    >>> apart(Scale(("no", "yes"), abstain="cannot tell"), "no", "cannot tell")
    """
    if scale.kind == "text" or scale.abstain in (one, other):
        return None
    if scale.kind == "number":
        return abs(float(one) - float(other))
    places = {label: n for n, label in enumerate(scale.labels)}
    if one not in places or other not in places:
        return None
    if scale.level == "nominal":
        return 0.0 if one == other else float("inf")
    return float(abs(places[one] - places[other]))


def differences(
    calibration: Calibration,
    instrument: Instrument,
    task: Task,
    mine: Sequence[Rating],
    others: Iterable[Sequence[Rating]],
) -> tuple[Difference, ...]:
    """The questions of a pilot task on which another's label lies far from the rater's own.

    `others` has the ratings of each of the others on the same item, whatever the order in which
    they saw its answers.
    """
    asked = fields(instrument, task)
    own = values(asked, task, mine)
    said = [values(asked, task, ratings) for ratings in others]
    found: list[Difference] = []
    for field in asked:
        criterion = field.criterion
        if field.name not in own or (
            calibration.criteria and criterion.id not in calibration.criteria
        ):
            continue
        labels = tuple(one[field.name] for one in said if field.name in one)
        far = [
            d
            for label in labels
            if (d := apart(criterion.scale, own[field.name], label)) is not None
        ]
        if any(d >= calibration.steps for d in far):
            found.append(Difference(task.id, field, own[field.name], labels))
    return tuple(found)


def calibration_problems(
    calibration: Calibration, instruments: Iterable[Instrument], where: str
) -> Iterator[str]:
    """What is wrong with it, one sentence each."""
    if not calibration.steps > 0:
        yield f"{where}.steps: expected more than 0, got {calibration.steps:g}"
    known = {c.id for i in instruments for c in i.criteria}
    for name in calibration.criteria:
        if name not in known:
            yield f"{where}.criteria: there is no criterion {name!r}; {nearest(name, known)}"
