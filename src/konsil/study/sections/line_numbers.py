"""The line of a key in study.toml.

The parser does not report lines, but readers of an error look for names and lines.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

_SPACE = " \t\r\n"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\r\n]+")
_STEP = re.compile(r"([^\[\].]+)((?:\[\d+\])*)")
_PLACE = re.compile(r"(?P<place>[A-Za-z_][^\s:]*): (?P<rest>.*)", re.DOTALL)

_SINGULAR = {
    "analyses": "analysis",
    "criteria": "criterion",
    "derived": "derived column",
    "endpoints": "endpoint",
    "explanations": "explanation",
    "instruments": "instrument",
    "judges": "judge",
    "programs": "program",
    "raters": "rater",
    "sources": "source",
    "systems": "system",
}
_NAMES = ("id", "name", "file", "rater")
"""The keys that name an entry of a list, the first that it has."""

Lines = Mapping[str, int]


def key_lines(text: str) -> Lines:
    r"""The line of every table, key and entry of a list, by its place as errors name it.

    None of what is no TOML.

    >>> text = 'title = "A"\n\n[[raters]]\nid = "r1"\n[[raters]]\nstrata = {\n}\n'
    >>> dict(key_lines(text))  # doctest: +NORMALIZE_WHITESPACE
    {'title': 1, 'raters': 3, 'raters[0]': 3, 'raters[0].id': 4, 'raters[1]': 5,
     'raters[1].strata': 6}
    """
    try:
        return _Scanner(text).read()
    except (IndexError, ValueError, RecursionError, AttributeError):
        return {}


def with_lines(sentences: Iterable[str], text: str, file: str) -> list[str]:
    r"""The sentences with line numbers of the protocol and names of its entries.

    Only sentences that begin with a place in the protocol are changed.

    >>> text = '[[analyses]]\nname = "kappa"\nraters = "experts"'
    >>> with_lines(["s.toml: analyses[0].raters: there is no panel 'experts'"], text, "s.toml")
    ["s.toml: line 3: analysis 'kappa', raters: there is no panel 'experts'"]
    """
    lines = key_lines(text)
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return list(sentences)
    return [_with_line(sentence, lines, data, file) for sentence in sentences]


def _with_line(sentence: str, lines: Lines, data: Mapping[str, Any], file: str) -> str:
    match = _PLACE.fullmatch(sentence.removeprefix(f"{file}: "))
    if match is None or not sentence.startswith(f"{file}: "):
        return sentence
    line, words = _line_of(match["place"], lines), _words(match["place"], data)
    return sentence if line is None else f"{file}: line {line:,}: {words}: {match['rest']}"


def _line_of(place: str, lines: Lines) -> int | None:
    """The line of the place, or of what should hold it where it is missing."""
    while place and place not in lines:
        place = place[: max(place.rfind("."), place.rfind("["), 0)]
    return lines.get(place)


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
        called = _SINGULAR.get(key, key)
        words.append(
            ".".join([*keys, f"{called} {entry + 1}" if name is None else f"{called} {name!r}"])
        )
        keys = []
    return ", ".join([*words, *([".".join(keys)] if keys else [])])


class _Scanner:
    """Walks over a text that is TOML; what it means is left to the parser."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._counted = (0, 1)
        self._lines: dict[str, int] = {}
        self._entries: dict[str, int] = {}

    def read(self) -> Lines:
        table = ""
        self._skip()
        while self._at < len(self._text):
            line = self._line()
            if self._text.startswith("[", self._at):
                is_entry = self._text.startswith("[[", self._at)
                self._at += 2 if is_entry else 1
                table = self._table(self._key(), is_entry, line)
                self._at = self._text.index("]", self._at) + (2 if is_entry else 1)
                self._lines[table] = line
            else:
                self._statement(table)
            self._skip()
        return self._lines

    def _table(self, keys: list[str], is_entry: bool, line: int) -> str:
        """The place of a header: of a list along the way, its last entry so far is meant."""
        place = ""
        for n, key in enumerate(keys):
            place = f"{place}.{key}" if place else key
            self._lines.setdefault(place, line)
            if is_entry and n == len(keys) - 1:
                self._entries[place] = self._entries.get(place, -1) + 1
            if place in self._entries:
                place += f"[{self._entries[place]}]"
        return place

    def _statement(self, table: str) -> None:
        line = self._line()
        place = ".".join([table, *self._key()] if table else self._key())
        self._lines.setdefault(place, line)
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
                self._lines.setdefault(f"{place}[{n}]", self._line())
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

    def _line(self) -> int:
        at, line = self._counted
        self._counted = (self._at, line + self._text.count("\n", at, self._at))
        return self._counted[1]
