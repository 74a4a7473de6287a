"""Checks of whole columns at once: each gives the problems of the rows that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from konsil.errors.message import message
from konsil.sources.files.problems import Problem
from konsil.sources.files.table import Table

ROW = "_row"
"""The column that keeps each row's index in the table while rows are dropped and unpivoted."""

DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
"""A number as German and French spreadsheets write it."""


def failing(
    frame: pl.DataFrame,
    table: Table,
    wrong: pl.Expr,
    column: str,
    field: str,
    sentence: Callable[[str], str],
) -> Iterator[Problem]:
    """A problem for each row where `wrong` holds; the sentence is made from the cell's text."""
    bad = frame.filter(wrong).select(ROW, field)
    for row, cell in bad.iter_rows():
        yield Problem(table.line(row), column, sentence(cell or ""), table.place)


def empty(frame: pl.DataFrame, table: Table, field: str, column: str) -> Iterator[Problem]:
    """Rows whose field is empty."""
    return failing(frame, table, pl.col(field).is_null(), column, field, empty_sentence)


def not_a_number(
    frame: pl.DataFrame, table: Table, field: str, column: str, least: float | None
) -> Iterator[Problem]:
    """Rows whose field is neither empty nor a finite number of at least `least`."""
    number = pl.col(field).cast(pl.Float64, strict=False)
    wrong = pl.col(field).is_not_null() & (number.is_null() | ~number.is_finite())
    yield from failing(frame, table, wrong.fill_null(True), column, field, number_sentence)
    if least is not None:
        low = number.is_finite() & (number < least)
        yield from failing(
            frame,
            table,
            low,
            column,
            field,
            lambda t: message(
                "{number} is below {least:g}, the least possible",
                message_id="cells.too_low",
                number=t,
                least=least,
            ),
        )


def not_whole(frame: pl.DataFrame, table: Table, field: str, column: str) -> Iterator[Problem]:
    """Rows whose field is neither empty nor a whole number from 0."""
    wrong = pl.col(field).is_not_null() & ~pl.col(field).str.contains(r"^\d{1,15}(\.0+)?$")
    return failing(
        frame,
        table,
        wrong,
        column,
        field,
        lambda t: message(
            "{text!r} is not a whole number from 0", message_id="cells.not_whole", text=t
        ),
    )


def not_among(
    frame: pl.DataFrame,
    table: Table,
    field: str,
    column: str,
    valid_words: Sequence[str],
    hint: str,
) -> Iterator[Problem]:
    """Rows whose field is neither empty nor one of the known words; `hint` ends the sentence."""
    wrong = pl.col(field).is_not_null() & ~pl.col(field).is_in(list(valid_words))
    return failing(
        frame,
        table,
        wrong,
        column,
        field,
        lambda t: message(
            "{text!r} is not one of {words}{hint}",
            message_id="cells.other_word",
            text=t,
            words=", ".join(valid_words),
            hint=hint,
        ),
    )


def number_sentence(text: str) -> str:
    """The problem of a text that should be a number.

    >>> number_sentence("3,5")
    "'3,5' has a decimal comma; expected '3.5'"
    """
    integer_part, comma, decimals = text.partition(",")
    if comma and integer_part.lstrip("+-").isdigit() and decimals.isdigit():
        return message(
            "{text!r} has a decimal comma; expected {expected!r}",
            message_id="cells.decimal_comma",
            text=text,
            expected=f"{integer_part}.{decimals}",
        )
    return message("{text!r} is not a number", message_id="cells.no_number", text=text)


def empty_sentence(_text: str = "") -> str:
    """The problem of a cell that needs a text."""
    return message("is empty", message_id="cells.empty")
