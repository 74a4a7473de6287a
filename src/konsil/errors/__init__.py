"""The exceptions: on a user's input konsil raises a KonsilError with one clear sentence.

A message says where, what was got, what was expected and, where there is one, the nearest name. The
command line prints it and exits with its code, 2 unless stated otherwise; nothing is half-written
when one is raised.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from konsil.errors.message import COMMA, Listed, TranslatableMessage, message, placed

LISTED = 25
"""Known names spelt out where none is near."""


PROBLEMS = 20
"""Problems of a file spelt out in one message; the error's `problems` has them all."""


_DOOR: ContextVar[Literal["python", "flags", "keys"]] = ContextVar("_DOOR", default="python")


@contextmanager
def options_as(door: Literal["flags", "keys"]) -> Iterator[None]:
    """Within, sentences name options as the command line's flags or the keys of study.toml.

    Elsewhere as the parameters of Python's functions.
    """
    before = _DOOR.set(door)
    try:
        yield
    finally:
        _DOOR.reset(before)


def options_as_flags() -> AbstractContextManager[None]:
    """Within, sentences name options as the command line's flags."""
    return options_as("flags")


def option(
    name: str,
    value: str | int | tuple[str, ...] = "",
    *,
    flag: str = "",
    example: str = "",
    several: bool = False,
) -> str:
    """An option in a sentence, as its reader writes it: a parameter with its value, or a flag.

    Args:
        name: the parameter.
        value: the value that is meant, or all of a list; none where the option is meant as such.
        flag: the flag, where it has another name.
        example: what is shown in place of a value where only Python needs it.
        several: the parameter takes a list, the flag is repeated.

    >>> option("level", "interval"), option("labels", example="[...]"), option("pair_weights")
    ("level='interval'", 'labels=[...]', 'pair_weights')
    >>> with options_as_flags():
    ...     option("level", "interval"), option("labels", example="[...]"), option("pair_weights")
    ('--level interval', '--labels', '--pair-weights')
    """
    if isinstance(value, tuple):
        if _DOOR.get() != "flags":
            return f"{name}={[*value]}"
        value = ",".join(value)
    if _DOOR.get() == "keys":
        return key(name, str(value)) if value != "" else name
    if _DOOR.get() == "flags":
        word = repr(value) if " " in str(value) else value
        return f"--{flag or name.replace('_', '-')}" + (f" {word}" if word != "" else "")
    if value != "":
        return f"{name}={[value] if several else value!r}"
    return f"{name}={example}" if example else name


_FILE_DOOR: ContextVar[Literal["keys", "flags", "fields"]] = ContextVar(
    "_FILE_DOOR", default="keys"
)


@contextmanager
def keys_as(door: Literal["flags", "fields"]) -> Iterator[None]:
    """Within, sentences name how a file is read as the command line's flags, or a page's fields.

    Elsewhere as the keys of study.toml.
    """
    before = _FILE_DOOR.set(door)
    try:
        yield
    finally:
        _FILE_DOOR.reset(before)


def keys_as_flags() -> AbstractContextManager[None]:
    """Within, sentences name how a file is read as the command line's flags."""
    return keys_as("flags")


def key(name: str, value: str) -> str:
    r"""How a file is read, in a sentence: a key of study.toml with its value, a flag or a field.

    >>> key("separator", ";"), key("separator", "\t")
    ('separator = ";"', 'separator = "\\t"')
    >>> with keys_as_flags():
    ...     key("encoding", "cp1252"), key("separator", ";")
    ('--encoding cp1252', '--separator ";"')
    >>> with keys_as("fields"):
    ...     key("encoding", "cp1252")
    '“Encoding”: cp1252'
    """
    door, text = _FILE_DOOR.get(), value.replace("\t", "\\t")
    if door == "fields" and name == "encoding":
        return message("“Encoding”: {value}", message_id="file.field_encoding", value=text)
    if door == "fields" and name == "separator":
        word = message("tab", message_id="file.tab") if value == "\t" else value
        return message("“Separator”: {value}", message_id="file.field_separator", value=word)
    if not text:
        return f"--{name}" if door == "flags" else f"{name} = true"
    if door != "flags":
        return f'{name} = "{text}"'
    is_plain = all(sign.isalnum() or sign in "-_." for sign in text)
    return f"--{name} " + (text if is_plain else f'"{text}"')


