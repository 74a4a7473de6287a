"""The head of an audit log as people note it, to compare later: the number of entries and the last hash."""

from __future__ import annotations

import re
from collections.abc import Iterator

from konsil.errors import StoreError
from konsil.store.db import Store

_HEAD = re.compile(r"(?:(\d{1,18})-)?([0-9a-f]{64})")


def head_of(store: Store) -> str:
    """The head as it is printed."""
    count, last = store.log_head()
    return f"{count}-{last}"


def check_head(store: Store, expected: str) -> Iterator[str]:
    """Say in one sentence why this log does not continue from a head that was noted; nothing where it does."""
    match = _HEAD.fullmatch(expected.strip().lower())
    if match is None:
        raise StoreError(
            f"--expect {expected[:80]!r}: expected a head as 'konsil verify-log' prints it, such as 12-3f..."
        )
    since, count = store.log_since(match[2]), store.log_head()[0]
    if since is None or (match[1] is not None and int(match[1]) != count - since):
        yield (
            f"audit log: the head {match[0][:24]}... is not in this log of {count:,} entries; the log was written anew,"
            " or the database is an older copy"
        )
