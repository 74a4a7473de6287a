"""Whether a comma or a point is the decimal sign of a table's ratings, where cells do not say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import polars as pl

from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.reading import TableReading
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, message
from konsil.records.numerals import decimal_mark, far_thousand, is_number, may_be_thousands


def unclear_marks(
    frame: pl.DataFrame, reading: TableReading, separator: str
) -> Iterator[TranslatableMessage]:
    """Numbers of a text that a point may separate into thousands, as in 1.234 beside 812."""
    for name in _with_thousands(frame, reading, separator)[:1]:
        cell = next(text for text in _numbers(frame, name) if "." in text)
        yield message(
            "{column}: {cell} can be a thousand or a decimal number: state the decimal sign, a"
            " comma or a point, with {decimal}.",
            message_id="roles.decimal_point",
            column=shortened(name),
            cell=repr(cell),
            decimal=option("decimal"),
        )


def far_thousands(
    frame: pl.DataFrame, reading: TableReading, separator: str
) -> Iterator[TranslatableMessage]:
    """A number that is far from all others, as its comma separates thousands beside points."""
    rated = [name for name in reading.rated if separator and name in frame.columns]
    numbers = {name: _numbers(frame, name) for name in rated}
    texts = [*chain.from_iterable(numbers.values())]
    cell = far_thousand(texts) if decimal_mark(texts) == "." else None
    if cell is not None:
        yield message(
            "{column}: {cell} is {thousand}, more than a hundred times all other numbers: if it is"
            " {decimal}, write it so; {point} states that it is {thousand}.",
            message_id="roles.far_thousand",
            column=shortened(next(name for name in rated if cell in numbers[name])),
            cell=repr(cell),
            thousand=cell.replace(",", ""),
            decimal=cell.replace(",", "."),
            point=option("decimal", "."),
        )


def decimal_sign(frame: pl.DataFrame, reading: TableReading, separator: str) -> tuple[str, ...]:
    """The decimal sign of a text in whose numbers points or commas may separate thousands."""
    if _with_thousands(frame, reading, separator):
        return (",",)
    texts = [_numbers(frame, name) for name in reading.rated if separator and name in frame.columns]
    if not any(decimal_mark(numbers) is None for numbers in texts):
        return ()
    # Where commas separate no cells, they are the decimals' more often than the thousands'; and a
    # rating is near the others.
    is_far = far_thousand([*chain.from_iterable(texts)]) is not None
    return ("." if separator == "," and not is_far else ",",)


def _with_thousands(frame: pl.DataFrame, reading: TableReading, separator: str) -> list[str]:
    """The columns of ratings in which points may separate thousands."""
    rated = [name for name in reading.rated if separator and name in frame.columns]
    by_name = {name: _numbers(frame, name) for name in rated}
    if not may_be_thousands([*chain.from_iterable(by_name.values())], separator):
        return []
    return [name for name in rated if any("." in text for text in by_name[name])]


def _numbers(frame: pl.DataFrame, name: str) -> list[str]:
    """The different cells of a column that are numbers, in the order of the rows."""
    cells = (str(v).strip() for v in frame[name].drop_nulls().unique(maintain_order=True))
    return [cell for cell in cells if is_number(cell)]
