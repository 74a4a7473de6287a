"""Sign-ins that were refused, as a centre's audit log states them: no name, no address, no link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Way = Literal["link", "passkey", "account"]
Reason = Literal[
    "unknown",
    "expired",
    "used",
    "revoked",
    "too many attempts",
    "invalid answer",
    "other role",
    "not listed",
    "withdrawn",
    "service unavailable",
]


@dataclass(frozen=True, slots=True)
class Refused:
    """One refusal."""

    way: Way
    """How somebody wanted to come in."""
    reason: Reason
    """Why not, coarsely."""
    person: str = ""
    """The pseudonym, where it is known whose the link, the passkey or the account is."""
    role: str = ""
    """The role that it would have given."""


def note_nowhere(_: Refused) -> None:
    """A study that is served alone has no centre with a log."""
