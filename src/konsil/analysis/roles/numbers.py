"""What a number is in a cell: with a decimal point or comma, and whether that is settled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

Mark = Literal[".", ","]
"""The decimal mark."""

_OTHER: dict[Mark, Mark] = {".": ",", ",": "."}
_NUMBER: dict[Mark, re.Pattern[str]] = {
    mark: re.compile(
        rf"[+-]?(\d+|\d{{1,3}}({re.escape(_OTHER[mark])}\d{{3}})+|(?={re.escape(mark)}\d))"
        rf"({re.escape(mark)}\d+)?([eE][+-]?\d+)?"
    )
    for mark in _OTHER
}


def is_number(text: str, mark: Mark | None = None) -> bool:
    """Whether a text is a number: with this decimal mark, or with one of both.

    >>> is_number("4.5"), is_number("4,5"), is_number("1.234,5"), is_number("-1e-3")
    (True, True, True, True)
    >>> is_number("4,5", "."), is_number("1,234", "."), is_number("1-2"), is_number("nan")
    (False, True, False, False)
    """
    text = text.strip()
    marks = (mark,) if mark else tuple(_NUMBER)
    return any(_NUMBER[m].fullmatch(text) for m in marks)


def number_of(text: str, mark: Mark = ".") -> float:
    """The number that a text is with this decimal mark.

    >>> number_of("1,234.5"), number_of("1.234,5", ","), number_of("4,5", ",")
    (1234.5, 1234.5, 4.5)

    Raises:
        ValueError: the text is no such number.
    """
    if not is_number(text, mark):
        raise ValueError(text)
    return float(text.strip().replace(_OTHER[mark], "").replace(mark, "."))


def decimal_mark(texts: Iterable[str]) -> Mark | None:
    """The decimal mark of numbers; None where no cell settles whether 1,234 is a thousand.

    A point is decimal unless another cell excludes it: 1.234 is as usual below two.

    >>> decimal_mark(["4,4", "1,234"]), decimal_mark(["1,234", "2"]), decimal_mark(["1.5", "1,234"])
    (',', None, '.')
    """
    cells = [text for text in texts if "," in text or "." in text]
    possible = [mark for mark in _NUMBER if all(is_number(cell, mark) for cell in cells)]
    if len(possible) == 2 and any("," in cell for cell in cells):
        return None
    return possible[0] if possible else "."
