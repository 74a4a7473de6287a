"""The explanations of a practice task after submission: suggested label and reason."""

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
    form_fields: Sequence[Field],
) -> dict[str, tuple[str, str]]:
    """Field -> the suggested label as it reads on this screen, and why.

    `systems` names each answer's system.

    Only practice tasks explain anything. A comparison that stands the other way round here is
    mirrored; where its scale does not tell how, only the reason is given.
    """
    if task.purpose != "practice":
        return {}
    label_by_field: dict[str, tuple[str, str]] = {}
    for explanation in explanations:
        for field in form_fields if explanation.item == task.item else ():
            criterion = field.criterion
            shown = [systems[task.answers[n]] for n in field.answers]
            number = field.span + 1 if field.span is not None else None
            if (
                criterion.id != explanation.criterion
                or explanation.sentence != number
                or (explanation.system and explanation.system not in shown)
            ):
                continue
            turned = len(shown) == 2 and explanation.system == shown[1]
            label_by_field[field.name] = (
                (mirrored(criterion, explanation.label) or "") if turned else explanation.label,
                explanation.text,
            )
    return label_by_field


def explanation_problems(
    explanations: Sequence[Explanation],
    instruments: Sequence[Instrument],
    systems: Sequence[str],
    plan: Sequence[Allocation],
    where: str,
) -> Iterator[str]:
    """Problems of the explanations, one sentence each."""
    practised = [a.instrument for a in plan if a.purpose == "practice"]
    practised_criteria: dict[str, Criterion] = {
        c.id: c for i in instruments if i.id in practised for c in i.criteria
    }
    one_by_one = {
        c.id: i.id
        for i in instruments
        if i.id in practised and i.present == "sentence"
        for c in i.criteria
    }
    if explanations and not practised:
        yield f"{where}: there is no practice; expected a plan with purpose = 'practice'"
        return
    for n, explanation in enumerate(explanations):
        criterion = practised_criteria.get(explanation.criterion)
        if criterion is None:
            yield (
                f"{where}[{n}].criterion: no practice task contains {explanation.criterion!r};"
                f" {nearest(explanation.criterion, list(practised_criteria))}"
            )
            continue
        options = criterion.scale.options()
        if criterion.scale.kind == "choice" and explanation.label not in options:
            yield (
                f"{where}[{n}].label: there is no label {explanation.label!r};"
                f" {nearest(explanation.label, options)}"
            )
        if explanation.system and explanation.system not in systems:
            yield (
                f"{where}[{n}].system: there is no system {explanation.system!r};"
                f" {nearest(explanation.system, systems)}"
            )
        if criterion.scope == "pair" and not explanation.system:
            yield (
                f"{where}[{n}].system: is missing; a comparison's label is read with this system as"
                " answer A"
            )
        if (criterion.scope == "sentence") != (explanation.sentence is not None):
            problem = (
                "expected the number of a sentence"
                if explanation.sentence is None
                else "the criterion is about no sentence"
            )
            yield f"{where}[{n}].sentence: {problem}"
        elif criterion.scope == "sentence" and criterion.id in one_by_one:
            yield (
                f"{where}[{n}].sentence: the instrument {one_by_one[criterion.id]!r} shows each"
                " sentence on a page of its own, where sentences have no numbers; practise on an"
                " instrument with present = 'answer'"
            )
