"""Cells as text, the same from whichever file they come; decimal commas."""

from __future__ import annotations

import datetime
import json
import math

import polars as pl

from konsil.records.source import Decimal

_DECIMAL_COMMA = r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+\s*$"
_EITHER = r"^\s*[+-]?\d{1,3},\d{3}\s*$"
"""A number that may have a thousands separator or a decimal comma."""
_NUMBER = r"^\s*[+-]?\d+\s*$"
# Above it a float no longer tells neighbouring integers apart.
_EXACT = 2.0**53


def as_text(value: object) -> str | None:
    """The text of one cell; None for an empty one.

    Whole numbers lose their '.0', since spreadsheets and data frames add it where a cell is empty
    elsewhere.

    >>> [as_text(v) for v in (3.0, 2.5, True, "", None, ["a", "b"])]
    ['3', '2.5', 'true', None, None, '["a", "b"]']
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number_text(value)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return _number_text(value.total_seconds())
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _number_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value)


def detected_decimal(frame: pl.DataFrame) -> tuple[Decimal, bool]:
    """The decimal sign of a table's numbers, and whether it is clear.

    A comma where a column has numbers alone, some of them with a comma. It is clear where one of
    these is no number with thousands separators: 4,4 and not 1,234.
    """
    is_clear, has_comma = False, False
    for column in frame.get_columns():
        cells = column.drop_nulls()
        with_comma = cells.str.contains(_DECIMAL_COMMA)
        if not with_comma.any() or not (with_comma | cells.str.contains(_NUMBER)).all():
            continue
        has_comma = True
        is_clear |= not cells.filter(with_comma).str.contains(_EITHER).all()
    return ("," if has_comma else ""), is_clear or not has_comma


def with_decimal_point(frame: pl.DataFrame, decimal: Decimal) -> pl.DataFrame:
    """The frame with numbers as konsil writes them, in columns that have numbers alone.

    >>> frame = pl.DataFrame({"score": ["4,4", "1.234,5", "3"], "text": ["1,5", "a", "b"]})
    >>> with_decimal_point(frame, ",").rows()
    [('4.4', '1,5'), ('1234.5', 'a'), ('3', 'b')]
    """
    if decimal != ",":
        return frame
    numbers = [
        column.name
        for column in frame.get_columns()
        if column.drop_nulls().str.contains(f"{_DECIMAL_COMMA}|{_NUMBER}").all()
    ]
    return frame.with_columns(
        pl.col(numbers).str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    )
