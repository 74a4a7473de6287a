"""Open sessions follow the role: another role, other sites or no access count at once, on every
device."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from konsil.errors import StoreError
from konsil.store import Store
from konsil.store.log.revocation import Revoked
from konsil.store.people.access import Access, role_of
from konsil.store.people.identities import bind, identity_of, person_of
from konsil.store.people.passkeys import Passkey, add_passkey, passkeys_of
from konsil.store.people.sites import tie
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

from ..both import opened, server
from ..conftest import AT, LATER, URL, Browser, Clock, fill
from .test_sites import R1, R3, study_with_sites

__all__ = ["opened", "server"]

Open = Callable[[str, str], Browser]
NOON, EVENING = "2025-03-01T13:00:00Z", "2025-03-01T19:00:00Z"


@pytest.fixture
def enter(opened: Store, clock: Clock) -> Iterator[Open]:
    """Another device of a person, signed in by a link of a role."""
    study = study_with_sites()
    fill(opened, study)
    app = create_app(study, opened, Options(url=URL), clock=clock)
    clients: list[TestClient] = []

    def run(person: str, role: str) -> Browser:
        clients.append(TestClient(app, base_url=URL))
        browser = Browser(clients[-1])
        secret = Access(opened).invite(person, role_of(role), at=AT, expires_at=LATER)
        assert browser.post(f"/come/{secret}").status_code == 200
        return browser

    yield run
    for client in clients:
        client.close()


def status(browser: Browser, path: str) -> int:
    return browser.client.get(path, follow_redirects=False).status_code


def test_another_role_ends_open_sessions_and_links(opened: Store, enter: Open) -> None:
    access = Access(opened)
    first, second = enter("staff-1", "owner"), enter("staff-1", "owner")
    other = enter("staff-2", "owner")
    unused = access.invite("staff-1", "owner", at=AT, expires_at=LATER, most_uses=1)
    assert status(first, "/office/download") == status(second, "/office/download") == 200
    access.invite("staff-1", "coordinator", at=NOON, expires_at=LATER, by="staff-2")
    assert status(first, "/office/download") == status(second, "/office/download") == 401
    assert access.invitation(unused, NOON) is None
    assert status(other, "/office/download") == 200
    assert opened.verify_log() == ()


def test_the_page_of_invitations_lists_a_person_once_in_the_present_role(
    opened: Store, enter: Open
) -> None:
    access, page = Access(opened), enter("staff-1", "owner")
    enter("staff-7", "owner")
    enter("staff-7", "curator")
    for at, role in ((NOON, "analyst"), (EVENING, "coordinator")):
        access.invite("staff-8", role_of(role), at=at, expires_at=LATER)
    text = page.get("/office/invitations").text
    for person, role in (("staff-7", "Fallauswahl"), ("staff-8", "Koordination")):
        assert re.findall(rf"<strong>{person}</strong> <span class=.soft.>([^<]*)<", text) == [role]
    assert re.findall(r'name="links" value="(\d+)">\s*<label>', text) == ["5"]


def test_a_further_link_of_the_same_role_ends_nothing(opened: Store, enter: Open) -> None:
    first = enter("staff-1", "analyst")
    Access(opened).invite("staff-1", "analyst", at=NOON, expires_at=LATER)
    assert status(first, "/office/log") == 200


def test_an_account_in_another_role_ends_open_sessions(opened: Store, enter: Open) -> None:
    first = enter("staff-1", "owner")
    Access(opened).enter("staff-1", "analyst", at=NOON, expires_at={"analyst": LATER})
    assert status(first, "/office/invitations") == 401


def test_other_sites_count_in_open_sessions(opened: Store, enter: Open) -> None:
    tie(opened, "staff", "staff-1", ["Kiel"], at=AT)
    first, second = enter("staff-1", "coordinator"), enter("staff-1", "coordinator")
    for browser in (first, second):
        text = browser.get("/office/invitations").text
        assert R1 in text
        assert R3 not in text
    tie(opened, "staff", "staff-1", ["Ulm"], at=NOON)
    for browser in (first, second):
        text = browser.get("/office/invitations").text
        assert R1 not in text
        assert R3 in text
    tie(opened, "staff", "staff-1", [], at=NOON)
    assert status(first, "/office/recruitment") == 200


def test_revoking_ends_all_that_lets_a_person_in(opened: Store, enter: Open) -> None:
    access = Access(opened)
    first, second = enter("staff-1", "owner"), enter("staff-1", "owner")
    access.invite("staff-1", "owner", at=AT, expires_at=LATER)
    add_passkey(opened, Passkey("key", "staff-1", "public", 0, AT), "", only_first=True)
    account = identity_of(opened, "https://login.example", "subject")
    bind(opened, account, "staff-1", at=AT)
    assert access.end_access("staff-1", at=NOON) == Revoked(3, 2, 1, 1)
    assert status(first, "/office") == status(second, "/office") == 401
    assert passkeys_of(opened, "staff-1") == ()
    # The account stays this person's, and is refused until the person is invited anew.
    assert person_of(opened, account) == "staff-1"
    with pytest.raises(StoreError, match="revoked"):
        access.enter("staff-1", "owner", at=NOON, expires_at={"owner": LATER})
    assert access.end_access("staff-1", at=NOON) == Revoked(accounts=1)
    access.invite("staff-1", "analyst", at=NOON, expires_at=LATER)
    assert access.enter("staff-1", "analyst", at=NOON, expires_at={"analyst": LATER})
    assert opened.verify_log() == ()


def test_a_link_of_ones_own_revokes_no_account(opened: Store, enter: Open) -> None:
    access = Access(opened)
    enter(R1, "rater")
    access.revoke(R1, at=NOON, stay=True)
    assert not access.is_revoked(R1)
    access.revoke("canary-rater", at=NOON)
    assert not access.is_revoked(R1)
    assert access.is_revoked("canary-rater")
