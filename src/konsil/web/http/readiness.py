"""Whether a database can store what is entered now, and how much room it has."""

from __future__ import annotations

import shutil
from pathlib import Path

from konsil.store import Store
from konsil.store.engine.engine import answers

LEAST_FREE_BYTES = 100 << 20
"""Below this much free space nobody new should be sent to a server: its database may grow by as
much within a working day."""


def obstacle(store: Store) -> str | None:
    """What prevents entries from being stored; None where nothing does."""
    if not answers(store.engine):
        return "the database does not answer"
    if store.is_read_only:
        return "the database is read-only"
    free = free_bytes(store)
    return "the disk is almost full" if free is not None and free < LEAST_FREE_BYTES else None


def free_bytes(store: Store) -> int | None:
    """Free space on the disk of an SQLite database; None where the database is on a server."""
    if store.engine.dialect.name != "sqlite":
        return None
    try:
        return shutil.disk_usage(Path(str(store.engine.url.database)).parent).free
    except OSError:
        return None
