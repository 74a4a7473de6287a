"""What a practice task explains after it was handed in: the label its authors suggest, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from konsil.errors import nearest
from konsil.instrument import Criterion, Field, Instrument, mirrored
from konsil.plan import Allocation
from konsil.records import Task


@dataclass(frozen=True, slots=True)
class Explanation:
    """One explanation of a practice item."""

    item: str
    """The item."""
    criterion: str
    """The criterion that it is about."""
    label: str
    """The label that is suggested; of a comparison, as it reads when `system` is answer A."""
    text: str
    """Why."""
    system: str = ""
    """The system whose answer it is about; empty where the question is about no single answer."""
    sentence: int | None = None
    """The number of the sentence on the screen, from 1."""


def explained(
    explanations: Iterable[Explanation],
    task: Task,
    systems: Mapping[str, str],
    asked: Sequence[Field],
) -> dict[str, tuple[str, str]]:
    """Field -> the suggested label as it reads on this screen, and why.

    `systems` names each answer's system.

    Only practice tasks explain anything. A comparison that stands the other way round here is
    mirrored; where its scale does not tell how, only the reason is given.
    """
    if task.purpose != "practice":
        return {}
    found: dict[str, tuple[str, str]] = {}
    for one in explanations:
        for field in asked if one.item == task.item else ():
            criterion = field.criterion
            shown = [systems[task.answers[n]] for n in field.answers]
            number = field.span + 1 if field.span is not None else None
            if (
                criterion.id != one.criterion
                or one.sentence != number
                or (one.system and one.system not in shown)
            ):
                continue
            turned = len(shown) == 2 and one.system == shown[1]
            found[field.name] = (
                (mirrored(criterion, one.label) or "") if turned else one.label,
                one.text,
            )
    return found


def explanation_problems(
    explanations: Sequence[Explanation],
    instruments: Sequence[Instrument],
    systems: Sequence[str],
    plan: Sequence[Allocation],
    where: str,
) -> Iterator[str]:
    """What is wrong with the explanations, one sentence each."""
    practised = [a.instrument for a in plan if a.purpose == "practice"]
    asked: dict[str, Criterion] = {
        c.id: c for i in instruments if i.id in practised for c in i.criteria
    }
    if explanations and not practised:
        yield f"{where}: nothing is practised; expected a plan with purpose = 'practice'"
        return
    for n, one in enumerate(explanations):
        criterion = asked.get(one.criterion)
        if criterion is None:
            yield (
                f"{where}[{n}].criterion: no practice asks {one.criterion!r};"
                f" {nearest(one.criterion, list(asked))}"
            )
            continue
        options = criterion.scale.options()
        if criterion.scale.kind == "choice" and one.label not in options:
            yield (
                f"{where}[{n}].label: there is no label {one.label!r};"
                f" {nearest(one.label, options)}"
            )
        if one.system and one.system not in systems:
            yield (
                f"{where}[{n}].system: there is no system {one.system!r};"
                f" {nearest(one.system, systems)}"
            )
        if criterion.scope == "pair" and not one.system:
            yield (
                f"{where}[{n}].system: is missing; a comparison's label is read with this system as"
                " answer A"
            )
        if (criterion.scope == "sentence") != (one.sentence is not None):
            told = (
                "expected the number of a sentence"
                if one.sentence is None
                else "the criterion is about no sentence"
            )
            yield f"{where}[{n}].sentence: {told}"