def choice(name: str, value: str) -> str:
    """An option whose values are flags of their own on the command line.

    >>> choice("layout", "wide")
    "layout='wide'"
    >>> with options_as_flags():
    ...     choice("layout", "wide")
    '--wide'
    """
    return option(value) if _DOOR.get() == "flags" else option(name, value)


def entry(name: str, key: str, value: str, word: str) -> str:
    """An option that is a mapping in Python and NAME=VALUE on the command line.

    >>> entry("where", "ward", "'ICU'", "ICU")
    "where={'ward': 'ICU'}"
    >>> with options_as_flags():
    ...     entry("where", "ward", "'ICU'", "ICU")
    '--where ward=ICU'
    >>> with options_as("keys"):
    ...     entry("labels", "Major", "'5'", "5")
    'labels = { "Major" = "5" }'
    """
    match _DOOR.get():
        case "flags":
            return option(name, f"{key}={word}")
        case "keys":
            return f'{name} = {{ "{key}" = "{word}" }}'
    return f"{name}={{{key!r}: {value}}}"


def installation(extra: str) -> str:
    """The command that installs an extra; konsil is installed from its folder.

    >>> installation("questions")
    "pip install '.[questions]' in konsil's folder"
    """
    return f"pip install '.[{extra}]' in konsil's folder"


class KonsilError(Exception):
    """Base of every error that the user's input or environment can cause."""

    exit_code = 2
    """With which the command ends."""

    @property
    def sentence(self) -> str:
        """What is wrong; where it is one of a catalogue, it can be translated."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


@dataclass(frozen=True)
class Problem:
    """A problem of a study, with its place in the protocol.

    >>> str(Problem("analysis 'kappa', raters: unknown key", "study.toml", 69, 3, "kappa"))
    "study.toml:69:3: analysis 'kappa', raters: unknown key"
    >>> str(Problem("no such folder", "my-study"))
    'my-study: no such folder'
    """

    sentence: str
    """What is wrong, without the place."""
    file: str = ""
    """The file or folder; empty where the sentence names it itself."""
    line: int | None = None
    """The line in the file, from 1."""
    column: int | None = None
    """The column in the line, from 1, in characters."""
    analysis: str | None = None
    """The name of the analysis, where it is about one."""

    def __str__(self) -> str:
        """The problem as compilers write it, which editors turn into links."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return placed(place, self.sentence) if place else self.sentence


