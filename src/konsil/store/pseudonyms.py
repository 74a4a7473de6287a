"""Names that mean nothing without the key, and strata that point at nobody."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from konsil.errors import StoreError
from konsil.records import Rater

SUPPRESSED = "(suppressed)"
"""What stands for a stratum that too few raters share."""
_LEAST_KEY = 16


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Keyed pseudonyms: the same key gives the same names, without it nobody can go back or guess.

    HMAC-SHA256 of the kind and the identifier, cut to 80 bits in base 32. Sorted by pseudonym, the order of the
    identifiers is gone.
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
        mac = hmac.digest(self.key, f"{kind}\0{identifier}".encode(), hashlib.sha256)
        return f"{kind[0]}-{base64.b32encode(mac[:10]).decode().lower()}"


def mentions(text: str, identifiers: Iterable[str]) -> bool:
    """Whether a text names one of the identifiers as a word of its own: 'batch-R1' names 'R1', 'R12' does not."""
    return any(re.search(rf"(?<![0-9A-Za-z]){re.escape(i)}(?![0-9A-Za-z])", text) for i in identifiers if i)


def coarsened(raters: Sequence[Rater], k: int) -> dict[str, dict[str, str]]:
    """Give each rater's strata with every value suppressed that fewer than k raters of the panel share.

    Where the suppressed ones are fewer than k themselves, the rarest of the remaining values joins them: a single
    rater marked "(suppressed)" would be as recognisable as before. Each column is looked at on its own.
    """
    found: dict[str, dict[str, str]] = {rater.id: {} for rater in raters}
    panels: dict[str, list[Rater]] = defaultdict(list)
    for rater in raters:
        panels[rater.panel].append(rater)
    columns = sorted({column for rater in raters for column in rater.strata})
    for members in panels.values():
        for column in columns:
            hidden = _hidden(Counter(r.strata.get(column) for r in members), k)
            for rater in members:
                value = rater.strata.get(column)
                found[rater.id][column] = SUPPRESSED if value in hidden else (value or "")
    return found


def _hidden(counts: Mapping[str | None, int], k: int) -> set[str | None]:
    """Choose the values to suppress: the rare ones, and then more until the suppressed are none or at least k."""
    ascending = sorted(counts, key=lambda value: (counts[value], value is not None, value or ""))
    hidden: set[str | None] = set()
    together = 0
    for value in ascending:
        if counts[value] >= k and (together == 0 or together >= k):
            break
        hidden.add(value)
        together += counts[value]
    return hidden
