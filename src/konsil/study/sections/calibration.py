"""Calibration: raters whose pilot ratings differ widely write down their reasons.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from konsil.errors import nearest
from konsil.instrument import Field, Instrument, fields
from konsil.instrument.definition.form import Scale
from konsil.instrument.screens.reply import values
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
    """The question, as displayed on that task's screen."""
    label: str
    """The rater's label."""
    others: tuple[str, ...]
    """What the others said, each as it reads on that screen; those who agree included."""


def apart(scale: Scale, label: str, other_label: str) -> float | None:
    """How many places two labels lie apart.

    None where they cannot be compared (an abstention, a free text).

    >>> apart(Scale(("no", "mild", "severe"), level="ordinal"), "no", "severe")
    2.0
    >>> apart(Scale(("no", "yes"), abstain="cannot tell"), "no", "cannot tell")
    """
    if scale.kind == "text" or scale.abstain in (label, other_label):
        return None
    if scale.kind == "number":
        return abs(float(label) - float(other_label))
    places = {option: n for n, option in enumerate(scale.labels)}
    if label not in places or other_label not in places:
        return None
    if scale.level == "nominal":
        return 0.0 if label == other_label else float("inf")
    return float(abs(places[label] - places[other_label]))


def differences(
    calibration: Calibration,
    instrument: Instrument,
    task: Task,
    rater_ratings: Sequence[Rating],
    others: Iterable[Sequence[Rating]],
) -> tuple[Difference, ...]:
    """The questions of a pilot task on which another's label lies far from the rater's own.

    `others` has the ratings of each of the others on the same item, whatever the order in which
    they saw its answers.
    """
    form_fields = fields(instrument, task)
    rater_labels = values(form_fields, task, rater_ratings)
    others_labels = [values(form_fields, task, ratings) for ratings in others]
    large_differences: list[Difference] = []
    for field in form_fields:
        criterion = field.criterion
        if field.name not in rater_labels or (
            calibration.criteria and criterion.id not in calibration.criteria
        ):
            continue
        labels = tuple(
            labels_by_field[field.name]
            for labels_by_field in others_labels
            if field.name in labels_by_field
        )
        far = [
            d
            for label in labels
            if (d := apart(criterion.scale, rater_labels[field.name], label)) is not None
        ]
        if any(d >= calibration.steps for d in far):
            large_differences.append(Difference(task.id, field, rater_labels[field.name], labels))
    return tuple(large_differences)


def calibration_problems(
    calibration: Calibration, instruments: Iterable[Instrument], where: str
) -> Iterator[str]:
    """Problems of the calibration, one sentence each."""
    if not calibration.steps > 0:
        yield f"{where}.steps: expected more than 0, got {calibration.steps:g}"
    criterion_ids = {c.id for i in instruments for c in i.criteria}
    for name in calibration.criteria:
        if name not in criterion_ids:
            yield (
                f"{where}.criteria: there is no criterion {name!r}; {nearest(name, criterion_ids)}"
            )
