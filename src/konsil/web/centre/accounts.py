"""Who is invited by an account of a sign-in service: [sign_in] and [[people]] of centre.toml.

Whoever is not listed is not let in, whatever the service states about them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from konsil.errors import KonsilError, nearest
from konsil.records.roles import ROLES, Role

_SIGN_IN = (
    "issuer",
    "client_id",
    "client_secret_file",
    "client_secret_variable",
    "name",
    "groups_claim",
    "unverified_email",
)
_PERSON = ("study", "role", "email", "group", "subject", "who", "site")
EVERYWHERE = "*"
"""All sites."""
ALL = "*"
"""The study of an entry that holds for all studies."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Invited:
    """One entry of the list: an account, or a group of accounts, and what it is in a study."""

    study: str
    """The study's part of the address; '*': all studies."""
    role: Role
    """As what they come."""
    email: str = ""
    """The e-mail address of the account."""
    group: str = ""
    """A group of the service."""
    subject: str = ""
    """The account's identifier at the service."""
    person: str = ""
    """The rater's id, or a name; empty: the name that the service states."""
    site: str = ""
    """The site whose raters a coordinator sees; '*': all; empty: as it was before."""

    def fits(self, account: Account) -> bool:
        """Whether the entry is about this account."""
        if self.subject:
            return self.subject == account.subject
        if self.email:
            return _ascii_lower(self.email) == _ascii_lower(account.email)
        return self.group in account.groups


@dataclass(frozen=True, slots=True)
class Account:
    """What the service states about whoever signs in."""

    subject: str
    name: str = ""
    email: str = ""
    """The address, where the service has verified it; otherwise empty."""
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SignInService:
    """The service, and who is invited through it."""

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    """Never in a message or a log."""
    name: str = ""
    """What the button calls it."""
    groups_claim: str = "groups"
    unverified_email: bool = False
    """Whether addresses count that the service does not state to be verified."""
    people: tuple[Invited, ...] = ()

    def account(self, claims: Mapping[str, Any]) -> Account:
        """The account of a valid ID token."""
        email, groups = claims.get("email"), claims.get(self.groups_claim)
        is_verified = self.unverified_email or claims.get("email_verified") is True
        name = next((n for n in (claims.get("name"), email) if isinstance(n, str) and n), "")
        return Account(
            str(claims["sub"]),
            name,
            email if isinstance(email, str) and is_verified else "",
            frozenset(g for g in groups if isinstance(g, str))
            if isinstance(groups, list)
            else frozenset(),
        )

    def invited(self, account: Account, study: str) -> Invited | None:
        """The first entry of the list that lets the account into a study."""
        return next((p for p in self.people if p.study in (ALL, study) and p.fits(account)), None)

    def owners(self, study: str) -> tuple[tuple[str, str], ...]:
        """Issuer and identifier of each account that is listed by it as an owner of a study."""
        subjects = dict.fromkeys(p.subject for p in self.people if p.subject)
        entries = {subject: self.invited(Account(subject), study) for subject in subjects}
        return tuple(
            (self.issuer, subject)
            for subject, entry in entries.items()
            if entry is not None and entry.role == "owner"
        )


