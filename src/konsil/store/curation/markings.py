"""Markings of cases, as events.

The last one of a case counts, and of two at once the second is refused.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.prepare import SAMPLING, last_drawn, last_screened
from konsil.prepare.cases.marking import MARKING, Marking, last_markings, marking_event
from konsil.store.curation import pool
from konsil.store.engine import schema
from konsil.store.log import audit, study_events


def to_be_marked(connection: Connection) -> list[str]:
    """The cases that nobody screened out and that were drawn, where a draw was made; sorted."""
    screened = last_screened(pool.decision_events(connection))[1]
    out = screened.reasons() if screened is not None else {}
    drawn = last_drawn(study_events.of_kind(connection, SAMPLING))[1]
    names = [name for name in pool.names(connection) if name not in out]
    if drawn is None:
        return names
    chosen = {name for parts in drawn.drawn.values() for ids in parts.values() for name in ids}
    return [name for name in names if name in chosen]


def cases_with_versions(connection: Connection) -> frozenset[str]:
    """The cases whose versions are items already, so that their marks cannot change any more."""
    i = schema.items.c
    return frozenset(
        row[0]
        for row in connection.execute(sa.select(i.case).where(i.case.is_not(None), i.case != i.id))
    )


def standing(connection: Connection, case: str | None = None) -> dict[str, tuple[int, Marking]]:
    """Case -> the number of its last marking, and the marking; of all cases or of one."""
    return last_markings(study_events.of_kind(connection, MARKING, case))


def history(connection: Connection, case: str) -> list[Marking]:
    """Every marking of a case, the last first."""
    events = study_events.of_kind(connection, MARKING, case)
    numbered = sorted(events, key=lambda event: int(str(event.data.get("number", 0))), reverse=True)
    return [last_markings([event])[case][1] for event in numbered]


def append_marking(connection: Connection, marking: Marking, *, base_number: int, at: str) -> bool:
    """Keep a marking that follows the one of number `base_number`, in the caller's transaction.

    False: another came first.
    """
    audit.next_entry(connection)  # others who mark wait here
    number = standing(connection, marking.case).get(marking.case, (0, marking))[0]
    if number != base_number:
        return False
    study_events.append_event(connection, marking_event(marking, number + 1, at))
    return True
