"""A preregistration text as Markdown, which web forms take."""

from __future__ import annotations

import re

from konsil.report.manuscript.blocks import Heading, Manuscript, Paragraph


def markdown(text: Manuscript) -> str:
    """A manuscript of headings and paragraphs."""
    lines = [f"# {_escaped(text.title)}"]
    for block in text.blocks:
        if isinstance(block, Heading):
            lines.append(f"{'#' * (block.level + 1)} {_escaped(block.text)}")
        elif isinstance(block, Paragraph):
            lines.append(
                f"> **{_escaped(block.text)}**" if block.is_notice else _escaped(block.text)
            )
    return "\n\n".join(lines) + "\n"


_SPECIAL = re.compile(r"([\\`*_<>])")
_LINE_START = re.compile(r"^(#|[+-] |\d+\.)")


def _escaped(text: str) -> str:
    r"""Text that Markdown shows as it is, with as few marks as will do for a web form.

    >>> print(_escaped("# a_b [c]"))
    \# a\_b [c]
    """
    return _LINE_START.sub(r"\\\1", _SPECIAL.sub(r"\\\1", " ".join(text.split())))
