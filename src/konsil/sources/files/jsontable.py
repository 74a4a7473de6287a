"""JSON Lines, JSON lists of objects, and objects of like objects: one object a row."""

from __future__ import annotations

import codecs
import io
import json
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import cast

import polars as pl

from konsil.errors import SourceError, nearest
from konsil.errors.message import message
from konsil.sources.files.apart import MEMORY, bounded
from konsil.sources.files.cells import as_text, records_of
from konsil.sources.files.delimited import check_cells, check_width
from konsil.sources.files.header import named
from konsil.sources.files.problems import MOST, Problem, raise_if

_CHUNK, _CHUNK_BYTES = 20_000, 1 << 22
_LONGEST = 1 << 24
"""Bytes of one line: an object of them may take thirty times as many when it is read."""
_LIGHT, _TIMES = 200 << 20, 6
TOP = "."
"""The path of records that are the file itself."""
_DEEPEST = 20
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class _TwiceError(ValueError):
    """An object has the same key twice."""


class _HalfError(ValueError):
    """A text has half a character."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    json_object = dict(pairs)
    # Python would take the last of two values and lose the other without a word.
    if len(json_object) != len(pairs):
        keys = [k for k, _ in pairs]
        twice = next(k for k in keys if keys.count(k) > 1)
        raise _TwiceError(
            message("the key {key!r} occurs twice", message_id="file.key_twice", key=twice)
        )
    return json_object


_decoder = json.JSONDecoder(object_pairs_hook=_object)


def read_jsonl(data: bytes, where: str) -> tuple[pl.DataFrame, Sequence[int]]:
    """One object a line, as text, and each row's line; blank lines are skipped."""
    problems: list[Problem] = []
    return _table(_objects(data, problems), problems, where, len(data))


def _lines(data: bytes, where: str) -> Iterator[tuple[int, dict[str, object]]]:
    """One object a line, with its line."""
    problems: list[Problem] = []
    n = 0
    for line, row, _ in _objects(data, problems):
        n += 1
        yield line, row
    raise_if(problems, where, n + len(problems))


def _objects(data: bytes, problems: list[Problem]) -> Iterator[tuple[int, dict[str, object], int]]:
    """One object a line, with its line and its bytes; what is none is among the problems."""
    for line, raw in enumerate(io.BytesIO(data), start=1):
        if len(problems) == MOST:
            return
        if not raw.strip():
            continue
        if len(raw) > _LONGEST:
            sentence = message(
                "has {size:,} bytes; expected {most:,} or fewer",
                message_id="file.long_line",
                size=len(raw),
                most=_LONGEST,
            )
            problems.append(Problem(line, "", sentence))
            continue
        text = raw.decode().rstrip("\n")
        try:
            row = _decoder.decode(text)
            _refuse_halves(text, row)
        except (ValueError, RecursionError) as error:
            problems.append(Problem(line, "", _not_json(error)))
            continue
        if isinstance(row, dict):
            yield line, row, len(raw)
        else:
            problems.append(Problem(line, "", _no_object(text)))


def read_json(data: bytes, where: str) -> tuple[pl.DataFrame, Sequence[int]]:
    """A list of objects, as text, and the line on which each begins.

    Of an object of like objects, each is a row, numbered from 1.
    """
    problems: list[Problem] = []
    if is_object(data) and (records := records_of(_value(data, where), where)):
        return _table(((n, row, 1) for n, row in enumerate(records, 1)), [], where, len(data))

    def rows() -> Iterator[tuple[int, dict[str, object], int]]:
        for line, row in elements(data.decode(), where):
            if len(problems) == MOST:
                return
            if isinstance(row, dict):
                yield line, row, 1
            else:
                problems.append(Problem(line, "", _no_object(json.dumps(row))))

    return _table(rows(), problems, where, len(data))


def is_object(data: bytes) -> bool:
    """Whether a JSON text is an object."""
    return data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")


