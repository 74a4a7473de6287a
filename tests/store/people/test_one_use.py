"""A link for one use lets in one, however many come with it at the same moment."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.engine import Connection

from konsil.records.roles import ROLES
from konsil.store import Store
from konsil.store.people import access as module
from konsil.store.people.access import Access, Invitation

AT, LATER = "2025-03-01T12:00:00Z", "2025-06-01T12:00:00Z"


def test_one_of_several_comes_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    access, both = Access(store), threading.Barrier(2)
    secret = access.invite("staff-1", "owner", at=AT, expires_at=LATER, most_uses=1)
    plain = module._invitation

    def waiting(connection: Connection, token: str) -> Invitation | None:
        """Read, and wait until the other has read as well, where it can."""
        invitation = plain(connection, token)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.4)
        return invitation

    monkeypatch.setattr(module, "_invitation", waiting)
    until = dict.fromkeys(ROLES, LATER)
    with ThreadPoolExecutor(2) as pool:
        coming = [pool.submit(access.redeem, secret, at=AT, expires_at=until) for _ in range(2)]
    assert sum(c.result() is not None for c in coming) == 1
    assert [i.uses for i in access.invitations()] == [1]
    assert store.verify_log() == ()
