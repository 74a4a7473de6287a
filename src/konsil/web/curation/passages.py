"""Texts with places marked in them, as runs that a template writes one after the other.

Letter for letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a text that carries the same marks from its first to its last letter."""

    text: str
    """The letters."""
    start: int
    """The offset of the first one."""
    of: tuple[int, ...] = ()
    """The places in the list of marks of those that it lies in, the outermost first."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report."""

    heading: str
    """Its heading; empty: it has none."""
    text: str
    """What stands under it."""


def runs(text: str, spans: Sequence[tuple[int, int]]) -> list[Run]:
    """The text cut wherever one of these spans begins or ends.

    >>> [(run.text, run.of) for run in runs("fever and cough", [(0, 5)])]
    [('fever', (0,)), (' and cough', ())]
    """
    inside = [(max(0, start), min(end, len(text))) for start, end in spans]
    cuts = sorted(
        {0, len(text), *(cut for start, end in inside if start < end for cut in (start, end))}
    )
    outermost = sorted(range(len(inside)), key=lambda n: (inside[n][0], -inside[n][1], n))
    return [
        Run(text[a:b], a, tuple(n for n in outermost if inside[n][0] <= a and b <= inside[n][1]))
        for a, b in pairwise(cuts)
    ]


def places(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Where these words stand in a text, every time.

    >>> places("AF, then AF again", ["AF"])
    [(0, 2), (9, 11)]
    """
    return sorted(
        match.span() for word in words if word for match in re.finditer(re.escape(word), text)
    )


_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+(?P<hashed>[^\n]{1,80}?)[ \t]*#*|\*\*(?P<bold>[^\n*]{1,80}?):?\*\*:?"
    r"|(?P<plain>[^\n.:;,]{2,60}):)[ \t]*$",
    re.MULTILINE,
)


def sections(text: str) -> list[Section]:
    r"""The parts of a report by its headings.

    A heading is a line that Markdown takes for a heading, or a short line that ends in a colon.

    >>> report = "# Demographics\nA man of 40.\nCourse:\nHe recovered."
    >>> [(section.heading, section.text) for section in sections(report)]
    [('Demographics', 'A man of 40.'), ('Course', 'He recovered.')]
    """
    report_sections: list[Section] = []
    heading, at = "", 0
    for match in _HEADING.finditer(text):
        _close(report_sections, heading, text[at : match.start()])
        heading = (match["hashed"] or match["bold"] or match["plain"]).strip()
        at = match.end()
    _close(report_sections, heading, text[at:])
    return report_sections


def _close(report_sections: list[Section], heading: str, text: str) -> None:
    if heading or text.strip():
        report_sections.append(Section(heading, text.strip("\n")))