class StudyError(KonsilError):
    """The study's protocol is wrong: a key, a type, an identifier, a file it names.

    `problems` has the place of each problem, where it is known.
    """

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class SourceError(KonsilError):
    """A file of the world cannot be read as what it is said to be.

    `problems` lists every bad row as one sentence, in the order of the file.
    """

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class UnclearTableError(SourceError):
    """It is not clear what the columns of a table are.

    `call` is the whole call that states the likeliest reading, for who calls to add it.
    """

    def __init__(
        self,
        name: str,
        *,
        statement: str = "",
        first_row: str = "",
        unclear: Sequence[str] = (),
        arguments: Sequence[tuple[str, tuple[str, ...]]] = (),
        roles: Mapping[str, str] | None = None,
        columns: Sequence[str] = (),
        call: str = "",
    ) -> None:
        self.name = name
        self.statement = statement
        self.first_row = first_row
        self.unclear = tuple(unclear)
        self.arguments = tuple(arguments)
        self.roles = dict(roles or {})
        self.columns = tuple(columns)
        self.call = call
        super().__init__("\n".join(self.lines))

    def with_call(self, call: str) -> UnclearTableError:
        """The same with the call that states the reading; without one if it states nothing new."""
        if not self.arguments:
            return self
        return UnclearTableError(
            self.name,
            statement=self.statement,
            first_row=self.first_row,
            unclear=self.unclear,
            arguments=self.arguments,
            roles=self.roles,
            columns=self.columns,
            call=call,
        )

    @property
    def reading(self) -> dict[str, object]:
        """The likeliest reading as data."""
        return {
            "statement": self.statement,
            "first_row": self.first_row,
            "unclear": list(self.unclear),
            "roles": self.roles,
            "call": self.call,
        }

    @property
    def lines(self) -> list[str]:
        """What is unclear, the first row, and the call."""
        if not self.statement and not self.call:
            columns = ", ".join(self.columns)
            return [f"{self.name}: {' '.join(self.unclear)} (columns: {columns})"]
        lines = [f"{self.name}: {self.unclear[0]}", *self.unclear[1:]]
        if self.statement:
            statement = f"it is not clear what each column is. It may be: {self.statement}."
            lines = [f"{self.name}: {statement}", *self.unclear, f"First row: {self.first_row}."]
        if "\n" in self.call:
            entry = "If so, write in study.toml in place of the entry of this file:"
            return [*lines, entry, *self.call.splitlines()]
        return [*lines, *([f"If so: {self.call}"] if self.call else [])]


class PlanError(KonsilError):
    """An allocation cannot be met."""


class AddedTasksError(PlanError):
    """Tasks that cannot be added to a stored plan, which stays as it is."""


class AnalysisError(KonsilError):
    """An analysis asks for what the ratings or the statistic cannot give."""


class NotRatedError(AnalysisError):
    """An analysis has no ratings of a panel yet; nothing is wrong with the analysis."""


class UnknownRatersError(NotRatedError):
    """An analysis needs raters that the imported ratings do not identify."""


class AllExcludedError(AnalysisError):
    """Every rating is excluded, so that no analysis has a result."""

    exit_code = 3


class IncompleteError(AnalysisError):
    """Some analyses cannot be made; all others are, and their numbers are written.

    `sentences` has one for each.
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        self.sentences = tuple(sentences)
        super().__init__("\n".join(self.sentences))


class UnmetRequirementError(KonsilError):
    """A result does not meet what a command requires of it; it is printed all the same."""

    exit_code = 1


class CollectError(KonsilError):
    """A model cannot be called.

    Its key is missing or refused, the model is unknown, or a budget has no prices.
    """


class StoreError(KonsilError):
    """The database is missing, of another schema, busy or damaged."""


class ConflictError(StoreError):
    """A record with this identifier is stored already and says something else."""


def nearest(name: str, valid_names: Iterable[str], listed: Iterable[str] | None = None) -> str:
    """End of an error's sentence: the nearest known name, or all names.

    Where none is near, the names `listed` are given instead of all.
    """
    names = sorted(set(valid_names))
    if near := near_names(name, names):
        return message("did you mean {name!r}?", message_id="nearest.name", name=near[0])
    names = names if listed is None else sorted(set(listed))
    if not names:
        return message("none is known", message_id="nearest.none")
    n_more, shown = len(names) - LISTED, Listed(tuple(names[:LISTED]), end=COMMA)
    if n_more > 0:
        return message(
            "known: {names} and {n:,} more", message_id="nearest.some", names=shown, n=n_more
        )
    return message("known: {names}", message_id="nearest.all", names=shown)


def near_names(name: str, valid_names: Iterable[str]) -> list[str]:
    """The known names that a name may be meant to be, the nearest first."""
    names = sorted(set(valid_names))
    close = difflib.get_close_matches(name, names, n=len(names) or 1, cutoff=0.6)
    near = [other for other in close if _is_near(name, other)]
    return near or [other for other in names if other.casefold() == name.casefold()]


def _is_near(name: str, other: str) -> bool:
    """Whether two words differ by at most half of the longer one's characters.

    Characters may be wrong, missing, in excess or exchanged.

    Words that share half of their letters, such as 'theme' and 'item', may have nothing to do with
    each other.
    """
    limit = max(len(name), len(other)) // 2
    return edit_distance(name, other, limit) <= limit


def edit_distance(one: str, other: str, limit: int) -> int:
    """Letters to be put in, left out, changed or exchanged with their neighbour.

    `limit` + 1 where it is more.

    >>> edit_distance("sarcoidosis", "sarocidosis", 2), edit_distance("gout", "asthma", 2)
    (1, 3)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        new = [i]
        for j, b in enumerate(other, start=1):
            cost = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            new.append(cost)
        if min(new) > limit:
            return limit + 1
        before, row = row, new
    return min(row[-1], limit + 1)


