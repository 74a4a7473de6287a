"""Passkeys of owners: the public part of each, under which its owner signs in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import page_schema
from konsil.store.engine.engine import reading, writing
from konsil.store.log import audit
from konsil.store.log.covering import traces_of
from konsil.store.log.db import Store

_DIGITS = 32
"""Digits of a challenge's hash in the log."""


@dataclass(frozen=True, slots=True)
class Passkey:
    """One passkey."""

    id: str
    """The identifier that the browser states."""
    who: str
    """Whose it is."""
    public_key: str
    """The key with which signatures are checked."""
    sign_count: int
    """How often it had signed; 0 of passkeys that do not count."""
    made_at: str
    """When it was registered."""


_COLUMNS = tuple(c for c in page_schema.passkeys.c if c.name != "entry")


def passkeys_of(store: Store, person: str) -> tuple[Passkey, ...]:
    """The passkeys of a person."""
    c = page_schema.passkeys.c
    with reading(store.engine) as connection:
        rows = connection.execute(sa.select(*_COLUMNS).where(c.who == person).order_by(c.id))
        return tuple(Passkey(**row._mapping) for row in rows)


def passkey(store: Store, name: str) -> Passkey | None:
    """The passkey of this identifier; None where there is none."""
    with reading(store.engine) as connection:
        query = sa.select(*_COLUMNS).where(page_schema.passkeys.c.id == name)
        row = connection.execute(query).first()
    return None if row is None else Passkey(**row._mapping)


def add_passkey(store: Store, new: Passkey, cookie: str, *, only_first: bool) -> bool:
    """Store a passkey and confirm the device that registered it; whether that was possible.

    `only_first`: refuse where the person has a passkey already, which another device may have
    registered in the meantime. `cookie`: the hash of the device's cookie.
    """
    table = page_schema.passkeys
    with writing(store.engine) as connection:
        is_in_use = sa.or_(
            table.c.id == new.id, table.c.who == new.who if only_first else sa.false()
        )
        if connection.execute(sa.select(table.c.id).where(is_in_use)).first() is not None:
            return False
        row = {name: getattr(new, name) for name in Passkey.__slots__}
        connection.execute(sa.insert(table).values(row))
        traces = traces_of("passkeys", connection, table.c.id == new.id)
        data = {"who": new.who, "state": "registered", "traces": traces, "salted": True}
        audit.append(connection, audit.PASSKEY, data, new.made_at)
        _confirm(connection, cookie)
    return True


def use_passkey(
    store: Store, used: Passkey, sign_count: int, cookie: str, *, challenge: bytes, at: str
) -> bool:
    """Note the use of a passkey, and confirm the device with this hash of a cookie, if any.

    False where the challenge was answered before, in any process of the server: an answer that
    somebody copied opens nothing.
    """
    table, answered = page_schema.passkeys, hashlib.sha256(challenge).hexdigest()[:_DIGITS]
    with writing(store.engine) as connection:
        if any(e.get("challenge") == answered for e in audit.entries(connection, audit.PASSKEY)):
            return False
        where = table.c.id == used.id
        connection.execute(sa.update(table).where(where).values(sign_count=sign_count))
        traces = traces_of("passkeys", connection, where)
        data = {
            "who": used.who,
            "state": "used",
            "challenge": answered,
            "traces": traces,
            "salted": True,
        }
        audit.append(connection, audit.PASSKEY, data, at)
        _confirm(connection, cookie)
    return True


def _confirm(connection: Connection, cookie: str) -> None:
    v = page_schema.visitors
    connection.execute(sa.update(v).where(v.c.cookie == cookie).values(confirmed=1))
