"""Parsed TOML to frozen dataclasses, strictly: every misspelling is found, and said where."""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from konsil.errors import StudyError, nearest

T = TypeVar("T")

_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def decode(kind: type[T], data: object, file: str) -> T:
    """Build the dataclass `kind` from a parsed table; `file` and the keys name the place in errors."""
    return _table(kind, data, f"{file}: ")


def _table(kind: type[T], data: object, path: str) -> T:
    if not isinstance(data, dict):
        raise StudyError(f"{path}: expected a table, got {_show(data)}")
    fields = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints = _hints(kind)  # type: ignore[arg-type]
    for key in data:
        if key not in fields:
            raise StudyError(f"{_at(path, key)}: unknown key; {nearest(str(key), fields)}")
    for name, f in fields.items():
        if name not in data and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            raise StudyError(f"{_at(path, name)}: missing; it is required here")
    return kind(**{name: _value(hints[name], value, _at(path, name)) for name, value in data.items()})


@functools.cache
def _hints(kind: type) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _at(path: str, key: object) -> str:
    """The place of a key: 'study.toml: plan[1].panel'."""
    return f"{path}{key}" if path.endswith(": ") else f"{path}.{key}"


def _value(kind: Any, value: object, path: str) -> Any:  # noqa: ANN401 - type hints are values here
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _table(typing.cast(type, kind), value, path)
    if origin is tuple:
        # A single value stands for a list of one: `by = "system"` reads well and means one thing.
        listed = [value] if isinstance(value, str) and args[0] is str else _expect(list, value, path)
        return tuple(_value(args[0], v, f"{path}[{i}]") for i, v in enumerate(listed))
    if origin is Mapping:
        return {k: _value(args[1], v, _at(path, k)) for k, v in _expect(dict, value, path).items()}
    if origin is typing.Literal:
        if value not in args:
            known = ", ".join(repr(a) for a in args)
            hint = f"; {nearest(value, map(str, args))}" if isinstance(value, str) else ""
            raise StudyError(f"{path}: {_show(value)} is not one of {known}{hint if 'mean' in hint else ''}")
        return value
    if origin in (typing.Union, types.UnionType):
        kinds = [a for a in args if a is not type(None)]
        return _value(kinds[0], value, path)
    if kind is object:
        return value
    if kind is float:
        return _number(value, path)
    return _expect(kind, value, path)


def _number(value: object, path: str) -> float:
    number = float(value) if type(value) is int else _expect(float, value, path)
    if not math.isfinite(number):
        raise StudyError(f"{path}: expected a finite number, got {number}")
    return number


def _expect(kind: type[T], value: object, path: str) -> T:
    # `type is`, not isinstance: true is not a whole number here.
    if type(value) is not kind:
        raise StudyError(f"{path}: expected {_WORDS.get(kind, kind.__name__)}, got {_show(value)}")
    return value


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
