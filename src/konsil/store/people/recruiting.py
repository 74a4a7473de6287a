"""The recruitment record in the store."""

from __future__ import annotations

from collections.abc import Mapping

from konsil.records import Event
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.log.db import Store
from konsil.study.sections.recruitment import KIND, Recruitment, recruitment


def record(
    store: Store, subject: str, data: Mapping[str, object], *, at: str, by: str = ""
) -> bool:
    """Add to the record; say whether that says anything new."""
    with writing(store.engine) as connection:
        events = study_events.of_kind(connection, KIND)
        subject_events = [e for e in events if e.subject == subject]
        latest = (
            {k: v for k, v in subject_events[-1].data.items() if k != "by"}
            if subject_events
            else {"removed": True}
        )
        if latest == dict(data) or (not subject_events and not data):
            return False
        # Numbered over all subjects: two of the same second keep their order.
        event = Event(
            f"{KIND} {len(events) + 1}", KIND, subject, at, {**data, **({"by": by} if by else {})}
        )
        return study_events.append_event(connection, event)


def recorded(store: Store) -> Recruitment:
    """What the record says now."""
    with reading(store.engine) as connection:
        return recruitment(study_events.of_kind(connection, KIND))
