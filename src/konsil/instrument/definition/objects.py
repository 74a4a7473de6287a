"""Finding the verdict in a judge's text: parsing and nothing but parsing."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from konsil.instrument.definition.spelling import meant

Pairs = list[tuple[str, object]]
"""An object's keys and values in order, keys that occur twice included."""

_START = re.compile(r"\{\s*[\"}]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|,(?=\s*[}\]])', re.DOTALL)
_TRAILING = re.compile(r",\s*[}\]]")
_AFTER = re.compile(r"[\s`]*\Z")
_FENCE = re.compile(r"```[a-zA-Z]*\s(.*)```", re.DOTALL)
_SINGLE = re.compile(r"\{\s*'")
_WORD = re.compile(
    r"'((?:[^'\\]|\\.)*)'|\"(?:[^\"\\]|\\.)*\"|['\"].*|\b(?:True|False|None)\b", re.DOTALL
)
"""A text in either quotation marks, the rest of a text after a mark without its pair (so that it is
searched once), and Python's constants."""
_MARK = re.compile(r"\\.|\"", re.DOTALL)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
TRIES = 50
"""Broken objects looked at in one reply; a reply with more is not JSON."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found."""

    pairs: Pairs | None = None
    """The verdict; None where there is none."""
    bare: bool = False
    """Whether the text is this object and nothing else, as JSON has it."""
    problem: str = ""
    """Why there is none."""
    started: bool = False
    """Whether an object was at least begun."""


def verdict(text: str, names: Collection[str]) -> Verdict:
    """The last complete JSON object of the text that has one of these names as a key.

    A key that differs from exactly one name in case, spaces or Unicode form is that name. Repaired
    are code fences and words around the object, trailing commas and line breaks within strings, and
    the single quotes of a reply that is nothing but an object. Single quotes among words and
    missing brackets are not: words that a judge merely quotes could then be taken for its verdict.
    An object that is broken after the verdict, or around it, could be the judge's own, the verdict
    a quotation; then there is none.
    """
    full_object = _strict(text.strip())
    if full_object is not None:
        pairs = _named(full_object, names)
        return Verdict(pairs, bare=pairs == full_object)
    fenced = _FENCE.fullmatch(text.strip())
    content = (fenced[1] if fenced else text).strip()
    is_single = _SINGLE.match(content) is not None
    if is_single and (single := _single_quoted(content)) is not None:
        return Verdict(_named(single, names))
    last = _last_object(text, names, [0] if is_single else [])
    return last if last.pairs is None else replace(last, pairs=_named(last.pairs, names))


def _named(pairs: Pairs, names: Collection[str]) -> Pairs:
    """The pairs, a key that is like one of the names under this name."""
    return [(meant(key, names) or key, value) for key, value in pairs]


def _last_object(text: str, names: Collection[str], broken: list[int]) -> Verdict:
    """The last object with one of the names; `broken` are the starts of objects broken already."""
    last_object: tuple[int, int, Pairs] | None = None
    strange: Pairs | None = None
    position = 0
    while (start := _START.search(text, position)) is not None:
        parsed = _object(text, start.start())
        if parsed is None:
            broken.append(start.start())
            if len(broken) > TRIES:
                return Verdict(problem=f"more than {TRIES} broken JSON objects", started=True)
            position = start.start() + 1
            continue
        pairs, position = parsed
        if any(meant(key, names) is not None for key, _ in pairs):
            last_object = (start.start(), position, pairs)
        else:
            strange = pairs
    if last_object is None:
        return Verdict(strange, problem="no complete JSON object", started=bool(broken))
    begin, end, pairs = last_object
    around = any(b < begin for b in broken) and not _AFTER.match(text, end)
    if around or any(b > end for b in broken):
        return Verdict(
            problem="a broken JSON object around or after the last complete one", started=True
        )
    return Verdict(pairs)


def _single_quoted(text: str) -> Pairs | None:
    """The object of a text whose quotation marks are single, as Python prints it."""
    return _strict(_WORD.sub(_in_json, text))


def _in_json(word: re.Match[str]) -> str:
    if word[1] is None:
        return _CONSTANTS.get(word[0], word[0])
    marks = {"\\'": "'", '"': '\\"'}
    return '"' + _MARK.sub(lambda mark: marks.get(mark[0], mark[0]), word[1]) + '"'


def _pairs(pairs: Pairs) -> Pairs:
    return pairs


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


_STRICT = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant)
_LOOSE = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant, strict=False)


def _strict(text: str) -> Pairs | None:
    if not text.startswith("{"):
        return None
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _object(text: str, start: int) -> tuple[Pairs, int] | None:
    """The object that begins here, with where it ends; None if it is broken."""
    try:
        value, end = _LOOSE.raw_decode(text, start)
    except (ValueError, RecursionError):
        return _without_trailing_commas(text, start)
    return value, end


def _without_trailing_commas(text: str, start: int) -> tuple[Pairs, int] | None:
    if not _TRAILING.search(text, start):
        return None
    depth, copied, pieces = 0, start, []
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark == ",":
            pieces.append(text[copied : token.start()])
            copied = token.end()
        elif mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
        if depth == 0:
            break
    else:
        return None
    if not pieces:
        return None
    pieces.append(text[copied : token.end()])
    try:
        return _LOOSE.decode("".join(pieces)), token.end()
    except (ValueError, RecursionError):
        return None
