"""Lists of raters read as people number them."""

from __future__ import annotations

from konsil.store.tasks.progress import Count
from konsil.web.office.pace import paces


def test_physician_10_comes_after_physician_9_in_the_office():
    counts = [
        Count(
            rater=f"physician-{n}",
            phase="",
            batch="",
            instrument="f",
            tasks=1,
            n_completed=0,
            first=0,
        )
        for n in (10, 9, 1)
    ]
    assert [p.rater for p in paces(counts, (), "2026-01-01T00:00:00Z")] == [
        "physician-1",
        "physician-9",
        "physician-10",
    ]
