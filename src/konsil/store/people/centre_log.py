"""The audit log of a study centre: what no study's own log states.

These are sign-ins that were refused, sign-outs of all studies at once, changes of the list of
accounts, and the studies that the centre has served. It is a database of its own with the same
chain of entries as a study's, and without records.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from konsil.errors import StoreError
from konsil.store.engine import schema
from konsil.store.engine.cells import dumps
from konsil.store.engine.engine import reading, writing
from konsil.store.log import audit
from konsil.store.log.db import Store

REFUSED = "sign-in refused"
"""The kind of an entry: somebody was not let in."""
ADOPTED = "study adopted"
"""The kind of an entry: a study was served for the first time, or with another database."""
SIGNED_OUT = "signed out of all studies"
"""The kind of an entry: a device left all studies at once."""
LISTED = "list of accounts"
"""The kind of an entry: the list of people in centre.toml is another one than before."""
KINDS = (REFUSED, ADOPTED, SIGNED_OUT, LISTED)
SIGN_IN = "sign-in"
"""The kind of an entry of a study's own log: somebody was let in."""
OF_PEOPLE = (
    SIGN_IN,
    audit.INVITATION,
    audit.REVOCATION,
    audit.SITES,
    audit.PASSKEY,
    audit.IDENTITY,
)
"""Kinds of entries of a study's own log that are about access."""


@dataclass(frozen=True, slots=True)
class AccessEntry:
    """One entry about access, of the centre's log or of a study's."""

    at: str
    """When, ISO 8601 in UTC."""
    kind: str
    """What happened."""
    data: Mapping[str, Any]
    """What the entry states."""


def open_log(where: str | Path, *, create: bool = True) -> Store:
    """Open the log; a StoreError where nothing can be written."""
    store = Store.open(where, create=create)
    if create and store.is_read_only:
        name = store.name
        store.close()
        raise StoreError(
            f"{name}: the centre's audit log cannot be written; make the folder writable, or state"
            " another place as log in centre.toml"
        )
    return store


def adopt(log: Store, study: str, database: str, head: str, *, at: str) -> bool:
    """Note that a study is served; the same database again changes nothing.

    `database`: what tells databases apart; `head`: that of the study's own log at this moment.
    """
    with writing(log.engine) as connection:
        # Several processes open the same study at the same time, and write one after the other.
        before = [e for e in audit.entries(connection, ADOPTED) if e.get("study") == study]
        if before and before[-1].get("database") == database:
            return False
        data = {"study": study, "database": database, "log": head}
        audit.append(connection, ADOPTED, data, at)
    return True


def list_accounts(log: Store, digest: str, n: int, *, at: str) -> bool:
    """Note the list of accounts, and return whether it is another one than at the last start."""
    with writing(log.engine) as connection:
        before = audit.entries(connection, LISTED)
        if (before[-1].get("sha256") if before else "") == digest:
            return False
        audit.append(connection, LISTED, {"sha256": digest, "entries": n}, at)
    return True


def adoptions(log: Store) -> dict[str, str]:
    """Study -> the head of its own log when it was adopted last."""
    with reading(log.engine) as connection:
        entries = audit.entries(connection, ADOPTED)
    return {str(e.get("study", "")): str(e.get("log", "")) for e in entries}


def repeated_adoptions(log: Store) -> dict[str, str]:
    """Study that was served with another database than before -> when it was adopted last."""
    entries = tuple(access_entries(log, (ADOPTED,), last=None))
    times = {str(entry.data.get("study", "")): entry.at for entry in reversed(entries)}
    counts = Counter(str(entry.data.get("study", "")) for entry in entries)
    return {study: at for study, at in times.items() if counts[study] > 1}


def access_entries(
    store: Store, kinds: Sequence[str], *, last: int | None, studies: Sequence[str] | None = None
) -> Iterator[AccessEntry]:
    """The last entries of these kinds, the newest first; None: all.

    `studies`: only entries that name one of these studies, or none.
    """
    table = schema.audit_log
    query = sa.select(table.c.at, table.c.kind, table.c.data).where(table.c.kind.in_(kinds))
    if studies is not None:
        # Otherwise the entries of other studies would take the place of these.
        named = [
            table.c.data.contains(f'"study":{dumps(study)}', autoescape=True) for study in studies
        ]
        is_about = sa.or_(~table.c.data.contains('"study":'), *named)
        query = query.where(is_about)
    with reading(store.engine) as connection:
        rows = connection.execute(query.order_by(table.c.seq.desc()).limit(last)).all()
    for at, kind, text in rows:
        try:
            data = json.loads(text)
            audit.check_time(at)
        # A damaged entry is reported when the log is verified.
        except (ValueError, RecursionError, StoreError):
            continue
        if isinstance(data, dict):
            yield AccessEntry(at, kind, data)
