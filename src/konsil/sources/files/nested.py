"""Records anywhere in a JSON file: parts of nested objects as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from konsil.errors import SourceError, nearest
from konsil.sources.files.jsontable import elements, lines_of_objects, table_of_objects

TOP = "."
"""The path of records that are the file itself."""
_DEEPEST = 20


def read_nested(
    text: bytes, where: str, path: str, *, is_lines: bool
) -> tuple[pl.DataFrame, Sequence[int]]:
    """The records at a path such as 'data/records', and each record's line or number.

    A part of a nested object is a column with all keys above it in its name, 'scores: ann'; lists
    stay in their cells.
    """
    records = lines_of_objects(text, where) if is_lines else _records(text, where, path)
    if is_lines and path != TOP:
        raise SourceError(f"{where}: path {path!r}: each line is a record; expected {TOP!r}")
    rows = ((number, dict(_parts(record, "")), 1) for number, record in records)
    return table_of_objects(rows, where, len(text))


def path_of_records(text: bytes, where: str) -> str:
    """The path of the longest list of objects in a JSON file; empty where there is none."""
    lists = _lists(_value(text, where), "")
    return max(lists, key=lambda path: len(lists[path]), default="")


def _records(text: bytes, where: str, path: str) -> Iterator[tuple[int, dict[str, object]]]:
    lists = _lists(_value(text, where), "")
    if path not in lists:
        raise SourceError(
            f"{where}: path {path!r}: there is no list of objects; {nearest(path, [*lists])}"
        )
    yield from enumerate(lists[path], start=1)


def _value(text: bytes, where: str) -> object:
    """A JSON text's value, read within the limits of a list of values."""
    return next((value for _, value in elements(f"[{text.decode()}]", where)), None)


def _lists(value: object, path: str) -> dict[str, list[dict[str, object]]]:
    """Path -> list of objects, in nested objects."""
    if isinstance(value, list):
        is_records = bool(value) and all(isinstance(part, dict) for part in value)
        return {path or TOP: value} if is_records else {}
    lists = {}
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
