"""What a rating page's form says: cleaned at the door, then read by the one reader of replies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from konsil.errors import nearest
from konsil.instrument import Field, FieldReply, LabelError, Reading, read_form, read_label
from konsil.store.tasks.drafts import NOTE, REASON_FOR_CHANGE, Change
from konsil.web.http.numbers import read_number
from konsil.web.rating.rating_view import reason_name

LONGEST = 20_000
"""Signs of a free text that are kept."""
BESIDE = (NOTE, REASON_FOR_CHANGE)
"""Fields of every form that are no ratings."""


def clean(text: str) -> str:
    r"""What a database can keep: no NUL, no half characters, line ends as one sign, not endless.

    >>> clean("a\r\nb\0")
    'a\nb'
    """
    kept = text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    return kept.encode("utf-8", "ignore").decode()[:LONGEST]


def unfit(asked: Sequence[Field], change: Change) -> str:
    """Why a field cannot say this; empty where it can. What is half typed is no fault yet."""
    if change.value != clean(change.value):
        return "contains signs that cannot be kept"
    if change.field in BESIDE:
        return ""
    by_name = {f.name: f for f in asked}
    field = by_name.get(change.field)
    if field is None:
        reasons = [name for f in asked if (name := reason_name(f))]
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


def tidied(asked: Sequence[Field], sent: Mapping[str, str]) -> dict[str, str]:
    """Every field of the form and its reason, empty where the browser sent none (an untouched choice sends nothing)."""
    found: dict[str, str] = {}
    for field in asked:
        value = clean(sent.get(field.name, ""))
        # A number is compared and read in one spelling; what is none, or is ambiguous, stays as it
        # was typed.
        number = read_number(value).number if field.criterion.scale.kind == "number" else ""
        found[field.name] = number or value
        reason = reason_name(field)
        if reason:
            found[reason] = clean(sent.get(reason, "")).strip()
    return found


def read(asked: Sequence[Field], said: Mapping[str, str]) -> Reading:
    """The reader's verdict on a tidied form.

    Reasons for abstaining that the instrument does not ask for join it.
    """
    extra = {f.name: reason_name(f) for f in asked if not f.reason}
    texts = {f.name for f in asked if f.criterion.scale.kind == "text"}
    own = {f.reason for f in asked if f.reason}
    form = {
        n: v for n, v in said.items() if n not in extra.values() and (v or n in texts or n in own)
    }
    if texts.issuperset(f.name for f in asked) and not any(form.values()):
        # A form of free texts alone may be handed in empty.
        return Reading("ok")
    found = read_form(asked, form)
    unclear = {
        f.name: f"{f.name}: {form[f.name]!r} is no number that can be read in one way only"
        for f in asked
        if f.criterion.scale.kind == "number" and f.name in form and _is_unclear(f, form[f.name])
    }
    if unclear:
        return Reading("off schema", problems={**found.problems, **unclear})
    return dataclasses.replace(
        found,
        given=tuple(
            _with_reason(g, said.get(extra.get(g.field.name, ""), "")) for g in found.given
        ),
    )


def _is_unclear(field: Field, value: str) -> bool:
    return bool(value.strip()) and value not in field.options and not read_number(value).number


def _with_reason(given: FieldReply, reason: str) -> FieldReply:
    return (
        dataclasses.replace(given, note=reason) if given.state == "abstained" and reason else given
    )


def problems(asked: Sequence[Field], said: Mapping[str, str], found: Reading) -> dict[str, str]:
    """Field -> what it still needs, in one sentence."""
    if found.outcome != "empty":
        return dict(found.problems)
    return {
        f.name: f"{f.name}: is not answered"
        for f in asked
        if f.criterion.scale.kind != "text" and not said[f.name]
    }
