"""A table's rows as items."""

from __future__ import annotations

import json

import polars as pl

from konsil.records import Item, Source
from konsil.sources.files.problems import Parsed
from konsil.sources.files.table import Table
from konsil.sources.tables.checks import ROW, empty
from konsil.sources.tables.columns import column, refuse_texts, require, resolve
from konsil.sources.tables.distinct import contradictions, distinct

FIELDS = ("item", "text", "reference", "aliases", "case", "sets")
"""The fields of an item that a source may map; `item` is its identifier."""

_STRATUM = "stratum "


def read_items(table: Table, source: Source) -> Parsed[Item]:
    """Read items; rows that repeat an item with the same content are one item.

    `aliases` and `sets` are lists, their parts separated by '|' or written as JSON. With `hashed =
    ["item"]` the identifier is a digest of the mapped column, or of the text where none is mapped.
    A stratum may be `fixed`. An item without a text is one that was rated elsewhere.
    """
    in_columns = [name for name in source.strata if name not in source.fixed]
    fixed = {name: source.fixed[name] for name in source.strata if name in source.fixed}
    columns = resolve(table, source, FIELDS, hashed_from={"item": "text"})
    require(columns, "item", table, source)
    strata = {name: column(table, name, "strata") for name in in_columns}
    frame = table.frame.with_row_index(ROW).select(
        ROW,
        *(columns.expression(field) for field in FIELDS),
        *(pl.col(c).str.strip_chars().alias(_STRATUM + name) for name, c in strata.items()),
    )
    refuse_texts(columns, frame, ("item", "case"), table.name)
    frame = columns.digested(frame, table.name)
    content = [c for c in frame.columns if c not in (ROW, "item")]
    rows = distinct(frame, content, "item")
    problems = (
        *empty(rows, table, "item", columns.called("item")),
        *contradictions(rows, content, "item", table),
    )
    if problems:
        return Parsed((), (), problems, table.place, table.frame.height)
    lines, items = [], []
    for row, item, text, reference, aliases, case, sets, *levels in rows.iter_rows():
        lines.append(table.line(row))
        item_strata = {
            name: level for name, level in zip(strata, levels, strict=True) if level is not None
        } | fixed
        items.append(
            Item(item, text or "", reference, split(aliases), case, split(sets), item_strata)
        )
    return Parsed(tuple(items), tuple(lines), (), table.place, table.frame.height)


def split(text: str | None) -> tuple[str, ...]:
    """The parts of a list in one cell.

    >>> split("core | split"), split('["a|b", "c"]'), split(None)
    (('core', 'split'), ('a|b', 'c'), ())
    """
    if not text:
        return ()
    if text.startswith("["):
        try:
            parts = json.loads(text)
        except ValueError:
            parts = None
        if isinstance(parts, list):
            return tuple(str(p) for p in parts)
    return tuple(part.strip() for part in text.split("|") if part.strip())
