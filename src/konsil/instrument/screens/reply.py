"""The only reader of replies, for the page and for judges: names and values in, ratings out.

It never guesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as field_of
from functools import cache

from konsil.errors import nearest, quoted
from konsil.instrument.definition.digests import digest
from konsil.instrument.definition.fields import Field
from konsil.instrument.definition.form import Instrument
from konsil.instrument.definition.labels import LabelError, read_label
from konsil.instrument.definition.mirror import canonical, mirrored
from konsil.instrument.definition.objects import verdict
from konsil.instrument.definition.spelling import meant
from konsil.records import Outcome, Rating, State, Task


@dataclass(frozen=True, slots=True)
class FieldReply:
    """The reply to one field."""

    field: Field
    """The field."""
    state: State
    """Rated, or abstained on purpose."""
    label: str | None
    """The label as the scale has it; None when abstained."""
    note: str = ""
    """The reason, where one is asked for and was given."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A whole reply as read: complete, or nothing."""

    outcome: Outcome
    """'ok' as asked for; 'repaired' by parsing; else 'not json', 'off schema', 'empty' or
    'refused'."""
    replies: tuple[FieldReply, ...] = ()
    """All fields' replies; none unless the outcome is 'ok' or 'repaired'. A text left empty is no
    reply."""
    problems: Mapping[str, str] = field_of(default_factory=dict)
    """Name of a field -> what is wrong with its value, in one sentence; '' is the name of the whole
    reply."""

    @property
    def readable(self) -> bool:
        """Whether ratings can be made of it."""
        return self.outcome in ("ok", "repaired")


def read_form(fields: Sequence[Field], values: Mapping[str, str]) -> Reading:
    """Read a submitted form: a mapping from field name to the value chosen.

    Every field must be there, with a value exactly as the form offers it, and no other; reasons may
    be left out.
    """
    if not any(value.strip() for value in values.values()):
        return Reading("empty", problems={"": "nothing was filled in"})
    return _read(fields, list(values.items()), exact=True)


def read_reply(fields: Sequence[Field], text: str) -> Reading:
    """Read a judge's reply.

    Only JSON counts, and of several objects the last one that speaks of the fields.

    Repaired are fences and words around the object, trailing commas, line breaks in strings,
    single quotes of a whole reply, numbers for labels that are numbers, and keys and labels that
    differ in case, spaces or Unicode form from exactly one name or option. An object with a key
    missing, unknown or twice is off schema: part of a reply is no rating.
    """
    if not text.strip():
        return Reading("empty", problems={"": "the reply is empty"})
    judged = verdict(text, {name for f in fields for name in (f.name, f.reason) if name})
    if judged.pairs is None:
        if not judged.started and _REFUSAL.match(text.strip()):
            return Reading("refused", problems={"": "the judge declines to rate"})
        return Reading("not json", problems={"": judged.problem})
    reading = _read(fields, judged.pairs, exact=False)
    return (
        Reading("repaired", reading.replies)
        if reading.outcome == "ok" and not judged.bare
        else reading
    )


_REFUSAL = re.compile(
    r"(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e|unfortunately|es tut mir"
    r" leid|entschuldigung|leider)?[\s,.;:]*"
    r"(?:but|aber)?\s*"
    r"(?:as an? (?:ai|artificial intelligence|large language|language|responsible)\b[^.,]{0,40},\s*"
    r"|als (?:ein(?:e)?\s+)?(?:ki|künstliche intelligenz|(?:großes?"
    r" )?sprachmodell)[^.,]{0,40}?,?\s*)?"
    r"(?:i (?:can['’]?t|cannot|can not|won['’]?t|will not|am unable to|['’]m unable to|am not able"
    r" to|must decline)"
    r"|i['’]m (?:unable|not able) to"
    r"|(?:ich kann|kann ich|ich darf|darf ich)\b[^.]{0,80}\b(?:nicht|keine?[nmrs]?)\b)",
    re.IGNORECASE,
)
"""How a reply without any JSON begins when it declines. Anything else without JSON is 'not
json'."""


