"""The protocol's privacy rules: how long personal data are kept, and what is erased."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

AfterErasure = Literal["erase", "keep"]


@dataclass(frozen=True, slots=True)
class Privacy:
    """What the protocol promises about personal data."""

    retention: str = ""
    """The last day on which personal data are kept, as YYYY-MM-DD; empty: not stated."""
    ratings_after_erasure: AfterErasure = "erase"
    """What becomes of the ratings of a rater whose data are erased: erased as well, or kept without
    texts and times."""


def retention_of(privacy: Privacy | None) -> date | None:
    """The last day on which personal data are kept; None where the protocol states none."""
    return (
        date.fromisoformat(privacy.retention) if privacy is not None and privacy.retention else None
    )


def is_over(privacy: Privacy | None, today: date) -> bool:
    """Whether personal data should be gone by now.

    >>> privacy = Privacy("2030-12-31")
    >>> is_over(privacy, date(2030, 12, 31)), is_over(privacy, date(2031, 1, 1))
    (False, True)
    """
    last = retention_of(privacy)
    return last is not None and today > last


def keeps_ratings(privacy: Privacy | None) -> bool:
    """Whether the ratings of a rater stay when all else about the rater is erased."""
    return privacy is not None and privacy.ratings_after_erasure == "keep"


def privacy_problems(privacy: Privacy, where: str) -> Iterator[str]:
    """Problems of the privacy rules, one sentence each."""
    if not privacy.retention:
        return
    try:
        is_day = date.fromisoformat(privacy.retention).isoformat() == privacy.retention
    except ValueError:
        is_day = False
    if not is_day:
        yield (
            f"{where}.retention: {privacy.retention[:80]!r} is not a date; expected one such as"
            ' "2035-12-31"'
        )
