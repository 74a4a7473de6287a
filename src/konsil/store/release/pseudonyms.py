"""Names that mean nothing without the key, and strata that point at nobody."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from konsil.errors import StoreError
from konsil.records import Rater

SUPPRESSED = "(suppressed)"
"""What stands for a stratum that too few raters share."""
_LEAST_KEY = 16


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Keyed pseudonyms: the same key gives the same names.

    Without it a name cannot be computed from an identifier.

    Other columns of a row can still identify the person: see `release_tables` for the order and
    repeats of tasks.

    HMAC-SHA256 of the kind and the identifier, cut to 80 bits in base 32. Sorted by pseudonym, the
    order of the identifiers is gone.
    """

    key: bytes
    """The secret; at least 16 bytes, kept by whoever may go back."""

    def __post_init__(self) -> None:
        if len(self.key) < _LEAST_KEY:
            raise StoreError(
                f"key: expected at least {_LEAST_KEY} secret bytes, got {len(self.key)};"
                " short keys can be found by trying"
            )

    def name(self, kind: str, identifier: str) -> str:
        """Give the pseudonym of an identifier: the kind's first letter and sixteen characters."""
        # Eighty bits: short in a table, and no two of a million persons coincide.
        mac = hmac.digest(self.key, f"{kind}\0{identifier}".encode(), hashlib.sha256)
        return f"{kind[0]}-{base64.b32encode(mac[:10]).decode().lower()}"


def mentions(text: str, identifiers: Iterable[str]) -> bool:
    """Whether a text names one of the identifiers as a word of its own.

    'batch-R1' names 'R1', 'R12' does not.
    """
    return any(
        re.search(rf"(?<![0-9A-Za-z]){re.escape(i)}(?![0-9A-Za-z])", text) for i in identifiers if i
    )


def coarsened(raters: Sequence[Rater], k: int) -> dict[str, dict[str, str]]:
    """Give each rater's strata with values suppressed.

    Afterwards k raters of the panel share all that is left.

    All columns are looked at together: every combination of panel and shown values belongs to k
    raters or more. Only in a panel of fewer than k raters this is impossible; all its values are
    suppressed.

    >>> panel = [
    ...     Rater(str(n), "p", strata={"sex": "f", "years": y})
    ...     for n, y in enumerate(("5", "5", "20", "30"))
    ... ]
    >>> [shown["years"] for shown in coarsened(panel, 2).values()]
    ['5', '5', '(suppressed)', '(suppressed)']
    """
    columns = sorted({column for rater in raters for column in rater.strata})
    shown = {r.id: {c: r.strata.get(c) or "" for c in columns} for r in raters}
    panels: dict[str, list[dict[str, str]]] = defaultdict(list)
    for rater in raters:
        panels[rater.panel].append(shown[rater.id])
    for members in panels.values():
        _suppress(members, columns, k)
    return shown


def _suppress(members: Sequence[dict[str, str]], columns: Sequence[str], k: int) -> None:
    """Suppress values in place.

    Of rare combinations one column after the other, the most diverse one first.
    """
    rare = [row for group in _classes(members, columns) if len(group) < k for row in group]
    remaining = list(columns)
    while rare and remaining:
        column = max(remaining, key=lambda c: (len({row[c] for row in rare}), c))
        remaining.remove(column)
        for row in rare:
            row[column] = SUPPRESSED
        # Only those that are alike now: joining an untouched class would leave that one as it is.
        rare = [row for group in _classes(rare, columns) if len(group) < k for row in group]
    if rare and len(rare) < k:
        hidden = {id(row) for row in rare}
        others = sorted((g for g in _classes(members, columns) if id(g[0]) not in hidden), key=len)
        for group in others:
            for row in group:
                row.update(dict.fromkeys(columns, SUPPRESSED))
            rare += group
            if len(rare) >= k:
                break


def _classes(rows: Sequence[dict[str, str]], columns: Sequence[str]) -> list[list[dict[str, str]]]:
    """Rows that show the same values, in the order of these values."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[c] for c in columns)].append(row)
    return [groups[values] for values in sorted(groups)]
