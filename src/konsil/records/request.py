"""Requests: frozen dataclasses whose fields are what a user may choose, each stated once.

A field has its type, its default and, as a `Flag`, its help: the command line makes options of
them (`konsil.cli.request_options`), Python's functions take them as keywords.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

FLAG = "flag"
"""The key of a field's metadata under which its `Flag` is."""


@dataclass(frozen=True, slots=True)
class Flag:
    """How the command line offers a field of a request."""

    help: str = ""
    """What it is for."""
    name: str = ""
    """The option's name; empty: the field's, with hyphens."""
    off: str = ""
    """The name of the option that states the opposite, for what is true by default."""
    metavar: str | None = None
    """What stands for the value in the help."""
    choices: tuple[str, ...] = ()
    """The words that a text may be, where the field's type does not name them."""
    by_value: Mapping[str, str] | None = None
    """Value -> help, where values are options of their own."""
    minimum: float | None = None
    """The smallest number."""
    maximum: float | None = None
    """The largest number."""
    is_open: bool = False
    """Whether the smallest number itself is refused."""
    is_listed: bool = False
    """Whether several values stand in one text, with commas between them."""
    is_shown: bool | None = None
    """Whether the help has the default; None: where it says something."""
    offered: Any = None
    """The default of the command line, for a field that has none."""
    file: Literal["", "any", "new", "existing"] = ""
    """For paths: any, a file and no folder, or a file that must be there."""

    @property
    def metadata(self) -> Mapping[str, Flag]:
        """What the field has of it."""
        return {FLAG: self}


def setting(default: T, flag: Flag) -> T:
    """A field of a request: its default, and how the command line offers it."""
    return field(default=default, metadata=flag.metadata)


def mapping(flag: Flag) -> dict[K, T]:
    """A field of NAME=VALUE, empty by default."""
    return field(default_factory=dict, metadata=flag.metadata)


def with_keywords(
    request: Callable[P, R],
) -> Callable[[Callable[[object, R], T]], Callable[Concatenate[object, P], T]]:
    """Make a function of data and a request one of data and the request's fields as keywords.

    Its signature, for type checkers and notebooks, is the request's own.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Span:
    ...     first: int = 0
    ...     last: int = 9
    >>> @with_keywords(Span)
    ... def numbers(text: object, span: Span) -> str:
    ...     return str(text)[span.first : span.last + 1]
    >>> numbers("0123456789", first=7), str(inspect.signature(numbers))
    ('789', "(text: 'object', *, first: 'int' = 0, last: 'int' = 9) -> 'str'")
    """

    def decorate(function: Callable[[object, R], T]) -> Callable[Concatenate[object, P], T]:
        own = inspect.signature(function)
        data, _ = own.parameters.values()
        build = cast(Callable[..., R], request)
        keywords = inspect.signature(request).parameters.values()
        signature = own.replace(parameters=[data, *keywords])

        @functools.wraps(function)
        def call(*args: object, **options: object) -> T:
            try:
                bound = signature.bind(*args, **options).arguments
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(bound.pop(data.name), build(**bound))

        vars(call)["__signature__"] = signature
        return call

    return decorate
