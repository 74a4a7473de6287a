"""Revoking what lets a person in, in the caller's transaction, under an entry of the log."""

from __future__ import annotations

import json
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records.roles import Role
from konsil.store.engine import page_schema, schema
from konsil.store.engine.cells import dumps
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


def end_other_roles(connection: Connection, person: str, role: Role, at: str) -> int:
    """Sign a person out where they have another role, and revoke links that give one.

    Whoever gets another role loses the one before at once, on all devices. It runs in the caller's
    transaction, whose next entry has the links' traces; the sessions that ended are counted.
    """
    i, v = page_schema.invitations, page_schema.visitors
    others = sa.and_(i.c.who == person, i.c.role != role, i.c.revoked_at.is_(None))
    # Of links that are used up or have expired, the log states the role they had.
    open_ = sa.and_(others, i.c.expires_at > at)
    connection.execute(sa.update(i).where(open_).values(revoked_at=at))
    ended = sa.delete(v).where(v.c.who == person, v.c.role != role)
    return connection.execute(ended).rowcount


@dataclass(frozen=True, slots=True)
class Revoked:
    """What let a person in, and does no longer."""

    links: int = 0
    """Links that were open."""
    sessions: int = 0
    """Devices on which the person was signed in."""
    passkeys: int = 0
    """Passkeys that were deleted."""
    accounts: int = 0
    """Accounts of a sign-in service that are refused from now on."""

    def __add__(self, other: Revoked) -> Revoked:
        """The sum of two."""
        return Revoked(
            self.links + other.links,
            self.sessions + other.sessions,
            self.passkeys + other.passkeys,
            self.accounts + other.accounts,
        )


def revoke_access(
    connection: Connection, person: str, at: str, *, stay: bool = False, by: str = ""
) -> Revoked:
    """Revoke all invitations of a person and, not with `stay`, all else that lets them in.

    It runs in the caller's transaction. `by`: the account that revokes them. An account of a
    sign-in service is refused from now on, until the person is invited again: its hash stays, since
    without it the account would be somebody new.
    """
    c, v, i = page_schema.invitations.c, page_schema.visitors, page_schema.identities.c
    open_ = sa.and_(c.who == person, c.revoked_at.is_(None), c.expires_at > at)
    n_links = connection.execute(
        sa.update(page_schema.invitations).where(open_).values(revoked_at=at)
    ).rowcount
    traces = traces_of_invitations(connection, sa.and_(c.who == person, c.revoked_at == at))
    revoked, data = Revoked(n_links), {"who": person, "invitations": n_links}
    if stay:
        data["stay"] = True
    else:
        signed_in = sa.and_(v.c.who == person, v.c.expires_at > at)
        sessions = sa.select(sa.func.count()).select_from(v).where(signed_in)
        accounts = sa.select(sa.func.count()).where(i.who == person)
        n_sessions = connection.execute(sessions).scalar_one()
        connection.execute(sa.delete(v).where(v.c.who == person))
        removed = remove_passkeys(connection, person)
        traces |= removed
        n_accounts = connection.execute(accounts).scalar_one()
        revoked = Revoked(n_links, n_sessions, len(removed.get("passkeys", ())), n_accounts)
    entry = {**data, "traces": traces, "salted": True} | ({"by": by} if by else {})
    audit.append(connection, audit.REVOCATION, entry, at)
    return revoked


def is_revoked(connection: Connection, person: str) -> bool:
    """Whether a person's access was revoked and they were not invited since."""
    table = schema.audit_log.c
    query = (
        sa.select(table.kind, table.data)
        .where(table.kind.in_((audit.INVITATION, audit.REVOCATION)))
        .where(table.data.contains(dumps(person), autoescape=True))
        .order_by(table.seq.desc())
    )
    for kind, text in connection.execute(query):
        try:
            data = json.loads(text)
        # A damaged entry is reported when the log is verified.
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict) and data.get("who") == person and not data.get("stay"):
            return bool(kind == audit.REVOCATION)
    return False
