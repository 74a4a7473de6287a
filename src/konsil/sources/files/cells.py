"""One cell as text, the same from whichever file it comes."""

from __future__ import annotations

import datetime
import json
import math

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
