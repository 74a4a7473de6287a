"""A cell with the sources that an answer cites -> citations: a JSON list, or a source a line."""

from __future__ import annotations

import json
import re

from konsil.records import Citation

_ADDRESS = re.compile(r"(?:^|\s)(https?://\S+)\s*$", re.IGNORECASE)
EXPECTED = (
    "expected one source per line with its address at the end, or a JSON list of texts and of"
    ' {"title": ..., "url": ...}'
)


def cited(cell: str) -> tuple[Citation, ...]:
    """Read a cell; a ValueError says that it is none of what is expected.

    >>> cited("ESC guideline 2024 https://example.org/esc")
    (Citation(title='ESC guideline 2024', url='https://example.org/esc'),)
    >>> cell = '[{"title": "Trial", "url": "https://example.org/t"}, "https://example.org/u"]'
    >>> cited(cell)[1].title
    'https://example.org/u'
    """
    text = cell.strip()
    if text.startswith(("[{", '["', "[]", "[ ")):
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(EXPECTED) from None
        return tuple(_citation(source) for source in listed)
    return tuple(_line(line.strip()) for line in text.splitlines() if line.strip())


def _citation(source: object) -> Citation:
    if isinstance(source, str) and source.strip():
        return _line(source.strip())
    if isinstance(source, dict) and set(source) <= {"title", "url"}:
        title, url = source.get("title") or "", source.get("url") or ""
        if isinstance(title, str) and isinstance(url, str) and (title.strip() or url.strip()):
            return Citation(title.strip() or url.strip(), url.strip())
    raise ValueError(EXPECTED)


def _line(line: str) -> Citation:
    address = _ADDRESS.search(line)
    if address is None:
        return Citation(line)
    title = line[: address.start()].strip()
    return Citation(title or address[1], address[1])
