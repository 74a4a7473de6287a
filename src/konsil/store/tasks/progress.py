"""How far everybody is, counted in the database.

No label is read here, and nothing that depends on one.

Tie-breaks come about where two raters disagree: their number is an outcome. They are left out of
every count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import page_schema, schema

UNCOUNTED = ("tiebreak", "adjudication")
"""Purposes of tasks that no count shows: how many there are is an outcome."""


@dataclass(frozen=True, slots=True)
class Count:
    """The tasks of one rater in one cell of the plan."""

    rater: str
    """Whose; empty: nobody's, they lapsed."""
    instrument: str
    """On which instrument."""
    phase: str
    """The phase."""
    batch: str
    """The batch."""
    first: int
    """The first place of the cell in the rater's order of work."""
    tasks: int
    """How many there are."""
    n_completed: int
    """How many were handed in, or rated elsewhere."""


@dataclass(frozen=True, slots=True)
class Handed:
    """One screen that was handed in."""

    rater: str
    """By whom."""
    at: str
    """When last."""
    seconds: float | None
    """How long it took; None where not known."""


def counts(connection: Connection, rater: str = "") -> tuple[Count, ...]:
    """The tasks of every rater, or of one, by cell of the plan, tie-breaks left out."""
    t, s, r = schema.tasks.c, page_schema.screens.c, schema.ratings.c
    rated = sa.select(r.task).where(r.task == t.id).exists()
    completed = sa.case((sa.or_(s.submitted_at.is_not(None), rated), 1), else_=0)
    by = (t.rater, t.instrument, t.phase, t.batch)
    query = (
        sa.select(*by, sa.func.min(t.position), sa.func.count(), sa.func.sum(completed))
        .select_from(schema.tasks.outerjoin(page_schema.screens, s.task == t.id))
        .where(t.purpose.not_in(UNCOUNTED))
        .group_by(*by)
    )
    if rater:
        query = query.where(t.rater == rater)
    cell_counts = (
        Count(who, instrument, phase, batch, int(first), int(tasks), int(completed))
        for who, instrument, phase, batch, first, tasks, completed in connection.execute(query)
    )
    return tuple(
        sorted(cell_counts, key=lambda c: (c.rater, c.first, c.phase, c.batch, c.instrument))
    )


def handed_in(connection: Connection) -> tuple[Handed, ...]:
    """Every screen that was handed in on the pages, in the order of time; tie-breaks left out."""
    t, s = schema.tasks.c, page_schema.screens.c
    query = (
        sa.select(s.rater, s.submitted_at, s.seconds)
        .select_from(page_schema.screens.join(schema.tasks, t.id == s.task))
        .where(
            s.submitted_at.is_not(None),
            t.purpose.not_in(UNCOUNTED),
            t.item.is_not(None),
            t.rater == s.rater,
        )
        .order_by(s.submitted_at, s.task)
    )
    return tuple(Handed(*row) for row in connection.execute(query))


def rated_tasks(connection: Connection, ids: Sequence[str] | None = None) -> frozenset[str]:
    """The tasks that have ratings: which, and not what they say."""
    query = sa.select(schema.ratings.c.task).distinct()
    rows = connection.execute(query if ids is None else query.where(schema.ratings.c.task.in_(ids)))
    return frozenset(row.task for row in rows)


def typical_seconds(connection: Connection, least: int) -> float | None:
    """The median seconds of the screens about items that anybody handed in.

    None below so many of them.
    """
    s, t = page_schema.screens.c, schema.tasks.c
    query = (
        sa.select(s.seconds)
        .select_from(page_schema.screens.join(schema.tasks, t.id == s.task))
        .where(s.submitted_at.is_not(None), s.seconds.is_not(None), t.item.is_not(None))
        .order_by(s.seconds)
    )
    seconds = list(connection.execute(query).scalars())
    return median(seconds) if len(seconds) >= least else None
