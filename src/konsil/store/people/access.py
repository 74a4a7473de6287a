"""Who is let in: invitations and signed-in visitors.

Secrets are given out once and kept as hashes only.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError, nearest
from konsil.records.roles import ROLES, Role
from konsil.store.engine import engine, page_schema, schema
from konsil.store.log import audit
from konsil.store.log.covering import traces_of_invitations
from konsil.store.log.db import Store
from konsil.store.log.erasures import refuse_erased
from konsil.store.log.revocation import (
    Revoked,
    end_other_roles,
    is_revoked,
    remove_passkeys,
    revoke_access,
)
from konsil.store.people.sites import sites_of, tie_within

PERSONAL: frozenset[Role] = frozenset({"rater", "curator"})
"""Whose links lead back, on any device, until they expire; those of others work once."""

ERASED = "~erased"
"""Who has the cookie of somebody whose data were erased: nobody, until it expires."""
GUEST = "guest-"
"""How the pseudonyms begin of those who come by an invitation for anybody."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that lets somebody in; the secret part of it is not kept."""

    token: str
    """SHA-256 of the secret."""
    who: str
    """The rater's id, or a name for whoever runs the study; empty: for anybody, each a rater of
    their own."""
    role: Role
    """As what they come."""
    made_at: str
    """When it was made."""
    expires_at: str
    """From when on it opens nothing."""
    uses: int = 0
    """How often it was used."""
    most_uses: int | None = None
    """How often it can be used; None: until it expires, on any device."""
    used_at: str | None = None
    """When it was used last."""
    revoked_at: str | None = None
    """When it was revoked."""

    def open(self, at: str) -> bool:
        """Whether it lets anybody in at this time."""
        return self.obstacle(at) is None

    def obstacle(self, at: str) -> Literal["revoked", "expired", "used"] | None:
        """Why it lets nobody in at this time; None where it does."""
        if self.revoked_at is not None:
            return "revoked"
        if at >= self.expires_at:
            return "expired"
        is_used = self.most_uses is not None and self.uses >= self.most_uses
        return "used" if is_used else None


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is signed in on one device."""

    cookie: str
    """SHA-256 of the cookie."""
    who: str
    """The rater's id, or the name of whoever runs the study."""
    role: Role
    """As what they came."""
    csrf: str
    """What their forms carry, so that no other site can send one."""
    language: str
    """The language they chose; empty: none yet."""
    made_at: str
    """When they signed in."""
    expires_at: str
    """Until when they are."""
    confirmed: int | None = None
    """1: signed in by a passkey or an account, not by a link alone."""


