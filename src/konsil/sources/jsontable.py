"""JSON Lines and JSON lists of objects: one object a row."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from konsil.errors import SourceError
from konsil.sources.cells import as_text
from konsil.sources.header import named
from konsil.sources.problems import Problem, raise_if

_CHUNK = 20_000


_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class _TwiceError(ValueError):
    """An object has the same key twice."""


class _HalfError(ValueError):
    """A text has half a character."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [k for k, _ in pairs]
        raise _TwiceError(f"the key {next(k for k in keys if keys.count(k) > 1)!r} occurs twice")
    return made


_decoder = json.JSONDecoder(object_pairs_hook=_object)


def read_jsonl(data: bytes, where: str) -> tuple[pl.DataFrame, Sequence[int]]:
    """One object a line, as text, and each row's line; blank lines are skipped."""
    problems: list[Problem] = []

    def rows() -> Iterator[tuple[int, dict[str, object]]]:
        for line, text in enumerate(data.decode().split("\n"), start=1):
            if not text.strip():
                continue
            try:
                row = _decoder.decode(text)
                _refuse_halves(text, row)
            except (ValueError, RecursionError) as error:
                problems.append(Problem(line, "", _not_json(error)))
                continue
            if isinstance(row, dict):
                yield line, row
            else:
                problems.append(Problem(line, "", f"expected an object, got {_short(text)}"))

    return _table(rows(), problems, where)


def read_json(data: bytes, where: str) -> tuple[pl.DataFrame, Sequence[int]]:
    """A list of objects, as text, and the line on which each begins."""
    problems: list[Problem] = []

    def rows() -> Iterator[tuple[int, dict[str, object]]]:
        for line, row in elements(data.decode(), where):
            if isinstance(row, dict):
                yield line, row
            else:
                problems.append(Problem(line, "", f"expected an object, got {_short(json.dumps(row))}"))

    return _table(rows(), problems, where)


def elements(text: str, where: str) -> Iterator[tuple[int, object]]:
    """The elements of a JSON list one after another, each with its line."""
    at, line = _skip(text, 0), 1
    if not text.startswith("[", at):
        raise SourceError(f"{where}: expected a JSON list, which begins with '[', got {_short(text[at : at + 20])}")
    at = _skip(text, at + 1)
    done, first = 0, True
    while not text.startswith("]", at):
        if not first:
            if not text.startswith(",", at):
                raise SourceError(f"{where}: line {text.count(chr(10), 0, at) + 1:,}: expected ',' or ']' in the list")
            at = _skip(text, at + 1)
        line, done, first = line + text.count("\n", done, at), at, False
        start = at
        try:
            value, at = _decoder.raw_decode(text, at)
            _refuse_halves(text[start:at], value)
        except (ValueError, RecursionError) as error:
            at = error.pos if isinstance(error, json.JSONDecodeError) else at
            raise SourceError(f"{where}: line {text.count(chr(10), 0, at) + 1:,}: {_not_json(error)}") from None
        yield line, value
        at = _skip(text, at)
    if text[at + 1 :].strip():
        raise SourceError(f"{where}: there is text after the list's end")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _table(
    rows: Iterable[tuple[int, dict[str, object]]], problems: list[Problem], where: str
) -> tuple[pl.DataFrame, Sequence[int]]:
    lines, chunks, chunk = array("Q"), list[pl.DataFrame](), list[dict[str, object]]()
    for line, row in rows:
        lines.append(line)
        chunk.append(row)
        if len(chunk) == _CHUNK:
            chunks.append(_frame(chunk))
            chunk = []
    raise_if(problems, where, len(lines) + len(problems))
    if chunk:
        chunks.append(_frame(chunk))
    if not chunks:
        raise SourceError(f"{where}: the file has no rows")
    frame = pl.concat(chunks, how="diagonal", rechunk=True)
    return named(frame, frame.columns, where), lines


def _frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame(
        {name: [as_text(row.get(name)) for row in rows] for name in names}, schema=dict.fromkeys(names, pl.String)
    )


def _refuse_halves(text: str, value: object) -> None:
    """Halves of characters can be written as escapes and then be stored nowhere."""
    if _ESCAPED_HALF.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _HalfError("a text has half a character (an escape such as \\ud800 without its other half)") from None


def _not_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg[:1].lower()}{error.msg[1:]} (character {error.colno})"
    if isinstance(error, _TwiceError | _HalfError):
        return str(error)
    return "not JSON that can be read: nested too deeply or a number too long"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
