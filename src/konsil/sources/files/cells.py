"""Cells as text, the same from whichever file they come; decimal commas."""

from __future__ import annotations

import datetime
import json
import math
from itertools import chain

import polars as pl

from konsil.errors import SourceError
from konsil.records.numerals import PATTERNS, Mark
from konsil.records.source import Decimal

# Above it a float no longer tells neighbouring integers apart.
_EXACT = 2.0**53
KEY = "key"
"""The column with the keys of objects that are the records of an object."""


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


def detected_decimal(frame: pl.DataFrame) -> Decimal:
    """The decimal sign of a table's numbers: a comma only where cells settle it.

    A column of numbers alone has one that a point cannot replace: 4,4 and not 1,234.
    """
    for column in frame.get_columns():
        cells = column.drop_nulls()
        if not cells.str.contains(",", literal=True).any():
            continue
        if (
            cells.str.contains(_pattern_of(",")).all()
            and not cells.str.contains(_pattern_of(".")).all()
        ):
            return ","
    return ""


def with_decimal_point(frame: pl.DataFrame, decimal: Decimal) -> pl.DataFrame:
    """The frame with numbers as konsil writes them, in columns that have numbers alone.

    >>> frame = pl.DataFrame({"score": ["4,4", "1.234,5", "3"], "text": ["1,5", "a", "b"]})
    >>> with_decimal_point(frame, ",").rows()
    [('4.4', '1,5'), ('1234.5', 'a'), ('3', 'b')]
    >>> with_decimal_point(pl.DataFrame({"cost": ["1,234", "2"]}), ".").rows()
    [('1234',), ('2',)]
    """
    if not decimal:
        return frame
    numbers = [
        column.name
        for column in frame.get_columns()
        if column.drop_nulls().str.contains(_pattern_of(decimal)).all()
    ]
    of_thousands = "." if decimal == "," else ","
    return frame.with_columns(
        pl.col(numbers)
        .str.replace_all(of_thousands, "", literal=True)
        .str.replace(decimal, ".", literal=True)
    )


def _pattern_of(mark: Mark) -> str:
    return f"^{PATTERNS[mark]}$"


def records_of(value: object, where: str) -> list[dict[str, object]]:
    """The records of an object of objects; none where these are not alike.

    Their keys are in a first column. Objects with the keys 0, 1, 2 ... are columns, as some
    programs write them.

    >>> records_of({"12": {"ann": 1, "ben": 2}, "13": {"ann": 2}}, "t")
    [{'key': '12', 'ann': 1, 'ben': 2}, {'key': '13', 'ann': 2}]
    >>> records_of({"case": {"0": "a", "1": "b"}, "ann": {"0": 1, "1": 2}}, "t")
    [{'case': 'a', 'ann': 1}, {'case': 'b', 'ann': 2}]
    >>> records_of({"settings": {"seed": 1}, "data": {"a": 2}}, "t")
    []
    """
    parts = value if isinstance(value, dict) else {}
    objects = {name: part for name, part in parts.items() if isinstance(part, dict)}
    if len(objects) < max(2, len(parts)):
        return []
    keys = [part.keys() for part in objects.values()]
    names = dict.fromkeys(chain(*keys))
    rows = [str(n) for n in range(len(names))]
    if all([*row] == rows for row in keys):
        return [{name: part[row] for name, part in objects.items()} for row in rows]
    if 2 * len(set.intersection(*map(set, keys))) < len(names):
        return []
    if KEY in names:
        raise SourceError(
            f"{where}: its records have a key {KEY!r}, which is the name of the column for the keys"
            " of the records; rename it"
        )
    return [{KEY: name, **part} for name, part in objects.items()]
