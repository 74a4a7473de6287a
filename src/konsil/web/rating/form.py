"""What a rating page's form says: cleaned at the door, then read by the one reader of replies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from konsil.errors import nearest
from konsil.instrument import Field, LabelError, read_label
from konsil.instrument.screens.reply import FieldReply, Reading, read_form
from konsil.store.tasks.drafts import NOTE, REASON_FOR_CHANGE, Change
from konsil.web.rating.rating_view import reason_name
from konsil.web.rating.text.numbers import read_number

LONGEST = 20_000
"""Signs of a free text that are kept."""
BESIDE = (NOTE, REASON_FOR_CHANGE)
"""Fields of every form that are no ratings."""


def clean(text: str) -> str:
    r"""What a database can keep: no NUL, no half characters, line ends as one sign, not endless.

    >>> clean("a\r\nb\0")
    'a\nb'
    """
    cleaned = text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    return cleaned.encode("utf-8", "ignore").decode()[:LONGEST]


def unfit(form_fields: Sequence[Field], change: Change) -> str:
    """Why a field cannot say this; empty where it can. What is half typed is no fault yet."""
    if change.value != clean(change.value):
        return "contains characters that cannot be stored"
    if change.field in BESIDE:
        return ""
    by_name = {f.name: f for f in form_fields}
    field = by_name.get(change.field)
    if field is None:
        reasons = [name for f in form_fields if (name := reason_name(f))]
        return (
            ""
            if change.field in reasons
            else f"unknown field; {nearest(change.field, [*by_name, *reasons])}"
        )
    if field.criterion.scale.kind == "choice" and change.value:
        try:
            read_label(field.criterion, change.value)
        except LabelError as error:
            return str(error)
    return ""


def accompanying_fields(sent: Mapping[str, str]) -> dict[str, str]:
    """What is no rating, of that what the form has."""
    return {name: clean(sent[name]) for name in BESIDE if name in sent}


def tidied(form_fields: Sequence[Field], sent: Mapping[str, str]) -> dict[str, str]:
    """Every field of the form and its reason, with the values that were sent.

    A field is empty where the browser sent no value (an untouched choice sends nothing).
    """
    form_values: dict[str, str] = {}
    for field in form_fields:
        value = clean(sent.get(field.name, ""))
        # A number is compared and read in one spelling; what is none, or is ambiguous, stays as it
        # was typed.
        number = read_number(value).number if field.criterion.scale.kind == "number" else ""
        form_values[field.name] = number or value
        reason = reason_name(field)
        if reason:
            form_values[reason] = clean(sent.get(reason, "")).strip()
    return form_values


def read(form_fields: Sequence[Field], form_values: Mapping[str, str]) -> Reading:
    """The reader's verdict on a tidied form.

    Reasons for abstaining that the instrument does not ask for join it.
    """
    extra = {f.name: reason_name(f) for f in form_fields if not f.reason}
    texts = {f.name for f in form_fields if f.criterion.scale.kind == "text"}
    reason_fields = {f.reason for f in form_fields if f.reason}
    form = {
        n: v
        for n, v in form_values.items()
        if n not in extra.values() and (v or n in texts or n in reason_fields)
    }
    if texts.issuperset(f.name for f in form_fields) and not any(form.values()):
        # A form of free texts alone may be handed in empty.
        return Reading("ok")
    reading = read_form(form_fields, form)
    unclear = {
        f.name: f"{f.name}: {form[f.name]!r} is not an unambiguous number"
        for f in form_fields
        if f.criterion.scale.kind == "number" and f.name in form and _is_unclear(f, form[f.name])
    }
    if unclear:
        return Reading("off schema", problems={**reading.problems, **unclear})
    return dataclasses.replace(
        reading,
        replies=tuple(
            _with_reason(g, form_values.get(extra.get(g.field.name, ""), ""))
            for g in reading.replies
        ),
    )


def _is_unclear(field: Field, value: str) -> bool:
    return bool(value.strip()) and value not in field.options and not read_number(value).number


def _with_reason(reply: FieldReply, reason: str) -> FieldReply:
    return (
        dataclasses.replace(reply, note=reason) if reply.state == "abstained" and reason else reply
    )


def problems(
    form_fields: Sequence[Field], form_values: Mapping[str, str], reading: Reading
) -> dict[str, str]:
    """Field -> what it still needs, in one sentence."""
    if reading.outcome != "empty":
        return dict(reading.problems)
    return {
        f.name: f"{f.name}: is not answered"
        for f in form_fields
        if f.criterion.scale.kind != "text" and not form_values[f.name]
    }
