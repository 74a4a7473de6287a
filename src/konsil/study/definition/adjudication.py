"""Adjudication: raters who differ rate the same subject once more. Pure.

They see the labels and reasons of the first round.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from konsil.errors.message import TranslatableMessage, message
from konsil.instrument import Field, Instrument, fields
from konsil.instrument.screens.reply import values
from konsil.plan.model.rng_streams import token
from konsil.records import Event, Rating, Task
from konsil.study.sections.calibration import apart

OPENED = "adjudication opened"
"""Subject: a task whose rater differs from others; data.task: that of the adjudication;
data.fields; data.by."""
DECIDED = "adjudication"
"""The kind of event of a label after adjudication; its subject is the adjudication's task."""
CLOSED = "adjudication closed"
"""Subject: a task of an adjudication; data: round, its screens, how many are decided, ratings
collected before, by."""

Names = Literal["hidden", "shown"]


@dataclass(frozen=True, slots=True)
class Adjudication:
    """Which disagreements are looked at together."""

    panel: str
    """Whose."""
    criteria: tuple[str, ...] = ()
    """The criteria that are compared; empty: all but free texts."""
    steps: float = 1
    """How many places of the scale two labels lie apart at least; labels without an order only need
    to differ."""
    abstentions: bool = False
    """Whether an abstention beside a label is a disagreement too."""
    names: Names = "hidden"
    """Whether raters see who the others are."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Raters who saw the same thing and differ on some of its questions."""

    tasks: tuple[Task, ...]
    """Their tasks."""
    common: Task
    """The first of them: all look at the answers in its order, so that A is A for everybody."""
    fields: tuple[str, ...]
    """The questions on which they differ, by the names that they have there."""

    def opened(self, seed: int) -> tuple[Task, ...]:
        """The tasks of the adjudication, one for each rater."""
        return tuple(
            dataclasses.replace(
                task,
                id=(name := token(seed, DECIDED, task.id)),
                slot=name,
                answers=self.common.answers,
                spans=self.common.spans,
                batch="",
                purpose="adjudication",
                repeat_of=task.id,
            )
            for task in self.tasks
        )


def disagreements(
    rules: Adjudication,
    instruments: Sequence[Instrument],
    tasks: Iterable[Task],
    ratings: Mapping[str, Sequence[Rating]],
) -> tuple[Disagreement, ...]:
    """Disagreements of the panel's raters by the protocol's rule.

    Labels are compared once all raters assigned to the same subject have rated it.

    Args:
        rules: the protocol's.
        instruments: its forms.
        tasks: main tasks of the panel's people; those of one item, form, phase, arm and set of
            answers are compared.
        ratings: task -> its ratings; a task that is not rated keeps all that are compared with it
            waiting.
    """
    forms = {i.id: i for i in instruments}
    alike: dict[tuple[object, ...], list[Task]] = {}
    # By name: whose task is the common one must not depend on the order in which tasks are read.
    for task in sorted(tasks, key=lambda t: t.id):
        if task.item is not None and task.instrument in forms:
            key = (
                task.item,
                task.instrument,
                task.phase,
                task.arm,
                # Screens with the same answers in another order show the same.
                tuple(sorted(task.answers)),
                task.spans,
            )
            alike.setdefault(key, []).append(task)
    cases = []
    for members in alike.values():
        if len(members) > 1 and all(t.id in ratings for t in members):
            common = members[0]
            form_fields = fields(forms[common.instrument], common)
            labels = [values(form_fields, common, ratings[t.id]) for t in members]
            differ = tuple(
                f.name
                for f in form_fields
                if _differs(
                    rules,
                    f,
                    [
                        labels_by_field[f.name]
                        for labels_by_field in labels
                        if f.name in labels_by_field
                    ],
                )
            )
            if differ:
                cases.append(Disagreement(tuple(members), common, differ))
    return tuple(cases)


def _differs(rules: Adjudication, field: Field, labels: Sequence[str]) -> bool:
    criterion = field.criterion
    if criterion.scale.kind == "text" or (rules.criteria and criterion.id not in rules.criteria):
        return False
    for label, other_label in combinations(labels, 2):
        distance = apart(criterion.scale, label, other_label)
        if distance is None:
            if rules.abstentions and label != other_label:
                return True
        elif distance >= rules.steps:
            return True
    return False


def closing_sentences(events: Iterable[Event]) -> tuple[TranslatableMessage, ...]:
    """Sentences of the methods on each closed round of adjudication.

    Each states when the round was closed, after how many ratings, and how many cases were decided.
    """
    rounds = {event.data.get("round"): event for event in events if event.kind == CLOSED}
    return tuple(
        message(
            (
                "Round {round} of the adjudication was closed at {at}, after {ratings:,}"
                " {ratings|rating|ratings} had been collected; {decided:,} of its {screens:,}"
                " {screens|task|tasks} had a decision."
            ),
            message_id="adjudication.closed",
            round=number,
            at=event.at,
            ratings=int(str(event.data.get("ratings", 0))),
            decided=int(str(event.data.get("decided", 0))),
            screens=int(str(event.data.get("screens", 0))),
        )
        for number, event in sorted((int(str(n)), event) for n, event in rounds.items())
    )
