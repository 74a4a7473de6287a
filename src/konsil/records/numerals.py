"""Numbers in texts: what a number is in a cell or label, and the order of numbered identifiers.

`1.5` and `1,5` are the same number. `1,234` is a thousand or a decimal number: another cell decides
which, or it is no number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

Mark = Literal[".", ","]
"""The decimal mark."""

_OTHER: Mapping[Mark, Mark] = {".": ",", ",": "."}
MINUS = "\u2212"
"""The minus sign that some programs write."""


def _pattern(mark: Mark) -> str:
    point, group, sign = re.escape(mark), re.escape(_OTHER[mark]), f"[+{MINUS}-]?"
    digits = rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)"
    return rf"\s*{sign}(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE]{sign}[0-9]+)?\s*"


PATTERNS: Mapping[Mark, str] = {mark: _pattern(mark) for mark in _OTHER}
"""Decimal mark -> the whole text of a number, as Python and Polars understand it."""
GROUPED: Mapping[Mark, str] = {
    mark: rf"\s*[+{MINUS}-]?[1-9][0-9]{{0,2}}{re.escape(mark)}[0-9]{{3}}\s*" for mark in _OTHER
}
"""Mark -> texts in which it may separate decimals or thousands."""

_NUMBER = {mark: re.compile(pattern) for mark, pattern in PATTERNS.items()}


def is_number(text: str, mark: Mark | None = None) -> bool:
    """Whether a text is a number: with this decimal mark, or with one of both.

    >>> is_number("4.5"), is_number("4,5"), is_number("1.234,5"), is_number("-1e-3")
    (True, True, True, True)
    >>> is_number("4,5", "."), is_number("1,234", "."), is_number("1-2"), is_number("nan")
    (False, True, False, False)
    """
    return any(_NUMBER[m].fullmatch(text) for m in ((mark,) if mark else _NUMBER))


def number_of(text: str, mark: Mark = ".") -> float:
    """The number that a text is with this decimal mark.

    >>> number_of("1,234.5"), number_of("1.234,5", ","), number_of("4,5", ",")
    (1234.5, 1234.5, 4.5)

    Raises:
        ValueError: the text is no such number.
    """
    if not is_number(text, mark):
        raise ValueError(text)
    plain = text.strip().replace(MINUS, "-").replace(_OTHER[mark], "").replace(mark, ".")
    # Minus zero, which programs write after a multiplication by -1, is zero.
    return float(plain) + 0.0


def _marks(texts: Iterable[str]) -> set[Mark]:
    """The marks that some texts cannot have but as decimal marks."""
    possible = (
        [mark for mark in _NUMBER if is_number(text, mark)]
        for text in texts
        if "," in text or "." in text
    )
    return {marks[0] for marks in possible if len(marks) == 1}


def decimal_mark(texts: Collection[str]) -> Mark | None:
    """The decimal mark of numbers; None where no cell settles whether 1,234 is a thousand.

    A point is decimal unless another cell excludes it: 1.234 is as usual below two.

    >>> decimal_mark(["4,4", "1,234"]), decimal_mark(["1,234", "2"]), decimal_mark(["1.5", "1,234"])
    (',', None, '.')
    """
    settled = _marks(texts)
    if len(settled) == 1:
        return settled.pop()
    is_open = not settled and any("," in text and is_number(text) for text in texts)
    return None if is_open else "."


def far_thousand(texts: Collection[str]) -> str | None:
    """A number that, with its comma between thousands, is a hundred times as large as all others.

    >>> far_thousand(["3.2", "4,693"]), far_thousand(["812", "4,693"]), far_thousand(["3,2"])
    ('4,693', None, None)
    """
    grouped = [text for text in texts if re.fullmatch(GROUPED[","], text)]
    others = [abs(number_of(text)) for text in texts if "," not in text and is_number(text, ".")]
    if not grouped or not others:
        return None
    least = min(grouped, key=lambda text: abs(number_of(text)))
    return least if abs(number_of(least)) > 100 * max(others) else None


def may_be_thousands(texts: Collection[str], separator: str) -> bool:
    """Whether points may separate thousands in the numbers of a text with this separator.

    All have three digits behind their point, and others without one are larger; or a semicolon
    separates cells, as where a comma is the decimal sign.

    >>> may_be_thousands(["1.234", "812"], ","), may_be_thousands(["1.234", "1.5", "812"], ",")
    (True, False)
    >>> may_be_thousands(["1.234", "1"], ","), may_be_thousands(["1.234", "1"], ";")
    (False, True)
    """
    pointed = [text for text in texts if "." in text]
    pattern = re.compile(GROUPED["."])
    if not pointed or not all(map(pattern.fullmatch, pointed)):
        return False
    largest = max(abs(number_of(text)) for text in pointed)
    others = (abs(number_of(text)) for text in texts if "." not in text and is_number(text, "."))
    return separator == ";" or any(number > largest for number in others)


def own_numbers(texts: Sequence[str]) -> tuple[float | None, ...]:
    """The number that each text is; None of a text that is none, or that may be two.

    Texts that only one mark fits have their own, also where they differ: 1.5 beside 2,5. 1,234 is
    a number only beside a text that settles it. Too large ones are none.

    >>> own_numbers(("1", "4.0", "-1", "\u22120,5", "2e1")), own_numbers(("yes", "nan", ""))
    ((1.0, 4.0, -1.0, -0.5, 20.0), (None, None, None))
    >>> own_numbers(("1,234", "2")), own_numbers(("1,234", "1,5")), own_numbers(("1,234", "1.5"))
    ((None, 2.0), (1.234, 1.5), (1234.0, 1.5))
    """
    settled = _marks(texts)
    mark = settled.pop() if len(settled) == 1 else None
    return tuple(_number(text, mark) for text in texts)


def _number(text: str, settled: Mark | None) -> float | None:
    marks = [mark for mark in _NUMBER if is_number(text, mark)]
    if not marks or (len(marks) > 1 and "," in text and settled is None):
        return None
    number = number_of(text, settled if settled in marks else marks[0])
    return number if math.isfinite(number) else None


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key in the order in which people read identifiers: item 2 before item 10.

    >>> sorted(["rater-10", "rater-9", "judge"], key=natural)
    ['judge', 'rater-9', 'rater-10']
    """
    return tuple(
        (0, int(p), "") if p.isdigit() and p.isascii() else (1, 0, p)
        for p in re.split(r"([0-9]+)", text)
    )
