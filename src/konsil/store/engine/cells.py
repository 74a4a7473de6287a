"""Cells of a row: how texts, numbers, lists and tables are written and read again."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from konsil.errors import StoreError, quoted
from konsil.records import Citation, Span

_EXPECTED = "a list or table in JSON"


class DamagedError(StoreError, ValueError):
    """A cell that is no JSON: of a database, a sentence.

    A reader of files names file and record instead.
    """

    def __init__(self, cell: str) -> None:
        super().__init__(
            f"the database is damaged: {cell} is stored where {_EXPECTED} was written; restore a"
            " backup"
        )
        self.of_a_file = f"expected {_EXPECTED}, got {cell}"
        """What a reader of files says."""


class UnfitError(Exception):
    """A value that a database cannot keep.

    Becomes a StoreError that names the record and the field.
    """


def dumps(value: object) -> str:
    """Write canonical JSON: sorted keys, no spaces, no NaN."""
    return _encode(value)


_quoted = json.encoder.encode_basestring
# Made once: json.dumps with options makes an encoder for every value.
_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def text_cell(value: str) -> str:
    """Check a text."""
    if "\0" in value:  # PostgreSQL cannot keep it; what one database keeps the other must keep too
        raise UnfitError("contains a NUL character")
    if not value.isascii():
        value.encode()
    return value


def number_cell(value: float) -> float:
    """Check a number."""
    if type(value) is bool or not math.isfinite(value):
        raise UnfitError(f"is {value}, expected a finite number; use None if it is unknown")
    return float(value) + 0.0  # SQLite forgets the sign of minus zero


def count_cell(value: int) -> int:
    """Check a whole number."""
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise TypeError
    return value


def choice_cell(choices: tuple[str, ...]) -> Callable[[str], str]:
    """A check of a text that is one of several."""

    def check(value: str) -> str:
        if value not in choices:
            raise UnfitError(f"is {value!r}, expected one of {', '.join(repr(c) for c in choices)}")
        return value

    return check


def json_cell(pack: Callable[[Any], Any]) -> Callable[[Any], str]:
    """How a structure becomes JSON text."""

    def write(value: object) -> str:
        text = dumps(pack(value)) if value != () else "[]"
        if not text.isascii():
            text.encode()
        return text

    return write


def json_value(unpack: Callable[[Any], Any]) -> Callable[[str], Any]:
    """How JSON text becomes a structure again."""

    def read(cell: str) -> Any:  # noqa: ANN401 - JSON has every type
        # Most lists and tables are empty: of a hundred thousand answers few have citations or
        # sentences.
        if cell == "[]":
            return unpack([])
        try:
            return unpack({} if cell == "{}" else json.loads(cell))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise DamagedError(quoted(cell, 60)) from None

    return read


def strings_list(value: tuple[str, ...]) -> list[str]:
    """Check a tuple of texts."""
    if type(value) is not tuple or not all(isinstance(v, str) for v in value):
        raise TypeError
    return list(value)


@functools.lru_cache(maxsize=1 << 16)
def strings_cell(value: tuple[str, ...]) -> str:
    """Write a tuple of texts."""
    # As `dumps` writes it, in a third of the time.
    text = f"[{','.join(map(_quoted, strings_list(value)))}]"
    if not text.isascii():
        text.encode()
    return text


def strings_cells(values: Sequence[tuple[str, ...]]) -> list[str]:
    """Write many tuples of texts, each as `strings_cell` does."""
    texts = [*itertools.chain.from_iterable(values)]
    if {*map(type, texts)} != {str}:
        return [*map(strings_cell, values)]
    if not (together := "".join(texts)).isascii():
        together.encode()
    if len(texts) == len(values) and all(values):
        return [f"[{text}]" for text in map(_quoted, texts)]
    return [f"[{','.join(map(_quoted, value))}]" for value in values]


@functools.lru_cache(maxsize=1 << 16)
def strings_value(cell: str) -> tuple[str, ...]:
    """Read a tuple of texts."""
    # Ratings of one answer share one tuple: a million ratings of ten thousand answers stay small.
    try:
        return tuple(json.loads(cell))
    except (ValueError, TypeError, RecursionError):
        raise DamagedError(quoted(cell, 60)) from None


def span_value(value: Span | None) -> list[int] | None:
    """A span as a list; None where there is none."""
    return None if value is None else [count_cell(value.start), count_cell(value.end)]


def citation_value(value: Citation) -> dict[str, str]:
    """A citation as a table."""
    return {"title": value.title, "url": value.url}


def mapping_value(value: Mapping[str, object]) -> dict[str, object]:
    """Check a table."""
    if not all(isinstance(k, str) for k in value):
        raise TypeError
    return dict(value)
