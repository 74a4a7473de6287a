"""Options of a command from the fields of its request: every option is stated once."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import click
from click.core import ParameterSource

from konsil.records.request import FLAG, Flag

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]


def options_of(
    kind: type,
    argument: str = "request",
    *,
    convert: Mapping[str, Callable[[Any], Any]] = types.MappingProxyType({}),
    after: Mapping[str, Decorator] = types.MappingProxyType({}),
    needs: str = "",
) -> Callable[[F], F]:
    """Add the options of a request's fields, and pass them to the command as one request.

    Args:
        kind: the request's class, a dataclass; each of its fields has a `Flag`, or is itself a
            request.
        argument: the command's argument for it.
        convert: field -> what makes its value of the option's, where that is given.
        after: field -> options of the command alone that stand behind the field's in the help.
        needs: the field without which there is no request, and the command gets None.
    """

    def add(function: F) -> F:
        @functools.wraps(function)
        def command(*args: object, **params: object) -> object:
            values = {name: params.pop(name) for name in _names(kind)}
            request = None
            if not needs or values[needs] is not None:
                request = _request(kind, values, convert)
            return function(*args, **params, **{argument: request})

        return typing.cast(F, _with_options(command, kind, after))

    return add


def _with_options(
    function: Callable[..., Any], kind: type, after: Mapping[str, Decorator]
) -> Callable[..., Any]:
    hints = typing.get_type_hints(kind)
    for entry in reversed(fields(kind)):
        if entry.name in after:
            function = after[entry.name](function)
        if is_dataclass(hints[entry.name]):
            function = _with_options(function, typing.cast(type, hints[entry.name]), after)
            continue
        for option in reversed(_options(entry, hints[entry.name], kind)):
            function = option(function)
    return function


def _names(kind: type) -> list[str]:
    """The fields of a request, those of requests within it in their place."""
    hints = typing.get_type_hints(kind)
    return [
        name
        for entry in fields(kind)
        for name in (
            _names(typing.cast(type, hints[entry.name]))
            if is_dataclass(hints[entry.name])
            else [entry.name]
        )
    ]


def _request(
    kind: type, values: Mapping[str, Any], convert: Mapping[str, Callable[[Any], Any]]
) -> object:
    """The request of the options that are given; the others have the fields' defaults."""
    context, hints = click.get_current_context(), typing.get_type_hints(kind)
    chosen: dict[str, Any] = {}
    for entry in fields(kind):
        name, hint = entry.name, hints[entry.name]
        if is_dataclass(hint):
            chosen[name] = _request(typing.cast(type, hint), values, convert)
            continue
        is_given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if not is_given and not (entry.default is entry.default_factory is MISSING):
            continue
        if is_given and name in convert:
            chosen[name] = convert[name](values[name])
        elif is_given and entry.metadata[FLAG].is_listed:
            chosen[name] = listed(values[name])
        else:
            chosen[name] = values[name]
    return kind(**chosen)


def listed(text: str) -> tuple[str, ...]:
    """The values of a text with commas between them."""
    return tuple(value.strip() for value in text.split(",")) if text else ()


def _options(entry: Field[Any], hint: object, kind: type) -> list[Decorator]:
    flag = entry.metadata.get(FLAG)
    if not isinstance(flag, Flag):
        raise TypeError(f"{kind.__name__}.{entry.name}: has no Flag; expected one with its help")
    if flag.by_value is not None:
        return [
            click.option(f"--{value}", entry.name, flag_value=value, help=text)
            for value, text in flag.by_value.items()
        ]
    name = f"--{flag.name or entry.name.replace('_', '-')}"
    members = _members(hint)
    if bool in members:
        is_on = entry.default is True
        names = f"{name}/--{flag.off}" if flag.off else name
        return [
            click.option(
                names,
                entry.name,
                is_flag=True,
                default=is_on,
                show_default=is_on,
                help=flag.help,
            )
        ]
    default = flag.offered if entry.default is MISSING else entry.default
    several = not flag.is_listed and _takes_several(members)
    settings = {} if several or flag.is_listed or default is None else {"default": default}
    return [
        click.option(
            name,
            entry.name,
            metavar=flag.metavar,
            multiple=several,
            type=_type(members, flag),
            show_default=bool(settings)
            and (bool(default) if flag.is_shown is None else flag.is_shown),
            help=flag.help,
            **settings,
        )
    ]


def _members(hint: object) -> tuple[Any, ...]:
    """The types that a value may have, without None."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(a for a in typing.get_args(hint) if a is not type(None))
    return (hint,)


def _takes_several(members: Sequence[Any]) -> bool:
    """Whether the option may be repeated: for a sequence, or a mapping of NAME=VALUE."""
    return any(map(_is_several, members)) or all(
        typing.get_origin(member) is Mapping for member in members
    )


def _is_several(hint: object) -> bool:
    return typing.get_origin(hint) in (tuple, Sequence)


def _type(members: Sequence[Any], flag: Flag) -> click.ParamType[Any] | None:
    """What click reads a value as; None: text."""
    if flag.is_listed:
        return None
    if flag.choices:
        return click.Choice(flag.choices)
    if flag.file == "any":
        return click.Path(path_type=Path)
    for member in (*members, *(a for m in members if _is_several(m) for a in typing.get_args(m))):
        if typing.get_origin(member) is Literal:
            return click.Choice(typing.get_args(member))
        if member is Path:
            return click.Path(
                exists=flag.file == "existing", dir_okay=not flag.file, path_type=Path
            )
        if member in (int, float):
            return _number_type(member, flag)
    return None


def _number_type(kind: type, flag: Flag) -> click.ParamType[Any]:
    if flag.minimum is None and flag.maximum is None:
        return click.INT if kind is int else click.FLOAT
    if kind is int:
        least, most = (
            None if number is None else int(number) for number in (flag.minimum, flag.maximum)
        )
        return click.IntRange(least, most)
    return click.FloatRange(flag.minimum, flag.maximum, min_open=flag.is_open)
