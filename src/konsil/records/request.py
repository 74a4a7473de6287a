"""Requests: frozen dataclasses whose fields are what a user may choose, each stated once.

A field has its type, its default and, as a `Flag`, its help: the command line makes options of
them (`konsil.cli.request_options`), Python's functions take them as keywords. A field whose type
names its values is checked when the request is made, whoever makes it.
"""

from __future__ import annotations

import functools
import inspect
import shlex
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from numbers import Integral
from typing import Any, ClassVar, Concatenate, Literal, ParamSpec, TypeVar, cast

from konsil.errors import KonsilError, nearest, option

D = TypeVar("D")
K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

COLUMN = "C"
"""What stands in the help for the name of a column."""

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


class Request:
    """Base of requests: it refuses a value that the type of its field does not name.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Printing(Request):
    ...     paper: Literal["a4", "letter"] = "a4"
    ...     to: tuple[Literal["pdf", "html"], ...] = ()
    >>> Printing(to=("pdf",)).to
    ('pdf',)
    >>> Printing(to=("htm",))
    Traceback (most recent call last):
    konsil.errors.KonsilError: to: 'htm' is not one of 'pdf', 'html'; did you mean 'html'?
    """

    __slots__ = ()
    refusal: ClassVar[type[KonsilError]] = KonsilError
    """The error of a value that is refused."""

    def __post_init__(self) -> None:
        """Check every field with named values, and names of columns, of which numbers are texts."""
        for name, (is_several, flag) in _of_columns(cast(Any, type(self))).items():
            names = self._columns(getattr(self, name), is_several, option(name, flag=flag))
            object.__setattr__(self, name, names)
        for name, (choices, is_several, flag) in _choices(cast(Any, type(self))).items():
            value = getattr(self, name)
            if is_several and isinstance(value, str):
                raise self.refusal(f"{option(name, flag=flag)}: expected a list, got a single text")
            for word in value if is_several else (value,):
                if word is not None and word not in choices:
                    raise self.refusal(_refused(option(name, flag=flag), word, choices))

    def _columns(self, names: object, is_several: bool, where: str) -> object:
        """Names of columns as texts: a data frame may number its columns."""
        if names is None or isinstance(names, str):
            return names
        if _is_number(names):
            return str(names)
        # Also an index of pandas, or an array.
        each = list(names) if isinstance(names, Iterable) and is_several else [None]
        if not all(isinstance(name, str) or _is_number(name) for name in each):
            expected = "names of columns" if is_several else "the name of one column"
            advice = "" if is_several else "; make one column of several first"
            raise self.refusal(
                f"{where}: expected {expected}, got {type(names).__name__} {names!r}{advice}"
            )
        texts = [str(name) for name in each]
        return names if isinstance(names, Sequence) and texts == each else texts


def _is_number(name: object) -> bool:
    """Whether a name of a column is a whole number, and no truth value."""
    return not isinstance(name, bool) and isinstance(name, Integral)


def _refused(name: str, word: object, choices: Sequence[str]) -> str:
    sentence = f"{name}: {word!r} is not one of {', '.join(map(repr, choices))}"
    hint = nearest(str(word), choices)
    return f"{sentence}; {hint}" if hint.startswith("did") else sentence


@functools.cache
def _of_columns(kind: type) -> dict[str, tuple[bool, str]]:
    """Field with names of columns -> whether it may have several, and its option's name."""
    hints = typing.get_type_hints(kind)
    several = {tuple, Sequence}
    columns = {}
    for entry in fields(kind):
        flag = entry.metadata.get(FLAG, Flag())
        if flag.metavar == COLUMN:
            hint = hints[entry.name]
            origins = {typing.get_origin(part) for part in (hint, *typing.get_args(hint))}
            columns[entry.name] = (not several.isdisjoint(origins), flag.name)
    return columns


@functools.cache
def _choices(kind: type) -> dict[str, tuple[tuple[str, ...], bool, str]]:
    """Field -> the values that it may have, whether it has several, and its option's name."""
    hints = typing.get_type_hints(kind)
    choices = {}
    for entry in fields(kind):
        flag = entry.metadata.get(FLAG, Flag())
        words, is_several = _words(hints[entry.name])
        words = words or flag.choices
        if words:
            choices[entry.name] = (words, is_several, flag.name)
    return choices


def _words(hint: object) -> tuple[tuple[str, ...], bool]:
    """The words that a type names, and whether its values are several of them."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return parts, False
    if origin in (tuple, Sequence):
        return _words(parts[0])[0], True
    if origin in (typing.Union, types.UnionType):
        for part in parts:
            words, is_several = _words(part)
            if words or is_several:
                return words, is_several
    return (), False


def several(values: str | Sequence[T]) -> tuple[T, ...]:
    """The values as a tuple; a single text is one value, not its letters.

    >>> several("docx"), several(["docx", "latex"])
    (('docx',), ('docx', 'latex'))
    """
    return (cast(T, values),) if isinstance(values, str) else tuple(values)


def setting(default: T, flag: Flag) -> T:
    """A field of a request: its default, and how the command line offers it."""
    return field(default=default, metadata=flag.metadata)


def mapping(flag: Flag) -> dict[K, T]:
    """A field of NAME=VALUE, empty by default."""
    return field(default_factory=dict, metadata=flag.metadata)


def with_keywords(
    request: Callable[P, R],
) -> Callable[[Callable[[D, R], T]], Callable[Concatenate[D, P], T]]:
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

    def decorate(function: Callable[[D, R], T]) -> Callable[Concatenate[D, P], T]:
        own = inspect.signature(function)
        data, _ = own.parameters.values()
        build = cast(Callable[..., R], request)
        keywords = inspect.signature(request).parameters.values()
        signature = own.replace(parameters=[data, *keywords])

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> T:  # noqa: ANN401 - as the signature has them
            try:
                bound = signature.bind(*args, **options).arguments
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(bound.pop(data.name), build(**bound))

        vars(call)["__signature__"] = signature
        return call

    return decorate


Options = Sequence[tuple[str, tuple[str, ...]]]
"""Options, or fields of a request, with their values."""


def flags_of(kind: type, arguments: Options) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Fields of a request with their values, as options of its command."""
    by_name = {entry.name: entry for entry in fields(kind)} if is_dataclass(kind) else {}
    for name, values in arguments:
        flag: Flag = by_name[name].metadata[FLAG] if name in by_name else Flag()
        if flag.by_value is not None:
            yield f"--{values[0]}", ()
            continue
        option = f"--{flag.name or name.replace('_', '-')}"
        if flag.is_listed:
            yield option, (",".join(values),)
            continue
        for value in dict.fromkeys(values):
            yield option, (value,)


def quoted(word: str, *, is_powershell: bool = sys.platform == "win32") -> str:
    r"""A word as the user's shell reads it: POSIX, or PowerShell on Windows.

    >>> quoted("Dr. A", is_powershell=False), quoted("it's", is_powershell=True)
    ("'Dr. A'", "'it''s'")
    >>> quoted("case", is_powershell=True)
    'case'
    """
    if not is_powershell:
        return shlex.quote(word)
    plain = word and all(letter.isalnum() or letter in "-_./\\:=" for letter in word)
    return word if plain else "'" + word.replace("'", "''") + "'"
