"""The keys of study.toml that state how a source is read, and the refusal that shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from konsil.analysis.roles.proof import left_out
from konsil.analysis.roles.reading import TableReading
from konsil.analysis.roles.statement import first_row, sentence
from konsil.errors import UnclearTableError
from konsil.records import Source
from konsil.sources.files.table import Table

UNKNOWN = "..."
"""What stands for an identifier that the user has to state."""
_STATED = ("columns", "fixed", "raters", "criteria", "hashed", "missing", "labels", "labels_of")
"""Settings of a source that say what its columns and labels are."""


def refusal(
    table: Table, sources: Sequence[Source], reading: TableReading | None, unclear: Sequence[str]
) -> UnclearTableError:
    """All that is unclear, with the keys of study.toml and the options that state the reading.

    `reading`: None where the columns are stated, so that only labels are unclear.
    """
    sign = () if reading is None else left_out(table.frame, reading)
    sources = [replace(source, comment=sign[0]) if sign else source for source in sources]
    if len(table.sheets) > 1 and not table.stacked_by:
        sources = [replace(source, sheet=table.sheet) for source in sources]
    call = "\n\n".join(map(_keys, sources))
    if f'"{UNKNOWN}"' in call:
        unclear = (*unclear, f"The keys have {UNKNOWN!r} where only you know the identifier.")
    options: list[tuple[str, tuple[str, ...]]] = [("comment", sign)] if sign else []
    for name in _STATED if len(sources) == 1 else ():
        texts = tuple(_option_values(getattr(sources[0], name)))
        options += [(name, texts)] if texts else []
    for name in ("tool", "sheet") if options else ():
        value = getattr(sources[0], name)
        options += [(name, (value,))] if value else []
    return UnclearTableError(
        table.name,
        statement="" if reading is None else str(sentence(reading, table.frame)),
        first_row="" if reading is None else str(first_row(reading, table.frame)),
        unclear=unclear,
        # A file has one sign of rows that are left out.
        arguments=options if sign is not None else (),
        roles={} if reading is None else reading.roles,
        columns=table.frame.columns,
        call=call if sign is not None else "",
    )


def of_entry(source: Source, entry: Source) -> Source:
    """The source with what is read of it, as its entry in study.toml names its files and fields."""
    fixed = {name: value for name, value in source.fixed.items() if name != entry.named}
    unread = {"sentence"} - entry.columns.keys()
    columns = {name: of_it for name, of_it in source.columns.items() if name not in unread or of_it}
    return replace(source, file=entry.file, named=entry.named, fixed=fixed, columns=columns)


def ended(text: str) -> str:
    """A text as a sentence of its own.

    >>> ended("known: a, b"), ended("did you mean 'a'?")
    ('known: a, b.', "did you mean 'a'?")
    """
    return text if text.endswith("?") else f"{text}."


def _option_values(value: object) -> Iterator[str]:
    """The values of an option for a key: words, NAME=VALUE, or NAME:WORD=VALUE."""
    if not isinstance(value, Mapping):
        yield from (word for word in value if word) if isinstance(value, tuple) else ()
        return
    for name, right in value.items():
        if isinstance(right, Mapping):
            yield from (f"{name}:{word}={label}" for word, label in right.items())
        else:
            values = right if isinstance(right, tuple) else (right,)
            yield from (f"{name}={one_value}" for one_value in values)


def _keys(source: Source) -> str:
    """The entry of study.toml that is this source."""
    lines = ["[[sources]]"]
    for entry in fields(source):
        value = getattr(source, entry.name)
        value = tuple(filter(None, value)) if entry.name == "missing" else value
        default = entry.default_factory() if callable(entry.default_factory) else entry.default
        if value and value != default:
            lines.append(f"{entry.name} = {_toml(value)}")
    return "\n".join(lines)


def _toml(value: Any) -> str:  # noqa: ANN401 - a setting has every type
    if isinstance(value, Mapping):
        pairs = (f"{_key(str(name))} = {_toml(item)}" for name, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, tuple):
        items = value[0] if len(value) == 1 else [*value]
        return json.dumps(items, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)
