"""Numbers as people type them: read in one way only, or queried.

static/rating.js reads them by the same rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLAIN = re.compile(r"([+-]?)([0-9]*)(?:([.,])([0-9]*))?")
_GROUPED = re.compile(
    r"([+-]?)([1-9][0-9]{0,2}([ \u00a0\u2009\u202f'’.,])[0-9]{3}(?:\3[0-9]{3})*)(?:([.,])([0-9]+))?"
)


@dataclass(frozen=True, slots=True)
class TypedNumber:
    """A typed text as a number."""

    number: str = ""
    """The number with a decimal point and without other separators; empty: the text is no number,
    or is ambiguous."""
    grouped: str = ""
    """Of an ambiguous text: how to write what it means if its separator groups thousands."""
    decimal: str = ""
    """Of an ambiguous text: how to write what it means if its separator is a decimal one, with a
    point."""


def read_number(text: str) -> TypedNumber:
    """Read a typed number.

    1.000 and 1,234 are a thousand here and one there, and are not guessed at.

    Powers of ten, hexadecimal numbers and the like are no numbers here.

    >>> texts = ("40", "1,5", "-0.125", "1 000", "1.000,5", "1,000,000", "1e2", "0x10", "")
    >>> [read_number(text).number for text in texts]
    ['40', '1.5', '-0.125', '1000', '1000.5', '1000000', '', '', '']
    >>> read_number("1.000")
    TypedNumber(number='', grouped='1000', decimal='1.0')
    >>> read_number("1,125")
    TypedNumber(number='', grouped='1125', decimal='1.1250')
    """
    typed = text.strip().replace("\u2212", "-")
    plain = _PLAIN.fullmatch(typed)
    if plain is not None and (plain[2] or plain[4]):
        sign, head, tail = plain[1].replace("+", ""), plain[2] or "0", plain[4] or ""
        if len(tail) == 3 and len(head) <= 3 and not head.startswith("0"):
            decimals = tail.rstrip("0") or "0"
            return TypedNumber(
                "",
                sign + head + tail,
                f"{sign}{head}.{decimals if len(decimals) < 3 else decimals + '0'}",
            )
        return TypedNumber(f"{sign}{head}.{tail}" if tail else sign + head)
    grouped = _GROUPED.fullmatch(typed)
    if grouped is None or grouped[3] == grouped[4]:
        return TypedNumber()
    digits = grouped[2].replace(grouped[3], "")
    return TypedNumber(
        grouped[1].replace("+", "") + (f"{digits}.{grouped[5]}" if grouped[5] else digits)
    )
