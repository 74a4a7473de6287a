"""The keys of judges' replies in the cells of a table as columns, each reply with its outcome."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import polars as pl

from konsil.errors import SourceError
from konsil.instrument.definition.objects import verdict
from konsil.instrument.definition.spelling import meant
from konsil.records import Source
from konsil.sources.files.table import Table
from konsil.sources.tables.lookalikes import NEAR

EMPTY = "empty reply"
"""Why a reply gives no rating: its cell is empty."""
UNREADABLE = "unparseable reply"
"""Why a reply gives no rating: it has no complete JSON object."""
OFF_SCALE = "value not on the scale"
"""Why a value gives no rating: it is no label of its criterion, or no value of its field."""
NO_KEY = "no key of the criterion"
"""Why a value gives no rating: the reply lacks its key."""
NO_VALUE = "key without a value"
"""Why a value gives no rating: it is null, an empty text or a word for missing values."""
SEVERAL = "several values of a key"
"""Why a value gives no rating: its key occurs more than once, and neither value is guessed."""

_DEEPEST = 8
"""Objects within objects that are read."""
_MOST_KEYS = 1_000
"""Keys of a file's replies among which the nearest one is searched."""

_Pairs = Sequence[tuple[str, object]]


@dataclass
class ReplyColumn:
    """The replies in one column of a table, read key by key."""

    name: str
    """The column."""
    path_by_column: Mapping[str, str]
    """New column -> the path of the key that it is made of."""
    outcomes: list[str] = field(default_factory=list)
    """For each row why its reply is not read; empty for a reply that is read."""
    cells: dict[str, list[str | None]] = field(default_factory=dict)
    """New column -> the text of its value in each row."""
    reasons: dict[tuple[int, str], str] = field(default_factory=dict)
    """Row and new column -> why its value gives no rating, in replies that are read."""
    keys: dict[str, None] = field(default_factory=dict)
    """Keys of the replies that are read, in their order."""

    @property
    def lacking(self) -> list[str]:
        """The new columns whose key none of the replies has that are read."""
        rows = [row for row, outcome in enumerate(self.outcomes) if not outcome]
        return [
            column
            for column in self.path_by_column
            if rows and all(self.reasons.get((row, column)) == NO_KEY for row in rows)
        ]


def read_replies(table: Table, source: Source, name: str) -> ReplyColumn:
    """The replies of one column: the values of the keys that the source maps.

    A key is a path: `scores.tone` is the key `tone` of the object `scores`, and entries of lists
    are numbered from 1. As with replies to konsil's own prompts, the last complete JSON object of a
    cell counts, without the words or code fences around it, and a key may differ in case.
    """
    replies = ReplyColumn(name, _paths(source, name))
    paths = list(replies.path_by_column.values())
    heads = {head for path in paths for head in _heads(path)}
    known: dict[str, str | None] = {}
    texts = table.frame[name].to_list()
    replies.cells = {column: [None] * len(texts) for column in replies.path_by_column}
    for row, text in enumerate(texts):
        if text is None or not text.strip():
            replies.outcomes.append(EMPTY)
            continue
        pairs = verdict(text, heads).pairs
        if pairs is None:
            replies.outcomes.append(UNREADABLE)
            continue
        replies.outcomes.append("")
        values: dict[str, list[object]] = {}
        for path, value in _values(pairs):
            if len(replies.keys) < _MOST_KEYS:
                replies.keys[path] = None
            if path not in known:
                known[path] = meant(path, paths)
            name_of_path = known[path]
            if name_of_path is not None:
                values.setdefault(name_of_path, []).append(value)
        for column, path in replies.path_by_column.items():
            cell, reason = _cell(values.get(path, []))
            replies.cells[column][row] = cell
            if reason:
                replies.reasons[row, column] = reason
    return replies


def with_columns(table: Table, replies: ReplyColumn) -> pl.DataFrame:
    """The table's cells with a column for each key that is mapped.

    A key that no reply has, while one like it occurs, is an error: the source misspells it.
    """
    for column in replies.path_by_column:
        if column in table.frame.columns:
            raise SourceError(
                f"{table.name}: replies: {column!r} is a column of the file and a key of the"
                f" replies in {replies.name!r}; rename the column"
            )
    for column in replies.lacking:
        path = replies.path_by_column[column]
        near = get_close_matches(path, replies.keys, n=1, cutoff=NEAR)
        if near:
            raise SourceError(
                f"{table.name}: replies: no reply has the key of {column!r};"
                f" did you mean '{replies.name}.{near[0]}'?"
            )
    return table.frame.with_columns(
        pl.Series(column, cells, pl.String) for column, cells in replies.cells.items()
    )


def _paths(source: Source, name: str) -> dict[str, str]:
    """Column that the source reads from these replies -> the path of its key."""
    mapped = [
        *(c for columns in source.columns.values() for c in columns),
        *source.raters,
        *source.criteria,
        *source.strata,
    ]
    prefix = f"{name}."
    return {
        f"{prefix}{c.strip()[len(prefix) :]}": c.strip()[len(prefix) :]
        for c in mapped
        if c.strip().casefold().startswith(prefix.casefold())
    }


def _heads(path: str) -> Iterator[str]:
    """The keys with which an object may begin that has this path: a key may contain dots."""
    parts = path.split(".")
    return (".".join(parts[: n + 1]) for n in range(len(parts)))


def _values(pairs: _Pairs, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Every key of a reply by its path, with its value; objects and lists with theirs, too."""
    for key, value in pairs:
        path = f"{prefix}{key}"
        yield path, value
        if isinstance(value, list) and depth < _DEEPEST:
            # The parser gives objects as pairs of key and value, and lists without any pair.
            is_object = all(isinstance(entry, tuple) for entry in value)
            inner = value if is_object else [(str(n), v) for n, v in enumerate(value, 1)]
            yield from _values(inner, f"{path}.", depth + 1)


def _cell(values: Sequence[object]) -> tuple[str | None, str]:
    """The text of a key's value, and why it has none."""
    if not values:
        return None, NO_KEY
    if len(values) > 1:
        return None, SEVERAL
    [value] = values
    if isinstance(value, list):
        return None, OFF_SCALE
    if value is None or (isinstance(value, str) and not value.strip()):
        return None, NO_VALUE
    return _text(value), ""


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
