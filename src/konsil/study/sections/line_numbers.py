"""The line and column of a key in study.toml.

The parser does not report them, but readers of an error look for names and lines.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from konsil.errors import Problem
from konsil.errors.message import COMMA, Listed, TranslatableMessage, message, place_of, placed

_SPACE = " \t\r\n"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\r\n]+")
_STEP = re.compile(r"([^\[\].]+)((?:\[\d+\])*)")
_ANALYSIS = re.compile(r"analyses\[(\d+)\]")
_SYNTAX = re.compile(r"\(at line (\d+), column (\d+)\)")
_PLACE = re.compile(r"(?P<place>[A-Za-z_][^\s:]*): (?P<rest>.*)", re.DOTALL)

_KINDS = {
    "analyses": message("analysis", message_id="place.analysis"),
    "criteria": message("criterion", message_id="place.criterion"),
    "derived": message("derived column", message_id="place.derived"),
    "endpoints": message("endpoint", message_id="place.endpoint"),
    "explanations": message("explanation", message_id="place.explanation"),
    "instruments": message("instrument", message_id="place.instrument"),
    "judges": message("judge", message_id="place.judge"),
    "programs": message("program", message_id="place.program"),
    "raters": message("rater", message_id="place.rater"),
    "sources": message("source", message_id="place.source"),
    "systems": message("system", message_id="place.system"),
}
_NAMES = ("id", "name", "file", "rater")
"""The keys that name an entry of a list, the first that it has."""


class Position(NamedTuple):
    """Where something begins in a text."""

    line: int
    """From 1."""
    column: int
    """From 1, in characters."""


Positions = Mapping[str, Position]


def key_positions(text: str) -> Positions:
    r"""The position of every table, key and entry of a list, by its place as errors name it.

    None of what is no TOML.

    >>> text = 'title = "A"\n\n[[raters]]\nid = "r1"\n[[raters]]\nstrata = {\n}\n'
    >>> {place: tuple(position) for place, position in key_positions(text).items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'title': (1, 1), 'raters': (3, 1), 'raters[0]': (3, 1), 'raters[0].id': (4, 1),
     'raters[1]': (5, 1), 'raters[1].strata': (6, 1)}
    """
    try:
        return _Scanner(text).read()
    # Positions only help a reader to find a sentence's place: without them it is as true.
    except (IndexError, ValueError, RecursionError, AttributeError):
        return {}


def located(sentences: Iterable[str], text: str, file: str) -> list[Problem]:
    r"""The sentences as problems with their positions in the protocol and names of its entries.

    Only sentences that begin with a place in the protocol get a position.

    >>> text = '[[analyses]]\nname = "kappa"\nraters = "experts"'
    >>> [problem] = located(["s.toml: analyses[0].raters: no panel 'experts'"], text, "s.toml")
    >>> str(problem), problem.analysis
    ("s.toml:3:1: analysis 'kappa', raters: no panel 'experts'", 'kappa')
    """
    positions = key_positions(text)
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        data = {}
    return [_located(sentence, positions, data, file) for sentence in sentences]


def syntax_position(text: str, error: tomllib.TOMLDecodeError) -> Position:
    r"""Where a text stops being TOML.

    >>> try:
    ...     tomllib.loads("a = 1\nb = ?")
    ... except tomllib.TOMLDecodeError as error:
    ...     tuple(syntax_position("a = 1\nb = ?", error))
    (2, 5)
    """
    match = _SYNTAX.search(str(error))
    if match is not None:
        return Position(int(match[1]), int(match[2]))
    lines = text.splitlines() or [""]
    return Position(len(lines), len(lines[-1]) + 1)


def without_position(error: tomllib.TOMLDecodeError) -> str:
    """What the parser says is wrong, without where."""
    return str(error).partition(" (at ")[0]


def _located(sentence: str, positions: Positions, data: Mapping[str, Any], file: str) -> Problem:
    if not sentence.startswith(f"{file}: "):
        return Problem(sentence)
    rest = _without_file(sentence, file)
    parts = _parts_of(rest)
    position = None if parts is None else _position_of(parts[0], positions)
    if parts is None or position is None:
        return Problem(rest, file)
    place, fact = parts
    return Problem(placed(_words(place, data), fact), file, *position, _analysis_of(place, data))


def _without_file(sentence: str, file: str) -> str:
    """A sentence without the file that it begins with."""
    parts = place_of(sentence)
    if parts is None:
        return sentence.removeprefix(f"{file}: ")
    place, fact = parts
    return fact if place == file else placed(place.removeprefix(f"{file}: "), fact)


def _parts_of(sentence: str) -> tuple[str, str] | None:
    """The place in the protocol that a sentence begins with, and the rest."""
    parts = place_of(sentence)
    if parts is None and isinstance(sentence, TranslatableMessage):
        return None
    match = _PLACE.fullmatch(sentence)
    if match is None:
        return None
    is_same = parts is not None and parts[0] == match["place"]
    return parts if is_same else (match["place"], match["rest"])


def _analysis_of(place: str, data: Mapping[str, Any]) -> str | None:
    """The name of the analysis in which the place is."""
    match = _ANALYSIS.match(place)
    analyses = data.get("analyses")
    if match is None or not isinstance(analyses, list) or int(match[1]) >= len(analyses):
        return None
    analysis = analyses[int(match[1])]
    name = analysis.get("name") if isinstance(analysis, dict) else None
    return name if isinstance(name, str) else None


def _position_of(place: str, positions: Positions) -> Position | None:
    """The position of the place, or of what should hold it where it is missing."""
    # What is missing has no position of its own: that of what should hold it is the nearest.
    while place and place not in positions:
        place = place[: max(place.rfind("."), place.rfind("["), 0)]
    return positions.get(place)


def _words(place: str, data: object) -> str:
    """A place as people call it: entries of a list by their names, or counted from 1."""
    words: list[str] = []
    keys: list[str] = []
    for key, indexes in _STEP.findall(place):
        data = data.get(key) if isinstance(data, dict) else None
        entry = None
        for index in re.findall(r"\d+", indexes):
            n = int(index)
            data = data[n] if isinstance(data, list) and n < len(data) else None
            entry = n
        if entry is None or not isinstance(data, dict):
            keys.append(key)
            continue
        name = next((data[k] for k in _NAMES if isinstance(data.get(k), str)), None)
        word = _entry(_KINDS.get(key, key), name, entry)
        words.append(_joined((*keys, word), ".", "{some}.{last}"))
        keys = []
    return _joined((*words, *([".".join(keys)] if keys else [])), ", ", COMMA)


def _joined(parts: tuple[str, ...], separator: str, end: str) -> str:
    if len(parts) == 1:
        return parts[0]
    return message("{parts}", message_id="place.parts", parts=Listed(parts, separator, end))


def _entry(kind: str, name: str | None, n: int) -> str:
    """An entry of a list by its name, or counted from 1."""
    if name is None:
        return message("{kind} {n}", message_id="place.numbered", kind=kind, n=n + 1)
    return message("{kind} {name!r}", message_id="place.named", kind=kind, name=name)


class _Scanner:
    """Walks over a text that is TOML; what it means is left to the parser."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._counted = (0, 1, 0)
        self._positions: dict[str, Position] = {}
        self._entries: dict[str, int] = {}

    def read(self) -> Positions:
        table = ""
        self._skip()
        while self._at < len(self._text):
            position = self._position()
            if self._text.startswith("[", self._at):
                is_entry = self._text.startswith("[[", self._at)
                self._at += 2 if is_entry else 1
                table = self._table(self._key(), is_entry, position)
                self._at = self._text.index("]", self._at) + (2 if is_entry else 1)
                self._positions[table] = position
            else:
                self._statement(table)
            self._skip()
        return self._positions

    def _table(self, keys: list[str], is_entry: bool, position: Position) -> str:
        """The place of a header: of a list along the way, its last entry so far is meant."""
        place = ""
        for n, key in enumerate(keys):
            place = f"{place}.{key}" if place else key
            self._positions.setdefault(place, position)
            if is_entry and n == len(keys) - 1:
                self._entries[place] = self._entries.get(place, -1) + 1
            if place in self._entries:
                place += f"[{self._entries[place]}]"
        return place

    def _statement(self, table: str) -> None:
        position = self._position()
        place = ".".join([table, *self._key()] if table else self._key())
        self._positions.setdefault(place, position)
        self._at = self._text.index("=", self._at) + 1
        self._blanks()
        self._value(place)

    def _value(self, place: str) -> None:
        start = self._text[self._at]
        if start in "\"'":
            self._string(start)
        elif start == "[":
            self._at += 1
            n = 0
            while not self._ends("]"):
                self._positions.setdefault(f"{place}[{n}]", self._position())
                self._value(f"{place}[{n}]")
                n += 1
        elif start == "{":
            self._at += 1
            while not self._ends("}"):
                self._statement(place)
        else:
            self._at = _BARE_VALUE.match(self._text, self._at).end()  # type: ignore[union-attr]

    def _ends(self, sign: str) -> bool:
        """Whether a list or table ends here.

        Blanks and commas before what follows are passed over.
        """
        self._skip(",")
        is_over = self._text[self._at] == sign
        self._at += is_over
        return is_over

    def _string(self, quote: str) -> None:
        is_long = self._text.startswith(quote * 3, self._at)
        end = quote * 3 if is_long else quote
        self._at += len(end)
        while not self._text.startswith(end, self._at):
            # An IndexError where the text ends before its quotation marks.
            sign = self._text[self._at]
            self._at += 2 if quote == '"' and sign == "\\" else 1
        self._at += len(end)
        # Up to two of them belong to the text.
        while is_long and self._text[self._at : self._at + 1] == quote:
            self._at += 1

    def _key(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._blanks()
            start = self._at
            if self._text[start] in "\"'":
                self._string(self._text[start])
                keys.append(self._text[start + 1 : self._at - 1])
            else:
                self._at = _BARE_KEY.match(self._text, start).end()  # type: ignore[union-attr]
                keys.append(self._text[start : self._at])
            self._blanks()
            if self._text[self._at] != ".":
                return keys
            self._at += 1

    def _blanks(self) -> None:
        while self._text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1

    def _skip(self, also: str = "") -> None:
        while self._at < len(self._text) and self._text[self._at] in f"#{_SPACE}{also}":
            if self._text[self._at] == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                self._at += 1

    def _position(self) -> Position:
        # Counted on from the last position: from the beginning each time, it would be quadratic.
        at, line, start = self._counted
        if n := self._text.count("\n", at, self._at):
            line, start = line + n, self._text.rindex("\n", at, self._at) + 1
        self._counted = (self._at, line, start)
        return Position(line, self._at - start + 1)
