"""Revoking what lets a person in, in the caller's transaction, under an entry of the log."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import page_schema
from konsil.store.log import audit
from konsil.store.log.covering import Traces, traces_of_invitations


def remove_passkeys(connection: Connection, person: str) -> Traces:
    """Remove a person's passkeys, which would let them in again; the traces for the next entry.

    It runs in the caller's transaction.
    """
    p = page_schema.passkeys
    keys = connection.execute(sa.select(p.c.id).where(p.c.who == person)).scalars().all()
    if not keys:
        return {}
    connection.execute(sa.delete(p).where(p.c.who == person))
    return {"passkeys": dict.fromkeys(keys, "")}


def revoke_access(
    connection: Connection, person: str, at: str, *, stay: bool = False, by: str = ""
) -> int:
    """Revoke all invitations of a person and sign them out (not with `stay`).

    It runs in the caller's transaction. `by`: the account that revokes them.
    """
    c, v = page_schema.invitations.c, page_schema.visitors.c
    open_ = sa.and_(c.who == person, c.revoked_at.is_(None), c.expires_at > at)
    n = connection.execute(
        sa.update(page_schema.invitations).where(open_).values(revoked_at=at)
    ).rowcount
    if not stay:
        connection.execute(sa.delete(page_schema.visitors).where(v.who == person))
    traces = traces_of_invitations(connection, sa.and_(c.who == person, c.revoked_at == at))
    if not stay:
        traces |= remove_passkeys(connection, person)
    data = {"who": person, "invitations": n, "traces": traces, "salted": True} | (
        {"by": by} if by else {}
    )
    audit.append(connection, audit.REVOCATION, data, at)
    return n
