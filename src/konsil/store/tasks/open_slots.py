"""Slots of the plan that nobody has, and who takes one; in the caller's transaction."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.plan.model.places import SIGN_UP
from konsil.records import Event, Rater
from konsil.store.engine import schema
from konsil.store.log import audit, study_events, write
from konsil.store.log.erasures import refuse_erased
from konsil.store.log.write import Batch
from konsil.store.tasks import task_reassignment


def lock_open_slots(connection: Connection) -> None:
    """Make two who sign up at the same moment wait for one another from here on.

    So neither gets the other's place.
    """
    audit.head(connection, lock=True)


def free_slots(connection: Connection) -> dict[str, int]:
    """Slot -> its tasks about items that are nobody's.

    Where others took those over, no survey makes a place of it.
    """
    t = schema.tasks.c
    query = (
        sa.select(t.slot, sa.func.count())
        .where(t.rater == "", t.item.is_not(None))
        .group_by(t.slot)
    )
    return {slot: int(n) for slot, n in connection.execute(query)}


def take(connection: Connection, rater: Rater, slot: str, at: str, *, by: str = "") -> int:
    """Give a slot's free tasks to a rater, who becomes known with it; count them.

    `by`: who named the rater for it.
    """
    refuse_erased(connection, rater.id)
    t = schema.tasks.c
    is_rater = sa.select(schema.raters.c.id).where(schema.raters.c.id == rater.id)
    if connection.execute(is_rater).first() is None:
        write.append(connection, Batch(raters=(rater,)), kind="rater", at=at, by=by)
    times = len(study_events.of_kind(connection, SIGN_UP, rater.id)) + 1
    event = Event(
        f"{SIGN_UP} {rater.id} {times}",
        SIGN_UP,
        rater.id,
        at,
        {"slot": slot} | ({"by": by} if by else {}),
    )
    free = sa.select(t.id).where(t.slot == slot, t.rater == "")
    return task_reassignment.hand_over(
        connection, event, dict.fromkeys(connection.execute(free).scalars(), rater.id)
    )
