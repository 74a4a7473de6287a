"""Whose data were erased, as the log's events say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.records import Event
from konsil.store.engine import schema
from konsil.store.log import audit, study_events


def erased(events: Iterable[Event]) -> dict[str, Event]:
    """Rater -> the event of the erasure."""
    return {e.subject: e for e in events if e.kind == audit.ERASURE}


def erased_raters(connection: Connection) -> dict[str, Event]:
    """The same, of a database."""
    return erased(study_events.of_kind(connection, audit.ERASURE))


def erased_wholly(events: Iterable[Event]) -> frozenset[str]:
    """Raters of whom no rating stayed."""
    return frozenset(rater for rater, event in erased(events).items() if not n_retained(event))


def n_retained(event: Event) -> int:
    """How many ratings an erasure left, without texts and times."""
    data: Mapping[str, Any] = event.data
    return int(data.get("kept", 0))


def refuse_erased(connection: Connection, person: str) -> None:
    """Refuse an identifier whose data were erased.

    New records under it would be a person's data again.
    """
    e = schema.events.c
    if (
        connection.execute(
            sa.select(e.id).where(e.kind == audit.ERASURE, e.subject == person)
        ).first()
        is not None
    ):
        raise StoreError(f"rater: the data of {person!r} were erased; expected another identifier")
