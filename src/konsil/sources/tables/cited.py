"""A cell with the sources that an answer cites -> citations: a JSON list, or a source a line."""

from __future__ import annotations

import json
import re

from konsil.records import Citation

_ADDRESS = re.compile(r"(?:^|\s)(https?://\S+)\s*$", re.IGNORECASE)
EXPECTED = (
    'expected a source a line, its address at the end, or a JSON list of texts and of {"title":'
    ' ..., "url": ...}'
)


def cited(cell: str) -> tuple[Citation, ...]:
    """Read a cell; a ValueError says that it is none of what is expected.

    >>> cited("ESC guideline 2024 https://example.org/esc")
    (Citation(title='ESC guideline 2024', url='https://example.org/esc'),)
    >>> cited('[{"title": "Trial", "url": "https://example.org/t"}, "https://example.org/u"]')[1].title
    'https://example.org/u'
    """
    text = cell.strip()
    if text.startswith(("[{", '["', "[]", "[ ")):
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(EXPECTED) from None
        return tuple(_citation(one) for one in listed)
    return tuple(_line(line.strip()) for line in text.splitlines() if line.strip())


def _citation(one: object) -> Citation:
    if isinstance(one, str) and one.strip():
        return _line(one.strip())
    if isinstance(one, dict) and set(one) <= {"title", "url"}:
        title, url = one.get("title") or "", one.get("url") or ""
        if isinstance(title, str) and isinstance(url, str) and (title.strip() or url.strip()):
            return Citation(title.strip() or url.strip(), url.strip())
    raise ValueError(EXPECTED)


def _line(line: str) -> Citation:
    found = _ADDRESS.search(line)
    if found is None:
        return Citation(line)
    title = line[: found.start()].strip()
    return Citation(title or found[1], found[1])
