"""Offline kits: which were made, which answers came back, and the keys by which those are known."""

from __future__ import annotations

import hashlib
import hmac

from sqlalchemy.engine import Connection

from konsil.records import Event
from konsil.store.log import study_events
from konsil.store.log.db import Store
from konsil.store.people.secret import secret

MADE = study_events.KIT_MADE
"""Subject: the kit; data.rater, data.phase, data.batch: whose it is and of what; data.screens:
public names of its tasks; data.instruments: the digest of each form on it; data.by: who made it."""
ANSWERED = "kit answers"
"""Subject: the kit; data.rater: whose; data.copy: a browser of theirs; data.revision: the number of
its file."""


def key(store: Store, kit: str) -> str:
    """The key with which a kit signs its answers, as 64 hexadecimal digits.

    Made of the database's secret.
    """
    return hmac.new(secret(store, "kit_key"), kit.encode(), hashlib.sha256).hexdigest()


def signature(key_of_kit: str, text: str) -> str:
    """What a kit writes under a text.

    >>> signature("0b" * 32, "Hi There")[:16]
    '198a607eb44bfbc6'
    """
    return hmac.new(
        bytes.fromhex(key_of_kit), text.encode("utf-8", "surrogatepass"), hashlib.sha256
    ).hexdigest()


def kit_events(connection: Connection, kit: str | None = None) -> tuple[Event, ...]:
    """The kits that were made, or the one of this name."""
    return study_events.of_kind(connection, MADE, kit)


def screens_of(kit: Event) -> tuple[str, ...]:
    """The public names of the tasks in a kit."""
    names = kit.data["screens"]
    return tuple(map(str, names)) if isinstance(names, list) else ()


def answered(connection: Connection, kit: str) -> tuple[Event, ...]:
    """The answers that came back of a kit."""
    return study_events.of_kind(connection, ANSWERED, kit)
