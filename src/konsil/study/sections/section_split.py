"""Replies with separate headings for reasoning and final response, split into both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache


def parted(text: str, sections: Sequence[str]) -> tuple[str, str]:
    r"""The reasoning and the final response of a reply.

    Without the final heading the complete reply is the response.

    A heading stands at the beginning of a line, in any case, with or without signs of Markdown, a
    number, and a colon; after it the section may begin on the same line. The last final heading
    counts, since a reasoning may speak of it before. What stands before the first heading is
    reasoning, too. A final heading with nothing after it is none.

    >>> headings = ("Thinking", "Final response")
    >>> parted("## Thinking\nFever, an infection.\n\n**Final response:** Influenza.", headings)
    ('Fever, an infection.', 'Influenza.')
    >>> parted("Influenza.", headings)
    ('', 'Influenza.')
    """
    if not sections:
        return "", text
    reasoning, final = map(_heading, sections)
    ends = [m for m in final.finditer(text) if text[m.end() :].strip()]
    if not ends:
        return "", text
    before = reasoning.sub("", text[: ends[-1].start()], count=1)
    return before.strip(), text[ends[-1].end() :].strip()


@cache
def _heading(name: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in name.strip(" #*:_").split())
    # Not in the middle of a sentence: after the words comes the end of the line, or a character
    # that ends a heading.
    number = r"(?:\d+[.)][ \t]*)?"
    return re.compile(
        rf"^[ \t]*(?:#+[ \t]*)?{number}[*_]*{number}{words}[ \t]*(?:[*_]*[:：][*_]*|[*_]*["
        r" \t\r]*$)[ \t]*",
        re.IGNORECASE | re.MULTILINE,
    )
