"""Unread columns whose names resemble those of fields without a column."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from konsil.errors.message import message, placed
from konsil.records import Source
from konsil.sources.files.table import Table
from konsil.sources.tables import answers, items, ratings
from konsil.sources.tables.columns import resolve

NEAR = 0.75
"""From which likeness on two names are near: 'referense' and 'reference', but not 'tags' and
'item'."""


FIELDS_OF = {"items": items.FIELDS, "answers": answers.FIELDS, "ratings": ratings.FIELDS}
"""Records of a table -> their fields."""


def lookalikes(table: Table, source: Source) -> Iterator[str]:
    """A sentence for each unread column whose name resembles a field without a column."""
    fields = FIELDS_OF[source.records]
    resolved = resolve(table, source, fields, {"item": "text"})
    read = {column for columns in resolved.of.values() for column in columns}
    read |= {*source.strata, *source.raters, *source.criteria, *source.unused}
    # A wide table says by its columns who rated what.
    wide = {
        *(("rater",) if source.raters else ()),
        *(("criterion",) if source.criteria else ()),
        "label",
    }
    stated = wide if source.raters or source.criteria else set()
    free = [
        field
        for field in fields
        if field not in {*resolved.of, *resolved.fixed, *source.columns, *stated}
    ]
    for column in table.frame.columns:
        near = get_close_matches("_".join(column.casefold().split()), free, n=1, cutoff=NEAR)
        if near and column not in read:
            fact = message(
                "the column {column!r} is not read; did you mean {field!r}? columns.{field} ="
                " {column!r} reads it",
                message_id="columns.not_read",
                column=column,
                field=near[0],
            )
            yield placed(table.name, fact)
