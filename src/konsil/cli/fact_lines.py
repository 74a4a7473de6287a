"""Lines of a term and what is known of it, as commands that explain something print them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

WIDTH = 100
"""Columns of an explanation, whatever the terminal's width: it is the same in every document."""


def fact_lines(facts: Mapping[str, str]) -> Iterator[str]:
    """Each fact under its title, indented below the longest title; empty facts are left out.

    >>> list(fact_lines({"default": "0", "one of": ""}))
    ['  default: 0']
    """
    indent = max(map(len, facts), default=0) + 4
    for title, text in facts.items():
        yield from textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"  {title + ':':<{indent - 2}}",
            subsequent_indent=" " * indent,
        )
