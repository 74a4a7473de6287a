"""A table's rows as answers."""

from __future__ import annotations

import polars as pl

from konsil.errors.message import message
from konsil.records import Answer, Citation, Source
from konsil.sources.files.problems import Parsed
from konsil.sources.files.table import Table
from konsil.sources.tables.checks import ROW, empty, failing
from konsil.sources.tables.cited import EXPECTED, cited
from konsil.sources.tables.columns import refuse_texts, require, resolve
from konsil.sources.tables.distinct import contradictions, distinct

FIELDS = ("item", "system", "answer", "text", "reasoning", "citations")
"""The fields of an answer that a source may map; `answer` is its identifier."""


def answer_id(item: pl.Expr, system: pl.Expr) -> pl.Expr:
    """The identifier of an answer whose table gives none: 'item:system'."""
    return pl.concat_str(item, pl.lit(":"), system)


def read_answers(table: Table, source: Source) -> Parsed[Answer]:
    """Read answers; rows that repeat an answer with the same content are one answer.

    Without an `answer` column the identifier is 'item:system'. An answer without a text is one
    whose ratings are at hand and whose text is not.
    """
    columns = resolve(table, source, FIELDS)
    require(columns, "item", table, source)
    require(columns, "system", table, source)
    frame = table.frame.with_row_index(ROW).select(
        ROW, *(columns.expression(field) for field in FIELDS)
    )
    refuse_texts(columns, frame, ("item", "system", "answer"), table.name)
    frame = columns.digested(frame, table.name).with_columns(
        pl.coalesce("answer", answer_id(pl.col("item"), pl.col("system")))
    )
    content = [f for f in FIELDS if f != "answer"]
    rows = distinct(frame, content, "answer")
    sources = {cell: _cited(cell) for cell in rows.get_column("citations").drop_nulls().unique()}
    odd = [cell for cell, read in sources.items() if read is None]
    problems = (
        *empty(rows, table, "item", columns.called("item")),
        *empty(rows, table, "system", columns.called("system")),
        *failing(
            rows,
            table,
            pl.col("citations").is_in(odd),
            columns.called("citations"),
            "citations",
            _unfit,
        ),
        *contradictions(rows, content, "answer", table),
    )
    if problems:
        return Parsed((), (), problems, table.place, table.frame.height)
    lines = tuple(table.line(row) for row in rows[ROW])
    answers = tuple(
        Answer(answer, item, system, text or "", reasoning or "", sources.get(cell) or ())
        for item, system, answer, text, reasoning, cell in rows.select(FIELDS).iter_rows()
    )
    return Parsed(answers, lines, (), table.place, table.frame.height)


def _cited(cell: str) -> tuple[Citation, ...] | None:
    try:
        return cited(cell)
    except ValueError:
        return None


def _unfit(cell: str) -> str:
    shown = cell if len(cell) <= 60 else f"{cell[:57]}..."
    return message(
        "{text!r} cannot be read as sources; {expected}",
        message_id="cells.no_citations",
        text=shown,
        expected=EXPECTED,
    )
