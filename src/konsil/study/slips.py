"""Hints for slips that people make in TOML: what the parser reports is seldom what was typed wrong."""

from __future__ import annotations

import re
import tomllib

_CURLY = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u00ab\u00bb"
_LINE = re.compile(r"line (\d+)")


def hint(text: str, error: tomllib.TOMLDecodeError) -> str:
    """What was probably meant in the line of the error, as the end of a sentence; empty where nothing is recognised.

    >>> try:
    ...     tomllib.loads("title = \u201eA study\u201c")
    ... except tomllib.TOMLDecodeError as error:
    ...     hint("title = \u201eA study\u201c", error)
    '; line 1 has typographic quotation marks: type straight ones (")'
    """
    match, lines = _LINE.search(str(error)), text.splitlines()
    number = min(int(match[1]), len(lines)) if match is not None else len(lines)
    if not number:
        return ""
    line = lines[number - 1]
    bare = re.sub(r'"(?:[^"\\\\]|\\\\.)*"', "", line)
    if any(sign in bare for sign in _CURLY):
        return f'; line {number} has typographic quotation marks: type straight ones (")'
    if bare.split("#")[0].count('"') % 2:
        return f"; line {number} has a quotation mark without its pair"
    value = re.fullmatch(r"\s*[\w.-]+\s*=\s*([^\W\d][^#]*)", line)
    if value is not None and value[1].strip() not in ("true", "false", "inf", "nan"):
        return f'; line {number}: a text stands in quotation marks, such as "{value[1].strip()[:40]}"'
    return ""
