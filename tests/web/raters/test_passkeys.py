"""Passkeys of owners: what they open, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from konsil.records.roles import Role
from konsil.store import Store
from konsil.store.people.access import Access
from konsil.store.people.passkeys import add_passkey, passkeys_of
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

from ..conftest import AT, LATER, STUDIES, Clock, fill

pytest.importorskip("webauthn")
from ..authenticators import Authenticator

HOST = "https://study.example.org"
ORIGIN = {"origin": HOST}
NOON = "2025-03-01T13:00:00Z"
Open = Callable[[], TestClient]


@pytest.fixture
def browser(opened: Store, clock: Clock) -> Iterator[Open]:
    """Makes browsers of a study whose owners need passkeys."""
    fill(opened, STUDIES["medqade"])
    app = create_app(STUDIES["medqade"], opened, Options(url=HOST, passkeys=True), clock=clock)
    clients: list[TestClient] = []

    def make() -> TestClient:
        clients.append(TestClient(app, base_url=HOST))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def come(store: Store, client: TestClient, role: Role = "owner", at: str = AT) -> None:
    secret = Access(store).invite("staff-1", role, at=at, expires_at=LATER, most_uses=1)
    answer = client.post(f"/come/{secret}", headers=ORIGIN, follow_redirects=False)
    assert answer.status_code == 303


def office(client: TestClient) -> int:
    return client.get("/office/download", follow_redirects=False).status_code


@pytest.mark.slow
def test_a_passkey_lets_in_owners_alone(opened: Store, browser: Open) -> None:
    first, key = browser(), Authenticator(HOST)
    come(opened, first)
    assert key.use(first)[0].status_code == 200
    back = browser()
    assert key.use(back)[0].status_code == 200
    assert office(back) == 200
    # Another role: the passkey goes, and open sessions, so that none registers another one.
    (stored,) = passkeys_of(opened, "staff-1")
    come(opened, browser(), "coordinator", at=NOON)
    assert passkeys_of(opened, "staff-1") == ()
    assert office(first) == office(back) == 401
    # One that another process of the server registered at that moment opens nothing.
    assert add_passkey(opened, stored, "", only_first=True)
    client = browser()
    assert key.use(client)[0].status_code == 403
    assert office(client) == 401
    assert opened.verify_log() == ()


def test_whoever_comes_by_an_account_in_another_role_loses_passkeys(
    opened: Store, browser: Open
) -> None:
    client, key = browser(), Authenticator(HOST)
    come(opened, client)
    key.use(client)
    assert len(passkeys_of(opened, "staff-1")) == 1
    Access(opened).enter("staff-1", "analyst", at=AT, expires_at={"analyst": LATER})
    assert passkeys_of(opened, "staff-1") == ()
    assert opened.verify_log() == ()


@pytest.mark.slow
def test_an_answer_counts_once(opened: Store, browser: Open) -> None:
    first, key = browser(), Authenticator(HOST)
    come(opened, first)
    key.use(first)
    signing_in = browser()
    answer, body = key.use(signing_in)
    assert answer.status_code == 200
    # With the cookie of the browser that answered, and from another process of the server.
    app = create_app(STUDIES["medqade"], opened, Options(url=HOST, passkeys=True), clock=Clock())
    with TestClient(app, base_url=HOST) as thief:
        thief.cookies.set("konsil-passkey", str(signing_in.cookies.get("konsil-passkey")))
        answer = thief.post("/passkey/end", headers=ORIGIN, content=body)
        assert answer.status_code == 403
        assert office(thief) == 401
    assert opened.verify_log() == ()


def test_one_address_tries_so_many_times(browser: Open) -> None:
    """Whatever its cookie is."""
    statuses = []
    for n in range(31):
        client = browser()
        client.cookies.set("konsil-passkey", f"browser-{n}")
        body = '{"credential": {}, "ticket": "x"}'
        statuses.append(client.post("/passkey/end", headers=ORIGIN, content=body).status_code)
    assert statuses == [403] * 30 + [429]
