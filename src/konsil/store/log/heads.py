"""The head of an audit log as people note it, to compare later.

The number of entries and the last hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import sqlalchemy as sa

from konsil.errors import StoreError, option
from konsil.store.engine.engine import reading
from konsil.store.engine.schema import audit_log
from konsil.store.log import anchoring
from konsil.store.log.anchoring import Anchored
from konsil.store.log.db import Store

_HEAD = re.compile(r"(?:(\d{1,18})-)?([0-9a-f]{64})")
_SHOWN = 24
_ORIGIN = 8


def head_of(store: Store) -> str:
    """The head as it is printed."""
    count, last = store.log_head()
    return f"{count}-{last}"


def origin_of(store: Store) -> str:
    """Eight characters that tell studies apart: the beginning of the hash of the first entry.

    Zeros where the log is empty.
    """
    with reading(store.engine) as connection:
        query = sa.select(audit_log.c.hash).order_by(audit_log.c.seq).limit(1)
        return str(connection.execute(query).scalar() or "0" * _ORIGIN)[:_ORIGIN]


def check_head(store: Store, expected: str) -> Iterator[str]:
    """Say in one sentence why this log does not continue from a head that was noted.

    Nothing where it does.
    """
    count, digest = _parsed(expected)
    # A head of the former chain counts: the anchoring recorded it.
    if _anchored_from(store, count, digest) is not None:
        return
    since, entries = store.log_since(digest), store.log_head()[0]
    if since is None or (count is not None and count != entries - since):
        shown = expected.strip().lower()[:_SHOWN]
        anew = _anchored(store)
        if anew:
            yield (
                f"audit log: the head {shown}... is not in this log of {entries:,} entries; the"
                f" log was re-anchored on {anew[-1].at[:10]}, and only the last head of the"
                f" earlier chain is stored: {anew[-1].before}"
            )
            return
        yield (
            f"audit log: the head {shown}... is not in this log of {entries:,} entries; the log"
            " was rewritten, or the database is an older copy"
        )


def anchor_notes(store: Store, expected: str | None) -> Iterator[str]:
    """What a reader of the log must know of chains before this one, a line each."""
    expected_anchor = _anchored_from(store, *_parsed(expected)) if expected is not None else None
    for anchor in _anchored(store):
        match = "; it is the expected head" if anchor == expected_anchor else ""
        broken = f"; that chain was incomplete: {anchor.problems[0]}" if anchor.problems else ""
        yield f"re-anchored on {anchor.at[:10]} from the head {anchor.before}{match}{broken}"


def _anchored(store: Store) -> tuple[Anchored, ...]:
    with reading(store.engine) as connection:
        return anchoring.anchored(connection)


def _anchored_from(store: Store, count: int | None, digest: str) -> Anchored | None:
    """The anchoring before which this head was the log's."""
    for anchor in _anchored(store):
        entries, _, last = anchor.before.partition("-")
        if last == digest and (count is None or entries == str(count)):
            return anchor
    return None


def _parsed(expected: str) -> tuple[int | None, str]:
    match = _HEAD.fullmatch(expected.strip().lower())
    if match is None:
        raise StoreError(
            f"{option('expected', flag='expect')} {expected[:80]!r}: expected a head as 'konsil"
            " verify-log' prints it, such as 12-3f..."
        )
    return (int(match[1]) if match[1] is not None else None), match[2]
