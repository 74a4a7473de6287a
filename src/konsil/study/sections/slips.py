"""Hints for typing errors in TOML.

The parser's report seldom names the actual error.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection

_CURLY = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u00ab\u00bb"
_LINE = re.compile(r"line (\d+)")
_HEADER = re.compile(r"\s*\[\s*([\w.-]+)\s*\]\s*(?:#.*)?")
_STATEMENT = re.compile(r"\s*([\w.-]+)\s*=")
_TRUTH = {
    "true": "true",
    "yes": "true",
    "on": "true",
    "false": "false",
    "no": "false",
    "off": "false",
}


def hint(text: str, error: tomllib.TOMLDecodeError, lists: Collection[str] = ()) -> str:
    """A hint on the probable error in the line, as the end of a sentence.

    Empty where nothing is recognised.

    `lists` are the names that stand in double brackets, since there may be several of each.

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
    if "twice" in str(error) or "overwrite" in str(error) or "immutable" in str(error):
        return _given_twice(lines, number, lists)
    line = lines[number - 1]
    bare = re.sub(r'"(?:[^"\\\\]|\\\\.)*"', "", line)
    if any(sign in bare for sign in _CURLY):
        return f'; line {number} has typographic quotation marks: type straight ones (")'
    if bare.split("#")[0].count('"') % 2:
        return f"; line {number} has a quotation mark without its pair"
    if "\\" in line:
        return (
            f"; line {number} has a backslash: write / in the name of a file, or put the text in"
            " single quotation marks"
        )
    value = re.fullmatch(r"\s*[\w.-]+\s*=\s*([^#]*)", line)
    sentence = (
        _value_hint(number, value[1].strip()) if value is not None else _key_hint(number, line)
    )
    return sentence or _bracket_hint(number, line)


def _value_hint(number: int, value: str) -> str:
    if value.casefold() in _TRUTH and value not in ("true", "false"):
        return f"; line {number}: write {_TRUTH[value.casefold()]} in lower case"
    if re.fullmatch(r"[+-]?\d+,\d+", value):
        return f"; line {number}: use a decimal point: {value.replace(',', '.')}"
    if re.match(r"[^\W\d]", value) and value not in ("true", "false", "inf", "nan"):
        return f'; line {number}: put a text in quotation marks, such as "{value[:40]}"'
    if value.startswith("="):
        return f"; line {number}: write one = between a key and its value"
    if re.fullmatch(r"""[\w.+-]+\s*,|"[^"]*"\s*,""", value):
        return f"; line {number}: no comma follows a value outside brackets"
    if re.fullmatch(r"[+-]?0\d[\d.]*", value):
        return f"; line {number}: a number does not begin with 0"
    return "" if value else f"; line {number}: a value follows the ="


def _key_hint(number: int, line: str) -> str:
    if re.match(r"\s*[\w.-]+\s*:", line):
        return f"; line {number}: write = and not : between a key and its value"
    if re.match(r"\s*[\w.-]+(?: +[\w.-]+)+\s*=", line):
        return f"; line {number}: a key is one word; put quotation marks around one with spaces"
    return ""


def _bracket_hint(number: int, line: str) -> str:
    """Brackets without their pair, and values of a list without a comma between them."""
    texts = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("#")[0]
    header = re.match(r"\s*(\[{1,2})([\w.\s-]+)(\]{0,2})\s*$", texts)
    if header is not None and len(header[1]) != len(header[3]):
        return f"; line {number}: a header has as many ] as ["
    if re.search(r'""\s*""', texts):
        return f"; line {number}: put a comma between two values of a list"
    for opened, closed in ("[]", "{}"):
        n = texts.count(opened) - texts.count(closed)
        if n:
            alone, pair = (opened, closed) if n > 0 else (closed, opened)
            return f"; line {number} has a {alone} without its {pair}"
    return ""


def _given_twice(lines: list[str], number: int, lists: Collection[str]) -> str:
    """A hint on a table or a key that is given twice.

    It names the line whose header has one pair of brackets where several such tables may occur, or
    the key given before.
    """
    for n, line in enumerate(lines, start=1):
        header = _HEADER.fullmatch(line)
        if header is not None and header[1] in lists:
            return (
                f"; line {n}: write [[{header[1]}]] with two brackets on each side, since there may"
                " be several"
            )
    line = lines[number - 1]
    header = _HEADER.fullmatch(line)
    if header is not None:
        return (
            f"; line {number}: [{header[1]}] occurs twice in the file; put its keys into one table"
        )
    statement = _STATEMENT.match(line)
    return (
        f"; line {number} gives {statement[1]} a second time in the same table"
        if statement is not None
        else ""
    )