def _read(fields: Sequence[Field], pairs: Sequence[tuple[str, object]], *, exact: bool) -> Reading:
    problems: dict[str, str] = {}
    valid_names = [name for f in fields for name in (f.name, f.reason) if name]
    values: dict[str, object] = {}
    for name, value in pairs:
        if name not in valid_names:
            problems[name] = f"{name}: unknown field; {nearest(name, valid_names)}"
        elif name in values:
            problems[name] = f"{name}: occurs more than once"
        values[name] = value
    replies: list[FieldReply] = []
    repaired = False
    for field in fields:
        if field.name not in values:
            problems[field.name] = f"{field.name}: is not answered"
            continue
        note = values.get(field.reason, "") if field.reason else ""
        if not isinstance(note, str):
            problems[field.reason] = f"{field.reason}: expected a text, got {quoted(note, 60)}"
            continue
        try:
            read = _value(field, values[field.name], exact=exact)
        except LabelError as error:
            problems[field.name] = f"{field.name}: {error}"
            continue
        state, label, mended = read
        repaired = repaired or mended
        if not (
            field.criterion.scale.kind == "text" and state == "rated" and not (label or "").strip()
        ):
            replies.append(FieldReply(field, state, label, note.strip()))
    if problems:
        return Reading("off schema", problems=problems)
    return Reading("repaired" if repaired else "ok", tuple(replies))


def _value(field: Field, value: object, *, exact: bool) -> tuple[State, str | None, bool]:
    """State, label, and whether it had to be repaired."""
    criterion, scale = field.criterion, field.criterion.scale
    # In Python, true is a whole number: here it is no label '1'.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise LabelError(f"{quoted(value, 60)} is not a label of criterion {criterion.id!r}")
    if not isinstance(value, str):
        if scale.kind == "text":
            raise LabelError(
                f"{quoted(value, 60)} is not a text, as criterion {criterion.id!r} expects"
            )
        state, label = read_label(criterion, _digits(value))
        return state, label, scale.kind == "choice"
    if scale.kind == "text" or value in field.options:
        return *read_label(criterion, value), False
    if scale.kind == "number" and exact:
        return *read_label(criterion, value.strip()), False
    if exact:
        raise LabelError(
            f"{value!r} is not a label of criterion {criterion.id!r};"
            f" {nearest(value, field.options)}"
        )
    return *read_label(criterion, meant(value, field.options) or value.strip()), True


def _digits(value: float) -> str:
    return str(value) if isinstance(value, int) else repr(value)


def ratings(
    reading: Reading,
    instrument: Instrument,
    task: Task,
    *,
    seconds: float | None = None,
    at: str = "",
) -> tuple[Rating, ...]:
    """The ratings of a reply, by canonical answer id; none of a reply that is not readable.

    A comparison is stored with its answers in the order of their ids, and its label as it reads in
    that order, so that two raters who saw them on different sides and agree have the same record.
    Where the scale does not say how it reads the other way round, the order shown is kept; either
    way the label speaks of the first answer as A.
    """
    if not reading.readable:
        return ()
    records = []
    stamp = _digest(instrument)
    for reply in reading.replies:
        answers, label = tuple(task.answers[a] for a in reply.field.answers), reply.label
        if len(answers) == 2:
            answers, label = canonical(reply.field.criterion, answers, label)
        records.append(
            Rating(
                task=task.id,
                rater=task.rater,
                criterion=reply.field.criterion.id,
                item=task.item,
                answers=answers,
                span=task.spans[reply.field.span] if reply.field.span is not None else None,
                state=reply.state,
                label=label,
                note=reply.note,
                seconds=seconds,
                at=at,
                instrument=stamp,
            )
        )
    return tuple(records)


# All replies to a form have its one digest.
@cache
def _digest(instrument: Instrument) -> str:
    return digest(instrument)


def values(fields: Sequence[Field], task: Task, task_ratings: Iterable[Rating]) -> dict[str, str]:
    """A task's ratings as the names and values of its form.

    The function is the inverse of `ratings`, for a page that is opened again.
    """
    value_by_name: dict[str, str] = {}
    # Without the order: a comparison is stored in that of its answers' ids.
    by_subject = {(r.criterion, frozenset(r.answers), r.span): r for r in task_ratings}
    for field in fields:
        shown = tuple(task.answers[a] for a in field.answers)
        span = task.spans[field.span] if field.span is not None else None
        rating = by_subject.get((field.criterion.id, frozenset(shown), span))
        if rating is None:
            continue
        label = field.criterion.scale.abstain if rating.state == "abstained" else rating.label
        if rating.answers != shown and rating.state == "rated" and label is not None:
            label = mirrored(field.criterion, label)
        if label is not None:
            value_by_name[field.name] = label
        if field.reason and rating.note:
            value_by_name[field.reason] = rating.note
    return value_by_name
