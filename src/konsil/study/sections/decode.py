"""Parsed TOML to frozen dataclasses, strictly: every misspelling is found, and said where."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
import tomllib
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from konsil.errors import StudyError, nearest, quoted
from konsil.records.inline import INLINE, Inline

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
    """Build the dataclass `kind` from a parsed table.

    `file` and the keys name the place in errors.
    """
    return _table(kind, data, f"{file}: ")


def lists_of(kind: type, prefix: str = "") -> Iterator[str]:
    """The names of all lists of tables below `kind`.

    In study.toml they are written in double brackets.

    >>> from konsil.study.definition.protocol import Study
    >>> names = set(lists_of(Study))
    >>> {"raters", "instruments.criteria"} <= names, "resampling" in names
    (True, False)
    """
    for name, hint in _hints(kind).items():
        for part in (hint, *typing.get_args(hint)):
            if dataclasses.is_dataclass(part):
                if typing.get_origin(hint) is tuple:
                    yield prefix + name
                yield from lists_of(typing.cast(type, part), f"{prefix}{name}.")


def _table(kind: type[T], data: object, path: str) -> T:
    if (
        isinstance(data, list)
        and path.rpartition(" ")[2]
        and all(isinstance(table, dict) for table in data)
    ):
        header = _header(path)
        raise StudyError(
            f"{path}: expected one table, [{header}], got a list of tables, [[{header}]]"
        )
    if not isinstance(data, dict):
        raise StudyError(f"{path}: expected a table, got {quoted(data, 60)}")
    fields = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    parts = {name: f.metadata[INLINE] for name, f in fields.items() if INLINE in f.metadata}
    direct = {name: f for name, f in fields.items() if name not in parts}
    of_parts = {key for part in parts.values() for kind in part.kinds() for key in _hints(kind)}
    for key in data:
        if key not in direct and key not in of_parts:
            raise StudyError(
                f"{_at(path, key)}: unknown key; {nearest(key, direct.keys() | of_parts)}"
            )
    for name, f in direct.items():
        if (
            name not in data
            and f.default is dataclasses.MISSING
            and f.default_factory is dataclasses.MISSING
        ):
            raise StudyError(f"{_at(path, name)}: missing; it is required here")
    values = _values(kind, {key: value for key, value in data.items() if key in direct}, path)
    others = {key: value for key, value in data.items() if key not in direct}
    for name, part in parts.items():
        content = _part(part, values, others, path)
        values |= {} if content is None else {name: content}
    return kind(**values)


def _values(kind: type, data: Mapping[str, object], path: str) -> dict[str, Any]:
    hints = _hints(kind)
    return {key: _value(hints[key], value, _at(path, key)) for key, value in data.items()}


def _part(
    part: Inline, owner: Mapping[str, object], data: Mapping[str, object], path: str
) -> object | None:
    """The part that a record states among its own keys; none where its type is not known.

    Then the keys are taken as those of any part that has them, so that what is wrong with the
    record is told and not what follows from it.
    """
    kind = part.kind_of(owner)
    if kind is None:
        for other in part.kinds():
            _values(other, {key: data[key] for key in _hints(other) if key in data}, path)
        return None
    refused = [key for key in data if key not in _hints(kind)]
    if refused:
        raise StudyError(
            "\n".join(f"{_at(path, key)}: {part.refusal(key, owner)}" for key in refused)
        )
    content: object = kind(**_values(kind, data, path))
    return content


# Names of types are resolved anew at every call otherwise, for hundreds of tables.
@functools.cache
def _hints(kind: type) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _at(path: str, key: object) -> str:
    """The place of a key: 'study.toml: plan[1].panel'."""
    return f"{path}{key}" if path.endswith(": ") else f"{path}.{key}"


def _header(path: str) -> str:
    """The place as a header names it.

    >>> _header("study.toml: instruments[0].criteria")
    'instruments.criteria'
    """
    return re.sub(r"\[\d+\]", "", path.rpartition(": ")[2])


def _value(kind: Any, value: object, path: str) -> Any:  # noqa: ANN401 - type hints are values here
    kind = _underlying(kind)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _table(typing.cast(type, kind), value, path)
    if origin is tuple:
        if isinstance(value, dict) and dataclasses.is_dataclass(args[0]):
            header = _header(path)
            raise StudyError(
                f"{path}: expected [[{header}]] with two brackets on each side, since there may be"
                f" several; got [{header}]"
            )
        # A single value stands for a list of one: `by = "system"` reads well and means one thing.
        listed = (
            [value]
            if isinstance(value, str) and _underlying(args[0]) is str
            else _expect(list, value, path)
        )
        return tuple(_value(args[0], v, f"{path}[{i}]") for i, v in enumerate(listed))
    if origin is Mapping:
        return {k: _value(args[1], v, _at(path, k)) for k, v in _expect(dict, value, path).items()}
    if origin is typing.Literal:
        if value not in args:
            choices = ", ".join(repr(a) for a in args)
            hint = f"; {nearest(value, map(str, args))}" if isinstance(value, str) else ""
            raise StudyError(
                f"{path}: {quoted(value, 60)} is not one of"
                f" {choices}{hint if 'mean' in hint else ''}"
            )
        return value
    if origin in (typing.Union, types.UnionType):
        kinds = [a for a in args if a is not type(None)]
        return _value(kinds[0], value, path)
    if kind is object:
        return value
    if kind is float:
        return _decode_number(value, path)
    return _expect(kind, value, path)


def _underlying(kind: Any) -> Any:  # noqa: ANN401 - type hints are values here
    """The type that a NewType has when the program runs; every other type is its own."""
    return getattr(kind, "__supertype__", kind)


def _decode_number(value: object, path: str) -> float:
    try:
        number = float(value) if type(value) is int else _expect(float, value, path)
    except OverflowError:
        raise StudyError(
            f"{path}: expected a finite number, got one of {len(str(value)):,} digits"
        ) from None
    if not math.isfinite(number):
        raise StudyError(f"{path}: expected a finite number, got {number}")
    return number


def _expect(kind: type[T], value: object, path: str) -> T:
    # `type is`, not isinstance: true is not a whole number here.
    if type(value) is not kind:
        raise StudyError(
            f"{path}: expected {_WORDS.get(kind, kind.__name__)}, got {quoted(value, 60)}"
            + _panels_hint(path, value)
        )
    return value


_PANEL_KEY = re.compile(r"\banalyses\[\d+\]\.(?:raters|against)\Z")


def _panels_hint(path: str, value: object) -> str:
    """The keys to write in place of a list of panels in an analysis; empty elsewhere.

    >>> _panels_hint("study.toml: analyses[0].raters", ["judges"])
    '; the panel is a text: "judges"'
    """
    if not isinstance(value, list) or _PANEL_KEY.search(path) is None:
        return ""
    panels = [json.dumps(panel, ensure_ascii=False) for panel in value if isinstance(panel, str)]
    if len(panels) != len(value) or not panels:
        return ""
    if len(panels) == 1:
        return f"; the panel is a text: {panels[0]}"
    against = f"; to compare two panels, write raters = {panels[0]} and against = {panels[1]}"
    return (
        f"; to take panels together, write together = {{ everybody = [{', '.join(panels)}] }} above"
        f' the first table and raters = "everybody"{against if len(panels) == 2 else ""}'
    )


def toml_data(
    text: str, name: str, error_of: Callable[[tomllib.TOMLDecodeError], StudyError] | None = None
) -> dict[str, Any]:
    """Parse the text of a file of this name; a StudyError where it is not TOML.

    `error_of` makes the error of wrong syntax; without it, the error has Python's words.

    >>> toml_data("a = 1", "x.toml")
    {'a': 1}
    >>> toml_data("a = 1" + 5000 * "0", "x.toml")
    Traceback (most recent call last):
    konsil.errors.StudyError: x.toml: not valid TOML: a whole number has too many digits
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if error_of is not None:
            raise error_of(error) from None
        raise StudyError(f"{name}: not valid TOML: {error}") from None
    except RecursionError:
        raise StudyError(
            f"{name}: not valid TOML: arrays or tables are nested too deeply"
        ) from None
    except ValueError:  # what Python says of a number of more digits than it reads
        raise StudyError(f"{name}: not valid TOML: a whole number has too many digits") from None
