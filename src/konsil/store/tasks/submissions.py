"""Screens as they were handed in, with their labels: what signs of haste are looked for in."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import page_schema, schema

Look = tuple[str, str, str, float | None, str, str | None]
"""Rater, task, instrument, seconds, criterion, label (None: abstained)."""


def looks(connection: Connection) -> Iterator[Look]:
    """Every rating of a screen of the pages, rater by rater.

    Ratings are in the order in which screens were handed in.
    """
    t, s, r = schema.tasks.c, page_schema.screens.c, schema.ratings.c
    joined = page_schema.screens.join(schema.tasks, t.id == s.task).join(
        schema.ratings, r.task == s.task
    )
    query = (
        sa.select(s.rater, s.task, t.instrument, s.seconds, r.criterion, r.label)
        .select_from(joined)
        .where(s.submitted_at.is_not(None), t.item.is_not(None), t.rater == s.rater)
        .order_by(s.rater, s.submitted_at, s.task, r.criterion, r.answers, r.span)
    )
    yield from (tuple(row) for row in connection.execute(query))
