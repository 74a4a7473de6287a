"""The JSON schema of a judge's reply: one flat object with fixed keys."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from konsil.instrument.definition.fields import Field
from konsil.instrument.definition.form import Scale

Json = dict[str, Any]


def schema(fields: Iterable[Field], *, reason_first: bool = False) -> Json:
    """The schema of a whole reply to these fields, within what strict structured output takes.

    Every key is required and there are no others; choices are enumerations with the abstention
    last. Strict structured output keeps the order of the keys: with `reason_first` a judge writes
    each reason before the label.

    >>> from konsil.instrument import Criterion, Field, Scale
    >>> criterion = Criterion("correct", "?", Scale(("no", "yes"), abstain="?"))
    >>> schema([Field("correct.a1", criterion, (0,))])["properties"]
    {'correct.a1': {'type': 'string', 'enum': ['no', 'yes', '?']}}

    The same fields return the same object, which must not be changed.
    """
    return _schema(tuple(fields), reason_first)


@lru_cache(maxsize=512)
def _schema(fields: tuple[Field, ...], reason_first: bool) -> Json:
    properties: Json = {}
    for field in fields:
        parts: Json = {field.name: _value(field.criterion.scale)}
        if field.reason:
            parts[field.reason] = {"type": "string"}
        properties.update(reversed(parts.items()) if reason_first else parts.items())
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _value(scale: Scale) -> Json:
    if scale.kind == "choice":
        return {"type": "string", "enum": list(scale.options())}
    value: Json = {"type": "string"}
    if scale.kind == "number":
        value = {"type": "number"}
        if scale.low is not None:
            value["minimum"] = scale.low
        if scale.high is not None:
            value["maximum"] = scale.high
    if scale.abstain is None or scale.kind == "text":
        return value
    return {"anyOf": [value, {"type": "string", "enum": [scale.abstain]}]}
