"""One digest of all collected records, whatever their order and form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from konsil.analysis.table.columns import Columns, json_of_columns
from konsil.records import Span

_IDENTITY = {"task": ("task", "criterion", "answers", "span")}
"""First field -> the fields that make the identity; of other records the first field does."""

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def records_digest(kinds: Iterable[Sequence[object]]) -> str:
    """SHA-256 over records of several kinds.

    Of each kind their number and then, field by field, all values as JSON.
    """
    digest = hashlib.sha256()
    for records in kinds:
        digest.update(f"{len(records)}\n".encode())
        if isinstance(records, Columns):
            names = records.frame.columns
            for name, parts in json_of_columns(records, _IDENTITY.get(names[0], names[:1])):
                digest.update(f"{name} [".encode())
                for n, part in enumerate(parts):
                    digest.update(f"{',' if n else ''}{part}".encode())
                digest.update(b"]\n")
            continue
        for name, values in _fields(records).items():
            digest.update(f"{name} {_encode(values)}\n".encode())
    return digest.hexdigest()


def _fields(records: Sequence[object]) -> dict[str, list[object]]:
    """Field -> its values in the order of the records' identity."""
    names = tuple(getattr(type(records[0]), "__slots__", ())) if records else ()
    if not names:
        return {}
    rows = [[_cell(name, getattr(record, name)) for name in names] for record in records]
    identity = [names.index(name) for name in _IDENTITY.get(names[0], names[:1])]
    rows.sort(key=lambda row: [str(row[place]) for place in identity])
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _cell(name: str, value: object) -> object:
    """A value as columns hold it: texts, numbers and none as they are, everything else as JSON.

    No span is empty.
    """
    if value is None:
        return "" if name == "span" else None
    return value if isinstance(value, str | int | float) else _encode(_json_value(value))


def _json_value(value: object) -> object:
    if isinstance(value, Span):
        return [value.start, value.end]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return [_json_value(element) for element in value]
    names: Iterable[str] = getattr(type(value), "__slots__", ())
    return {name: getattr(value, name) for name in names} or value
