"""Time of ratings against the freeze of the analysis plan.

They were given before the freeze, after it, or at a time that was not recorded.
"""

from __future__ import annotations

import sqlalchemy as sa

from konsil.store.engine import engine, schema
from konsil.store.log.db import Store
from konsil.study.data.plan_status import Timing


def timings(store: Store, freeze: str, at: str) -> tuple[Timing, ...]:
    """Ratings by criterion and rater and by when they were given.

    The times are compared with the freeze of this event at this time.

    A rating that stood under an earlier entry of the log was there before; of any other, its own
    time decides, and the freeze itself where both came in with one import. A rating that was
    corrected counts with its first version. Practice and pilot are left out.
    """
    r, v, t, e = schema.ratings.c, schema.revisions.c, schema.tasks.c, schema.events.c
    first = sa.and_(*(v[n] == r[n] for n in schema.RATING_KEY), v.revision == 1)
    entry = sa.func.coalesce(v.entry, r.entry)
    rated_at = sa.func.coalesce(v.at, r.at)
    frozen = sa.select(e.entry).where(e.id == freeze).scalar_subquery()
    when = sa.case(
        (entry < frozen, "before"),
        (rated_at == "", "unknown"),
        (rated_at < at, "before"),
        else_="after",
    ).label("when")
    joined = schema.ratings.outerjoin(schema.revisions, first).outerjoin(
        schema.tasks, t.id == r.task
    )
    query = (
        sa.select(r.criterion, r.rater, when, sa.func.count())
        .select_from(joined)
        .where(sa.or_(t.purpose.is_(None), t.purpose.not_in(["practice", "pilot", "adjudication"])))
        .group_by(r.criterion, r.rater, sa.text("3"))
    )
    counts: dict[tuple[str, str], dict[str, int]] = {}
    with engine.reading(store.engine) as connection:
        for criterion, rater, word, n in connection.execute(query):
            counts.setdefault((criterion, rater), {})[word] = n
    return tuple(
        Timing(*key, n.get("before", 0), n.get("unknown", 0), n.get("after", 0))
        for key, n in sorted(counts.items())
    )
