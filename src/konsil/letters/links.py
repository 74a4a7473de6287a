"""Personal links of letters: a reminder has the link of the invitation.

The database keeps only the hash of a link, and a letter stores none. A link is derived from a key
in a file of the study's folder, from the rater and from the time of the invitation (HMAC-SHA256),
so that it can be derived again for a reminder. Whoever has only the database, a backup or an export
can derive none; the file is hidden, for its owner alone, and in no backup.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.errors import KonsilError
from konsil.store.engine.private import create_whole
from konsil.store.people.access import Access, Invitation, hashed

PATH = "/come/"
"""Where invitations lead; the pages' table of routes has the same path."""
KEY_FILE = ".konsil-letter-key"
"""The file with the key."""
_BYTES = 32
_LENGTH = 24
"""Bytes of a link's secret, as many as those of other links have."""


@dataclass(frozen=True, slots=True)
class PersonalLink:
    """A link that goes into a letter."""

    secret: str
    """The part of the address that lets the person in; empty: the link is made on sending."""
    until: str
    """Until when it works."""


def letter_key(folder: Path, *, may_write: bool) -> bytes | None:
    """The key of a study's folder; without one, a new one is stored or None is given."""
    place = folder / KEY_FILE
    try:
        if may_write and not place.exists():
            # Another process may create it at the same time: the key is the one in the file.
            create_whole(place, f"{secrets.token_bytes(_BYTES).hex()}\n".encode())
        key = bytes.fromhex(place.read_text("ascii").strip())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise KonsilError(f"{place}: cannot be read; expected the key of the links") from None
    if len(key) != _BYTES:
        raise KonsilError(f"{place}: expected {_BYTES} bytes as hexadecimal digits")
    return key


def derived_secret(key: bytes, rater: str, made_at: str) -> str:
    """The secret of the link of a rater's invitation of this time.

    >>> a = derived_secret(b"k" * 32, "r1", "2025-03-01T12:00:00Z")
    >>> len(a), a == derived_secret(b"k" * 32, "r1", "2025-03-01T12:00:01Z")
    (32, False)
    """
    text = f"konsil letter\0{rater}\0{made_at}".encode()
    digest = hmac.new(key, text, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest[:_LENGTH]).decode("ascii")


def derivable(key: bytes | None, invitations: Sequence[Invitation]) -> PersonalLink | None:
    """The newest of these invitations whose link can be derived."""
    for invitation in reversed(invitations) if key is not None else ():
        secret = derived_secret(key or b"", invitation.who, invitation.made_at)
        if hmac.compare_digest(hashed(secret), invitation.token):
            return PersonalLink(secret, invitation.expires_at)
    return None


def new_secret(access: Access, key: bytes, rater: str, at: str) -> str:
    """The secret of a new link; empty where a link of this second has it already."""
    secret = derived_secret(key, rater, at)
    is_used = any(i.token == hashed(secret) for i in access.invitations(rater))
    return "" if is_used else secret


def made_link(access: Access, key: bytes, rater: str, *, at: str, until: str, by: str) -> str:
    """Make a derivable link and give its secret."""
    secret = new_secret(access, key, rater, at)
    return access.invite(rater, "rater", at=at, expires_at=until, by=by, secret=secret)
