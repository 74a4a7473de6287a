"""Closing batches, so that their ratings stand, and opening them again."""

from __future__ import annotations

from konsil.errors import StoreError
from konsil.records import Event
from konsil.store.engine.engine import writing
from konsil.store.log import study_events
from konsil.store.log.db import Store


def close(store: Store, phase: str, batch: str, rater: str = "", *, at: str, by: str = "") -> bool:
    """Close a batch for one rater, or for everybody; say whether it was open."""
    return _turn(
        store, study_events.BATCH_CLOSED, phase, batch, rater, {"by": by} if by else {}, at
    )


def reopen(
    store: Store, phase: str, batch: str, rater: str = "", *, at: str, reason: str, by: str = ""
) -> bool:
    """Open a closed batch again, for whom it was closed; say whether it was closed.

    A reason must be given.
    """
    if not reason.strip():
        raise StoreError(
            "reason: is empty; opening a closed batch again needs a reason, which the log keeps"
        )
    data = {"reason": reason.strip()} | ({"by": by} if by else {})
    return _turn(store, study_events.BATCH_REOPENED, phase, batch, rater, data, at)


def _turn(
    store: Store, kind: str, phase: str, batch: str, rater: str, data: dict[str, str], at: str
) -> bool:
    closing = kind == study_events.BATCH_CLOSED
    with writing(store.engine) as connection:
        if closing == ((phase, batch, rater) in study_events.closed_batches(connection, batch)):
            return False
        turns = len(study_events.of_kind(connection, kind, batch))
        name = " ".join((kind, repr(phase), repr(batch), rater, str(turns + 1)))
        event = Event(name, kind, batch, at, {"phase": phase, "rater": rater, **data})
        return study_events.append_event(connection, event)
