"""The one way of foreign text to the terminal: no control characters, one line, cut."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST = 2_000


def show(text: object, *, longest: int = _LONGEST) -> str:
    r"""Show text that came out of a file: what moves the cursor, changes colours or turns lines is escaped, not sent.

    >>> show("a\x1b[31mb\nc")
    'a\\x1b[31mb c'
    >>> show("x" * 9, longest=5)
    'xxxx… (9 characters)'
    """
    line = re.sub(r"[\t\n\v\f\r\x85\u2028\u2029]+", " ", str(text))
    line = _CONTROL.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 0x100 else f"\\u{ord(m[0]):04x}", line)
    return line if len(line) <= longest else f"{line[: longest - 1]}… ({len(line):,} characters)"
