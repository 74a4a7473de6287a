"""How the columns of a table share its width."""

from __future__ import annotations

from konsil.report.material.tables import Table

_MOST = 44
"""Characters that a column of texts asks for at most; longer texts have several lines."""


_BOLD = 1.2
"""How much wider the bold letters of a head are."""
_UPRIGHT, _SMALL = 106.0, 124.0
"""Characters of a line of a table on an upright page, in letters of 9 points and of 8."""


def column_shares(shown: Table) -> list[float]:
    """The share of each column, by its longest cell and the longest word of its head."""
    characters = _characters(shown)
    return [width / sum(characters) for width in characters]


def is_wide(shown: Table) -> bool:
    """Whether the table needs a page on its side."""
    return sum(_characters(shown)) > _SMALL


def points(shown: Table) -> int:
    """The size of a table's letters: smaller ones where that saves a page on its side."""
    return 8 if _UPRIGHT < sum(_characters(shown)) <= _SMALL else 9


def _characters(shown: Table) -> list[float]:
    """The characters that each column asks for."""
    characters = []
    for n, head in enumerate(shown.head):
        cells = [row[n].text for row in shown.rows]
        longest = max(map(len, cells), default=0)
        least = _BOLD * max(map(len, (*head.text.split(), "four")))
        needed = longest if head.number else min(longest, _MOST)
        characters.append(float(max(needed, least) + 2))
    return characters