def elements(text: str, where: str) -> Iterator[tuple[int, object]]:
    """The elements of a JSON list one after another, each with its line."""
    at, line = _skip(text, 0), 1
    if not text.startswith("[", at):
        raise SourceError(
            message(
                "{where}: expected a JSON list, which begins with '[', got {text}",
                message_id="file.no_list",
                where=where,
                text=_short(text[at : at + 20]),
            )
        )
    at = _skip(text, at + 1)
    counted, first = 0, True
    # A few megabytes of brackets become gigabytes of lists: such a text is read within a limit.
    is_heavy = weight(text) > _LIGHT + _TIMES * len(text)
    while not text.startswith("]", at):
        if not first:
            if not text.startswith(",", at):
                raise SourceError(
                    message(
                        "{where}: line {line:,}: expected ',' or ']' in the list",
                        message_id="file.list_sign",
                        where=where,
                        line=text.count(chr(10), 0, at) + 1,
                    )
                )
            at = _skip(text, at + 1)
        # Counted from the last element on: from the beginning each time, reading would be
        # quadratic.
        line, counted, first = line + text.count("\n", counted, at), at, False
        start = at
        try:
            with bounded(MEMORY + _TIMES * len(text)) if is_heavy else nullcontext():
                value, at = _decoder.raw_decode(text, at)
            _refuse_halves(text[start:at], value)
        except MemoryError:
            raise SourceError(
                message(
                    "{where}: line {line:,}: has too many parts to be read",
                    message_id="file.json_parts",
                    where=where,
                    line=line,
                )
            ) from None
        except (ValueError, RecursionError) as error:
            at = error.pos if isinstance(error, json.JSONDecodeError) else at
            raise SourceError(
                message(
                    "{where}: line {line:,}: {reason}",
                    message_id="file.json_line",
                    where=where,
                    line=text.count(chr(10), 0, at) + 1,
                    reason=_not_json(error),
                )
            ) from None
        yield line, value
        at = _skip(text, at)
    if text[at + 1 :].strip():
        raise SourceError(_after_list(where))


def _after_list(where: str) -> str:
    return message(
        "{where}: there is text after the list's end", message_id="file.after_list", where=where
    )


def weight(text: str) -> int:
    """The maximum number of bytes that reading a JSON text takes, beyond its strings.

    It is computed from the numbers of brackets, commas and colons.

    >>> weight("[[],[]]")
    228
    """
    return (
        56 * text.count("[") + 130 * text.count("{") + 60 * text.count(",") + 70 * text.count(":")
    )


def check_weight(text: str, where: str) -> None:
    """Refuse a JSON text that is hardly more than brackets: it would take twenty times its size."""
    if weight(text) > _LIGHT + _TIMES * len(text):
        raise SourceError(
            f"{where}: the JSON has too many parts for its size; this is not a deck of cards"
        )


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _table(
    rows: Iterable[tuple[int, dict[str, object], int]],
    problems: list[Problem],
    where: str,
    total: int,
) -> tuple[pl.DataFrame, Sequence[int]]:
    lines, chunks, chunk = array("Q"), list[pl.DataFrame](), list[dict[str, object]]()
    names: dict[str, None] = {}
    size = 0
    for line, row, n in rows:
        lines.append(line)
        chunk.append(row)
        names.update(dict.fromkeys(row))
        # While reading, so that a file of a million columns is refused before it fills the memory.
        check_width(len(names), where)
        check_cells(len(names) * len(lines), total, where)
        size += n
        if len(chunk) == _CHUNK or size > _CHUNK_BYTES:
            chunks.append(_frame(chunk))
            chunk, size = [], 0
    raise_if(problems, where, len(lines) + len(problems))
    if chunk:
        chunks.append(_frame(chunk))
    if not chunks:
        raise SourceError(
            message("{where}: the file has no rows", message_id="file.no_rows", where=where)
        )
    frame = pl.concat(chunks, how="diagonal", rechunk=True)
    return named(frame, frame.columns, where), lines


def _frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame(
        {name: [as_text(row.get(name)) for row in rows] for name in names},
        schema=dict.fromkeys(names, pl.String),
    )


def _refuse_halves(text: str, value: object) -> None:
    """Halves of characters can be written as escapes and then be stored nowhere."""
    if _ESCAPED_HALF.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _HalfError(
                message(
                    "invalid Unicode: an unpaired surrogate (an escape such as \\ud800 without its"
                    " other half)",
                    message_id="file.half_character",
                )
            ) from None