def quoted(value: object, most: int = 50) -> str:
    """A value as an error quotes it, of so many characters at most.

    >>> quoted("yes"), len(quoted("y" * 99))
    ("'yes'", 50)
    """
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def in_short(problems: Sequence[str], shown: int = PROBLEMS) -> str:
    """Problems of a file as one text: each kind once, at its first place, with their number.

    >>> in_short(["line 2: 'yse' is no label", "line 3: no item", "line 5: 'yse' is no label"])
    "line 2: 'yse' is no label (and 1 more like it); line 3: no item"
    >>> in_short([f"line {n}: 'a' is on line {n - 1}, too; number the repeats" for n in (2, 4, 6)])
    "line 2: 'a' is on line 1, too; number the repeats (and 2 more like it: line 4, line 6)"
    """
    kinds: dict[str, list[str]] = {}
    for problem in problems:
        _, place, sentence = problem.partition(": ")
        kinds.setdefault(_kind(sentence if place else problem), []).append(problem)
    alike = list(kinds.values())
    sentences = [_with_alike(first, rest) for first, *rest in alike[:shown]]
    if n_left := sum(len(kind) for kind in alike[shown:]):
        sentences.append(message("and {n:,} more", message_id="problems.left", n=n_left))
    parts = Listed(tuple(sentences), "; ", "{some}; {last}")
    return message("{problems}", message_id="problems.all", problems=parts)


_PLACES = 3
"""Further places of a kind of problem that a message names."""
_PARTICULAR = re.compile(r"'[^']*'|\d+")
"""What differs between two problems of a kind: quoted words and numbers."""


def _kind(sentence: str) -> str:
    """What problems of a kind have in common.

    Those with the same advice differ in words and numbers alone; a nearest name belongs to one
    word.
    """
    fact, sign, advice = sentence.partition("; ")
    if not sign or "'" in advice or ":" in advice:
        return sentence
    return f"{_PARTICULAR.sub('', fact)}; {advice}"


def _with_alike(first: str, rest: Sequence[str]) -> str:
    """A problem with the number of those like it, and the places of those that are no copies."""
    if not rest:
        return first
    sentence = first.partition(": ")[2]
    if all(problem.partition(": ")[2] == sentence for problem in rest):
        return message(
            "{first} (and {n:,} more like it)",
            message_id="problems.alike",
            first=first,
            n=len(rest),
        )
    places = [*map(_place, rest[:_PLACES]), *(["..."] if len(rest) > _PLACES else [])]
    return message(
        "{first} (and {n:,} more like it: {places})",
        message_id="problems.alike_at",
        first=first,
        n=len(rest),
        places=Listed(tuple(places), end=COMMA),
    )


def _place(problem: str) -> str:
    place = problem.values.get("place") if isinstance(problem, TranslatableMessage) else None
    return place if isinstance(place, str) else problem.partition(": ")[0]
