"""Whose an account of a sign-in service is.

The account is stored as a hash that is made with a secret of this database, so that two studies'
databases do not show that an account is in both. The secret is in the same database: whoever has a
copy of it, and knows or guesses an account, can tell whether it is there.
"""

from __future__ import annotations

import hashlib
import hmac

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records.roles import ROLES, Role
from konsil.store.engine import page_schema
from konsil.store.engine.engine import reading, writing
from konsil.store.log import audit
from konsil.store.log.covering import traces_of
from konsil.store.log.db import Store
from konsil.store.log.erasures import refuse_erased
from konsil.store.people.secret import secret


def identity_of(store: Store, issuer: str, subject: str) -> str:
    """What is stored of an account."""
    account = f"{issuer}\n{subject}".encode("utf-8", "surrogateescape")
    return hmac.new(secret(store, "identity"), account, hashlib.sha256).hexdigest()


def person_of(store: Store, identity: str) -> str | None:
    """Whose the account is in this study; None where it is nobody's yet."""
    c = page_schema.identities.c
    with reading(store.engine) as connection:
        return connection.execute(sa.select(c.who).where(c.id == identity)).scalar_one_or_none()


def role_of_accounts(connection: Connection) -> dict[str, Role]:
    """Whoever has an account or a passkey -> the role of their last sign-in by it."""
    i, p = page_schema.identities.c, page_schema.passkeys.c
    persons = set(connection.execute(sa.select(i.who).union(sa.select(p.who))).scalars())
    roles: dict[str, Role] = {}
    for entry in audit.entries(connection, "sign-in") if persons else ():
        if entry.get("who") in persons and "via" in entry and entry.get("role") in ROLES:
            roles[entry["who"]] = entry["role"]
    return roles


def bind(store: Store, identity: str, person: str, *, at: str) -> None:
    """State whose the account is; the same again changes nothing."""
    table = page_schema.identities
    with writing(store.engine) as connection:
        refuse_erased(connection, person)
        stored = connection.execute(
            sa.select(table.c.who).where(table.c.id == identity)
        ).scalar_one_or_none()
        if stored == person:
            return
        if stored is None:
            row = {"id": identity, "who": person, "made_at": at}
            connection.execute(sa.insert(table).values(row))
        else:
            values = {"who": person, "made_at": at}
            connection.execute(sa.update(table).where(table.c.id == identity).values(values))
        traces = traces_of("identities", connection, table.c.id == identity)
        data = {"who": person, "traces": traces, "salted": True}
        audit.append(connection, audit.IDENTITY, data, at)