_REASONS = {
    "Expecting value": message("expecting value", message_id="file.json_value"),
    "Expecting property name enclosed in double quotes": message(
        "expecting property name enclosed in double quotes", message_id="file.json_name"
    ),
    "Expecting ':' delimiter": message("expecting ':' delimiter", message_id="file.json_colon"),
    "Expecting ',' delimiter": message("expecting ',' delimiter", message_id="file.json_comma"),
    "Unterminated string starting at": message(
        "unterminated string starting at", message_id="file.json_string"
    ),
    "Invalid control character at": message(
        "invalid control character at", message_id="file.json_control"
    ),
    "Invalid \\escape": message("invalid \\escape", message_id="file.json_escape"),
    f"Invalid \\u{4 * 'X'} escape": message("invalid \\u escape", message_id="file.json_code"),
    "Extra data": message("extra data", message_id="file.json_extra"),
}
"""What Python's reader of JSON says -> the same in a sentence."""


def _no_object(text: str) -> str:
    return message("expected an object, got {text}", message_id="file.no_object", text=_short(text))


def _not_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return message(
            "not JSON: {reason} (character {character})",
            message_id="file.not_json",
            reason=_REASONS.get(error.msg, error.msg),
            character=error.colno,
        )
    if isinstance(error, _TwiceError | _HalfError):
        return cast("str", error.args[0])
    return message(
        "not JSON that can be read: nested too deeply or a number too long",
        message_id="file.deep_json",
    )


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def read_nested(
    text: bytes, where: str, path: str, *, is_lines: bool
) -> tuple[pl.DataFrame, Sequence[int]]:
    """The records at a path such as 'data/records', and each record's line or number.

    A part of a nested object is a column with all keys above it in its name, 'scores: ann'; lists
    stay in their cells.
    """
    records = _lines(text, where) if is_lines else _records(text, where, path)
    if is_lines and path != TOP:
        raise SourceError(
            message(
                "{where}: path {path!r}: each line is a record; expected {expected!r}",
                message_id="file.path_of_lines",
                where=where,
                path=path,
                expected=TOP,
            )
        )
    rows = ((number, dict(_parts(record, "")), 1) for number, record in records)
    return _table(rows, [], where, len(text))


def path_of_records(text: bytes, where: str) -> str:
    """The path of the longest list of objects in a JSON file; empty where there is none."""
    lists = _lists_at(text, where)
    return max(lists, key=lambda path: len(lists[path]), default="")


def _records(text: bytes, where: str, path: str) -> Iterator[tuple[int, dict[str, object]]]:
    lists = _lists_at(text, where)
    if path not in lists:
        raise SourceError(
            message(
                "{where}: path {path!r}: there is no list of objects; {hint}",
                message_id="file.no_path",
                where=where,
                path=path,
                hint=nearest(path, [*lists]),
            )
        )
    yield from enumerate(lists[path], start=1)


def _lists_at(text: bytes, where: str) -> dict[str, list[dict[str, object]]]:
    """Path -> list of objects, in a file that may itself be an object of records."""
    value = _value(text, where)
    records = records_of(value, where)
    return ({TOP: records} if records else {}) | _lists(value, "")


def _value(text: bytes, where: str) -> object:
    """A JSON text's value, read within the limits of a list of values."""
    values = [value for _, value in elements(f"[{text.decode()}]", where)]
    if len(values) > 1:
        raise SourceError(_after_list(where))
    return values[0] if values else None


def _lists(value: object, path: str) -> dict[str, list[dict[str, object]]]:
    """Path -> list of objects, in nested objects."""
    if isinstance(value, list):
        is_records = bool(value) and all(isinstance(part, dict) for part in value)
        return {path or TOP: value} if is_records else {}
    lists: dict[str, list[dict[str, object]]] = {}
    if isinstance(value, dict) and path.count("/") < _DEEPEST:
        for key, part in value.items():
            lists |= _lists(part, f"{path}/{key}" if path else key)
    return lists


def _parts(value: dict[str, object], above: str) -> Iterator[tuple[str, object]]:
    """The parts of an object by their names."""
    for key, part in value.items():
        name = f"{above}{key}"
        if isinstance(part, dict) and part and name.count(": ") < _DEEPEST:
            yield from _parts(part, f"{name}: ")
        else:
            yield name, part