def read_service(
    sign_in: object, people: object, file: Path, environment: Mapping[str, str] = os.environ
) -> SignInService | None:
    """The service of centre.toml; None where it names none."""
    if sign_in is None:
        if people:
            raise KonsilError(f"{file}: there is [[people]] but no [sign_in]; add it")
        return None
    if not isinstance(sign_in, dict):
        raise KonsilError(f"{file}: sign_in: expected one table, [sign_in]")
    where = f"{file}: sign_in"
    check_keys(sign_in, _SIGN_IN, where)
    texts = _texts(sign_in, _SIGN_IN[:-1], where)
    unverified = sign_in.get("unverified_email", False)
    if not isinstance(unverified, bool):
        raise KonsilError(f"{where}.unverified_email: expected true or false, got {unverified!r}")
    for key in ("issuer", "client_id"):
        if not texts[key]:
            raise KonsilError(f"{where}: {key} is missing")
    if not is_safe(texts["issuer"]):
        raise KonsilError(
            f"{where}.issuer: expected an address with https://, got {texts['issuer']!r}"
        )
    if not isinstance(people, list) or not all(isinstance(p, dict) for p in people):
        raise KonsilError(f"{file}: people: expected tables [[people]]")
    return SignInService(
        texts["issuer"],
        texts["client_id"],
        _secret(texts, where, file.parent, environment),
        texts["name"],
        texts["groups_claim"] or "groups",
        unverified,
        tuple(_person(person, f"{file}: people {n}") for n, person in enumerate(people, 1)),
    )


def is_safe(address: str) -> bool:
    """Whether secrets may be sent to an address: over TLS, or on this machine."""
    parts = urlsplit(address)
    return (parts.scheme == "https" and bool(parts.hostname)) or (
        parts.scheme == "http" and parts.hostname in LOOPBACK
    )


def _ascii_lower(email: str) -> str:
    """An address in small letters of ASCII; other letters stay.

    Unicode's rules make one of letters that are two addresses to a mail server, such as the sign of
    the kelvin and 'k'.
    """
    return "".join(c.lower() if c.isascii() else c for c in email)


def check_keys(table: Mapping[str, object], keys: Sequence[str], where: str) -> None:
    """Refuse keys that mean nothing."""
    for key in table:
        if key not in keys:
            raise KonsilError(f"{where}: there is no key {key!r}; {nearest(key, keys)}")


def _texts(table: Mapping[str, object], keys: Sequence[str], where: str) -> dict[str, str]:
    texts = {}
    for key in keys:
        value = table.get(key, "")
        if not isinstance(value, str):
            raise KonsilError(f"{where}.{key}: expected a text, got {value!r}")
        texts[key] = value.strip()
    return texts


def _secret(
    texts: Mapping[str, str], where: str, folder: Path, environment: Mapping[str, str]
) -> str:
    """The client's secret, from a file or an environment variable; none of a public client."""
    name, variable = texts["client_secret_file"], texts["client_secret_variable"]
    if name and variable:
        raise KonsilError(f"{where}: client_secret_file and client_secret_variable: state one")
    if name:
        try:
            secret = (folder / name).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise KonsilError(f"{where}.client_secret_file: cannot read {name!r}") from None
    else:
        secret = environment.get(variable, "").strip() if variable else ""
    if (name or variable) and not secret:
        raise KonsilError(f"{where}: the client secret is empty; expected it in {name or variable}")
    return secret


def _person(table: Mapping[str, object], where: str) -> Invited:
    check_keys(table, _PERSON, where)
    texts = _texts(table, _PERSON, where)
    role = next((r for r in ROLES if r == texts["role"]), None)
    if role is None:
        raise KonsilError(
            f"{where}.role: there is no role {texts['role']!r}; {nearest(texts['role'], ROLES)}"
        )
    if not texts["study"]:
        raise KonsilError(f"{where}: study is missing; expected a study's path, or '*' for all")
    if sum(bool(texts[key]) for key in ("email", "group", "subject")) != 1:
        raise KonsilError(f"{where}: expected one of email, group and subject")
    if role == "rater" and (texts["group"] or not texts["who"] or texts["study"] == ALL):
        raise KonsilError(
            f"{where}: a rater needs one study, who (the rater's identifier) and email or subject"
        )
    if texts["group"] and texts["who"]:
        raise KonsilError(f"{where}.who: a group has several members; leave it out")
    if texts["site"] and role != "coordinator":
        raise KonsilError(f"{where}.site: sites are stated for coordinators")
    return Invited(
        texts["study"],
        role,
        texts["email"],
        texts["group"],
        texts["subject"],
        texts["who"],
        texts["site"],
    )
