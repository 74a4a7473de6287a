"""Replies of judges in the cells of a table: their JSON keys as columns."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl

from konsil.errors import SourceError
from konsil.instrument.definition.objects import verdict
from konsil.records import Source
from konsil.sources.files.delimited import check_width
from konsil.sources.files.table import Table
from konsil.sources.tables.columns import column

UNREADABLE = "unparseable reply"
"""Why a reply gives no ratings: it has no complete JSON object."""
EMPTY = "empty reply"
"""Why a reply gives no ratings: its cell is empty."""

_DEEPEST = 8
"""Objects within objects that are read."""

_Pairs = Sequence[tuple[str, object]]


def with_replies(table: Table, source: Source) -> tuple[Table, dict[str, object]]:
    """The table with a column for each key of the replies in its cells, and their counts.

    The column `reply` with the cell `{"correct": "yes", "scores": {"tone": 4}}` gives the columns
    `reply.correct` and `reply.scores.tone`; entries of lists are numbered from 1. As with replies
    to konsil's own prompts, the last complete JSON object of a cell counts, without the words or
    code fences around it. A cell without one gives empty cells and is counted.
    """
    if not source.replies:
        return table, {}
    names = [column(table, name, "replies") for name in source.replies]
    frame, counts = table.frame, Counter[str]()
    for name in names:
        keys = _expected_keys(source, name)
        rows = [_cells(cell, keys, counts) for cell in frame[name].to_list()]
        columns = list(dict.fromkeys(key for row in rows for key in row))
        check_width(frame.width + len(columns), table.name)
        new = {f"{name}.{key}": [row.get(key) for row in rows] for key in columns}
        if twice := [n for n in new if n in frame.columns]:
            raise SourceError(
                f"{table.name}: replies: {twice[0]!r} is a column of the file and a key of the"
                f" replies in {name!r}; rename the column"
            )
        frame = frame.with_columns(pl.Series(n, cells, pl.String) for n, cells in new.items())
    n_read = counts["read"]
    return dataclasses.replace(table, frame=frame), {
        "filter": "JSON replies",
        "of": "replies",
        "as": "ratings",
        "read": n_read,
        "kept": n_read - counts[UNREADABLE] - counts[EMPTY],
        "dropped": {reason: counts[reason] for reason in (UNREADABLE, EMPTY) if counts[reason]},
    }


def _expected_keys(source: Source, name: str) -> set[str]:
    """The keys that the source reads: an object that has none of them is not the reply."""
    mapped = [*source.criteria, *source.raters, *(c for cs in source.columns.values() for c in cs)]
    prefix = f"{name}."
    return {c.removeprefix(prefix).split(".")[0] for c in mapped if c.startswith(prefix)}


def _cells(cell: str | None, keys: set[str], counts: Counter[str]) -> dict[str, str]:
    counts["read"] += 1
    if cell is None or not cell.strip():
        counts[EMPTY] += 1
        return {}
    pairs = verdict(cell, keys).pairs
    if pairs is None:
        counts[UNREADABLE] += 1
        return {}
    return dict(_flat(pairs))


def _flat(pairs: _Pairs, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    # A key that occurs twice states two things: neither is taken.
    often = Counter(key for key, _ in pairs)
    for key, value in pairs:
        name = f"{prefix}{key}"
        if often[key] > 1 or value is None or depth > _DEEPEST:
            continue
        if isinstance(value, list):
            # The parser gives objects as pairs of key and value, and lists without any pair.
            is_object = all(isinstance(entry, tuple) for entry in value)
            inner = value if is_object else [(str(n), v) for n, v in enumerate(value, 1)]
            yield from _flat(inner, f"{name}.", depth + 1)
        else:
            yield name, _text(value)


def _text(value: object) -> str:
    """A value as a person would write it.

    >>> _text(True), _text(3.0), _text(2.5), _text("yes")
    ('true', '3', '2.5', 'yes')
    """
    if isinstance(value, str):
        # Half a surrogate pair is no character; a database could not store it.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value)
