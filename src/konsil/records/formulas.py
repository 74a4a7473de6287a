"""Texts that a spreadsheet would take for formulas: one rule for every CSV file of ours."""

from __future__ import annotations

import re

FORMULA = r"^'*[=+\-@\t\r\n＝＋－＠]"
"""How a cell begins that is taken for a formula, after any apostrophes that we would have put there
ourselves."""
NUMBER = r"^[+-][0-9]+(\.[0-9]+)?$"
"""A signed number is no formula: the label -1 of a scale stays readable as a number."""

_FORMULA, _NUMBER = re.compile(FORMULA), re.compile(NUMBER)


def harmless(text: str) -> str:
    """The text of a cell, with an apostrophe in front where a spreadsheet would calculate it.

    >>> harmless("=1+1"), harmless("-1"), harmless("a=1")
    ("'=1+1", '-1', 'a=1')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text
