"""Screens as they were handed in, with their labels: what signs of haste are looked for in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import page_schema, schema

Look = tuple[str, str, str, float | None, str, str | None, bool]
"""Rater, task, instrument, seconds, criterion, label (None: abstained), whether two answers were
shown the other way.

A comparison is stored in the order of its answers' identifiers, in which are the names of systems.
"""


def looks(connection: Connection) -> Iterator[Look]:
    """Every rating of a screen of the pages, rater by rater.

    Ratings are in the order in which screens were handed in.
    """
    t, s, r = schema.tasks.c, page_schema.screens.c, schema.ratings.c
    joined = page_schema.screens.join(schema.tasks, t.id == s.task).join(
        schema.ratings, r.task == s.task
    )
    query = (
        sa.select(
            s.rater,
            s.task,
            t.instrument,
            s.seconds,
            r.criterion,
            r.label,
            t.answers,
            r.answers,
            r.span,
        )
        .select_from(joined)
        .where(s.submitted_at.is_not(None), t.item.is_not(None), t.rater == s.rater)
        .order_by(s.rater, s.submitted_at, t.position, s.task, r.criterion, r.span)
    )
    for _, screen in groupby(connection.execute(query), key=lambda row: row[:2]):
        ratings = []
        for *look, criterion, label, shown, answers, span in screen:
            order = json.loads(shown)
            places = [
                order.index(answer) if answer in order else len(order)
                for answer in json.loads(answers)
            ]
            ratings.append(
                (
                    criterion,
                    sorted(places),
                    span or "",
                    (*look, criterion, label, places != sorted(places)),
                )
            )
        yield from (look for *_, look in sorted(ratings, key=lambda rating: rating[:3]))
