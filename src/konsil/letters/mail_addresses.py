"""Which e-mail addresses letters are sent to: a conservative check of their form."""

from __future__ import annotations

import re
from email.utils import parseaddr

LONGEST = 200
"""Characters of a name or an address."""
_LONGEST_LOCAL = 64
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})+")


def is_address(text: str) -> bool:
    """Whether a text is an e-mail address in the usual form, in ASCII and without quotes.

    >>> is_address("ada.may@clinic.example.org"), is_address("a..b@x.org"), is_address("a@x")
    (True, False, False)
    """
    local = text.rpartition("@")[0]
    return (
        len(text) <= LONGEST
        and len(local) <= _LONGEST_LOCAL
        and _ADDRESS.fullmatch(text) is not None
    )


def in_header(text: str) -> str:
    """A name or a title as a header has it: without the beginning of an encoded word (RFC 2047).

    The library decodes such words when it writes a header; a line break in one would begin another
    header.

    >>> in_header("=?utf-8?q?a=0ABcc:_x@x.org?=")
    '= ?utf-8?q?a=0ABcc:_x@x.org?='
    """
    return text.replace("=?", "= ?")


def folded(address: str) -> str:
    """An address as it is compared: letters of ASCII are small, others stay.

    >>> folded("Ada.May@X.org")
    'ada.may@x.org'
    """
    return "".join(c.lower() if c.isascii() else c for c in address.strip())


def mailbox_problem(text: str) -> str:
    """What is wrong with a sender; nothing where nothing is.

    >>> mailbox_problem("Study office <office@x.org>"), mailbox_problem("office")
    ('', 'expected an address')
    """
    name, address = parseaddr(text)
    is_whole = text.strip() == address or (bool(name) and text.strip().endswith(f"<{address}>"))
    return "" if is_address(address) and is_whole and text.isprintable() else "expected an address"