def hashed(secret: str) -> str:
    """What is kept of a secret.

    Secrets are long and random, so a plain hash cannot be guessed back.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def role_of(name: str) -> Role:
    """The role of this name; a StoreError where there is none."""
    if name not in ROLES:
        raise StoreError(f"role: there is no role {name!r}; {nearest(name, ROLES)}")
    return name


def invited(store: Store) -> frozenset[str]:
    """Everybody for whom a link was ever made."""
    with engine.reading(store.engine) as connection:
        return frozenset(
            connection.execute(sa.select(page_schema.invitations.c.who).distinct()).scalars()
        )


def end_sessions(store: Store) -> None:
    """Sign everybody out, on all devices; links stay as they are."""
    with engine.writing(store.engine) as connection:
        connection.execute(sa.delete(page_schema.visitors))


def end_account_sessions(store: Store, accounts: str) -> bool:
    """Sign out whoever has an account, where the list of accounts is another one than before.

    `accounts`: the digest of the list as far as it is about this study. Whoever is still on the
    list signs in again, with the role that it states now.
    """
    i, v, key = page_schema.identities.c, page_schema.visitors, "accounts"
    if store.is_read_only:
        return False
    with engine.writing(store.engine) as connection:
        query = sa.select(schema.meta.c.value).where(schema.meta.c.key == key)
        before = connection.execute(query).scalar_one_or_none()
        if (before or "") == accounts:
            return False
        connection.execute(sa.delete(schema.meta).where(schema.meta.c.key == key))
        connection.execute(sa.insert(schema.meta).values(key=key, value=accounts))
        connection.execute(sa.delete(v).where(v.c.who.in_(sa.select(i.who))))
    return True


class Access:
    """The invitations and visitors of one study's store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def invite(
        self,
        who: str,
        role: Role,
        *,
        at: str,
        expires_at: str,
        most_uses: int | None = None,
        by: str = "",
        secret: str = "",
    ) -> str:
        """Make an invitation and give its secret, which is not kept anywhere; `by`: who invites.

        `secret` is one that the caller made; empty: a new one.
        """
        audit.check_time(at)
        audit.check_time(expires_at)
        secret = secret or secrets.token_urlsafe(24)
        row = {
            "token": hashed(secret),
            "who": who,
            "role": role,
            "made_at": at,
            "expires_at": expires_at,
            "uses": 0,
            "most_uses": most_uses,
        }
        with engine.writing(self.store.engine) as connection:
            refuse_erased(connection, who)
            n_ended = end_other_roles(connection, who, role, at) if who else 0
            connection.execute(sa.insert(page_schema.invitations).values(row))
            c = page_schema.invitations.c
            revoked = sa.and_(c.who == who, c.revoked_at == at, c.role != role)
            traces = traces_of_invitations(connection, sa.or_(c.token == hashed(secret), revoked))
            if role != "owner":
                # Passkeys let in owners alone; whoever gets another role is to come by that.
                traces |= remove_passkeys(connection, who)
            data = {
                "who": who,
                "role": role,
                "expires_at": expires_at,
                "traces": traces,
                "salted": True,
            }
            data |= ({"sessions_ended": n_ended} if n_ended else {}) | ({"by": by} if by else {})
            audit.append(connection, audit.INVITATION, data, at)
        return secret

    def invitation(self, secret: str, at: str) -> Invitation | None:
        """The invitation of this secret, if it still lets anybody in; looking uses nothing up."""
        stored = self.any_invitation(secret)
        return stored if stored is not None and stored.open(at) else None

    def any_invitation(self, secret: str) -> Invitation | None:
        """The invitation of this secret, whether or not it lets anybody in."""
        with engine.reading(self.store.engine) as connection:
            return _invitation(connection, hashed(secret))

    def invitations(self, who: str = "") -> tuple[Invitation, ...]:
        """All invitations, or those of one person, oldest first."""
        c = page_schema.invitations.c
        query = _INVITATION.where(c.who == who) if who else _INVITATION
        with engine.reading(self.store.engine) as connection:
            rows = connection.execute(query.order_by(c.made_at, c.who, c.token))
            return tuple(Invitation(**row._mapping) for row in rows)

    def revoke(self, who: str, *, at: str, stay: bool = False, by: str = "") -> int:
        """Revoke all invitations of somebody and sign them out everywhere (not with `stay`).

        Count the links that were open.
        """
        with engine.writing(self.store.engine) as connection:
            return revoke_access(connection, who, at, stay=stay, by=by).links

    def end_access(self, who: str, *, at: str, by: str = "") -> Revoked:
        """The same, with all that let the person in."""
        with engine.writing(self.store.engine) as connection:
            return revoke_access(connection, who, at, by=by)

    def is_revoked(self, person: str) -> bool:
        """Whether a person's access was revoked and they were not invited since."""
        with engine.reading(self.store.engine) as connection:
            return is_revoked(connection, person)

    def redeem(
        self, secret: str, *, at: str, expires_at: dict[Role, str], language: str = ""
    ) -> str | None:
        """Use an invitation and give the new visitor's cookie; None where it lets nobody in.

        `expires_at` says for each role how long one is signed in. Every time is a new cookie: none
        is ever taken over. An invitation for anybody makes a new pseudonym every time.
        """
        cookie = secrets.token_urlsafe(32)
        c = page_schema.invitations.c
        # One transaction: a link for one use must not let in two.
        with engine.writing(self.store.engine) as connection:
            invitation = _invitation(connection, hashed(secret))
            if invitation is None or not invitation.open(at):
                return None
            used = {"uses": c.uses + 1, "used_at": at}
            connection.execute(
                sa.update(page_schema.invitations).where(c.token == invitation.token).values(used)
            )
            # Signing in is rare enough to clear what has expired.
            connection.execute(
                sa.delete(page_schema.visitors).where(page_schema.visitors.c.expires_at <= at)
            )
            person = invitation.who or f"{GUEST}{secrets.token_hex(4)}"
            row = Visitor(
                hashed(cookie),
                person,
                invitation.role,
                secrets.token_urlsafe(24),
                language,
                at,
                expires_at[invitation.role],
            )
            connection.execute(sa.insert(page_schema.visitors).values(_cells(row)))
            if not invitation.who and (link := sites_of(connection, "link", invitation.token)):
                tie_within(connection, "rater", person, link, at=at)
            traces = traces_of_invitations(connection, c.token == invitation.token)
            audit.append(
                connection,
                "sign-in",
                {"who": person, "role": invitation.role, "traces": traces, "salted": True},
                at,
            )
        return cookie

    def enter(
        self,
        person: str,
        role: Role,
        *,
        at: str,
        expires_at: dict[Role, str],
        via: str = "account",
        language: str = "",
    ) -> str:
        """Sign in a person whom a sign-in service or a passkey has identified.

        Give the new cookie.
        """
        cookie = secrets.token_urlsafe(32)
        row = Visitor(
            hashed(cookie),
            person,
            role,
            secrets.token_urlsafe(24),
            language,
            at,
            expires_at[role],
            # The service, or the passkey, has confirmed who it is.
            confirmed=1,
        )
        with engine.writing(self.store.engine) as connection:
            refuse_erased(connection, person)
            # Asked where nobody else writes: access may have been revoked at this very moment.
            if is_revoked(connection, person):
                raise StoreError(f"{person}: the access of this person was revoked")
            v = page_schema.visitors
            connection.execute(sa.delete(v).where(v.c.expires_at <= at))
            # Who comes in another role has no longer the one before.
            connection.execute(sa.delete(v).where(v.c.who == person, v.c.role != role))
            connection.execute(sa.insert(v).values(_cells(row)))
            data: dict[str, object] = {"who": person, "role": role, "via": via}
            if role != "owner" and (traces := remove_passkeys(connection, person)):
                data["traces"] = traces
            audit.append(connection, "sign-in", data, at)
        return cookie

    def is_invited_owner(self, person: str) -> bool:
        """Whether the last invitation of a person that is not revoked is to be an owner.

        A link that was used, or has expired, still states the role. Of several invitations of one
        second all must.
        """
        c = page_schema.invitations.c
        is_valid = sa.and_(c.who == person, c.revoked_at.is_(None))
        last = sa.select(sa.func.max(c.made_at)).where(is_valid).scalar_subquery()
        with engine.reading(self.store.engine) as connection:
            roles = set(
                connection.execute(sa.select(c.role).where(is_valid, c.made_at == last)).scalars()
            )
        return roles == {"owner"}

    def visitor(self, cookie: str, at: str) -> Visitor | None:
        """Who has this cookie; None where nobody has, or no longer."""
        return self.device(hashed(cookie), at)

    def device(self, hashed_cookie: str, at: str) -> Visitor | None:
        """Who has the cookie of this hash; None where nobody has, or no longer."""
        with engine.reading(self.store.engine) as connection:
            row = connection.execute(_VISITOR, {"of": hashed_cookie, "now": at}).first()
        return None if row is None else Visitor(**row._mapping)

    def leave(self, visitor: Visitor) -> None:
        """Sign a visitor out on this device."""
        with engine.writing(self.store.engine) as connection:
            connection.execute(
                sa.delete(page_schema.visitors).where(
                    page_schema.visitors.c.cookie == visitor.cookie
                )
            )

    def speak(self, visitor: Visitor, language: str) -> None:
        """Note the language a visitor chose."""
        change = (
            sa.update(page_schema.visitors)
            .where(page_schema.visitors.c.cookie == visitor.cookie)
            .values(language=language)
        )
        with engine.writing(self.store.engine) as connection:
            connection.execute(change)


# Asked at every request, so it is put together once.
_VISITOR = sa.select(page_schema.visitors).where(
    page_schema.visitors.c.cookie == sa.bindparam("of"),
    page_schema.visitors.c.expires_at > sa.bindparam("now"),
)


_INVITATION = sa.select(*(c for c in page_schema.invitations.c if c.name != "entry"))


def close_for_good(connection: Connection, person: str) -> None:
    """Remove all but the erasure from a person's signed-in devices.

    Only that their data were erased stays. It runs in the caller's transaction.
    """
    v = page_schema.visitors
    nothing = {"who": ERASED, "csrf": "", "made_at": ""}
    connection.execute(sa.update(v).where(v.c.who == person).values(nothing))


def _invitation(connection: Connection, token: str) -> Invitation | None:
    row = connection.execute(_INVITATION.where(page_schema.invitations.c.token == token)).first()
    return None if row is None else Invitation(**row._mapping)


def _cells(visitor: Visitor) -> dict[str, Any]:
    return {name: getattr(visitor, name) for name in Visitor.__slots__}
